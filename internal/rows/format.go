package rows

// Format is how rows are written down, by its media type.
type Format string

// The formats.
const (
	JSON        Format = "application/json" // one array of objects
	NDJSON      Format = "application/x-ndjson"
	ArrowStream Format = "application/vnd.apache.arrow.stream"
)

// Formats gives all formats.
func Formats() []Format { return []Format{JSON, NDJSON, ArrowStream} }

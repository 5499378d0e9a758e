package reconcile

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-data/sluice/internal/metadata"
)

// layout is how a table is partitioned: its specs, as far as the metadata has them.
type layout struct {
	doc     *metadata.Document // nil: nothing is known
	columns *columnTypes
	mu      sync.Mutex
	specs   map[int64][]specField
}

// specField is a field of a partition spec.
type specField struct {
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
	Source    int    `json:"source-id"`
}

func newLayout(doc *metadata.Document, columns *columnTypes) *layout {
	return &layout{doc: doc, columns: columns, specs: make(map[int64][]specField)}
}

// fields gives the fields of a spec, none when it is unknown.
func (l *layout) fields(spec int64) []specField {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fields, ok := l.specs[spec]; ok || l.doc == nil {
		return fields
	}
	var parsed struct {
		Fields []specField `json:"fields"`
	}
	if raw, ok := l.doc.PartitionSpecRaw(int(spec)); ok && json.Unmarshal(raw, &parsed) != nil {
		parsed.Fields = nil
	}
	l.specs[spec] = parsed.Fields
	return parsed.Fields
}

// field gives the field of the value at a place of a partition; of specs of v1, whose fields have no ids, by the place.
func (l *layout) field(spec int64, at int, v partitionValue) specField {
	fields := l.fields(spec)
	for _, f := range fields {
		if f.ID == v.id && v.id > 0 {
			return f
		}
	}
	if at < len(fields) && fields[at].ID == 0 {
		return fields[at]
	}
	return specField{Name: v.name}
}

// global tells whether files of the spec are in no partition: equality deletes of it reach all files.
func (l *layout) global(spec int64, values []partitionValue) bool {
	for at, v := range values {
		if l.field(spec, at, v).Transform != "void" {
			return false
		}
	}
	return true
}

// identityOf gives the columns whose value is that of a field of the spec.
func (l *layout) identityOf(spec int64) map[int]bool {
	var out map[int]bool
	for _, f := range l.fields(spec) {
		if f.Transform == "identity" {
			if out == nil {
				out = make(map[int]bool)
			}
			out[f.Source] = true
		}
	}
	return out
}

// longestPartition bounds the text of a partition, in bytes.
const longestPartition = 1000

// text writes a partition as paths do: name=value joined by slashes, both escaped.
func (l *layout) text(spec int64, values []partitionValue) string {
	if l.global(spec, values) {
		return ""
	}
	var out strings.Builder
	for at, v := range values {
		f := l.field(spec, at, v)
		if f.Transform == "void" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('/')
		}
		escapeInto(&out, f.Name)
		out.WriteByte('=')
		escapeInto(&out, humanValue(v.value, f.Transform, l.columns.now(f.Source)))
		if out.Len() > longestPartition {
			return strings.ToValidUTF8(out.String()[:longestPartition], "") + "…"
		}
	}
	return out.String()
}

// escapeInto escapes what would make a path ambiguous, as a form does.
func escapeInto(out *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range min(len(s), longestPartition) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.*", c) >= 0:
			out.WriteByte(c)
		case c == ' ':
			out.WriteByte('+')
		default:
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
}

// humanValue writes a value as people know it; the type is that of the source column, "" unknown.
func humanValue(value any, transform, typ string) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return humanInteger(v, transform, typ)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return humanBytes(v, transform, typ)
	}
	return "unknown"
}

package tableio

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// firstPartitionField is the id of the first partition field where old v1 metadata gives none.
const firstPartitionField = 1000

// layout is what writing a table's files takes of its metadata.
type layout struct {
	version    int
	schema     *iceberg.Schema
	spec       iceberg.PartitionSpec
	arrow      *arrow.Schema
	order      int // id of the table's sort order
	location   string
	properties map[string]string
}

// Schema gives the Arrow schema of batches for a table. fault.Unsupported: it has a column that is not written here.
func Schema(doc *metadata.Document) (*arrow.Schema, error) {
	schema, err := doc.CurrentSchema()
	if err != nil {
		return nil, err
	}
	return columnar.FromMetadata(schema)
}

func layoutOf(doc *metadata.Document) (*layout, error) {
	l := &layout{version: doc.FormatVersion(), location: doc.Location(), properties: doc.Properties()}
	var err error
	if l.arrow, err = Schema(doc); err != nil {
		return nil, err
	}
	if l.schema, err = currentSchema(doc); err != nil {
		return nil, err
	}
	if l.spec, err = specOf(doc, doc.DefaultSpecID()); err != nil {
		return nil, err
	}
	if raw, ok := doc.Section("default-sort-order-id"); ok {
		if err := json.Unmarshal(raw, &l.order); err != nil {
			return nil, unreadable(err)
		}
	}
	return l, nil
}

func currentSchema(doc *metadata.Document) (*iceberg.Schema, error) {
	current, err := doc.CurrentSchema()
	if err != nil {
		return nil, err
	}
	schema := &iceberg.Schema{}
	if err := json.Unmarshal(current.Raw, schema); err != nil {
		return nil, unreadable(err)
	}
	return schema, nil
}

// specOf reads a partition spec of the table. fault.Conflict: it is gone.
func specOf(doc *metadata.Document, id int) (iceberg.PartitionSpec, error) {
	var spec iceberg.PartitionSpec
	raw, ok := doc.PartitionSpecRaw(id)
	if !ok {
		return spec, fault.New(fault.Conflict, "The table has no partition spec %d any more. Write the rows again.", id)
	}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return spec, unreadable(err)
	}
	return numbered(spec), nil
}

// numbered gives the fields of a spec of old v1 metadata the ids that they have by their place.
func numbered(spec iceberg.PartitionSpec) iceberg.PartitionSpec {
	fields := make([]iceberg.PartitionField, 0, spec.NumFields())
	missing := false
	for i, f := range spec.Fields() {
		if f.FieldID == 0 {
			missing = true
			f.FieldID = firstPartitionField + i
		}
		fields = append(fields, f)
	}
	if !missing {
		return spec
	}
	return iceberg.NewPartitionSpecID(spec.ID(), fields...)
}

func unreadable(cause error) error {
	return fault.Wrap(cause, fault.Internal, "The table's metadata has no schema or partition spec that can be written by.")
}

// The folders of a table's files, and the properties that move them.
const (
	dataPath     = "write.data.path"
	dataFolder   = "data"
	metadataPath = "write.metadata.path"
	metaFolder   = "metadata"
)

func (l *layout) dataFile(name string) string { return l.path(dataPath, dataFolder, name) }

func (l *layout) metadataFile(name string) string { return l.path(metadataPath, metaFolder, name) }

// path names a file in the folder that a property of the table says, or in the one below its location.
func (l *layout) path(property, folder, name string) string {
	base := l.properties[property]
	if base == "" {
		base = strings.TrimRight(l.location, "/") + "/" + folder
	}
	return strings.TrimRight(base, "/") + "/" + name
}

// size reads a property that is a number of bytes; a missing or odd one is the default.
func (l *layout) size(property string, byDefault int64) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(l.properties[property]), 10, 64)
	if err != nil || n <= 0 {
		return byDefault
	}
	return n
}

// withID gives a field its Iceberg id.
func withID(id int) arrow.Metadata {
	return arrow.MetadataFrom(map[string]string{columnar.FieldIDKey: strconv.Itoa(id)})
}

package tableio

import (
	"encoding/json"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// fieldIDKey is where arrow-go's Parquet writer looks for the id of a field.
const fieldIDKey = "PARQUET:field_id"

// layout is what writing a table's files takes of its metadata.
type layout struct {
	schema *iceberg.Schema
	spec   iceberg.PartitionSpec
	arrow  *arrow.Schema
	order  int // id of the sort order
}

// Schema gives the Arrow schema of batches for a table. fault.Unsupported: it has a column that this package does not write.
func Schema(doc *metadata.Document) (*arrow.Schema, error) {
	l, err := layoutOf(doc)
	if err != nil {
		return nil, err
	}
	return l.arrow, nil
}

func layoutOf(doc *metadata.Document) (*layout, error) {
	l := &layout{schema: &iceberg.Schema{}}
	var current struct {
		Schema int `json:"current-schema-id"`
		Order  int `json:"default-sort-order-id"`
	}
	if err := json.Unmarshal(doc.RefsOnlyBytes(), &current); err != nil {
		return nil, unreadable(err)
	}
	l.order = current.Order
	schemas, _ := doc.Section("schemas")
	var list []json.RawMessage
	if err := json.Unmarshal(schemas, &list); err != nil {
		return nil, unreadable(err)
	}
	for _, raw := range list {
		one := &iceberg.Schema{}
		if err := json.Unmarshal(raw, one); err != nil {
			return nil, unreadable(err)
		}
		if one.ID == current.Schema {
			l.schema = one
		}
	}
	raw, ok := doc.PartitionSpecRaw(doc.DefaultSpecID())
	if !ok {
		return nil, unreadable(nil)
	}
	if err := json.Unmarshal(raw, &l.spec); err != nil {
		return nil, unreadable(err)
	}
	fields := make([]arrow.Field, 0, l.schema.NumFields())
	for _, f := range l.schema.Fields() {
		kind, err := arrowType(f)
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{
			Name: f.Name, Type: kind, Nullable: !f.Required, Metadata: arrow.MetadataFrom(map[string]string{fieldIDKey: strconv.Itoa(f.ID)}),
		})
	}
	l.arrow = arrow.NewSchema(fields, nil)
	return l, nil
}

func unreadable(cause error) error {
	return fault.Wrap(cause, fault.Internal, "The table's metadata has no schema or partition spec that can be written by.")
}

func arrowType(f iceberg.NestedField) (arrow.DataType, error) {
	switch f.Type.(type) {
	case iceberg.BooleanType:
		return arrow.FixedWidthTypes.Boolean, nil
	case iceberg.Int32Type:
		return arrow.PrimitiveTypes.Int32, nil
	case iceberg.Int64Type:
		return arrow.PrimitiveTypes.Int64, nil
	case iceberg.Float64Type:
		return arrow.PrimitiveTypes.Float64, nil
	case iceberg.StringType:
		return arrow.BinaryTypes.String, nil
	case iceberg.DateType:
		return arrow.FixedWidthTypes.Date32, nil
	case iceberg.TimestampTzType:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, nil
	case iceberg.TimestampType:
		return &arrow.TimestampType{Unit: arrow.Microsecond}, nil
	}
	return nil, fault.New(fault.Unsupported, "Column %s is of the type %s, which is not written here.", f.Name, f.Type)
}

package columnar

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/metadata"
)

// FieldIDKey is the key of a field's metadata that has the field's id. It is where arrow-go's Parquet reader puts it and
// its writer looks for it.
const FieldIDKey = "PARQUET:field_id"

// FromMetadata gives the Arrow schema of rows of a table's schema, or of one that is narrowed to some of its columns.
// fault.Unsupported: a column has a type that is not read or written here; the error names it.
func FromMetadata(s metadata.Schema) (*arrow.Schema, error) {
	fields, err := fieldsOf(s.Fields)
	if err != nil {
		return nil, err
	}
	return arrow.NewSchema(fields, nil), nil
}

// Field gives the Arrow field of a column or a nested field. Errors are those of FromMetadata.
func Field(f metadata.Field) (arrow.Field, error) {
	kind, err := typeOf(f)
	if err != nil {
		return arrow.Field{}, err
	}
	return arrow.Field{Name: f.Name, Type: kind, Nullable: !f.Required, Metadata: withID(f.ID)}, nil
}

// FieldID gives the Iceberg id of a field; false when it has none.
func FieldID(f arrow.Field) (int, bool) {
	text, ok := f.Metadata.GetValue(FieldIDKey)
	if !ok {
		return 0, false
	}
	id, err := strconv.Atoi(text)
	return id, err == nil
}

func withID(id int) arrow.Metadata {
	return arrow.MetadataFrom(map[string]string{FieldIDKey: strconv.Itoa(id)})
}

func fieldsOf(fields []metadata.Field) ([]arrow.Field, error) {
	out := make([]arrow.Field, 0, len(fields))
	for _, f := range fields {
		field, err := Field(f)
		if err != nil {
			return nil, err
		}
		out = append(out, field)
	}
	return out, nil
}

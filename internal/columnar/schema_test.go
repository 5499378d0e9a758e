package columnar_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// schemaOf gives a schema as the metadata has it.
func schemaOf(t *testing.T, fields string) metadata.Schema {
	t.Helper()
	doc, err := metadata.New(metadata.CreateInput{
		UUID: "0b8c5d1e-0000-4000-8000-000000000001", Location: "s3://lake/t", Schema: json.RawMessage(`{"type":"struct","schema-id":0,"fields":[` + fields + `]}`),
		Properties: map[string]string{"format-version": "3"}, Now: time.Now(),
	})
	require.NoError(t, err)
	own, err := doc.CurrentSchema()
	require.NoError(t, err)
	return own
}

func TestTypes(t *testing.T) {
	for name, want := range map[string]arrow.DataType{
		"boolean": arrow.FixedWidthTypes.Boolean, "int": arrow.PrimitiveTypes.Int32, "long": arrow.PrimitiveTypes.Int64,
		"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64, "string": arrow.BinaryTypes.String,
		"binary": arrow.BinaryTypes.Binary, "uuid": extensions.NewUUIDType(), "fixed[7]": &arrow.FixedSizeBinaryType{ByteWidth: 7},
		"decimal(9, 2)": &arrow.Decimal128Type{Precision: 9, Scale: 2}, "decimal(38,38)": &arrow.Decimal128Type{Precision: 38, Scale: 38},
		"date": arrow.FixedWidthTypes.Date32, "time": arrow.FixedWidthTypes.Time64us,
		"timestamp": &arrow.TimestampType{Unit: arrow.Microsecond}, "timestamptz": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		"timestamp_ns": &arrow.TimestampType{Unit: arrow.Nanosecond}, "timestamptz_ns": &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, required := range []bool{true, false} {
				own := schemaOf(t, fmt.Sprintf(`{"id":1,"name":"c","required":%t,"type":"%s"}`, required, name))
				schema, err := columnar.FromMetadata(own)
				require.NoError(t, err)
				require.True(t, arrow.TypeEqual(want, schema.Field(0).Type), "%s", schema.Field(0).Type)
				require.Equal(t, !required, schema.Field(0).Nullable)
			}
		})
	}
}

const nested = `{"id":1,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":2,"name":"a","required":true,"type":"int"}]}},` +
	`{"id":3,"name":"l","required":true,"type":{"type":"list","element-id":4,"element":"uuid","element-required":true}},` +
	`{"id":5,"name":"m","required":false,"type":{"type":"map","key-id":6,"key":"string","value-id":7,"value":{"type":"list","element-id":8,"element":"date","element-required":false},"value-required":false}}`

func TestNestedFieldsHaveTheirIDs(t *testing.T) {
	own := schemaOf(t, nested)
	schema, err := columnar.FromMetadata(own)
	require.NoError(t, err)
	ids := map[string]int{}
	var walk func(path string, f arrow.Field)
	walk = func(path string, f arrow.Field) {
		id, ok := columnar.FieldID(f)
		require.True(t, ok, path)
		ids[path] = id
		switch kind := f.Type.(type) {
		case *arrow.StructType:
			for _, child := range kind.Fields() {
				walk(path+"."+child.Name, child)
			}
		case *arrow.ListType:
			walk(path+".element", kind.ElemField())
		case *arrow.MapType:
			walk(path+".key", kind.KeyField())
			walk(path+".value", kind.ItemField())
		}
	}
	for _, f := range schema.Fields() {
		walk(f.Name, f)
	}
	own.Walk(func(f metadata.Field) {
		require.Equal(t, f.ID, ids[f.Path], f.Path)
		delete(ids, f.Path)
	})
	require.Empty(t, ids)
	list := schema.Field(1).Type.(*arrow.ListType).ElemField() //nolint:forcetypeassert // of the schema above
	require.False(t, list.Nullable)
	require.Equal(t, "element", list.Name)
}

func TestTypesThatAreNotRead(t *testing.T) {
	for _, kind := range []string{`"variant"`, `"unknown"`, `"geometry"`, `{"type":"list","element-id":2,"element":"variant","element-required":false}`, `{"type":"struct","fields":[]}`} {
		own := schemaOf(t, `{"id":1,"name":"c","required":false,"type":`+kind+`},{"id":9,"name":"d","required":false,"type":"int"}`)
		_, err := columnar.FromMetadata(own)
		require.True(t, fault.Is(err, fault.Unsupported), "%v", err)
		require.Contains(t, fault.PublicMessage(err), "Column c")
		require.Contains(t, fault.PublicMessage(err), "Leave it out")
		own.Fields = own.Fields[1:]
		narrowed, err := columnar.FromMetadata(own)
		require.NoError(t, err, "the other columns are read")
		require.Equal(t, 1, narrowed.NumFields())
	}
}

func TestOddTypesAreRefused(t *testing.T) {
	for _, kind := range []string{"decimal(0,0)", "decimal(39,2)", "decimal(3,4)", "decimal(3,1)x", "fixed[0]", "fixed[-1]", "fixed[9999999999]", "fixed[4", "", "list", "map", "struct"} {
		_, err := columnar.Field(metadata.Field{ID: 1, Name: "c", Path: "a.c", Type: kind})
		require.True(t, fault.Is(err, fault.Unsupported), "%s: %v", kind, err)
		require.Contains(t, fault.PublicMessage(err), "a.c")
	}
}

func TestFieldsWithoutID(t *testing.T) {
	_, ok := columnar.FieldID(arrow.Field{Name: "c", Type: arrow.PrimitiveTypes.Int32})
	require.False(t, ok)
	_, ok = columnar.FieldID(arrow.Field{Name: "c", Type: arrow.PrimitiveTypes.Int32, Metadata: arrow.MetadataFrom(map[string]string{columnar.FieldIDKey: "x"})})
	require.False(t, ok)
}

package masking

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
)

// examples are values of each type as JSON, hard ones among them.
func examples() map[string]struct {
	of     arrow.DataType
	values string
} {
	return map[string]struct {
		of     arrow.DataType
		values string
	}{
		"string":    {arrow.BinaryTypes.String, `["ann@example.com","@x","x@","a@b@c.de","ünï@example.com","", "1234567","12345678","größer als","日本語テキスト文字","10.20.30.40","::ffff:10.20.30.40","2001:db8:1:2::3","fe80::1%eth0","ab",null,"***"]`},
		"int":       {arrow.PrimitiveTypes.Int32, `[0,9,10,99,100,-1,-99,-12345,2147483647,-2147483648,null]`},
		"long":      {arrow.PrimitiveTypes.Int64, `[0,123456,-987654321,9223372036854775807,-9223372036854775808,null]`},
		"float":     {arrow.PrimitiveTypes.Float32, `[0,1,0.012345,123456.7,-9.999,3.4028235e38,1e-45,16777216,null]`},
		"double":    {arrow.PrimitiveTypes.Float64, `[0,-0.5,0.1,123.456,99.9999,-1.7976931348623157e308,5e-324,1e21,2.5e-10,null]`},
		"decimal":   {&arrow.Decimal128Type{Precision: 38, Scale: 3}, `["0.000","0.007","12.345","-99999.999","99999999999999999999999999999999999.999",null]`},
		"date":      {arrow.FixedWidthTypes.Date32, `["1970-01-01","1969-12-31","2024-02-29","0001-06-15",null]`},
		"timestamp": {&arrow.TimestampType{Unit: arrow.Microsecond}, `["1970-01-01T00:00:00.000001","1969-12-31T23:59:59.999999","2024-07-01T12:00:00",null]`},
		"instant":   {&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, `["1999-12-31T23:59:59.999999999Z","1700-03-01T00:00:00Z",null]`},
		"boolean":   {arrow.FixedWidthTypes.Boolean, `[true,false,null]`},
		"time":      {arrow.FixedWidthTypes.Time64us, `["12:34:56.123456",null]`},
		"uuid":      {extensions.NewUUIDType(), `["0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d",null]`},
		"binary":    {arrow.BinaryTypes.Binary, `["AAEC","",null]`},
		"fixed":     {&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AAEC",null]`},
		"list":      {arrow.ListOf(arrow.BinaryTypes.String), `[["a"],[],null]`},
		"map":       {arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), `[[{"key":"a","value":1}],null]`},
	}
}

func arrayOf(t testing.TB, of arrow.DataType, values string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(values))
	require.NoError(t, err)
	return a
}

func batchOf(field arrow.Field, column arrow.Array) arrow.RecordBatch {
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{column}, int64(column.Len()))
}

func masked(t testing.TB, in arrow.RecordBatch, masks map[string]policy.Mask) arrow.RecordBatch {
	t.Helper()
	m, err := New(testKey(), in.Schema(), masks)
	require.NoError(t, err)
	out, err := m.Apply(in)
	require.NoError(t, err)
	require.True(t, out.Schema().Equal(m.Schema()))
	return out
}

// Each mask of each type, of whole arrays and of parts of them, is what the reference says.
func TestEachMaskOfEachType(t *testing.T) {
	for name, example := range examples() {
		whole := arrayOf(t, example.of, example.values)
		parts := []arrow.Array{whole, array.NewSlice(whole, 1, int64(whole.Len())), array.NewSlice(whole, 1, 1)}
		for _, mask := range []policy.Mask{
			{Kind: "null"}, {Kind: "redact"}, {Kind: "partial"}, {Kind: "partial", Tag: "email"}, {Kind: "hash"}, {Kind: "hash", Tag: "pan"},
			{Kind: "truncate"}, {Kind: "truncate", Tag: "ip"}, {Kind: "unheard of"},
		} {
			for _, column := range parts {
				out := masked(t, batchOf(arrow.Field{Name: "c", Type: example.of}, column), map[string]policy.Mask{"c": mask})
				require.True(t, out.Schema().Field(0).Nullable)
				for i := range column.Len() {
					require.Equal(t, reference(t, mask, column, i, "c"), shown(out.Column(0), i), "%s, %v of %s", name, mask, column.ValueStr(i))
				}
			}
		}
	}
}

func TestWhatTypesMasksHave(t *testing.T) {
	for name, example := range examples() {
		in := batchOf(arrow.Field{Name: "c", Type: example.of, Metadata: arrow.MetadataFrom(map[string]string{"PARQUET:field_id": "7"})}, arrayOf(t, example.of, example.values))
		for _, kind := range []string{"null", "redact", "partial", "truncate"} {
			field := masked(t, in, map[string]policy.Mask{"c": {Kind: kind}}).Schema().Field(0)
			require.True(t, arrow.TypeEqual(example.of, field.Type), "%s of %s", kind, name)
			require.True(t, field.HasMetadata(), "it keeps its id")
		}
		hashed := masked(t, in, map[string]policy.Mask{"c": {Kind: "hash"}}).Schema().Field(0).Type.ID()
		switch name {
		case "string", "int", "long", "decimal", "date", "uuid", "binary", "fixed":
			require.Equal(t, arrow.STRING, hashed, name)
		default:
			require.Equal(t, example.of.ID(), hashed, name)
		}
	}
}

// Some values as people see them, so that what the reference says is not merely what the package does.
func TestMasksByExample(t *testing.T) {
	for _, c := range []struct {
		mask     policy.Mask
		of       arrow.DataType
		in, want string
	}{
		{policy.Mask{Kind: "partial", Tag: "email"}, arrow.BinaryTypes.String, `["ann@example.com","none",null]`, `["a***@example.com","***",null]`},
		{policy.Mask{Kind: "partial", Tag: "pan"}, arrow.BinaryTypes.String, `["4111111111111111","1234"]`, `["***1111","***"]`},
		{policy.Mask{Kind: "redact"}, arrow.BinaryTypes.String, `["x",null]`, `["***","***"]`},
		{policy.Mask{Kind: "redact"}, arrow.PrimitiveTypes.Int64, `[1,null]`, `[null,null]`},
		{policy.Mask{Kind: "truncate", Tag: "ip"}, arrow.BinaryTypes.String, `["10.20.30.40","2001:db8::1","10.20.30.400"]`, `["10.20.0.0","2001:db8::","10.***"]`},
		{policy.Mask{Kind: "truncate"}, arrow.BinaryTypes.String, `["Berlin"]`, `["Ber***"]`},
		{policy.Mask{Kind: "truncate"}, arrow.PrimitiveTypes.Int64, `[123456,-987,7]`, `[120000,-980,7]`},
		{policy.Mask{Kind: "truncate"}, arrow.PrimitiveTypes.Float64, `[0.012345,-123.4]`, `[0.012,-120]`},
		{policy.Mask{Kind: "truncate"}, arrow.FixedWidthTypes.Date32, `["1987-06-05"]`, `["1987-01-01"]`},
	} {
		out := masked(t, batchOf(arrow.Field{Name: "c", Type: c.of}, arrayOf(t, c.of, c.in)), map[string]policy.Mask{"c": c.mask})
		got, err := json.Marshal(out.Column(0))
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(got), "%+v", c.mask)
	}
}

func TestHashesOfATagAreTheSameEverywhere(t *testing.T) {
	texts := arrayOf(t, arrow.BinaryTypes.String, `["42","43",null]`)
	hash := func(name, tag string, column arrow.Array) string {
		out := masked(t, batchOf(arrow.Field{Name: name, Type: column.DataType()}, column), map[string]policy.Mask{name: {Kind: "hash", Tag: tag}})
		return out.Column(0).ValueStr(0)
	}
	require.Equal(t, hash("a", "pan", texts), hash("b", "pan", texts))
	require.Equal(t, hash("a", "pan", texts), hash("b", "pan", arrayOf(t, arrow.PrimitiveTypes.Int64, `[42]`)))
	require.NotEqual(t, hash("a", "pan", texts), hash("a", "iban", texts))
	require.NotEqual(t, hash("a", "", texts), hash("b", "", texts))
	require.NotEqual(t, hash("a", "", texts), hash("a", "", arrayOf(t, arrow.BinaryTypes.String, `["43"]`)))
}

// More values than are remembered, of which some come again.
func TestHashesOfManyValues(t *testing.T) {
	for _, distinct := range []int{3, 5000} {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := range 6000 {
			b.Append(fmt.Sprint(i % distinct))
		}
		column := b.NewArray()
		out := masked(t, batchOf(arrow.Field{Name: "c", Type: column.DataType()}, column), map[string]policy.Mask{"c": {Kind: "hash"}})
		for i := 0; i < 6000; i += 7 {
			require.Equal(t, reference(t, policy.Mask{Kind: "hash"}, column, i, "c"), shown(out.Column(0), i))
		}
	}
}

func TestBatchesOfAnotherShapeAreRefused(t *testing.T) {
	m, err := New(testKey(), arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}}, nil), map[string]policy.Mask{"a": {Kind: "redact"}})
	require.NoError(t, err)
	_, err = m.Apply(batchOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}, arrayOf(t, arrow.PrimitiveTypes.Int64, `[1]`)))
	require.Error(t, err)
	_, err = m.Apply(array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 0))
	require.Error(t, err)
	_, err = New([]byte("short"), m.Schema(), map[string]policy.Mask{"a": {Kind: "hash"}})
	require.Error(t, err, "hashes with a weak key could be tried out")
}

// Two batches whose values differ and whose masked values do not are one and the same in an answer, to the byte.
func TestAnswersDependOnMaskedValuesAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	person := arrow.StructOf(arrow.Field{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "email", Type: arrow.BinaryTypes.String, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "age", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "person", Type: person, Nullable: true},
		{Name: "log", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	masks := map[string]policy.Mask{"age": {Kind: "truncate"}, "note": {Kind: "redact"}, "person.email": {Kind: "redact"}, "log.element": {Kind: "hash"}}
	for range 50 {
		rows := r.IntN(40)
		var lines [2]strings.Builder
		for i := range rows {
			age, city := r.IntN(9), fmt.Sprint(r.IntN(3))
			for k := range 2 {
				note, email, log := `null`, `null`, `null`
				if r.IntN(2) == 0 {
					note, email, log = fmt.Sprintf(`"%d"`, r.Int()), fmt.Sprintf(`"%d"`, r.Int()), `["a","b"]`
				}
				whole := fmt.Sprintf(`{"city":%q,"email":%s}`, city, email)
				if city == "0" {
					if whole = `{"city":null,"email":` + email + `}`; email == "null" {
						whole = "null"
					}
				}
				fmt.Fprintf(&lines[k], `{"id":%d,"age":%d,"note":%s,"person":%s,"log":%s}`+"\n", i, 120+age*10+r.IntN(10), note, whole, log)
			}
		}
		var answers [2][]byte
		for k := range lines {
			batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(strings.Split(strings.TrimSpace(lines[k].String()), "\n"), ",")+"]"))
			require.NoError(t, err)
			out := masked(t, batch, masks)
			var buffer bytes.Buffer
			w := ipc.NewWriter(&buffer, ipc.WithSchema(out.Schema()))
			require.NoError(t, w.Write(out))
			require.NoError(t, w.Close())
			answers[k] = buffer.Bytes()
		}
		require.True(t, bytes.Equal(answers[0], answers[1]))
	}
}

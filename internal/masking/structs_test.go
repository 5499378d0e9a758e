package masking

import (
	"encoding/json"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
)

func personType() *arrow.StructType {
	geo := arrow.StructOf(arrow.Field{Name: "lat", Type: arrow.PrimitiveTypes.Float64}, arrow.Field{Name: "zip", Type: arrow.BinaryTypes.String, Nullable: true})
	return arrow.StructOf(
		arrow.Field{Name: "name", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "born", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "geo", Type: geo, Nullable: true},
	)
}

const persons = `[{"name":"Ann","born":1987,"geo":{"lat":1.5,"zip":"10115"}},null,{"name":"Bob","born":null,"geo":null},{"name":"Cy","born":2001,"geo":{"lat":2.5,"zip":null}}]`

func TestWhatIsInStructsIsMasked(t *testing.T) {
	for name, c := range map[string]struct {
		masks map[string]policy.Mask
		want  string
	}{
		"nothing":   {nil, persons},
		"the whole": {map[string]policy.Mask{"p": {Kind: "redact"}}, `[null,null,null,null]`},
		"a text": {map[string]policy.Mask{"p.name": {Kind: "redact"}}, `[{"name":"***","born":1987,"geo":{"lat":1.5,"zip":"10115"}},{"name":"***","born":null,"geo":null},
			{"name":"***","born":null,"geo":null},{"name":"***","born":2001,"geo":{"lat":2.5,"zip":null}}]`},
		"a number": {map[string]policy.Mask{"p.born": {Kind: "truncate"}}, `[{"name":"Ann","born":1900,"geo":{"lat":1.5,"zip":"10115"}},{"name":null,"born":null,"geo":null},
			{"name":"Bob","born":null,"geo":null},{"name":"Cy","born":2000,"geo":{"lat":2.5,"zip":null}}]`},
		"what is deeper": {map[string]policy.Mask{"p.geo.zip": {Kind: "redact"}}, `[{"name":"Ann","born":1987,"geo":{"lat":1.5,"zip":"***"}},{"name":null,"born":null,"geo":{"lat":null,"zip":"***"}},
			{"name":"Bob","born":null,"geo":{"lat":null,"zip":"***"}},{"name":"Cy","born":2001,"geo":{"lat":2.5,"zip":"***"}}]`},
		"a struct in it": {map[string]policy.Mask{"p.geo": {Kind: "truncate"}}, `[{"name":"Ann","born":1987,"geo":null},{"name":null,"born":null,"geo":null},
			{"name":"Bob","born":null,"geo":null},{"name":"Cy","born":2001,"geo":null}]`},
		"what the batch has not": {map[string]policy.Mask{"p.other": {Kind: "redact"}}, `[{"name":"Ann","born":1987,"geo":{"lat":1.5,"zip":"10115"}},{"name":null,"born":null,"geo":null},
			{"name":"Bob","born":null,"geo":null},{"name":"Cy","born":2001,"geo":{"lat":2.5,"zip":null}}]`},
		"another column": {map[string]policy.Mask{"p.names": {Kind: "redact"}, "px": {Kind: "redact"}}, `[{"name":"Ann","born":1987,"geo":{"lat":1.5,"zip":"10115"}},{"name":null,"born":null,"geo":null},
			{"name":"Bob","born":null,"geo":null},{"name":"Cy","born":2001,"geo":{"lat":2.5,"zip":null}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			of := personType()
			whole := arrayOf(t, of, persons)
			for from := range int64(2) {
				column := array.NewSlice(whole, from, int64(whole.Len()))
				out := masked(t, batchOf(arrow.Field{Name: "p", Type: of, Nullable: true}, column), c.masks)
				got, err := json.Marshal(out.Column(0))
				require.NoError(t, err)
				var want []any
				require.NoError(t, json.Unmarshal([]byte(c.want), &want))
				wanted, err := json.Marshal(want[from:])
				require.NoError(t, err)
				require.JSONEq(t, string(wanted), string(got))
			}
		})
	}
}

// A struct that may be NULL and is shown in every row has members that are NULL, which readers must expect.
func TestMembersOfShownStructsAreNullable(t *testing.T) {
	of := personType()
	in := batchOf(arrow.Field{Name: "p", Type: of, Nullable: true}, arrayOf(t, of, persons))
	field := masked(t, in, map[string]policy.Mask{"p.born": {Kind: "null"}}).Schema().Field(0)
	require.False(t, field.Nullable)
	shown, ok := field.Type.(*arrow.StructType)
	require.True(t, ok)
	for _, f := range shown.Fields() {
		require.True(t, f.Nullable, f.Name)
	}
}

// A masked name in a list or a map is not masked alone.
func TestWhatIsInListsIsMaskedAsAWhole(t *testing.T) {
	of := arrow.ListOf(arrow.StructOf(arrow.Field{Name: "ip", Type: arrow.BinaryTypes.String, Nullable: true}))
	in := batchOf(arrow.Field{Name: "visits", Type: of, Nullable: true}, arrayOf(t, of, `[[{"ip":"10.0.0.1"}],[],null]`))
	out := masked(t, in, map[string]policy.Mask{"visits.element.ip": {Kind: "hash"}})
	require.Equal(t, 3, out.Column(0).NullN())
}

package metadata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func TestSchemaUpdates(t *testing.T) {
	wide := `{"type":"struct","schema-id":0,"identifier-field-ids":[2,1],"fields":[{"id":1,"name":"x","required":true,"type":"long","x-field":{"a":1.0}},` +
		`{"id":2,"name":"y","required":true,"type":"long","doc":"comment"},{"id":3,"name":"z","required":true,"type":"long"},` +
		`{"id":4,"name":"tags","required":false,"type":{"type":"list","element-id":5,"element-required":false,"element":"string","x-list":1.0}},` +
		`{"id":6,"name":"at","required":false,"type":"timestamp"}%s]}`
	doc := golden(t, "v2")
	same := apply(t, doc, `{"action":"add-schema","schema":`+fmt.Sprintf(wide, "")+`}`, `{"action":"set-current-schema","schema-id":-1}`)
	require.False(t, same.Changed, "an equal schema is found again whatever its id and key order")

	nested := `,{"id":7,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":12,"name":"m","required":true,"type":{"type":"map","key-id":10,"key":"string","value-id":11,"value-required":false,"value":"long"}}]}}`
	result := apply(t, doc, `{"action":"add-schema","last-column-id":1,"schema":`+fmt.Sprintf(wide, nested)+`}`, `{"action":"set-current-schema","schema-id":-1}`)
	require.Equal(t, "12", sectionOf(t, result.Document, "last-column-id"))
	require.Equal(t, "2", sectionOf(t, result.Document, "current-schema-id"))
	require.Equal(t, 1, result.Changes.AddedSchemas)
	require.Equal(t, []metadata.ColumnChange{{Kind: metadata.ColumnAddOptional, FieldID: 7, Name: "s", Detail: "struct"}}, result.Changes.ColumnChanges)
	schema, err := result.Document.CurrentSchema()
	require.NoError(t, err)
	require.Contains(t, string(schema.Raw), `"x-list":1.0`)
	back := apply(t, result.Document, `{"action":"set-current-schema","schema-id":1}`, `{"action":"remove-schemas","schema-ids":[0,2,9]}`)
	require.Equal(t, []int{0, 2}, back.Changes.RemovedSchemas)
	require.Equal(t, "12", sectionOf(t, back.Document, "last-column-id"), "never lowered")
	require.Equal(t, metadata.ColumnDrop, back.Changes.ColumnChanges[0].Kind)
}

func TestSchemaRefused(t *testing.T) {
	field := func(id int, name, typ, more string) string {
		return fmt.Sprintf(`{"id":%d,"name":"%s","required":false,"type":%s%s}`, id, name, typ, more)
	}
	schema := func(more string, fields ...string) string {
		return `{"action":"add-schema","schema":{"type":"struct","fields":[` + strings.Join(fields, ",") + `]` + more + `}}`
	}
	required := `{"id":1,"name":"a","required":true,"type":"long"}`
	for name, c := range map[string]struct{ update, part string }{
		"duplicate id":        {schema("", field(1, "a", `"int"`, ""), field(1, "b", `"int"`, "")), "multiple fields for id"},
		"nested duplicate id": {schema("", field(1, "a", `{"type":"list","element-id":1,"element-required":true,"element":"int"}`, "")), "multiple fields for id"},
		"duplicate name":      {schema("", field(1, "a", `"int"`, ""), field(2, "a", `"int"`, "")), "multiple fields for name"},
		"dotted name clash":   {schema("", field(1, "a", `{"type":"struct","fields":[{"id":2,"name":"b","required":false,"type":"int"}]}`, ""), field(3, "a.b", `"int"`, "")), "multiple fields for name"},
		"empty name":          {schema("", field(1, "", `"int"`, "")), "empty name"},
		"reserved id":         {schema("", field(2147483540, "a", `"int"`, "")), "reserved id"},
		"unknown type":        {schema("", field(1, "a", `"strnig"`, "")), "unknown type"},
		"decimal too wide":    {schema("", field(1, "a", `"decimal(39,2)"`, "")), "unknown type"},
		"v3 type":             {schema("", field(1, "a", `"variant"`, "")), "not supported until v3"},
		"v3 parametrised":     {schema("", field(1, "a", `"geometry(srid:4326)"`, "")), "not supported until v3"},
		"v3 nested":           {schema("", field(1, "a", `{"type":"list","element-id":2,"element-required":true,"element":"timestamp_ns"}`, "")), "not supported until v3"},
		"initial default":     {schema("", field(1, "a", `"int"`, `,"initial-default":1`)), "initial-default is not supported until v3"},
		"no required":         {schema("", `{"id":1,"name":"a","type":"int"}`), "no valid required"},
		"no element-required": {schema("", field(1, "a", `{"type":"list","element-id":2,"element":"int"}`, "")), "element-required"},
		"no id":               {schema("", `{"name":"a","required":true,"type":"int"}`), "valid id or name"},
		"no type":             {schema("", `{"id":1,"name":"a","required":true}`), "valid type"},
		"not a struct":        {`{"action":"add-schema","schema":{"type":"list","fields":[]}}`, "not struct"},
		"identifier missing":  {schema(`,"identifier-field-ids":[9]`, required), "does not exist"},
		"identifier optional": {schema(`,"identifier-field-ids":[1]`, field(1, "a", `"int"`, "")), "not a required field"},
		"identifier double":   {schema(`,"identifier-field-ids":[1]`, `{"id":1,"name":"a","required":true,"type":"double"}`), "float or double"},
		"identifier struct":   {schema(`,"identifier-field-ids":[1]`, `{"id":1,"name":"a","required":true,"type":{"type":"struct","fields":[]}}`), "primitive"},
		"identifier nested":   {schema(`,"identifier-field-ids":[2]`, field(1, "a", `{"type":"struct","fields":[{"id":2,"name":"b","required":true,"type":"int"}]}`, "")), "nested"},
		"identifier in list":  {schema(`,"identifier-field-ids":[2]`, `{"id":1,"name":"a","required":true,"type":{"type":"list","element-id":2,"element-required":true,"element":"int"}}`), "nested"},
	} {
		t.Run(name, func(t *testing.T) { refuse(t, golden(t, "v2"), fault.Invalid, c.part, c.update) })
	}
	v3 := golden(t, "v3")
	refuse(t, v3, fault.Invalid, "not a value of type", schema("", field(1, "a", `"int"`, `,"initial-default":"x"`)))
	refuse(t, v3, fault.Invalid, "not a value of type", schema("", field(1, "a", `"variant"`, `,"initial-default":{}`)))
	refuse(t, v3, fault.Invalid, "must be optional", schema("", `{"id":1,"name":"a","required":true,"type":"unknown"}`))
	for _, typ := range []string{"variant", "unknown", "timestamp_ns", "timestamptz_ns", "geometry", "geography(srid:4326, spherical)", "decimal(38, 38)", "fixed[16]"} {
		require.True(t, apply(t, v3, schema("", field(1, "a", `"`+typ+`"`, ""))).Changed, typ)
	}
}

func TestSpecUpdates(t *testing.T) {
	result := apply(t, golden(t, "v2"),
		`{"action":"add-spec","spec":{"spec-id":9,"x":1.0,"fields":[{"source-id":1,"transform":"identity","name":"x"},{"source-id":6,"transform":"day","name":"at_day","x-f":1.0}]}}`,
		`{"action":"set-default-spec","spec-id":-1}`)
	spec, ok := result.Document.PartitionSpecRaw(1)
	require.True(t, ok)
	require.Equal(t, `{"spec-id":1,"x":1.0,"fields":[{"source-id":1,"transform":"identity","name":"x","field-id":1000},{"source-id":6,"transform":"day","name":"at_day","x-f":1.0,"field-id":1001}]}`, string(spec),
		"the id of the same field in an older spec is used again")
	require.Equal(t, "1001", sectionOf(t, result.Document, "last-partition-id"))
	require.True(t, result.Changes.DefaultSpecChanged)
	require.Equal(t, 1, result.Changes.AddedSpecs)
	removed := apply(t, result.Document, `{"action":"remove-partition-specs","spec-ids":[0,9]}`)
	require.Equal(t, []int{0}, removed.Changes.RemovedSpecs)

	add := func(fields string) string {
		return `{"action":"add-spec","spec":{"fields":[` + fields + `]}}`
	}
	for name, c := range map[string]struct{ fields, part string }{
		"duplicate id":        {`{"source-id":1,"transform":"identity","name":"x","field-id":1001},{"source-id":2,"transform":"identity","name":"y","field-id":1001}`, "field id more than once"},
		"duplicate name":      {`{"source-id":1,"transform":"bucket[2]","name":"p"},{"source-id":2,"transform":"bucket[2]","name":"p"}`, "name more than once"},
		"name of a column":    {`{"source-id":1,"transform":"bucket[2]","name":"y"}`, "exists in schema"},
		"no name":             {`{"source-id":1,"transform":"bucket[2]"}`, "empty partition name"},
		"missing source":      {`{"source-id":99,"transform":"identity","name":"p"}`, "Cannot find source column"},
		"day of long":         {`{"source-id":1,"transform":"day","name":"p"}`, "Invalid source type long"},
		"hour bracketed":      {`{"source-id":6,"transform":"hour[2]","name":"p"}`, "Invalid source type"},
		"bucket without n":    {`{"source-id":1,"transform":"bucket","name":"p"}`, "Invalid source type"},
		"bucket zero":         {`{"source-id":1,"transform":"bucket[0]","name":"p"}`, "Invalid source type"},
		"truncate timestamp":  {`{"source-id":6,"transform":"truncate[2]","name":"p"}`, "Invalid source type"},
		"identity of list":    {`{"source-id":4,"transform":"identity","name":"p"}`, "Invalid source type list"},
		"in a list":           {`{"source-id":5,"transform":"identity","name":"p"}`, "Invalid parent"},
		"unknown transform":   {`{"source-id":1,"transform":"zorder","name":"p"}`, "Invalid source type"},
		"id of another field": {`{"source-id":2,"transform":"identity","name":"y","field-id":1000}`, "used by another field"},
		"several sources":     {`{"source-ids":[1,2],"transform":"bucket[2]","name":"p"}`, "until v3"},
	} {
		t.Run(name, func(t *testing.T) { refuse(t, golden(t, "v2"), fault.Invalid, c.part, add(c.fields)) })
	}
	refuse(t, golden(t, "v1"), fault.Invalid, "sequential", add(`{"source-id":2,"transform":"identity","name":"y","field-id":1005}`))
}

func TestSortOrderUpdates(t *testing.T) {
	order := `{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[%s]}}`
	field := `{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-last","x":1.0}`
	result := apply(t, golden(t, "v2"), fmt.Sprintf(order, field), `{"action":"set-default-sort-order","sort-order-id":-1}`)
	require.Equal(t, "4", sectionOf(t, result.Document, "default-sort-order-id"))
	require.Contains(t, sectionOf(t, result.Document, "sort-orders"), `{"order-id":4,"fields":[`+field+`]}`)
	require.True(t, result.Changes.DefaultSortOrderChanged)
	unsorted := apply(t, golden(t, "v2"), fmt.Sprintf(order, ""), `{"action":"set-default-sort-order","sort-order-id":-1}`)
	require.Equal(t, "0", sectionOf(t, unsorted.Document, "default-sort-order-id"))
	refuse(t, golden(t, "v2"), fault.Invalid, "direction", fmt.Sprintf(order, `{"source-id":1,"transform":"identity","direction":"up","null-order":"nulls-last"}`))
	refuse(t, golden(t, "v2"), fault.Invalid, "null-order", fmt.Sprintf(order, `{"source-id":1,"transform":"identity","direction":"asc"}`))
	refuse(t, golden(t, "v2"), fault.Invalid, "source column", fmt.Sprintf(order, `{"source-id":99,"transform":"identity","direction":"asc","null-order":"nulls-last"}`))
}

func TestDroppingASourceColumn(t *testing.T) {
	drop := `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":%d,"name":"a","required":true,"type":"%s"},{"id":3,"name":"z","required":true,"type":"long"}]}}`
	set := `{"action":"set-current-schema","schema-id":-1}`
	refuse(t, golden(t, "v2"), fault.Invalid, "Cannot find source column for partition spec", fmt.Sprintf(drop, 2, "long"), set)
	refuse(t, golden(t, "v2"), fault.Invalid, "Cannot find source column for sort order", fmt.Sprintf(drop, 1, "long"), set)
	require.True(t, apply(t, golden(t, "v2"), fmt.Sprintf(drop, 1, "long"), set,
		`{"action":"add-sort-order","sort-order":{"fields":[]}}`, `{"action":"set-default-sort-order","sort-order-id":-1}`).Changed, "judged when all updates are in")
}

func TestUpgrades(t *testing.T) {
	v2 := apply(t, golden(t, "v1"), `{"action":"upgrade-format-version","format-version":2}`)
	require.True(t, v2.Changes.FormatVersionChanged)
	doc := v2.Document
	for name, want := range map[string]string{
		"last-sequence-number": "0", "current-schema-id": "0", "default-spec-id": "0", "last-partition-id": "1000",
		"default-sort-order-id": "0", "sort-orders": `[{"order-id":0,"fields":[]}]`,
		"partition-specs": `[{"spec-id":0,"fields":[{"name":"x","transform":"identity","source-id":1,"field-id":1000}]}]`,
	} {
		require.Equal(t, want, sectionOf(t, doc, name), name)
	}
	for _, name := range []string{"schema", "partition-spec"} {
		_, ok := doc.Section(name)
		require.False(t, ok, name)
	}
	require.Contains(t, sectionOf(t, doc, "schemas"), `"x-field":1.0`)
	require.Contains(t, sectionOf(t, doc, "x-engine"), `123456789012345678901234567890`)
	v3 := apply(t, doc, `{"action":"upgrade-format-version","format-version":3}`).Document
	next, ok := v3.NextRowID()
	require.True(t, ok)
	require.Zero(t, next)
}

func TestV1KeepsItsCopies(t *testing.T) {
	doc := applyAt(t, golden(t, "v1"), 1702638600000,
		`{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"x","required":true,"type":"long"}]}}`,
		`{"action":"set-current-schema","schema-id":-1}`,
		`{"action":"add-spec","spec":{"fields":[]}}`, `{"action":"set-default-spec","spec-id":-1}`).Document
	require.Equal(t, int64(1702638600000), doc.LastUpdatedMs())
	require.Equal(t, "1", sectionOf(t, doc, "current-schema-id"))
	require.JSONEq(t, `{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]}`, sectionOf(t, doc, "schema"))
	require.Equal(t, "[]", sectionOf(t, doc, "partition-spec"))
	require.Equal(t, "1000", sectionOf(t, doc, "last-partition-id"))
	refuse(t, doc, fault.Invalid, "must be 0 in v1", snapshotUpdate(7, oldID, 1, ""))
	withSnapshot := apply(t, doc, snapshotUpdate(7, oldID, 0, ""), setRef("main", 7)).Document
	require.JSONEq(t, `{"main":{"snapshot-id":7,"type":"branch"}}`, sectionOf(t, withSnapshot, "refs"))
}

func TestUnknownTransformDoesNotBlockEvolution(t *testing.T) {
	raw := strings.Replace(string(golden(t, "v2").Bytes()), `"transform":"identity","source-id":1,"field-id":1000`, `"transform":"zorder[2]","source-id":1,"field-id":1000`, 1)
	doc, err := metadata.Parse([]byte(raw))
	require.NoError(t, err)
	add := `{"action":"add-schema","schema":{"type":"struct","fields":[{"id":%d,"name":"x","required":true,"type":"long"},{"id":2,"name":"y","required":true,"type":"long"},{"id":3,"name":"z","required":true,"type":"long"}]}}`
	set := `{"action":"set-current-schema","schema-id":-1}`
	require.True(t, apply(t, doc, fmt.Sprintf(add, 1), set).Changed)
	refuse(t, doc, fault.Invalid, "Cannot find source column", fmt.Sprintf(add, 9), set)
}

package scan_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
)

// events is partitioned by the identity of kind, with bounds on id.
func events(t *testing.T, version int) *lake {
	l := newLake(t, version, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64), field(2, "kind", iceberg.PrimitiveTypes.String)),
		specOf(0, iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Transform: iceberg.IdentityTransform{}, Name: "kind"}))
	ids := func(low, high int64) func(*iceberg.DataFileBuilder) {
		return func(b *iceberg.DataFileBuilder) {
			b.ValueCounts(map[int]int64{1: 10}).NullValueCounts(map[int]int64{1: 0})
			b.LowerBoundValues(map[int][]byte{1: bin(t, iceberg.Int64Literal(low))})
			b.UpperBoundValues(map[int][]byte{1: bin(t, iceberg.Int64Literal(high))})
		}
	}
	l.commit("append", l.manifest(0, l.id(), false,
		data("a1", map[int]any{1000: "a"}, 10, ids(1, 10)), data("b1", map[int]any{1000: "b"}, 10, ids(1, 10))))
	l.commit("append", l.manifest(0, l.id(), false,
		data("a2", map[int]any{1000: "a"}, 10, ids(11, 20)), data("null", map[int]any{1000: nil}, 10, ids(21, 30))))
	return l
}

func TestFilesAreChosenByPartitionAndBounds(t *testing.T) {
	for name, c := range map[string]struct {
		filter, residual string
		want             []string
	}{
		"nothing asked":               {"", "", []string{"a2", "null", "a1", "b1"}},
		"true":                        {"true", "", []string{"a2", "null", "a1", "b1"}},
		"false":                       {`{"type":"false"}`, "", []string{}},
		"partition":                   {`{"type":"eq","term":"kind","value":"a"}`, "true", []string{"a2", "a1"}},
		"partition, new form":         {`{"type":"eq","left":{"type":"reference","name":"kind"},"right":"a"}`, "true", []string{"a2", "a1"}},
		"null partition":              {`{"type":"is-null","term":"kind"}`, "true", []string{"null"}},
		"bounds":                      {`{"type":"gt","term":"id","value":15}`, `{"type":"gt","term":"id","value":15}`, []string{"a2", "null"}},
		"both, the rest is left":      {`{"type":"and","left":{"type":"eq","term":"kind","value":"a"},"right":{"type":"lt","term":"id","value":5}}`, `{"type":"lt","term":"id","value":5}`, []string{"a1"}},
		"or":                          {`{"type":"or","left":{"type":"eq","term":"kind","value":"b"},"right":{"type":"gt","term":"id","value":25}}`, "", []string{"null", "b1"}},
		"not equal keeps null":        {`{"type":"not-eq","term":"kind","value":"a"}`, "", []string{"null", "b1"}},
		"negated equality keeps null": {`{"type":"not","child":{"type":"eq","term":"kind","value":"a"}}`, "", []string{"null", "b1"}},
		"negated order keeps null":    {`{"type":"not","child":{"type":"lt","term":"kind","value":"b"}}`, "", []string{"null", "b1"}},
		"in":                          {`{"type":"in","term":"id","values":[3,100]}`, `{"type":"in","term":"id","values":[3,100]}`, []string{"a1", "b1"}},
		"in of nothing":               {`{"type":"in","term":"id","values":[]}`, "", []string{}},
		"starts with":                 {`{"type":"starts-with","term":"kind","value":"b"}`, "true", []string{"b1"}},
		"literal first":               {`{"type":"gt","left":{"type":"literal","value":5},"right":{"type":"reference","id":1}}`, "", []string{"a1", "b1"}},
		"two columns":                 {`{"type":"eq","left":{"type":"reference","name":"id"},"right":{"type":"reference","name":"kind"}}`, "", []string{"a2", "null", "a1", "b1"}},
		"transform":                   {`{"type":"eq","term":{"type":"transform","transform":"identity","term":"kind"},"value":"b"}`, "true", []string{"b1"}},
		"function":                    {`{"type":"eq","left":{"type":"apply","function":"truncate","arguments":[1,{"type":"reference","name":"kind"}]},"right":"b"}`, "", []string{"a2", "null", "a1", "b1"}},
	} {
		for _, version := range []int{1, 2, 3} {
			plan := events(t, version).plan(filter(c.filter))
			assert.Equal(t, c.want, paths(plan.Tasks), "%s v%d", name, version)
			assert.Empty(t, plan.PlanTasks)
			if c.residual != "" {
				for _, task := range plan.Tasks {
					assert.JSONEq(t, c.residual, string(task.Residual), "%s v%d %s", name, version, task.DataFile.FilePath)
				}
			}
		}
	}
}

func TestNamesAreFoundAsAskedFor(t *testing.T) {
	l := events(t, 2)
	req := filter(`{"type":"eq","term":"KIND","value":"a"}`)
	_, err := scan.New(l).Plan(t.Context(), l.doc(), req)
	requireInvalid(t, err, `"KIND"`)
	req.IgnoreCase = true
	assert.Equal(t, []string{"a2", "a1"}, paths(l.plan(req).Tasks))
}

func TestRequestsThatCannotBe(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64), field(2, "tags", &iceberg.ListType{ElementID: 3, Element: iceberg.PrimitiveTypes.String}),
		field(4, "day", iceberg.PrimitiveTypes.Date), field(5, "price", iceberg.DecimalTypeOf(9, 2))))
	l.commit("append", l.manifest(0, l.id(), false, data("1", nil, 1)))
	l.commit("append")
	one, two, none := int64(1), int64(2), int64(77)
	for name, c := range map[string]struct {
		req  scan.Request
		says string
	}{
		"unknown column":     {filter(`{"type":"eq","term":"nope","value":1}`), `"nope"`},
		"within a list":      {filter(`{"type":"eq","term":"tags.element","value":"x"}`), `"tags.element"`},
		"a list":             {filter(`{"type":"eq","term":"tags","value":"x"}`), `"tags"`},
		"literal's type":     {filter(`{"type":"eq","term":"id","value":"x"}`), `"id"`},
		"fraction of a long": {filter(`{"type":"eq","term":"id","value":1.5}`), `"id"`},
		"no date":            {filter(`{"type":"lt","term":"day","value":"2020-13-01"}`), `"day"`},
		"huge exponent":      {filter(`{"type":"lt","term":"price","value":"1e999999999"}`), `"price"`},
		"null literal":       {filter(`{"type":"eq","term":"id","value":null}`), "is-null"},
		"NaN of a long":      {filter(`{"type":"is-nan","term":"id"}`), `"id"`},
		"prefix of a long":   {filter(`{"type":"starts-with","term":"id","value":1}`), `"id"`},
		"unknown function":   {filter(`{"type":"eq","left":{"type":"apply","function":"lower","arguments":[{"type":"reference","name":"id"}]},"right":1}`), `"lower"`},
		"transform's type":   {filter(`{"type":"eq","term":{"type":"transform","transform":"day","term":"id"},"value":1}`), `"id"`},
		"unknown operator":   {filter(`{"type":"like","term":"id","value":1}`), "expression"},
		"no expression":      {filter(`[1]`), "expression"},
		"no column":          {filter(`{"type":"eq","value":1}`), "column"},
		"no child":           {filter(`{"type":"not"}`), "child"},
		"unknown snapshot":   {scan.Request{SnapshotID: &none}, "77"},
		"both kinds":         {scan.Request{SnapshotID: &one, StartSnapshotID: &one, EndSnapshotID: &two}, "not both"},
		"start alone":        {scan.Request{StartSnapshotID: &one}, "both"},
		"end alone":          {scan.Request{EndSnapshotID: &one}, "both"},
		"unknown start":      {scan.Request{StartSnapshotID: &none, EndSnapshotID: &two}, "77"},
		"backwards":          {scan.Request{StartSnapshotID: &two, EndSnapshotID: &one}, "ancestor"},
		"negative hint":      {scan.Request{MinRows: -1}, "min-rows-requested"},
	} {
		_, err := scan.New(l).Plan(t.Context(), l.doc(), c.req)
		t.Run(name, func(t *testing.T) { requireInvalid(t, err, c.says) })
	}
}

func requireInvalid(t *testing.T, err error, says string) {
	t.Helper()
	require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
	assert.Contains(t, fault.PublicMessage(err), says)
	assert.Regexp(t, `\.$`, fault.PublicMessage(err))
}

func TestAnEmptyTableHasAnEmptyPlan(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)))
	plan := l.plan(scan.Request{})
	assert.Empty(t, plan.Tasks)
	assert.NotEmpty(t, plan.ID)
}

func TestSnapshotsAndTheirSchemas(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "old", iceberg.PrimitiveTypes.Int64)))
	l.commit("append", l.manifest(0, l.id(), false, data("1", nil, 1)))
	l.schemas = append(l.schemas, iceberg.NewSchema(1, field(1, "new", iceberg.PrimitiveTypes.Int64)))
	l.commit("append", l.manifest(0, l.id(), false, data("2", nil, 1)))
	first := int64(1)
	req := scan.Request{SnapshotID: &first}
	assert.Equal(t, []string{"1"}, paths(l.plan(req).Tasks))

	req.Filter = json.RawMessage(`{"type":"eq","term":"old","value":1}`)
	_, err := scan.New(l).Plan(t.Context(), l.doc(), req)
	requireInvalid(t, err, `"old"`)
	req.UseSnapshotSchema = true
	assert.Equal(t, []string{"1"}, paths(l.plan(req).Tasks))
}

func TestIncrementalScansGiveWhatAppendsAdded(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)))
	l.commit("append", l.manifest(0, l.id(), false, data("1", nil, 1)))
	l.commit("append", l.manifest(0, l.id(), false, data("2", nil, 1)))
	existing := func(path string, sequence int64) file {
		f := data(path, nil, 1)
		f.status, f.sequence, f.addedBy = iceberg.EntryStatusEXISTING, &sequence, sequence
		return f
	}
	l.replace("replace", l.manifest(0, l.id(), false, existing("1", 1), existing("2", 2)))
	l.commit("overwrite", l.manifest(0, l.id(), false, data("overwritten", nil, 1)))
	merged := data("5", nil, 1)
	l.replace("append", l.manifest(0, l.id(), false, merged, existing("1", 1), existing("2", 2), existing("overwritten", 4)))

	scanned := func(start, end int64) []string {
		return paths(l.plan(scan.Request{StartSnapshotID: &start, EndSnapshotID: &end}).Tasks)
	}
	assert.Equal(t, []string{"2", "5"}, scanned(1, 5))
	assert.Equal(t, []string{"5"}, scanned(2, 5))
	assert.Equal(t, []string{"2"}, scanned(1, 2))
	assert.Empty(t, scanned(2, 4))
	assert.Empty(t, scanned(5, 5))
}

func TestMissingAndBrokenManifestsAreTheTablesFault(t *testing.T) {
	l := events(t, 2)
	l.plan(scan.Request{})
	for path := range maps.Clone(l.reads) {
		whole := l.files[path]
		delete(l.files, path)
		_, err := scan.New(l).Plan(t.Context(), l.doc(), scan.Request{})
		require.Equal(t, fault.Internal, fault.CodeOf(err))
		assert.Contains(t, fault.PublicMessage(err), path)
		for _, cut := range []int{0, 3, len(whole) / 2, len(whole) - 1} {
			l.files[path] = whole[:cut]
			_, err = scan.New(l).Plan(t.Context(), l.doc(), scan.Request{})
			require.Equal(t, fault.Internal, fault.CodeOf(err), "%s cut at %d", path, cut)
		}
		l.files[path] = whole
	}
}

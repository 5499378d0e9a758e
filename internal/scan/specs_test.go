package scan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/scan"
)

func byTransform(transform iceberg.Transform, source int) iceberg.PartitionSpec {
	return specOf(0, iceberg.PartitionField{SourceIDs: []int{source}, FieldID: 1000, Transform: transform, Name: "p"})
}

// Writers before the fix of 2020 rounded times before 1970 up: the partition is one too high, the row is there all the same.
func TestPartitionsOfOlderWritersBefore1970(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "ts", iceberg.PrimitiveTypes.Timestamp)), byTransform(iceberg.DayTransform{}, 1))
	day := data("rounded up", map[int]any{1000: iceberg.Date(0)}, 1) // of 1969-12-31T12:00
	day.logical = map[int]string{1000: "date"}
	l.commit("append", l.manifest(0, l.id(), false, day))
	for expr, found := range map[string]int{
		`{"type":"eq","term":"ts","value":"1969-12-31T12:00:00"}`:    1,
		`{"type":"lt","term":"ts","value":"1969-12-31T13:00:00"}`:    1,
		`{"type":"in","term":"ts","values":["1969-12-31T12:00:00"]}`: 1,
		`{"type":"lt","term":"ts","value":"1969-12-29T13:00:00"}`:    0,
		`{"type":"gt","term":"ts","value":"1970-01-02T00:00:00"}`:    0,
	} {
		assert.Len(t, l.plan(filter(expr)).Tasks, found, expr)
	}
}

func TestTransformsOfTheFilterMeetThoseOfTheSpec(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)), byTransform(iceberg.BucketTransform{NumBuckets: 16}, 1))
	l.commit("append", l.manifest(0, l.id(), false, data("3", map[int]any{1000: int32(3)}, 1), data("4", map[int]any{1000: int32(4)}, 1)))
	for name, expr := range map[string]string{
		"old":             `{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"id"},"value":3}`,
		"old, reference":  `{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":{"type":"reference","term":"id"}},"value":3}`,
		"new":             `{"type":"eq","left":{"type":"apply","function":"bucket","arguments":[16,{"type":"reference","name":"id"}]},"right":3}`,
		"new, in full":    `{"type":"in","child":{"type":"apply","function":{"catalog":"iceberg_functions","identifier":["bucket"]},"arguments":[{"type":"literal","value":16},{"type":"reference","id":1}]},"values":{"type":"literals","values":[3],"data-type":"int"}}`,
		"new, right side": `{"type":"eq","left":3,"right":{"type":"apply","function":["bucket"],"arguments":[16,{"type":"reference","name":"id"}]}}`,
	} {
		plan := l.plan(filter(expr))
		assert.Equal(t, []string{"3"}, paths(plan.Tasks), name)
		assert.JSONEq(t, "true", string(plan.Tasks[0].Residual), name)
	}
	other := `{"type":"eq","term":{"type":"transform","transform":"bucket[8]","term":"id"},"value":3}`
	plan := l.plan(filter(other))
	assert.Len(t, plan.Tasks, 2, "of another transform nothing is known")
	assert.JSONEq(t, other, string(plan.Tasks[0].Residual))
}

func TestUnknownTransformsSayNothing(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)), byTransform(iceberg.BucketTransform{NumBuckets: 16}, 1))
	l.commit("append", l.manifest(0, l.id(), false, data("1", map[int]any{1000: int32(3)}, 1)))
	for _, change := range [][2]string{{`"bucket[16]"`, `"zorder[3]"`}, {`"source-id":1`, `"source-ids":[1,1]`}} {
		changed := strings.Replace(string(l.json()), change[0], change[1], 1)
		require.NotEqual(t, string(l.json()), changed)
		for _, expr := range []string{`{"type":"eq","term":"id","value":123}`, `{"type":"is-null","term":"id"}`} {
			plan, err := scan.New(l).Plan(t.Context(), parse(t, changed), filter(expr))
			require.NoError(t, err)
			assert.Len(t, plan.Tasks, 1, "%s %s", change[1], expr)
		}
	}
}

func TestAnEvolvedTableIsPlannedByTheSpecOfEachManifest(t *testing.T) {
	schema := schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int32), field(2, "kind", iceberg.PrimitiveTypes.String))
	l := newLake(t, 2, schema, specOf(0), specOf(1, iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Transform: identity, Name: "kind"}),
		specOf(2, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1001, Transform: identity, Name: "id"}))
	l.commit("append", l.manifest(0, l.id(), false, data("plain", nil, 1)))
	l.commit("append", l.manifest(1, l.id(), false, data("kind-a", map[int]any{1000: "a"}, 1), data("kind-b", map[int]any{1000: "b"}, 1)))
	l.commit("append", l.manifest(2, l.id(), false, data("id-1", map[int]any{1001: int32(1)}, 1), data("id-2", map[int]any{1001: int32(2)}, 1)))
	// id was widened, kind was dropped.
	l.schemas = append(l.schemas, iceberg.NewSchema(1, field(1, "id", iceberg.PrimitiveTypes.Int64)))

	plan := l.plan(filter(`{"type":"eq","term":"id","value":2}`))
	assert.Equal(t, []string{"id-2", "kind-a", "kind-b", "plain"}, paths(plan.Tasks))
	assert.Equal(t, []json.RawMessage{json.RawMessage(`"a"`)}, plan.Tasks[1].DataFile.Partition, "the type comes from an older schema")
	assert.Empty(t, plan.Tasks[3].DataFile.Partition)
	decode(t, l, plan.Page)
}

func TestManifestsOutOfRangeAreNotRead(t *testing.T) {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)), byTransform(identity, 1))
	near := l.manifest(0, l.id(), false, data("1", map[int]any{1000: int64(1)}, 1))
	far := l.manifest(0, l.id(), false, data("99", map[int]any{1000: int64(99)}, 1))
	l.commit("append", near, far)
	assert.Equal(t, []string{"1"}, paths(l.plan(filter(`{"type":"lt","term":"id","value":5}`)).Tasks))
	assert.Zero(t, l.reads[far.FilePath()])
	assert.Equal(t, 1, l.reads[near.FilePath()])
}

func TestOldSnapshotsNameTheirManifestsThemselves(t *testing.T) {
	l := newLake(t, 1, schemaOf(field(1, "kind", iceberg.PrimitiveTypes.String)), specOf(0), specOf(1, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Transform: identity, Name: "kind"}))
	a := l.manifest(1, l.id(), false, data("a", map[int]any{1000: "a"}, 1), data("b", map[int]any{1000: "b"}, 1))
	plain := l.manifest(0, l.id(), false, data("plain", nil, 1))
	l.snaps = append(l.snaps, map[string]any{
		"snapshot-id": 1, "timestamp-ms": 1700000000001, "manifests": []string{a.FilePath(), plain.FilePath()},
	})
	plan := l.plan(filter(`{"type":"eq","term":"kind","value":"a"}`))
	assert.Equal(t, []string{"a", "plain"}, paths(plan.Tasks))
	assert.Equal(t, 1, plan.Tasks[0].DataFile.SpecID)
}

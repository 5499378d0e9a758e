package scan_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/scan"
)

func deleting(path string, content iceberg.ManifestEntryContent, partition map[int]any, build func(*iceberg.DataFileBuilder)) file {
	f := data(path, partition, 1)
	f.content, f.build = content, build
	return f
}

func equality(ids ...int) func(*iceberg.DataFileBuilder) {
	return func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs(ids) }
}

// applied gives the delete files of each data file.
func applied(p scan.Page) map[string][]string {
	out := map[string][]string{}
	names := paths(p.Tasks)
	for i, task := range p.Tasks {
		list := []string{}
		for _, at := range task.References {
			list = append(list, p.DeleteFiles[at].FilePath[len(location+"/data/"):])
		}
		slices.Sort(list)
		out[names[i]] = list
	}
	return out
}

func partitioned(t *testing.T, version int) *lake {
	schema := schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64), field(2, "kind", iceberg.PrimitiveTypes.String))
	return newLake(t, version, schema,
		specOf(0, iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Transform: iceberg.IdentityTransform{}, Name: "kind"}), specOf(1))
}

func TestDeletesApplyBySequenceAndPartition(t *testing.T) {
	l := partitioned(t, 3) // which has all kinds; iceberg-go writes no referenced-data-file in v2
	a, b := map[int]any{1000: "a"}, map[int]any{1000: "b"}
	l.commit("append", l.manifest(0, l.id(), false, data("a1", a, 5), data("b1", b, 5)), l.manifest(1, l.id(), false, data("none1", nil, 5)))
	// Of the same commit as a2: an equality delete does not reach it, a position delete does.
	l.commit("overwrite",
		l.manifest(0, l.id(), false, data("a2", a, 5)),
		l.manifest(0, l.id(), true,
			deleting("eq-a", iceberg.EntryContentEqDeletes, a, equality(1)),
			deleting("pos-a", iceberg.EntryContentPosDeletes, a, nil),
			deleting("pos-a2-only", iceberg.EntryContentPosDeletes, a, func(b *iceberg.DataFileBuilder) {
				b.ReferencedDataFile(location + "/data/a2")
			}),
			deleting("pos-a1-by-bounds", iceberg.EntryContentPosDeletes, a, func(b *iceberg.DataFileBuilder) {
				b.LowerBoundValues(map[int][]byte{2147483546: []byte(location + "/data/a1")})
				b.UpperBoundValues(map[int][]byte{2147483546: []byte(location + "/data/a1")})
			}),
			deleting("pos-beyond", iceberg.EntryContentPosDeletes, a, func(b *iceberg.DataFileBuilder) {
				b.LowerBoundValues(map[int][]byte{2147483546: []byte(location + "/data/x")})
				b.UpperBoundValues(map[int][]byte{2147483546: []byte(location + "/data/z")})
			})),
		l.manifest(1, l.id(), true,
			deleting("eq-all", iceberg.EntryContentEqDeletes, nil, equality(1)),
			deleting("pos-none", iceberg.EntryContentPosDeletes, nil, nil)))
	l.commit("append", l.manifest(0, l.id(), false, data("a3", a, 5)))

	plan := l.plan(scan.Request{})
	assert.Equal(t, map[string][]string{
		"a1":    {"eq-a", "eq-all", "pos-a", "pos-a1-by-bounds"},
		"a2":    {"pos-a", "pos-a2-only"},
		"a3":    {},
		"b1":    {"eq-all"},
		"none1": {"eq-all", "pos-none"},
	}, applied(plan.Page))

	plan = l.plan(filter(`{"type":"eq","term":"kind","value":"b"}`))
	assert.Equal(t, map[string][]string{"b1": {"eq-all"}, "none1": {"eq-all", "pos-none"}}, applied(plan.Page))
	assert.Len(t, plan.DeleteFiles, 2, "what applies to no file is not listed")
}

func TestAVectorReplacesPositionDeletes(t *testing.T) {
	l := partitioned(t, 3)
	a := map[int]any{1000: "a"}
	l.commit("append", l.manifest(0, l.id(), false, data("a1", a, 5), data("a2", a, 7)))
	vector := func(target string) file {
		f := deleting("vectors.puffin", iceberg.EntryContentPosDeletes, a, func(b *iceberg.DataFileBuilder) {
			b.ReferencedDataFile(location + "/data/" + target).ContentOffset(4).ContentSizeInBytes(40)
		})
		f.format = iceberg.PuffinFile
		return f
	}
	l.commit("overwrite", l.manifest(0, l.id(), true, deleting("pos", iceberg.EntryContentPosDeletes, a, nil),
		deleting("eq", iceberg.EntryContentEqDeletes, a, equality(1)), vector("a1")))

	plan := l.plan(scan.Request{})
	assert.Equal(t, map[string][]string{"a1": {"eq", "vectors.puffin"}, "a2": {"eq", "pos"}}, applied(plan.Page))
	raw, err := json.Marshal(plan.DeleteFiles)
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"file-format":"puffin"`)
	assert.Contains(t, string(raw), `"content-offset":4,"content-size-in-bytes":40`)
	assert.Contains(t, string(raw), `"equality-ids":[1]`)

	// Row lineage: files inherit their first row id, and say as of when.
	assert.EqualValues(t, 0, *plan.Tasks[0].DataFile.FirstRowID)
	assert.EqualValues(t, 5, *plan.Tasks[1].DataFile.FirstRowID)
	assert.EqualValues(t, 1, *plan.Tasks[1].DataFile.DataSequenceNumber)

	tasks := decode(t, l, plan.Page)
	assert.Len(t, tasks[0].DeletionVectorFiles, 1)
	assert.Len(t, tasks[1].DeleteFiles, 1)
}

// decode reads a page as iceberg-go's REST client does, which checks it.
func decode(t *testing.T, l *lake, page scan.Page) []restTask {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"file-scan-tasks": page.Tasks, "delete-files": page.DeleteFiles})
	require.NoError(t, err)
	var wire rest.ScanTasks
	require.NoError(t, json.Unmarshal(raw, &wire))
	tasks, err := rest.DecodeScanTasks(wire, l.meta(), nil, iceberg.AlwaysTrue{})
	require.NoError(t, err, "%s", raw)
	return tasks
}

package findings_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

const oldSchema = `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},
 {"id":2,"name":"mail","required":false,"type":"string"},{"id":3,"name":"gone","required":false,"type":"string"}]}`

const newSchema = `{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"id","required":true,"type":"long"},
 {"id":2,"name":"email","required":false,"type":"string"},{"id":4,"name":"address","required":false,"type":{"type":"struct","fields":[
  {"id":5,"name":"street","required":false,"type":"string"},{"id":6,"name":"city","required":false,"type":"string"}]}},
 {"id":7,"name":"tags","required":false,"type":{"type":"list","element-id":8,"element-required":false,"element":"string"}}]}`

// document is a table whose schema was evolved, with properties as JSON members.
func document(t *testing.T, properties string) *metadata.Document {
	t.Helper()
	doc, err := metadata.Parse([]byte(`{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",
"last-sequence-number":0,"last-updated-ms":1,"last-column-id":8,"schemas":[` + oldSchema + `,` + newSchema + `],"current-schema-id":1,
"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,"sort-orders":[{"order-id":0,"fields":[]}],
"default-sort-order-id":0,"properties":{` + properties + `},"snapshots":[]}`))
	require.NoError(t, err)
	return doc
}

const stamped = `"sluice.write-policy":"open_append","sluice.classification":"internal","owner":"x"`

func governed(columns ...string) models.Table {
	row := models.Table{ID: "t", CatalogID: "c", WritePolicy: models.OpenAppend, Classification: models.Internal, KnownColumn: 1}
	row.Columns.V = map[string]models.ColumnGovernance{}
	for _, c := range columns {
		row.Columns.V[c] = models.ColumnGovernance{Tag: "x"}
	}
	return row
}

func kinds(all []models.Finding) []string {
	out := []string{}
	for _, f := range all {
		out = append(out, string(f.Kind))
	}
	return out
}

func TestPropertyDrift(t *testing.T) {
	assert.Empty(t, findings.OfGovernance(governed(), document(t, stamped), "sluice."))

	changed := strings.Replace(stamped, "open_append", "open_full", 1) + `,"sluice.made-up":"1"`
	changed = strings.Replace(changed, `"sluice.classification":"internal",`, "", 1)
	found := findings.OfGovernance(governed(), document(t, changed), "sluice.")
	require.Equal(t, []string{"property_drift"}, kinds(found))
	assert.Equal(t, map[string]any{
		"sluice.write-policy":   map[string]any{"is": "open_full", "wanted": "open_append"},
		"sluice.classification": map[string]any{"wanted": "internal"},
		"sluice.made-up":        map[string]any{"is": "1"},
	}, found[0].Evidence.V["properties"])
}

func TestClassifiedColumns(t *testing.T) {
	all := []string{"id", "email", "address", "tags"}
	assert.Empty(t, findings.OfGovernance(governed(all...), document(t, stamped), "sluice."))

	row := governed(append(all, "mail", "gone")...)
	row.IdentityColumns.V = []string{"mail"}
	found := findings.OfGovernance(row, document(t, stamped+`,"sluice.identity-columns":"mail"`), "sluice.")
	require.Equal(t, []string{"classified_column_changed"}, kinds(found))
	assert.Equal(t, models.High, found[0].Severity)
	assert.Equal(t, []any{map[string]any{"column": "gone"}, map[string]any{"column": "mail", "renamedTo": "email", "identity": true}}, found[0].Evidence.V["columns"])
}

func TestColumnsOfRowFilters(t *testing.T) {
	row := governed()
	row.RowFilters.V = []models.RowFilter{
		{Role: "eu", Expression: []byte(`{"type":"and","left":{"type":"eq","term":"email","value":"x"},"right":{"type":"not","child":{"type":"is-null","term":{"type":"reference","term":"mail"}}}}`)},
		{Role: "all", Expression: []byte(`true`)}, {Role: "odd", Expression: []byte(`{`)},
	}
	found := findings.OfGovernance(row, document(t, stamped), "sluice.")
	require.Equal(t, []string{"classified_column_changed"}, kinds(found))
	assert.Equal(t, []any{map[string]any{"column": "mail", "renamedTo": "email", "rowFilter": true}}, found[0].Evidence.V["columns"])
	assert.Contains(t, found[0].Evidence.V["remedy"], "Row filters")
}

func TestOfSuggestion(t *testing.T) {
	of := func(row models.Table, column string) bool {
		_, ok := findings.OfSuggestion(row, findings.Suggestion{Column: column, Tag: "pan", Matches: 20, Values: 20})
		return ok
	}
	row := governed("email", "address")
	row.Columns.V["empty"] = models.ColumnGovernance{}
	for column, want := range map[string]bool{"id": true, "email": false, "emails": true, "address": false, "address.street": false, "empty": true} {
		assert.Equal(t, want, of(row, column), column)
	}
	f, _ := findings.OfSuggestion(governed(), findings.Suggestion{Column: "address.street", Tag: "pan", Matches: 19, Values: 20})
	assert.Equal(t, "column address.street", f.Subject)
	assert.Equal(t, "address.street", findings.SuggestedColumn(f))
	assert.Equal(t, [2]any{"restricted", "partial"}, [2]any{f.Evidence.V["sensitivity"], f.Evidence.V["mask"]})
	other, _ := findings.OfSuggestion(governed(), findings.Suggestion{Column: "id", Tag: "pan"})
	assert.NotEqual(t, f.SubjectKey, other.SubjectKey, "one for each column")
}

func TestUnclassifiedColumns(t *testing.T) {
	for _, c := range []struct {
		name string
		said []string
		want []string
	}{
		{"nobody classified anything", nil, nil},
		{"all but one", []string{"id", "email", "tags", "address.street"}, []string{"address.city"}},
		{"a struct as a whole", []string{"id", "email", "tags", "address"}, nil},
		{"an element", []string{"id", "email", "tags.element", "address"}, nil},
		{"one", []string{"email"}, []string{"address.street", "address.city", "tags"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := findings.OfGovernance(governed(c.said...), document(t, stamped), "sluice.")
			if c.want == nil {
				assert.Empty(t, found)
				return
			}
			require.Equal(t, []string{"unclassified_column"}, kinds(found))
			assert.Equal(t, c.want, found[0].Evidence.V["columns"])
		})
	}
	row := governed("email")
	row.KnownColumn = 6
	found := findings.OfGovernance(row, document(t, stamped), "sluice.")
	require.Equal(t, []string{"unclassified_column"}, kinds(found))
	assert.Equal(t, []string{"tags"}, found[0].Evidence.V["columns"], "the others were there when email was classified")
	for _, known := range []int{0, 8} {
		row.KnownColumn = known
		assert.Empty(t, findings.OfGovernance(row, document(t, stamped), "sluice."))
	}

	row = governed()
	row.Classification = models.Restricted
	assert.Empty(t, findings.OfGovernance(row, document(t, strings.Replace(stamped, `"internal"`, `"restricted"`, 1)), "sluice."), "the level covers all of its columns")
}

func TestOfMetadata(t *testing.T) {
	doc := document(t, stamped)
	size := int64(len(doc.Bytes()))
	for limit, want := range map[int64]bool{0: false, size + 1: false, size: true} {
		f, ok := findings.OfMetadata(governed(), doc, limit)
		require.Equal(t, want, ok, limit)
		if ok {
			assert.Equal(t, int64(2), f.Evidence.V["schemas"])
		}
	}
}

func TestOfRate(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		r    findings.TableRate
		t    findings.Thresholds
		want []string
	}{
		{"slow", findings.TableRate{Commits: 719}, findings.Thresholds{SnapshotsHourly: 720}, []string{}},
		{"fast", findings.TableRate{Commits: 720}, findings.Thresholds{SnapshotsHourly: 720}, []string{"snapshot_rate"}},
		{"a day's commits are not judged", findings.TableRate{Commits: 9000}, findings.Thresholds{SmallFile: 1}, []string{}},
		{"small", findings.TableRate{AddedFiles: 100, AddedBytes: 100 * 1023}, findings.Thresholds{SmallFile: 1024}, []string{"small_files"}},
		{"large enough", findings.TableRate{AddedFiles: 100, AddedBytes: 100 * 1024}, findings.Thresholds{SmallFile: 1024}, []string{}},
		{"few", findings.TableRate{AddedFiles: 99, AddedBytes: 99}, findings.Thresholds{SmallFile: 1024}, []string{}},
		{"none", findings.TableRate{}, findings.Thresholds{SmallFile: 1024, SnapshotsHourly: 1}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.r.TableID, c.r.Table, c.r.Since = "t", "db.t", at
			found := findings.OfRate(c.r, c.t)
			assert.Equal(t, c.want, kinds(found))
			for _, f := range found {
				assert.Equal(t, "db.t", f.Table)
				assert.Equal(t, "2026-03-01T00:00:00Z", f.Evidence.V["since"])
			}
		})
	}
}

func TestOfDeletes(t *testing.T) {
	c := play("a1").rows[0]
	_, ok := findings.OfDeletes(c, 999, 1000)
	assert.False(t, ok)
	_, ok = findings.OfDeletes(c, 999, 0)
	assert.False(t, ok)
	f, ok := findings.OfDeletes(c, 1000, 1000)
	require.True(t, ok)
	next, _ := findings.OfDeletes(play("a1 a2").rows[1], 1001, 1000)
	assert.Equal(t, f.SubjectKey, next.SubjectKey, "one for the table")
}

func TestOfDuplicateFile(t *testing.T) {
	c := play("a1 a2 a3").rows[2]
	record := func(n int, snapshot int64) models.FileRecord {
		return models.FileRecord{Location: fmt.Sprintf("s3://b/t/%02d.parquet", n), SnapshotID: snapshot, Size: 10}
	}
	assert.Empty(t, findings.OfDuplicateFile(c, []findings.TwinFile{{Record: record(1, c.SnapshotID)}}), "its own, recorded before")

	var twins []findings.TwinFile
	for n := range 25 {
		twins = append(twins, findings.TwinFile{Record: record(n, 1000), Rows: 4})
	}
	removed := record(30, 1001)
	at, by := time.Now(), int64(1500)
	removed.RemovedAt, removed.RemovedBy = &at, &by
	found := findings.OfDuplicateFile(c, append(twins, findings.TwinFile{Record: removed, Rows: 3}))
	require.Equal(t, []string{"duplicate_file", "duplicate_file"}, kinds(found))
	e := found[0].Evidence.V
	assert.Equal(t, "1002", e["snapshot"])
	assert.Equal(t, "1000", e["earlierSnapshot"])
	assert.Equal(t, int64(100), e["rows"])
	assert.Equal(t, int64(25), e["fileCount"])
	assert.Len(t, e["files"], 20)
	assert.Equal(t, int64(0), e["removedBetween"])
	e = found[1].Evidence.V
	assert.Equal(t, "1001", e["earlierSnapshot"])
	assert.Equal(t, int64(1), e["removedBetween"])
	assert.Equal(t, []string{"1500"}, e["removedBy"])
	assert.Contains(t, e["remedy"], "are back")
}

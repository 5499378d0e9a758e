package export_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit/export"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// made is a table of the export's name that somebody makes before it does: a copy of the true one, changed.
func made(t *testing.T, change func(schema, spec, order string) (string, string, string)) *lake {
	t.Helper()
	model := newLake(t)
	model.note(1)
	model.seal()
	model.exportAll(model.exporter(0))
	doc := model.load().Document
	schema, spec, order := change(section(t, doc.Section, "schemas"), section(t, doc.Section, "partition-specs"), section(t, doc.Section, "sort-orders"))
	l := newLake(t)
	held := policy.NewHeld(nil, []policy.Grant{{Privilege: models.CatalogManageContent, ObjectID: l.cat.ID}})
	root := policy.Caller{Principal: "root", Held: held}
	_, err := l.core.CreateNamespace(t.Context(), root, l.cat, catalog.NamespaceInput{Levels: []string{"sluice_system"}})
	require.NoError(t, err)
	_, err = l.core.CreateTable(t.Context(), root, l.cat, catalog.CreateTableInput{
		Namespace: []string{"sluice_system"}, Name: "audit", Schema: json.RawMessage(schema), PartitionSpec: json.RawMessage(spec), WriteOrder: json.RawMessage(order),
	})
	require.NoError(t, err)
	l.note(10)
	l.seal()
	return l
}

// section gives the last of a list in a document.
func section(t *testing.T, of func(string) (json.RawMessage, bool), name string) string {
	t.Helper()
	raw, _ := of(name)
	var list []json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &list))
	return string(list[len(list)-1])
}

// Somebody may have made the table, with columns that only have the right names.
func TestATableThatIsNotSluices(t *testing.T) {
	l := made(t, func(schema, spec, order string) (string, string, string) {
		return strings.Replace(schema, `"type":"boolean"`, `"type":"string"`, 1), spec, order
	})
	_, _, err := l.exporter(0).Export(t.Context())
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
	require.Contains(t, fault.PublicMessage(err), "Drop or rename it")
}

// Or have partitioned it in another way: rows go where readers look for them.
func TestATableThatIsPartitionedInAnotherWay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(spec string) string
		files  int
	}{
		"by principal": {strings.NewReplacer(`"source-id":4`, `"source-id":5`, `"day"`, `"identity"`, "at_day", "who").Replace, 1},
		"by month":     {func(spec string) string { return strings.Replace(spec, `"day"`, `"month"`, 1) }, 2},
		"by kind":      {strings.NewReplacer(`"source-id":4`, `"source-id":12`, `"day"`, `"identity"`, "at_day", "ok").Replace, 2},
		"not at all":   {func(string) string { return `{"spec-id":0,"fields":[]}` }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := made(t, func(schema, spec, order string) (string, string, string) { return schema, c.change(spec), order })
			state, err := l.db.AuditState(t.Context())
			require.NoError(t, err)
			require.Equal(t, state.Seq, l.exportAll(l.exporter(0)))
			rows := int64(0)
			for _, f := range l.dataEntries() {
				rows += f.Count()
			}
			require.Equal(t, state.Seq, rows)
			require.Len(t, l.dataEntries(), c.files)
		})
	}
}

// A file says that it is sorted only as far as it is.
func TestATableInAnotherOrder(t *testing.T) {
	l := made(t, func(schema, spec, order string) (string, string, string) {
		return schema, spec, strings.Replace(order, `"source-id":1`, `"source-id":5`, 1)
	})
	l.exportAll(l.exporter(0))
	for _, f := range l.dataEntries() {
		require.True(t, f.SortOrderID() == nil || *f.SortOrderID() == 0, "sorted by %v", f.SortOrderID())
	}
}

// A page is bounded by its size too, whatever events have in them.
func TestPagesOfLargeEvents(t *testing.T) {
	l := newLake(t)
	for range 40 {
		e := models.AuditEvent{
			Type: models.AuditTokenMinted, At: time.Now(), Allowed: true, Reason: strings.Repeat("r", 4<<10),
			Details: models.JSON[map[string]any]{V: map[string]any{"text": strings.Repeat("d", 15<<10)}},
		}
		require.NoError(t, l.db.AppendAudit(t.Context(), e))
	}
	state := l.seal()
	e := export.New(export.Deps{Core: l.core, Files: l.files, Ledger: l.db, Bytes: 100 << 10, Now: time.Now})
	n, more, err := e.Export(t.Context())
	require.NoError(t, err)
	require.True(t, more)
	require.Less(t, n, int64(10))
	l.exportAll(e)
	l.requireAll(l.rows(), 1, state.Seq)
}

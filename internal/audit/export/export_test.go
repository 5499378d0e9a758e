package export_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/audit/export"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// lake is a real catalog over a SQLite file and a folder.
type lake struct {
	t     *testing.T
	db    *store.Store
	files *objects.Router
	core  *catalog.Service
	cat   models.Catalog
}

func newLake(t *testing.T) *lake {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	db, err := store.Open(ctx, store.Config{URL: filepath.Join(dir, "sluice.db") + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, store.Migrate(ctx, db))
	warehouse := "file://" + filepath.Join(dir, "warehouse")
	boot, _ := access.NewBootstrap("main", []string{warehouse}, models.OpenFull, time.Now().UTC())
	require.NoError(t, db.Bootstrap(ctx, boot))
	l := &lake{t: t, db: db}
	l.files, err = objects.Open(ctx, objects.Config{Roots: []string{warehouse}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.files.Close() })
	l.core = catalog.New(catalog.Deps{
		Store: db, Reports: db, Files: l.files, Locations: objects.Rules{}, Inspector: reconcile.NewInspector(l.files, objects.WithinStrings),
		Now: func() time.Time { return time.Now().UTC() }, ReservedPrefix: "sluice.", CacheBytes: 64 << 20,
	})
	l.cat, err = db.CatalogByName(ctx, "main")
	require.NoError(t, err)
	return l
}

func (l *lake) exporter(page int) *export.Exporter {
	return export.New(export.Deps{Core: l.core, Files: l.files, Ledger: l.db, Page: page, Now: time.Now})
}

// note writes events of several days.
func (l *lake) note(n int) {
	l.t.Helper()
	for i := range n {
		e := models.AuditEvent{
			EventID: uuid.NewString(), Type: models.AuditTokenMinted, At: time.Date(2026, 3, 1+i%3, 23, 59, 59, 123456000, time.UTC),
			Principal: "root", Allowed: i%2 == 0, Reason: strings.Repeat("ü", 40), Details: models.JSON[map[string]any]{V: map[string]any{"n": i}},
		}
		if i%2 == 0 {
			id := int64(1)<<60 + int64(i)
			e.SnapshotID, e.Catalog = &id, "main"
		}
		require.NoError(l.t, l.db.AppendAudit(l.t.Context(), e))
	}
}

func (l *lake) seal() models.AuditState {
	l.t.Helper()
	sealer, err := audit.NewSealer(l.db, audit.NewKeys(l.db, nil, time.Now, nil), audit.SealerOptions{})
	require.NoError(l.t, err)
	over, cancel := context.WithCancel(l.t.Context())
	cancel()
	sealer.Run(over)
	state, err := l.db.AuditState(l.t.Context())
	require.NoError(l.t, err)
	return state
}

// exportAll exports pages until there are no more.
func (l *lake) exportAll(e *export.Exporter) (events int64) {
	l.t.Helper()
	for {
		n, more, err := e.Export(l.t.Context())
		require.NoError(l.t, err)
		events += n
		if !more {
			return events
		}
	}
}

// load gives the table as its owner sees it.
func (l *lake) load() catalog.TableView {
	l.t.Helper()
	held := policy.NewHeld(nil, []policy.Grant{{Privilege: models.CatalogManageContent, ObjectID: l.cat.ID}})
	view, err := l.core.LoadTable(l.t.Context(), policy.Caller{Principal: "root", Held: held}, l.cat, models.TableIdent{Namespace: []string{"sluice_system"}, Name: "audit"})
	require.NoError(l.t, err)
	return view
}

// row is an event as the table has it.
type row struct {
	seq                       int64
	eventID, kind, details    string
	at                        time.Time
	snapshot                  *int64
	catalog, reason, prevHash any
	hash                      string
	allowed                   bool
}

// rows reads the table's head by its manifests, with nothing of what wrote it, and holds the files against what the
// manifests say of them.
func (l *lake) rows() []row {
	l.t.Helper()
	var out []row
	for _, f := range l.dataEntries() {
		out = append(out, l.fileRows(f)...)
	}
	return out
}

// dataEntries gives the data files of the table's head.
func (l *lake) dataEntries() []iceberg.DataFile {
	l.t.Helper()
	doc := l.load().Document
	head, ok := doc.CurrentSnapshotID()
	require.True(l.t, ok)
	snapshot, _ := doc.Snapshot(head)
	list, err := l.files.ReadFile(l.t.Context(), snapshot.ManifestList)
	require.NoError(l.t, err)
	manifests, err := iceberg.ReadManifestList(bytes.NewReader(list))
	require.NoError(l.t, err)
	var out []iceberg.DataFile
	for _, m := range manifests {
		raw, err := l.files.ReadFile(l.t.Context(), m.FilePath())
		require.NoError(l.t, err)
		entries, err := iceberg.ReadManifest(m, bytes.NewReader(raw), false)
		require.NoError(l.t, err)
		for _, e := range entries {
			out = append(out, e.DataFile())
		}
	}
	return out
}

func (l *lake) fileRows(f iceberg.DataFile) []row {
	l.t.Helper()
	data, err := l.files.ReadFile(l.t.Context(), f.FilePath())
	require.NoError(l.t, err)
	require.EqualValues(l.t, len(data), f.FileSizeBytes())
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(l.t, err)
	arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	require.NoError(l.t, err)
	table, err := arrowReader.ReadTable(l.t.Context())
	require.NoError(l.t, err)
	require.Equal(l.t, f.Count(), table.NumRows())
	for i := range int(table.NumCols()) {
		id, ok := table.Schema().Field(i).Metadata.GetValue("PARQUET:field_id")
		require.True(l.t, ok)
		require.Equal(l.t, fmt.Sprint(i+1), id)
	}
	chunks := array.NewTableReader(table, table.NumRows())
	var out []row
	for chunks.Next() {
		b := chunks.RecordBatch()
		text := func(column, i int) any {
			if b.Column(column).IsNull(i) {
				return nil
			}
			return b.Column(column).(*array.String).Value(i)
		}
		for i := range int(b.NumRows()) {
			r := row{
				seq: b.Column(0).(*array.Int64).Value(i), eventID: text(1, i).(string), kind: text(2, i).(string),
				at: time.UnixMicro(int64(b.Column(3).(*array.Timestamp).Value(i))).UTC(), catalog: text(6, i), allowed: b.Column(11).(*array.Boolean).Value(i),
				reason: text(12, i), details: text(15, i).(string), prevHash: text(16, i), hash: text(17, i).(string),
			}
			if column := b.Column(10).(*array.Int64); column.IsValid(i) {
				id := column.Value(i)
				r.snapshot = &id
			}
			require.Equal(l.t, r.at.Unix()/86400, int64(f.Partition()[1000].(iceberg.Date)), "in the file of its day")
			out = append(out, r)
		}
	}
	return out
}

// require what the audit has to be in the table once each.
func (l *lake) requireAll(rows []row, from, through int64) {
	l.t.Helper()
	bySeq := map[int64]row{}
	for _, r := range rows {
		require.NotContains(l.t, bySeq, r.seq, "an event is there twice")
		bySeq[r.seq] = r
	}
	require.Len(l.t, rows, int(through-from+1))
	require.NoError(l.t, l.db.AuditRecords(l.t.Context(), from-1, through, func(r *audit.Record) error {
		got, ok := bySeq[r.Seq]
		require.True(l.t, ok, "event %d is missing", r.Seq)
		require.Equal(l.t, r.EventID, got.eventID)
		require.Equal(l.t, r.Type, got.kind)
		require.Equal(l.t, r.At, got.at.UnixMicro())
		require.Equal(l.t, r.Details, got.details)
		require.Equal(l.t, r.Hash, got.hash)
		require.Equal(l.t, r.PrevHash, got.prevHash)
		require.Equal(l.t, r.Allowed == 1, got.allowed)
		require.Equal(l.t, r.SnapshotID.Valid, got.snapshot != nil)
		if got.snapshot != nil {
			require.Equal(l.t, r.SnapshotID.Int64, *got.snapshot)
		}
		if r.Catalog == "" {
			require.Nil(l.t, got.catalog)
		} else {
			require.Equal(l.t, r.Catalog, got.catalog)
		}
		return nil
	}))
}

func TestTheTableHasTheSealedAudit(t *testing.T) {
	l := newLake(t)
	l.note(50)
	state := l.seal()
	require.Equal(t, state.Seq, l.exportAll(l.exporter(20)))
	l.requireAll(l.rows(), 1, state.Seq)

	view := l.load()
	require.Equal(t, models.GovernedOnly, view.Row.WritePolicy)
	require.True(t, view.Row.Protected)
	commits, err := l.db.Commits(t.Context(), models.CommitFilter{TableID: view.Row.ID, Limit: 10})
	require.NoError(t, err)
	require.Len(t, commits, 3)
	require.Equal(t, models.PlatformCommit, commits[0].Kind)
	require.Equal(t, "append", commits[0].Operation)
	require.Equal(t, "sluice", commits[0].Writer.V.Principal)
	require.Equal(t, fmt.Sprint(state.Seq), commits[0].Summary.V["sluice.audit.last-seq"])
	require.Equal(t, fmt.Sprint(state.Seq), commits[0].Summary.V["total-records"])
}

// What an export causes is no reason for the next, or it would never end; it is exported with the next event of others.
func TestAnExportDoesNotCauseTheNext(t *testing.T) {
	l := newLake(t)
	l.note(5)
	l.seal()
	e := l.exporter(0)
	l.exportAll(e)
	l.seal()
	l.exportAll(e) // namespace.created, and what else making the table says
	after := l.seal()
	for range 3 {
		require.Zero(t, l.exportAll(e))
		require.Equal(t, after.Seq, l.seal().Seq, "it commits nothing")
	}
	l.note(1)
	state := l.seal()
	require.NotZero(t, l.exportAll(e))
	l.requireAll(l.rows(), 1, state.Seq)
}

// forgetful dies after its commit, before it notes what it exported.
type forgetful struct{ export.Ledger }

func (forgetful) SetExported(context.Context, int64) error {
	return fault.New(fault.Unavailable, "The database is gone.")
}

func TestWhatACrashLeftIsNotExportedTwice(t *testing.T) {
	l := newLake(t)
	l.note(30)
	l.seal()
	dying := export.New(export.Deps{Core: l.core, Files: l.files, Ledger: forgetful{l.db}, Page: 10, Now: time.Now})
	for range 2 {
		_, _, err := dying.Export(t.Context())
		require.True(t, fault.Is(err, fault.Unavailable))
	}
	require.Len(t, l.rows(), 20)
	l.exportAll(l.exporter(10))
	l.requireAll(l.rows(), 1, l.seal().Seq-pending(t, l))
}

// pending counts sealed events that are not in the table, all about the table itself.
func pending(t *testing.T, l *lake) int64 {
	t.Helper()
	state, err := l.db.AuditState(t.Context())
	require.NoError(t, err)
	return state.Seq - state.ExportedSeq
}

// racing lets another process append between the load and the commit.
type racing struct {
	export.Core
	before func()
}

func (r *racing) CommitTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.CommitInput) (catalog.TableView, error) {
	if f := r.before; f != nil {
		r.before = nil
		f()
	}
	return r.Core.CommitTable(ctx, caller, cat, in)
}

func TestTwoExportersAppendOnce(t *testing.T) {
	l := newLake(t)
	l.note(30)
	l.seal()
	race := &racing{Core: l.core}
	slow := export.New(export.Deps{Core: race, Files: l.files, Ledger: l.db, Page: 10, Now: time.Now})
	_, _, err := slow.Export(t.Context())
	require.NoError(t, err)
	files := l.dataFiles()
	race.before = func() {
		_, _, err := l.exporter(10).Export(t.Context())
		require.NoError(t, err)
	}
	_, _, err = slow.Export(t.Context())
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, files+3, l.dataFiles(), "the files of the lost commit are removed")
	l.exportAll(slow)
	l.requireAll(l.rows(), 1, l.seal().Seq-pending(t, l))
}

// dataFiles counts the table's data files in the folder.
func (l *lake) dataFiles() int {
	l.t.Helper()
	found, err := os.ReadDir(strings.TrimPrefix(l.load().Row.Location, "file://") + "/data")
	require.NoError(l.t, err)
	return len(found)
}

// A table that is dropped and made anew gets what is still there.
func TestTheTableIsMadeAnew(t *testing.T) {
	l := newLake(t)
	l.note(10)
	l.seal()
	e := l.exporter(0)
	l.exportAll(e)
	held := policy.NewHeld(nil, []policy.Grant{{Privilege: models.CatalogManageContent, ObjectID: l.cat.ID}, {Privilege: models.CatalogManageAccess, ObjectID: l.cat.ID}, {Privilege: models.TableGovern, ObjectID: l.cat.ID}})
	root := policy.Caller{Principal: "root", CanGovern: true, Held: held}
	ident := models.TableIdent{Namespace: []string{"sluice_system"}, Name: "audit"}
	err := l.core.DropTable(t.Context(), root, l.cat, ident, false)
	require.Error(t, err, "it is protected")
	_, err = l.core.SetProtection(t.Context(), root, "main.sluice_system.audit", false)
	require.NoError(t, err)
	require.NoError(t, l.core.DropTable(t.Context(), root, l.cat, ident, false))
	l.note(1)
	state := l.seal()
	l.exportAll(e)
	l.requireAll(l.rows(), 1, state.Seq)
}

func TestWhereThereIsNoSuchCatalog(t *testing.T) {
	l := newLake(t)
	l.note(1)
	l.seal()
	_, _, err := export.New(export.Deps{Core: l.core, Files: l.files, Ledger: l.db, Catalog: "lake", Now: time.Now}).Export(t.Context())
	require.True(t, fault.Is(err, fault.NotFound))
	require.Contains(t, fault.PublicMessage(err), "audit-export-catalog")
}

package worker_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// house is a catalog over a real database and a real folder, with a real Temporal for what comes after a drop.
type house struct {
	*rig
	*catalog.Service
	root   policy.Caller
	cat    models.Catalog
	files  *objects.Router
	folder string
	writer icebergtest.Writer
}

func newHouse(t *testing.T, grace time.Duration) *house {
	t.Helper()
	h := &house{rig: &rig{t: t, data: t.TempDir()}, folder: filepath.Join(t.TempDir(), "warehouse"), writer: icebergtest.LocalFiles()}
	var err error
	h.store, err = store.Open(t.Context(), store.Config{URL: filepath.Join(t.TempDir(), "sluice.db"), Logger: silent()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.store.Close()) })
	require.NoError(t, store.Migrate(t.Context(), h.store))
	h.files, err = objects.Open(t.Context(), objects.Config{Roots: []string{"file://" + h.folder}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.files.Close() })
	require.NoError(t, h.store.Bootstrap(t.Context(), access.Bootstrap{
		Root:    models.Principal{ID: "root", Name: models.RootPrincipal, ClientID: "root", SecretHash: "hash"},
		Catalog: models.Catalog{ID: "catalog-1", Name: "main", BaseLocation: "file://" + h.folder, DefaultWritePolicy: models.OpenFull, Version: 1},
	}))
	h.cat, err = h.store.CatalogByName(t.Context(), "main")
	require.NoError(t, err)
	h.Service = catalog.New(catalog.Deps{
		Store: h.store, Reports: h.store, Files: h.files, Locations: objects.Rules{},
		Inspector: reconcile.NewInspector(h.files, objects.WithinStrings), Now: time.Now, ReservedPrefix: "sluice.", CacheBytes: 1 << 20,
		Drops: catalog.Drops{Grace: grace},
	})
	h.root = policy.Caller{Principal: "root", PrincipalID: "root", CanGovern: true, Held: policy.NewHeld(nil, []policy.Grant{
		{ObjectID: h.cat.ID, Privilege: models.CatalogManageContent}, {ObjectID: h.cat.ID, Privilege: models.CatalogManageAccess},
	})}
	_, err = h.CreateNamespace(t.Context(), h.root, h.cat, catalog.NamespaceInput{Levels: []string{"db"}})
	require.NoError(t, err)
	h.startTemporal()
	return h
}

// purger runs workers whose purges work on the real folder.
func (h *house) purger() (starter *workflows.Starter, stop func()) {
	h.t.Helper()
	starter = workflows.NewStarter(h.client, h.store)
	w := worker.New(h.client, activities.New(activities.Ports{
		Ledger: h.store, Catalogs: h.store, Documents: h.Service, Counter: reconcile.NewCounter(h.files), Restamper: h.Service,
		Starter: starter, Purges: h.store, Purger: maintenance.NewPurger(h.files, nil), PurgeStarter: starter,
		Files: h.store, Watcher: maintenance.NewWatcher(h.files),
	}), worker.Options{StopTimeout: time.Second})
	require.NoError(h.t, w.Start())
	h.t.Cleanup(w.Stop)
	return starter, w.Stop
}

func (h *house) ident(name string) models.TableIdent {
	return models.TableIdent{Namespace: []string{"db"}, Name: name}
}

// create makes a table with commits of real files, and gives its folder.
func (h *house) create(name string, commits int) string {
	h.t.Helper()
	_, err := h.CreateTable(h.t.Context(), h.root, h.cat, catalog.CreateTableInput{
		Namespace: []string{"db"}, Name: name,
		Schema: json.RawMessage(`{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`),
	})
	require.NoError(h.t, err)
	for range commits {
		view, err := h.LoadTable(h.t.Context(), h.root, h.cat, h.ident(name))
		require.NoError(h.t, err)
		table, err := icebergtest.Parse(view.Document.Bytes())
		require.NoError(h.t, err)
		c, err := h.writer.Append(table, 2, 10)
		require.NoError(h.t, err)
		for _, file := range c.DataFiles {
			require.NoError(h.t, h.writer.Put(file, make([]byte, 1000)))
		}
		requirements, err := metadata.DecodeRequirements(c.Requirements)
		require.NoError(h.t, err)
		updates, err := metadata.DecodeUpdates(c.Updates)
		require.NoError(h.t, err)
		_, err = h.CommitTable(h.t.Context(), h.root, h.cat, catalog.CommitInput{Table: h.ident(name), Requirements: requirements, Updates: updates})
		require.NoError(h.t, err)
	}
	view, err := h.LoadTable(h.t.Context(), h.root, h.cat, h.ident(name))
	require.NoError(h.t, err)
	return icebergtest.LocalPath(view.Row.Location)
}

func (h *house) drop(name string, purge bool) models.DroppedTable {
	h.t.Helper()
	require.NoError(h.t, h.DropTable(h.t.Context(), h.root, h.cat, h.ident(name), purge))
	page, err := h.DroppedTables(h.t.Context(), h.root, "main", models.DroppedFilter{Limit: 1})
	require.NoError(h.t, err)
	return page.Items[0].DroppedTable
}

func (h *house) filesIn(folder string) int {
	h.t.Helper()
	n := 0
	require.NoError(h.t, filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

func (h *house) purged(id string) func() bool {
	return func() bool {
		record, err := h.store.DroppedTable(context.Background(), id)
		return err == nil && record.State == models.StatePurged
	}
}

// The scheduled sweep purges what is due, once, and nothing else.
func TestADroppedTableIsPurgedByTheSweep(t *testing.T) {
	h := newHouse(t, 0)
	h.purger()
	gone, kept, live := h.create("gone", 3), h.create("kept", 2), h.create("live", 1)
	files, keptFiles, liveFiles := h.filesIn(gone), h.filesIn(kept), h.filesIn(live)
	record := h.drop("gone", true)
	h.drop("kept", false)
	require.NoError(t, workflows.EnsureSchedules(t.Context(), h.client, workflows.ScheduleOptions{SweepEvery: time.Second}))
	require.Eventually(t, h.purged(record.ID), 60*time.Second, 50*time.Millisecond)
	require.NoError(t, workflows.EnsureSchedules(t.Context(), h.client, workflows.ScheduleOptions{SweepEvery: time.Hour}))
	require.Zero(t, h.filesIn(gone))
	require.Equal(t, []int{keptFiles, liveFiles}, []int{h.filesIn(kept), h.filesIn(live)})

	events, err := h.store.AuditEvents(t.Context(), models.AuditFilter{Type: models.AuditTablePurged})
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.EqualValues(t, files, events[0].Details.V["files"])
	require.Equal(t, "main", events[0].Catalog)
	require.Equal(t, workflows.PurgeTableID(record.TableUUID), events[0].Details.V["workflowId"])
	_, err = h.UndropTable(t.Context(), h.root, record.ID, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err))
	h.create("gone", 1) // the name is free, in a folder of its own
}

// Between the sweep's look and the purge's claim, somebody takes the drop back.
func TestAnUndropWinsOverAPurgeThatHasNotBegun(t *testing.T) {
	h := newHouse(t, 0)
	folder := h.create("orders", 2)
	files := h.filesIn(folder)
	record := h.drop("orders", true)
	_, err := h.UndropTable(t.Context(), h.root, record.ID, nil)
	require.NoError(t, err)
	starter, _ := h.purger()
	target := activities.PurgeTarget{DropID: record.ID, CatalogID: record.CatalogID, TableUUID: record.TableUUID, TableName: "db.orders"}
	require.NoError(t, starter.StartPurge(t.Context(), target))
	var out workflows.PurgeTableResult
	require.NoError(t, h.client.GetWorkflow(t.Context(), workflows.PurgeTableID(record.TableUUID), "").Get(t.Context(), &out))
	require.Equal(t, workflows.PurgeTableResult{Refused: models.StateUndropped}, out)
	require.Equal(t, files, h.filesIn(folder))
	_, err = h.LoadTable(t.Context(), h.root, h.cat, h.ident("orders"))
	require.NoError(t, err)
}

// Workers that die in the middle of a purge leave it to the next ones.
func TestWorkersDieInTheMiddleOfAPurge(t *testing.T) {
	h := newHouse(t, 0)
	folder := h.create("orders", 12)
	files := h.filesIn(folder)
	record := h.drop("orders", true)
	starter, stop := h.purger()
	target := activities.PurgeTarget{DropID: record.ID, CatalogID: record.CatalogID, TableUUID: record.TableUUID, TableName: "db.orders"}
	require.NoError(t, starter.StartPurge(t.Context(), target))
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		stop()
		require.NoError(t, starter.StartPurge(t.Context(), target), "starting a running one is no error")
		_, stop = h.purger()
	}
	require.Eventually(t, h.purged(record.ID), 90*time.Second, 50*time.Millisecond)
	require.Zero(t, h.filesIn(folder))
	done, err := h.store.DroppedTable(t.Context(), record.ID)
	require.NoError(t, err)
	require.LessOrEqual(t, *done.PurgedFiles, int64(files))
	events, err := h.store.AuditEvents(t.Context(), models.AuditFilter{Type: models.AuditTablePurged})
	require.NoError(t, err)
	require.Len(t, events, 1)
}

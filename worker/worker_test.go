package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dispatch"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// rig is the whole flow after a commit: a real database, a real Temporal that can be stopped, a dispatcher and workers. Only
// the object store is in memory.
type rig struct {
	t      *testing.T
	store  *store.Store
	world  *activitiestest.World
	data   string // of Temporal
	port   int    // of Temporal, the same after a restart
	server *temporalx.Server
	client client.Client
	tables []models.Table
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, world: activitiestest.New(), data: t.TempDir()}
	s, err := store.Open(t.Context(), store.Config{URL: filepath.Join(t.TempDir(), "sluice.db"), Logger: silent()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, store.Migrate(t.Context(), s))
	require.NoError(t, s.Bootstrap(t.Context(), access.Bootstrap{
		Root:    models.Principal{ID: uuid.NewString(), Name: models.RootPrincipal, ClientID: "root", SecretHash: "hash"},
		Catalog: models.Catalog{ID: activitiestest.CatalogID, Name: "main", BaseLocation: "file:///warehouse", DefaultWritePolicy: models.OpenAppend, Version: 1},
	}))
	require.NoError(t, s.CreateNamespace(t.Context(), models.Namespace{
		ID: "ns", CatalogID: activitiestest.CatalogID, Key: models.KeyOf([]string{"sales"}), Version: 1,
	}, audit(models.AuditNamespaceCreated)))
	r.store = s
	return r
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func audit(kind models.AuditType) models.AuditEvent {
	return models.AuditEvent{EventID: uuid.NewString(), Type: kind, Principal: "ada", Allowed: true, At: time.Now()}
}

func (r *rig) startTemporal() {
	r.t.Helper()
	var err error
	r.server, err = temporalx.StartServer(r.t.Context(), temporalx.ServerOptions{
		DataDir: r.data, FrontendPort: r.port, UIPort: temporalx.NoUI, Logger: silent(),
	})
	require.NoError(r.t, err)
	r.t.Cleanup(r.server.Stop)
	_, port, err := net.SplitHostPort(r.server.Address())
	require.NoError(r.t, err)
	r.port, err = strconv.Atoi(port)
	require.NoError(r.t, err)
	if r.client == nil {
		r.client, err = temporalx.Dial(r.t.Context(), temporalx.ClientOptions{Address: r.server.Address(), Logger: silent()})
		require.NoError(r.t, err)
		r.t.Cleanup(r.client.Close)
		require.NoError(r.t, temporalx.EnsureNamespace(r.t.Context(), r.client, "sluice", time.Hour, workflows.SearchAttributes()))
	}
}

// work starts workers and a dispatcher, and gives the dispatcher's Wake.
func (r *rig) work() (wake func(), stop func()) {
	r.t.Helper()
	starter := workflows.NewStarter(r.client, r.store)
	ports := r.world.Ports()
	ports.Ledger, ports.Catalogs, ports.Starter = r.store, r.store, starter
	w := worker.New(r.client, activities.New(ports), worker.Options{})
	require.NoError(r.t, w.Start())
	d, err := dispatch.New(r.store, starter, dispatch.Options{
		PollInterval: 50 * time.Millisecond, BackoffMost: 300 * time.Millisecond, StartTimeout: time.Second, Logger: silent(),
	})
	require.NoError(r.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	stop = func() { cancel(); <-done; w.Stop() }
	r.t.Cleanup(stop)
	return d.Wake, stop
}

func (r *rig) addTables(n int) {
	r.t.Helper()
	for i := range n {
		target := r.world.AddTable(fmt.Sprintf("t%02d", i))
		row := r.world.Table(target).Row
		row.NamespaceID, row.WritePolicy, row.Classification, row.FormatVersion = "ns", models.OpenAppend, models.Internal, 2
		require.NoError(r.t, r.store.CreateTable(r.t.Context(), row, catalog.Effects{}))
		r.tables = append(r.tables, row)
	}
}

// commit appends n snapshots to the tables in turn, as the facade does.
func (r *rig) commit(n int) {
	r.t.Helper()
	for i := range n {
		row := &r.tables[i%len(r.tables)]
		target := r.world.Commit(activities.Target{TableID: row.ID, TableUUID: row.UUID, TableName: "sales." + row.Name})
		ledger, err := r.world.Ledger().Commit(r.t.Context(), row.ID, target.SnapshotID)
		require.NoError(r.t, err)
		ledger.ID = 0
		made := r.world.Table(target).Row
		row.MetadataLocation, row.CurrentSnapshotID = made.MetadataLocation, made.CurrentSnapshotID
		require.NoError(r.t, r.store.SwapTables(r.t.Context(), []catalog.Swap{{Table: *row, Effects: catalog.Effects{Commits: []models.Commit{ledger}}}}))
		row.Version++
	}
}

func (r *rig) backlog() int64 {
	r.t.Helper()
	n, _, err := r.store.Backlog(r.t.Context())
	require.NoError(r.t, err)
	return n
}

func (r *rig) reconciled() []models.AuditEvent {
	r.t.Helper()
	events, err := r.store.AuditEvents(r.t.Context(), models.AuditFilter{Type: models.AuditCommitReconciled, Limit: 1000})
	require.NoError(r.t, err)
	return events
}

// governed asserts that each of n commits has one audit event and that every table's recorded head is its head.
func (r *rig) governed(n int) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return len(r.reconciled()) >= n && r.backlog() == 0 }, 60*time.Second, 20*time.Millisecond,
		"every commit is governed")
	seen := map[string]bool{}
	for _, e := range r.reconciled() {
		require.False(r.t, seen[*e.DedupeKey], "twice: %s", *e.DedupeKey)
		seen[*e.DedupeKey] = true
	}
	require.Len(r.t, seen, n)
	for _, table := range r.tables {
		row, err := r.store.TableByID(r.t.Context(), table.ID)
		require.NoError(r.t, err)
		require.Equal(r.t, *row.CurrentSnapshotID, *row.RecordedSnapshotID)
		require.Equal(r.t, (*row.CurrentSnapshotID-activitiestest.FirstSnapshotID+1)*activitiestest.RowsPerCommit, *row.RowCount)
	}
}

func TestACommitIsGoverned(t *testing.T) {
	r := newRig(t)
	r.startTemporal()
	r.addTables(1)
	wake, stop := r.work()
	r.commit(1)
	wake()
	r.governed(1)
	e := r.reconciled()[0]
	require.Equal(t, "main", e.Catalog)
	require.Equal(t, workflows.ReconcileCommitID(r.tables[0].UUID, *e.SnapshotID), e.Details.V["workflowId"])

	begun := time.Now()
	stop()
	require.Less(t, time.Since(begun), 8*time.Second)
}

func TestTemporalDownWhileCommitsArrive(t *testing.T) {
	r := newRig(t)
	r.startTemporal()
	r.addTables(10)
	wake, _ := r.work()
	r.commit(10)
	wake()
	r.governed(10)

	r.server.Stop()
	for range 10 {
		r.commit(10)
		wake()
	}
	require.Equal(t, int64(100), r.backlog(), "commits go on and the outbox keeps them")
	require.Len(t, r.reconciled(), 10)

	r.startTemporal()
	r.governed(110)
	runs, err := r.client.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
		Query: "WorkflowType = 'ReconcileBatch'",
	})
	require.NoError(t, err)
	require.Positive(t, runs.GetCount())
	require.LessOrEqual(t, runs.GetCount(), int64(2), "the backlog is batches, of its oldest and its newest commits, started once")
}

func TestWorkersDieInTheMiddleOfABacklog(t *testing.T) {
	r := newRig(t)
	r.startTemporal()
	r.addTables(10)
	r.commit(300)
	r.world.Delay = time.Millisecond
	for range 3 {
		_, stop := r.work()
		time.Sleep(150 * time.Millisecond)
		stop()
	}
	r.work()
	r.governed(300)
}

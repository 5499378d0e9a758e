// Package activitiestest is a small world for tests of activities and workflows: tables with real metadata documents, and a
// ledger, in memory. It may import activities, models, internal/metadata, internal/maintenance, internal/findings,
// internal/writers and internal/fault.
package activitiestest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// CatalogID is the id of the world's catalog; its name is "main".
const CatalogID = "catalog-1"

// RowsPerCommit is what every snapshot adds.
const RowsPerCommit = 10

type commitKey struct {
	tableID    string
	snapshotID int64
}

// World implements every port of the activities. It is safe for concurrent use.
type World struct {
	mu      sync.Mutex
	tables  map[string]*Table
	order   []string
	commits map[commitKey]models.Commit
	docs    map[string]*metadata.Document
	audits  []models.AuditEvent
	started []activities.Target
	calls   map[string]int

	drops   map[string]models.DroppedTable
	sharers activities.Sharers
	purges  []activities.PurgeTarget

	keepsData  bool
	files      fileWorld
	webhooks   []*webhook
	governance governance
	audit      auditWorld
	splits     map[string]*SplitState // by write

	fail func(port, tableID string) error

	// Delay is how long every call takes.
	Delay time.Duration
}

// Table is a table under test.
type Table struct {
	Row     models.Table
	Restamp []string // what the next restamp changes
	Files   int      // the data files that summaries of later snapshots claim; 0 for one per snapshot
	Adds    int      // files of each later snapshot; 0 for one
	// What later metadata has: columns of each schema, the current one, and properties beside those that governance wants;
	// a value of "" takes one of those away.
	Schemas    [][]string // nil for one with the column id
	Schema     int
	Properties map[string]string
	snapshots  []snapshot
	versions   int

	rolledBack int64
}

// New makes an empty world.
func New() *World {
	return &World{
		tables: map[string]*Table{}, commits: map[commitKey]models.Commit{},
		docs: map[string]*metadata.Document{}, calls: map[string]int{}, drops: map[string]models.DroppedTable{},
		files: newFileWorld(), governance: newGovernance(), splits: map[string]*SplitState{},
	}
}

// Ports gives the world as the ports of the activities.
func (w *World) Ports() activities.Ports {
	return activities.Ports{
		Ledger: w.Ledger(), Catalogs: w, Documents: w, Counter: w, Restamper: w, Starter: w,
		Purges: w, Purger: w, PurgeStarter: w, Files: w, Watcher: w,
		AuditExporter: w, AuditPruner: w, RowWriter: w,
		Courier: w.Courier(), Writers: w, Findings: w.FindingLedger(), Checks: w, Arrivals: w, ReservedPrefix: ReservedPrefix,
		Thresholds: findings.Thresholds{
			Stall: writers.Limits{Factor: 5, Floor: time.Minute}, TokenWarning: 24 * time.Hour, SnapshotsHourly: 720, SmallFile: 1 << 20,
			EqualityDeletes: 1000, MetadataBytes: 16 << 20,
		},
	}
}

// AddTable makes a table named "sales.<name>" without snapshots, or gives the one that there is.
func (w *World) AddTable(name string) activities.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := "table-" + name
	if t, ok := w.tables[id]; ok {
		return activities.Target{CatalogID: CatalogID, TableID: id, TableUUID: t.Row.UUID, TableName: "sales." + name}
	}
	t := &Table{Row: models.Table{
		ID: id, CatalogID: CatalogID, Name: name, UUID: uuid.NewSHA1(uuid.Nil, []byte(name)).String(),
		Location: "file:///warehouse/sales/" + name,
	}}
	w.tables[id] = t
	w.order = append(w.order, id)
	w.publish(t)
	return activities.Target{CatalogID: CatalogID, TableID: id, TableUUID: t.Row.UUID, TableName: "sales." + name}
}

// Commit appends a snapshot to main with its pending ledger row, and gives the target to reconcile.
func (w *World) Commit(table activities.Target) activities.Target {
	target := w.CommitUnseen(table)
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tables[table.TableID]
	s := t.snapshots[len(t.snapshots)-1]
	c := models.Commit{
		ID: int64(len(w.commits) + 1), CatalogID: CatalogID, TableID: t.Row.ID, TableUUID: t.Row.UUID, TableName: table.TableName,
		SnapshotID: s.id, SequenceNumber: s.sequence, Ref: "main", Operation: "append", MetadataLocation: t.Row.MetadataLocation,
		Kind: models.ExternalCommit, CommittedAt: time.UnixMilli(s.timestamp), Status: models.CommitPending,
	}
	schema := int64(t.Schema)
	c.SchemaID = &schema
	if s.parent != 0 {
		c.ParentSnapshotID = &s.parent
	}
	c.Writer.V = models.Writer{Principal: "etl", TokenID: "tok-1", Engine: "spark", Client: "Apache-Spark/4.0", RequestID: "req-1", Address: "10.0.0.1"}
	w.commits[commitKey{t.Row.ID, s.id}] = c
	return target
}

// CommitUnseen appends a snapshot to main without a ledger row.
func (w *World) CommitUnseen(table activities.Target) activities.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tables[table.TableID]
	n := int64(len(t.snapshots) + 1)
	s := snapshot{id: FirstSnapshotID + n - 1 + t.rolledBack, sequence: n + t.rolledBack, timestamp: 1_700_000_000_000 + n, files: t.Files}
	if n > 1 {
		s.parent = t.snapshots[n-2].id
	}
	t.snapshots = append(t.snapshots, s)
	w.addFiles(t, s.id)
	w.publish(t)
	return table.At(s.id)
}

// Publish writes the table's next metadata file as the test changed it.
func (w *World) Publish(table activities.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.publish(w.tables[table.TableID])
}

// RollBack takes the newest snapshot off main, and out of the metadata.
func (w *World) RollBack(table activities.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tables[table.TableID]
	t.rolledBack++
	t.snapshots = t.snapshots[:len(t.snapshots)-1]
	w.publish(t)
}

// Expire takes the oldest n snapshots out of the current document.
func (w *World) Expire(table activities.Target, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tables[table.TableID]
	for i := range n {
		t.snapshots[i].expired = true
	}
	w.publish(t)
}

// Drop removes the table; its ledger rows stay.
func (w *World) Drop(table activities.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tables, table.TableID)
	w.order = slices.DeleteFunc(w.order, func(id string) bool { return id == table.TableID })
}

// RemoveFile loses a metadata file.
func (w *World) RemoveFile(location string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.docs, location)
	delete(w.files.objects, location)
}

// Table gives the table for the test to look at or to change.
func (w *World) Table(t activities.Target) *Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tables[t.TableID]
}

// Audits gives the events so far.
func (w *World) Audits() []models.AuditEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.audits)
}

// AuditCount is the number of events so far.
func (w *World) AuditCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.audits)
}

// Started gives what the sweep started.
func (w *World) Started() []activities.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.started)
}

// SetFail sets what is asked before every call of a port: an error it returns is the port's answer. nil ends it.
func (w *World) SetFail(fail func(port, tableID string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = fail
}

// Calls counts the calls of a port's method.
func (w *World) Calls(port string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[port]
}

// SetCommit replaces a ledger row.
func (w *World) SetCommit(c models.Commit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits[commitKey{c.TableID, c.SnapshotID}] = c
}

func (w *World) called(ctx context.Context, port, tableID string) error {
	w.mu.Lock()
	w.calls[port]++
	fail := w.fail
	w.mu.Unlock()
	if w.Delay > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(w.Delay):
		}
	}
	if fail != nil {
		return fail(port, tableID)
	}
	return nil
}

func notFound(subject fault.Subject, what string) error {
	return fault.About(fault.NotFound, subject, "There is no %s.", what)
}

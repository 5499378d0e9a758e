package activities

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// What the steps of a reconciliation read one after the other is remembered for a moment, or each of them would ask the
// database for the same rows.
const (
	recently   = 10 * time.Second
	mostRecent = 2000 // rows of a kind
)

// recent are rows as they were read or written last by this process. They may be behind: where that matters, a step asks the
// database.
type recent struct {
	commits memory[commitKey, models.Commit]
	tables  memory[string, models.Table]
	names   memory[string, string] // of catalogs by id: names do not change
	writers memory[string, summarized]
}

// summarized is a writer as the ledger told of it up to a commit.
type summarized struct {
	newest int64 // id of the commit in the ledger
	writer models.TableWriter
}

type commitKey struct {
	table    string // id
	snapshot int64
}

func newRecent(now func() time.Time) *recent {
	return &recent{
		commits: memory[commitKey, models.Commit]{now: now}, tables: memory[string, models.Table]{now: now},
		names: memory[string, string]{now: now}, writers: memory[string, summarized]{now: now},
	}
}

// memory keeps values for a moment. The zero memory with a clock is empty.
type memory[K comparable, V any] struct {
	now  func() time.Time
	mu   sync.Mutex
	kept map[K]moment[V]
}

type moment[V any] struct {
	value V
	until time.Time
}

func (m *memory[K, V]) get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, ok := m.kept[k]
	if !ok || !m.now().Before(kept.until) {
		var none V
		return none, false
	}
	return kept.value, true
}

func (m *memory[K, V]) put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= mostRecent {
		m.kept = map[K]moment[V]{}
	}
	m.kept[k] = moment[V]{v, m.now().Add(recently)}
}

func (m *memory[K, V]) drop(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, k)
}

// commitRow reads a ledger row.
func (a *Activities) commitRow(ctx context.Context, tableID string, snapshotID int64) (models.Commit, error) {
	c, err := a.ports.Ledger.Commit(ctx, tableID, snapshotID)
	if err == nil {
		a.recent.commits.put(commitKey{tableID, snapshotID}, c)
	}
	return c, err
}

// recentCommit gives a ledger row whose status may be behind: what a commit says of itself does not change, and whatever
// finishes it looks at its status itself.
func (a *Activities) recentCommit(ctx context.Context, tableID string, snapshotID int64) (models.Commit, error) {
	if c, ok := a.recent.commits.get(commitKey{tableID, snapshotID}); ok {
		return c, nil
	}
	return a.commitRow(ctx, tableID, snapshotID)
}

// settledCommit gives a ledger row as it is: a reconciled one stays that.
func (a *Activities) settledCommit(ctx context.Context, tableID string, snapshotID int64) (models.Commit, error) {
	if c, ok := a.recent.commits.get(commitKey{tableID, snapshotID}); ok && c.Status == models.CommitReconciled {
		return c, nil
	}
	return a.commitRow(ctx, tableID, snapshotID)
}

// recordRow writes what became of a commit.
func (a *Activities) recordRow(ctx context.Context, r Recording) (bool, error) {
	key := commitKey{r.Commit.TableID, r.Commit.SnapshotID}
	recorded, err := a.ports.Ledger.RecordCommit(ctx, r)
	if err == nil && recorded && r.Commit.ID != 0 {
		a.recent.commits.put(key, r.Commit)
	} else {
		a.recent.commits.drop(key) // the row is another than that
	}
	return recorded, err
}

// tableRow reads a table's row.
func (a *Activities) tableRow(ctx context.Context, id string) (models.Table, error) {
	row, err := a.ports.Ledger.TableByID(ctx, id)
	if err == nil {
		a.recent.tables.put(id, row)
	}
	return row, err
}

// locateRecent is locate for steps to which it does not matter that the table may have changed since: the snapshot is there,
// and its document has everything before it. It asks the database where that is not so.
func (a *Activities) locateRecent(ctx context.Context, t Target) (found, error) {
	row, ok := a.recent.tables.get(t.TableID)
	if !ok || row.UUID != t.TableUUID {
		return a.locate(ctx, t)
	}
	doc, err := a.ports.Documents.Document(ctx, row.MetadataLocation)
	if err != nil {
		return a.locate(ctx, t) // it may have been replaced, and removed
	}
	snapshot, ok := doc.Snapshot(t.SnapshotID)
	if !ok {
		return a.locate(ctx, t)
	}
	return found{row: row, current: doc, doc: doc, location: row.MetadataLocation, snapshot: snapshot, recent: true}, nil
}

// catalogName gives "" for a catalog that is gone: its commits are still to be finished.
func (a *Activities) catalogName(ctx context.Context, id string) (string, error) {
	if name, ok := a.recent.names.get(id); ok {
		return name, nil
	}
	c, err := a.ports.Catalogs.CatalogByID(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	a.recent.names.put(id, c.Name)
	return c.Name, nil
}

package activitiestest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

// TableByID implements activities.Ledger.
func (w *World) TableByID(ctx context.Context, id string) (models.Table, error) {
	if err := w.called(ctx, "TableByID", id); err != nil {
		return models.Table{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.tables[id]
	if !ok {
		return models.Table{}, notFound(fault.Table, "table "+id)
	}
	return t.Row, nil
}

// Commit implements activities.Ledger.
func (l ledger) Commit(ctx context.Context, tableID string, snapshotID int64) (models.Commit, error) {
	if err := l.called(ctx, "Commit", tableID); err != nil {
		return models.Commit{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.commits[commitKey{tableID, snapshotID}]
	if !ok {
		return models.Commit{}, notFound(fault.NoSubject, "commit")
	}
	return c, nil
}

// ledger gives World the method Commit of activities.Ledger, whose name World uses for tests.
type ledger struct{ *World }

// Ledger gives the world as a ledger.
func (w *World) Ledger() activities.Ledger { return ledger{w} }

// RecordCommit implements activities.Ledger: once per ledger row and per dedupe key.
func (w *World) RecordCommit(ctx context.Context, r activities.Recording) (bool, error) {
	if err := w.called(ctx, "RecordCommit", r.Commit.TableID); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := commitKey{r.Commit.TableID, r.Commit.SnapshotID}
	recorded := w.commits[key].Status != models.CommitReconciled && w.commits[key].Status != r.Commit.Status
	if recorded {
		w.commits[key] = r.Commit
		w.audits = append(w.audits, r.Audit)
		w.closeSubjects(r.Resolved)
		w.open(r.Findings)
		w.keep(r.Writers)
	}
	if t := w.tables[r.Commit.TableID]; t != nil && r.Commit.Status == models.CommitReconciled && w.advances(t, r) {
		t.Row.RecordedSnapshotID, t.Row.RowCount = &r.Commit.SnapshotID, r.RowCount
	}
	return recorded, nil
}

// advances tells whether the recorded head moves: to main's head always, else only forward.
func (w *World) advances(t *Table, r activities.Recording) bool {
	if head := t.Row.CurrentSnapshotID; head != nil && *head == r.Commit.SnapshotID {
		return true
	}
	id := t.Row.RecordedSnapshotID
	return r.OnMain && (id == nil || w.commits[commitKey{t.Row.ID, *id}].SequenceNumber < r.Commit.SequenceNumber)
}

// Drifted implements activities.Ledger; every change counts as quiet.
func (w *World) Drifted(ctx context.Context, after string, _ time.Duration, limit int) ([]activities.DriftedTable, error) {
	if err := w.called(ctx, "Drifted", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []activities.DriftedTable
	for _, id := range w.order {
		t := w.tables[id]
		current, recorded := t.Row.CurrentSnapshotID, t.Row.RecordedSnapshotID
		if id <= after || current == nil || recorded != nil && *recorded == *current || len(out) == limit {
			continue
		}
		out = append(out, activities.DriftedTable{
			TableID: id, CatalogID: CatalogID, TableUUID: t.Row.UUID, TableName: "sales." + t.Row.Name, SnapshotIDs: []int64{*current},
		})
	}
	return out, nil
}

// CatalogByID implements activities.Catalogs.
func (w *World) CatalogByID(ctx context.Context, id string) (models.Catalog, error) {
	if err := w.called(ctx, "CatalogByID", ""); err != nil {
		return models.Catalog{}, err
	}
	if id != CatalogID {
		return models.Catalog{}, notFound(fault.Catalog, "catalog "+id)
	}
	return models.Catalog{ID: id, Name: "main"}, nil
}

// Document implements activities.Documents.
func (w *World) Document(ctx context.Context, location string) (*metadata.Document, error) {
	if err := w.called(ctx, "Document", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	doc, ok := w.docs[location]
	if !ok {
		return nil, notFound(fault.File, "file "+location)
	}
	return doc, nil
}

// Count implements activities.Counter: each snapshot adds RowsPerCommit rows in one file.
func (w *World) Count(ctx context.Context, doc *metadata.Document, snap metadata.Snapshot) (reconcile.Counts, error) {
	if err := w.called(ctx, "Count", doc.UUID()); err != nil {
		return reconcile.Counts{}, err
	}
	total := RowsPerCommit * snap.SequenceNumber
	counts := reconcile.Counts{AddedRows: RowsPerCommit, LiveRows: total, TotalRows: total, Exact: true}
	counts.LiveFiles, _ = strconv.ParseInt(snap.Summary["total-data-files"], 10, 64)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files.none {
		return counts, nil
	}
	counts.AddedFiles = 1
	for _, t := range w.tables {
		if t.Row.UUID == doc.UUID() {
			counts.AddedFiles = int64(max(t.Adds, 1))
		}
	}
	counts.AddedBytes = FileSize * counts.AddedFiles
	return counts, nil
}

// Restamp implements activities.Restamper.
func (w *World) Restamp(ctx context.Context, tableID string) ([]string, error) {
	if err := w.called(ctx, "Restamp", tableID); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.tables[tableID]
	if !ok {
		return nil, notFound(fault.Table, "table "+tableID)
	}
	keys := t.Restamp
	t.Restamp = nil
	if len(t.Properties) > 0 {
		keys = append(keys, slices.Sorted(maps.Keys(t.Properties))...)
		t.Properties = nil
		w.publish(t)
	}
	return keys, nil
}

// RepairCommit implements activities.Starter.
func (w *World) RepairCommit(ctx context.Context, t activities.Target) error {
	if err := w.called(ctx, "RepairCommit", t.TableID); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = append(w.started, t)
	return nil
}

// RepairBatch implements activities.Starter.
func (w *World) RepairBatch(ctx context.Context, targets []activities.Target) error {
	if err := w.called(ctx, "RepairBatch", ""); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = append(w.started, targets...)
	return nil
}

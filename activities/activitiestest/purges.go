package activitiestest

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// FilesPerPart and BytesPerPart are what each part of a purge deletes.
const (
	FilesPerPart = 3
	BytesPerPart = 300
)

// DropForPurge makes the record of a table that was dropped and is due, and gives its target.
func (w *World) DropForPurge(table activities.Target) activities.PurgeTarget {
	w.mu.Lock()
	row := w.tables[table.TableID].Row
	w.mu.Unlock()
	w.Drop(table)
	w.mu.Lock()
	defer w.mu.Unlock()
	due := time.UnixMilli(1_700_000_000_000)
	record := models.DroppedTable{
		ID: "drop-" + table.TableID, CatalogID: CatalogID, TableID: row.ID, TableUUID: row.UUID, NamespaceKey: models.KeyOf([]string{"sales"}),
		Name: row.Name, Location: row.Location, MetadataLocation: row.MetadataLocation, State: models.StateDropped,
		DroppedBy: "ada", PurgeRequested: true, PurgeAfter: &due,
	}
	w.drops[record.ID] = record
	return activities.PurgeTarget{DropID: record.ID, CatalogID: CatalogID, TableUUID: row.UUID, TableName: table.TableName}
}

// Undrop marks a record as undropped.
func (w *World) Undrop(t activities.PurgeTarget) { w.SetDrop(t, models.StateUndropped) }

// SetDrop sets the state of a record.
func (w *World) SetDrop(t activities.PurgeTarget, state models.DropState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	record := w.drops[t.DropID]
	record.State = state
	w.drops[t.DropID] = record
}

// SetSharers sets what a purge finds beside its table, and whether the table may have files anywhere itself.
func (w *World) SetSharers(t activities.PurgeTarget, s activities.Sharers, foreign bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sharers = s
	record := w.drops[t.DropID]
	record.ForeignFiles = foreign
	w.drops[t.DropID] = record
}

// PurgesStarted gives what the sweep started.
func (w *World) PurgesStarted() []activities.PurgeTarget {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.purges)
}

// DroppedTable implements activities.PurgeLedger.
func (w *World) DroppedTable(ctx context.Context, id string) (models.DroppedTable, error) {
	if err := w.called(ctx, "DroppedTable", id); err != nil {
		return models.DroppedTable{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	record, ok := w.drops[id]
	if !ok {
		return record, notFound(fault.Table, "dropped table "+id)
	}
	return record, nil
}

// DuePurges implements activities.PurgeLedger; every dropped record is due.
func (w *World) DuePurges(ctx context.Context, _ time.Time, after string, limit int) ([]models.DroppedTable, error) {
	if err := w.called(ctx, "DuePurges", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []models.DroppedTable
	for _, record := range w.drops {
		if record.ID > after && (record.State == models.StateDropped || record.State == models.StatePurging) {
			out = append(out, record)
		}
	}
	slices.SortFunc(out, func(a, b models.DroppedTable) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out[:min(limit, len(out))], nil
}

// ClaimPurge implements activities.PurgeLedger.
func (w *World) ClaimPurge(ctx context.Context, id string, _ time.Time) (models.DroppedTable, bool, error) {
	record, err := w.DroppedTable(ctx, id)
	if err != nil {
		return record, false, err
	}
	if err := w.called(ctx, "ClaimPurge", id); err != nil {
		return record, false, err
	}
	if record.State != models.StateDropped && record.State != models.StatePurging {
		return record, false, nil
	}
	w.SetDrop(activities.PurgeTarget{DropID: id}, models.StatePurging)
	record.State = models.StatePurging
	return record, true, nil
}

// FinishPurge implements activities.PurgeLedger.
func (w *World) FinishPurge(ctx context.Context, id string, files, bytes int64, event models.AuditEvent) (bool, error) {
	if err := w.called(ctx, "FinishPurge", id); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	record := w.drops[id]
	if record.State == models.StatePurged {
		return false, nil
	}
	record.State, record.PurgedFiles, record.PurgedBytes = models.StatePurged, &files, &bytes
	w.drops[id] = record
	w.audits = append(w.audits, event)
	return true, nil
}

// Sharers implements activities.PurgeLedger.
func (w *World) Sharers(ctx context.Context, id string) (activities.Sharers, error) {
	if err := w.called(ctx, "Sharers", id); err != nil {
		return activities.Sharers{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sharers, nil
}

// References implements activities.Purger.
func (w *World) References(ctx context.Context, other maintenance.Table, _ string, kept maintenance.FileSet, _ func()) (int, error) {
	if err := w.called(ctx, "References", ""); err != nil {
		return 0, err
	}
	kept[other.MetadataLocation] = struct{}{}
	return 0, nil
}

// KeepsData makes every table say gc.enabled=false.
func (w *World) KeepsData() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keepsData = true
}

// DeleteData implements activities.Purger.
func (w *World) DeleteData(ctx context.Context, _ maintenance.Table, _ maintenance.FileSet, from maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error) {
	w.mu.Lock()
	keeps := w.keepsData
	w.mu.Unlock()
	if keeps {
		return maintenance.Progress{Skipped: true}, nil
	}
	return w.delete(ctx, "DeleteData", from, beat)
}

// DeleteMetadata implements activities.Purger.
func (w *World) DeleteMetadata(ctx context.Context, _ maintenance.Table, _ maintenance.FileSet, from maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error) {
	return w.delete(ctx, "DeleteMetadata", from, beat)
}

// DeleteLeftovers implements activities.Purger.
func (w *World) DeleteLeftovers(ctx context.Context, _ maintenance.Table, _ maintenance.FileSet, _ time.Time, from maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error) {
	return w.delete(ctx, "DeleteLeftovers", from, beat)
}

// delete deletes one file after the other and may fail after each.
func (w *World) delete(ctx context.Context, part string, done maintenance.Progress, beat func(maintenance.Progress)) (maintenance.Progress, error) {
	for done.Done < FilesPerPart {
		if err := w.called(ctx, part, ""); err != nil {
			return done, err
		}
		done.Done, done.Files, done.Bytes = done.Done+1, done.Files+1, done.Bytes+BytesPerPart/FilesPerPart
		beat(done)
	}
	return done, nil
}

// StartPurge implements activities.PurgeStarter.
func (w *World) StartPurge(ctx context.Context, t activities.PurgeTarget) error {
	if err := w.called(ctx, "StartPurge", t.DropID); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.purges = append(w.purges, t)
	return nil
}

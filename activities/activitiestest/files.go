package activitiestest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// FileSize is what every file of a commit has, in bytes.
const FileSize = 1000

// fileWorld is the object store, and the ledger of files.
type fileWorld struct {
	objects  map[string]maintenance.Sighting
	gone     map[string]bool // from every head
	records  map[string]models.FileRecord
	findings []models.Finding
	also     map[int64][]string // files beside its own that a snapshot adds
	removed  map[int64][]string // by a snapshot
	none     bool
}

func newFileWorld() fileWorld {
	return fileWorld{objects: map[string]maintenance.Sighting{}, gone: map[string]bool{}, records: map[string]models.FileRecord{},
		also: map[int64][]string{}, removed: map[int64][]string{}}
}

// NoFiles lets commits change no files.
func (w *World) NoFiles() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files.none = true
}

// FileOf is the nth file that a snapshot added.
func (w *World) FileOf(t activities.Target, n int) string {
	return fmt.Sprintf("%s/data/%d-%d.parquet", w.Table(t).Row.Location, t.SnapshotID, n)
}

// SetObject sets what the store says of a file.
func (w *World) SetObject(path string, s maintenance.Sighting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files.objects[path] = s
}

// Unhead takes a file out of the head of every branch.
func (w *World) Unhead(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files.gone[path] = true
}

// Records gives the locations of the recorded files, in order.
func (w *World) Records() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []string{}
	for _, r := range w.files.records {
		if r.RemovedAt == nil {
			out = append(out, r.Location)
		}
	}
	slices.Sort(out)
	return out
}

// Findings gives all findings, in order of their opening.
func (w *World) Findings() []models.Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.files.findings)
}

// addFiles makes the files of a new snapshot, and its manifest list. The caller holds the lock.
func (w *World) addFiles(t *Table, id int64) {
	w.files.objects[fmt.Sprintf("%s/metadata/snap-%d.avro", t.Row.Location, id)] = maintenance.Sighting{Found: true, Size: FileSize}
	for n := range max(t.Adds, 1) {
		path := fmt.Sprintf("%s/data/%d-%d.parquet", t.Row.Location, id, n)
		w.files.objects[path] = maintenance.Sighting{Found: true, Size: FileSize, ETag: fmt.Sprint("e", n), Modified: time.UnixMilli(1_700_000_000_000)}
	}
}

// Changes implements activities.Watcher.
func (w *World) Changes(ctx context.Context, snap metadata.Snapshot, limit int) (maintenance.ChangedFiles, error) {
	if err := w.called(ctx, "Changes", ""); err != nil {
		return maintenance.ChangedFiles{}, err
	}
	location, _, _ := strings.Cut(snap.ManifestList, "/metadata/")
	prefix := fmt.Sprintf("%s/data/%d-", location, snap.ID)
	w.mu.Lock()
	defer w.mu.Unlock()
	var out maintenance.ChangedFiles
	for path := range w.files.objects {
		if strings.HasPrefix(path, prefix) {
			out.Added = append(out.Added, maintenance.AddedFile{Path: path, Size: FileSize, Rows: RowsPerCommit})
		}
	}
	for _, path := range w.files.also[snap.ID] {
		out.Added = append(out.Added, maintenance.AddedFile{Path: path, Size: FileSize, Rows: RowsPerCommit})
	}
	out.Removed = slices.Clone(w.files.removed[snap.ID])
	slices.SortFunc(out.Added, func(a, b maintenance.AddedFile) int { return strings.Compare(a.Path, b.Path) })
	if len(out.Added) > limit {
		out.Left, out.Added = int64(len(out.Added)-limit), out.Added[:limit]
	}
	return out, nil
}

// Look implements activities.Watcher.
func (w *World) Look(ctx context.Context, paths []string, _ int) ([]maintenance.Sighting, error) {
	out := make([]maintenance.Sighting, len(paths))
	for i, path := range paths {
		if err := w.called(ctx, "Stat", path); err != nil {
			out[i].Err = err
			continue
		}
		w.mu.Lock()
		found, ok := w.files.objects[path]
		w.mu.Unlock()
		if out[i] = found; !ok {
			out[i].Gone = true
		}
	}
	return out, ctx.Err()
}

// Live implements activities.Watcher.
func (w *World) Live(ctx context.Context, doc *metadata.Document, paths map[string]struct{}) (map[string]struct{}, error) {
	if err := w.called(ctx, "Live", doc.UUID()); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]struct{}{}
	for path := range paths {
		if !w.files.gone[path] {
			out[path] = struct{}{}
		}
	}
	return out, nil
}

// RecordFiles implements activities.FileLedger.
func (w *World) RecordFiles(ctx context.Context, r activities.FileRecording) error {
	if err := w.called(ctx, "RecordFiles", ""); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range r.Removed {
		if record, ok := w.files.records[id]; ok && record.SnapshotID != r.By {
			at, by := time.Now(), r.By
			record.RemovedAt, record.RemovedBy = &at, &by
			w.files.records[id] = record
		}
	}
	for _, record := range r.Added {
		if is, ok := w.files.records[record.ID]; !ok || is.RemovedAt != nil && is.SnapshotID != record.SnapshotID {
			w.files.records[record.ID] = record
		}
	}
	w.open(r.Findings)
	return nil
}

// KnownFiles implements activities.FileLedger.
func (w *World) KnownFiles(ctx context.Context, ids []string) ([]models.FileRecord, error) {
	if err := w.called(ctx, "KnownFiles", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []models.FileRecord
	for _, id := range ids {
		if r, ok := w.files.records[id]; ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// PruneFileRecords implements activities.FileLedger.
func (w *World) PruneFileRecords(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := w.called(ctx, "PruneFileRecords", ""); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	pruned := 0
	for id, r := range w.files.records {
		if r.RemovedAt != nil && r.RemovedAt.Before(before) && pruned < limit {
			delete(w.files.records, id)
			pruned++
		}
	}
	return pruned, nil
}

// AddFile lets a snapshot add a file that another one has too.
func (w *World) AddFile(t activities.Target, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files.also[t.SnapshotID] = append(w.files.also[t.SnapshotID], path)
}

// RemoveFrom lets a snapshot take a file out of the table.
func (w *World) RemoveFrom(t activities.Target, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files.removed[t.SnapshotID] = append(w.files.removed[t.SnapshotID], path)
}

// FilesToCheck implements activities.FileLedger. Dropped tables are away.
func (w *World) FilesToCheck(ctx context.Context, before time.Time, limit int) ([]activities.WatchedFile, error) {
	if err := w.called(ctx, "FilesToCheck", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []activities.WatchedFile
	for _, r := range w.files.records {
		if !r.CheckedAt.Before(before) || r.RemovedAt != nil {
			continue
		}
		f := activities.WatchedFile{FileRecord: r, Is: activities.TableAway}
		if t := w.tables[r.TableID]; t != nil {
			f.Is, f.CatalogID, f.Catalog, f.TableUUID, f.TableName = activities.TableThere, CatalogID, "main", t.Row.UUID, "sales."+t.Row.Name
		} else if d, ok := w.drops["drop-"+r.TableID]; ok && d.State != models.StateDropped {
			f.Is = activities.TableGone
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b activities.WatchedFile) int {
		if n := a.CheckedAt.Compare(b.CheckedAt); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out[:min(limit, len(out))], nil
}

// SettleFiles implements activities.FileLedger.
func (w *World) SettleFiles(ctx context.Context, c activities.FileCheck) (activities.FileCheckCounts, error) {
	if err := w.called(ctx, "SettleFiles", ""); err != nil {
		return activities.FileCheckCounts{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var counts activities.FileCheckCounts
	for _, wrong := range c.Wrong {
		counts.Opened += w.open([]models.Finding{wrong.Finding})
	}
	for i := range w.files.findings {
		f := &w.files.findings[i]
		well := slices.Contains(c.Well, f.SubjectKey) || slices.Contains(c.Forgotten, f.SubjectKey) || slices.Contains(c.GoneTables, f.TableID)
		if f.ResolvedAt == nil && well {
			f.ResolvedAt = &c.At
			counts.Resolved++
		}
	}
	for _, id := range c.Looked {
		r := w.files.records[id]
		r.CheckedAt = c.At
		w.files.records[id] = r
	}
	for _, r := range c.Named {
		r.CheckedAt = c.At
		w.files.records[r.ID] = r
	}
	for _, id := range c.Forgotten {
		delete(w.files.records, id)
	}
	return counts, nil
}

// open opens findings that are not open. The caller holds the lock.
func (w *World) open(findings []models.Finding) int {
	opened := 0
	for _, f := range findings {
		at := slices.IndexFunc(w.files.findings, func(is models.Finding) bool {
			return is.ResolvedAt == nil && is.TableID == f.TableID && is.SubjectKey == f.SubjectKey && is.Kind == f.Kind
		})
		if at >= 0 {
			w.files.findings[at].Evidence, w.files.findings[at].LastSeenAt = f.Evidence, time.Now()
			continue
		}
		f.ID = fmt.Sprintf("finding-%06d", len(w.files.findings)+1)
		f.FirstSeenAt, f.LastSeenAt = time.Now(), time.Now()
		w.files.findings = append(w.files.findings, f)
		opened++
	}
	return opened
}

var (
	_ activities.Watcher    = (*World)(nil)
	_ activities.FileLedger = (*World)(nil)
)

// Unreachable is what a store says that is down.
func Unreachable() error { return fault.New(fault.Unavailable, "The object store does not answer.") }

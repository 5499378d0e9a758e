package activities

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

// longestPath is the longest location of a file that is recorded, in bytes. Object stores take 1,024.
const longestPath = 4096

// recordable tells whether a location can be kept, as every one of a file that is there can.
func recordable(path string) bool {
	return len(path) <= longestPath && utf8.ValidString(path) && strings.IndexByte(path, 0) < 0
}

// stateOf gives what the store said of a file that it found.
func stateOf(s maintenance.Sighting) *models.FileState {
	return &models.FileState{Size: s.Size, ETag: s.ETag, Modified: timeOf(s.Modified)}
}

// timeOf gives a time as records keep it, nil for none.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}

// unchanged tells whether a file that was found is the recorded one. Its size must be; so must the store's name for the
// content, once that is known.
func unchanged(r models.FileRecord, s maintenance.Sighting) bool {
	return s.Size == r.Size && (r.ETag == "" || s.ETag == r.ETag)
}

// fileFinding makes the finding about a file: that it changed, or, where nothing is there now, that it is missing.
func fileFinding(f WatchedFile, now *models.FileState, principal string) models.Finding {
	kind := models.FindingFileChanged
	if now == nil {
		kind = models.FindingMissingFile
	}
	snapshot := f.SnapshotID
	out := models.Finding{
		Kind: kind, Severity: kind.Severity(), CatalogID: f.CatalogID, Catalog: f.Catalog, TableID: f.TableID,
		TableUUID: f.TableUUID, Table: f.TableName, SnapshotID: &snapshot, Principal: principal,
		Subject: f.Location, SubjectKey: f.ID,
	}
	out.Evidence.V = models.FileEvidence{
		File: f.Location, Snapshot: strconv.FormatInt(snapshot, 10),
		Then: models.FileState{Size: f.Size, ETag: f.ETag, Modified: f.ModifiedAt}, Now: now,
	}.Members()
	return out
}

// snapshotSubject names a snapshot to people.
func snapshotSubject(id int64) string { return fmt.Sprintf("snapshot %d", id) }

// commitFindings makes one finding of each kind of what was found of a commit. Of wrong summaries there is one for each
// writer, or who is always wrong would open one with every commit.
func commitFindings(c models.Commit, catalog string, found []Finding) []models.Finding {
	var out []models.Finding
	for _, f := range found {
		if n := len(out) - 1; n >= 0 && out[n].Kind == f.Kind {
			out[n].Evidence.V["observed"] = append(out[n].Evidence.V["observed"].([]string), f.Evidence)
			continue
		}
		w, snapshot := c.Writer.V, c.SnapshotID
		one := models.Finding{
			Kind: f.Kind, Severity: f.Kind.Severity(), CatalogID: c.CatalogID, Catalog: catalog, TableID: c.TableID,
			TableUUID: c.TableUUID, Table: c.TableName, SnapshotID: &snapshot, Principal: w.Principal,
		}
		one.Subject = snapshotSubject(snapshot)
		if f.Kind == models.FindingSummaryMismatch {
			one.Subject = strings.TrimSpace("writer " + w.Principal + " " + w.Engine)
		}
		one.SubjectKey = models.SubjectKey(string(f.Kind), one.Subject)
		one.Evidence.V = map[string]any{
			"snapshot": strconv.FormatInt(snapshot, 10), "observed": []string{f.Evidence},
			"writer": map[string]any{"principal": w.Principal, "engine": w.Engine},
		}
		out = append(out, one)
	}
	return out
}

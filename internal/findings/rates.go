package findings

import (
	"fmt"
	"time"

	"github.com/sluice-data/sluice/models"
)

// fewFiles is how many data files a table must have got before their size says something.
const fewFiles = 100

// OfRate finds a table that gets snapshots too fast, or files that are too small. The caller sets of the two thresholds the
// one that goes with the time that the rate is of: snapshots are judged over an hour, files over a day.
func OfRate(r TableRate, t Thresholds) []models.Finding {
	var out []models.Finding
	if t.SnapshotsHourly > 0 && r.Commits >= t.SnapshotsHourly {
		f := aboutRate(models.FindingSnapshotRate, r)
		f.Evidence.V["snapshots"], f.Evidence.V["limit"] = r.Commits, t.SnapshotsHourly
		f.Evidence.V["remedy"] = "Let the writers commit less often (a longer checkpoint or commit interval, larger batches), and expire snapshots: " +
			"each one makes the table's metadata larger and every commit slower."
		out = append(out, f)
	}
	if t.SmallFile > 0 && r.AddedFiles >= fewFiles && r.AddedBytes/r.AddedFiles < t.SmallFile {
		f := aboutRate(models.FindingSmallFiles, r)
		f.Evidence.V["files"], f.Evidence.V["bytes"] = r.AddedFiles, r.AddedBytes
		f.Evidence.V["average"], f.Evidence.V["limit"] = r.AddedBytes/r.AddedFiles, t.SmallFile
		f.Evidence.V["remedy"] = "Compact the table, and let the writers commit less often or with fewer tasks: readers open every one of these files."
		out = append(out, f)
	}
	return out
}

func aboutRate(kind models.FindingKind, r TableRate) models.Finding {
	f := aboutTable(kind, models.Table{CatalogID: r.CatalogID, ID: r.TableID, UUID: r.TableUUID})
	f.Catalog, f.Table = r.Catalog, r.Table
	f.Evidence.V = map[string]any{"since": timeText(r.Since.Truncate(time.Second))}
	return f
}

// OfDeletes finds a table whose readers pay for equality deletes that nobody compacts, as of a commit after which that many of
// them are live.
func OfDeletes(c models.Commit, live, limit int64) (models.Finding, bool) {
	if limit <= 0 || live < limit {
		return models.Finding{}, false
	}
	f := aboutCommit(models.FindingDeletePileup, c)
	f.Subject, f.SubjectKey = "table", models.SubjectKey(string(f.Kind))
	f.Evidence.V = map[string]any{
		"snapshot": idText(c.SnapshotID), "writer": writerOf(c), "equalityDeleteFiles": live, "limit": limit,
		"remedy": fmt.Sprintf("Every read applies %d equality delete files. Rewrite the data files that they reach (rewrite_data_files), as a streaming upsert needs regularly.", live),
	}
	return f, true
}

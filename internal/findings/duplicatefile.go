package findings

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/models"
)

// mostFiles is how many paths the evidence of a finding names.
const mostFiles = 20

// OfDuplicateFile finds data files that a commit adds and that an earlier snapshot, which the commit builds on, had added:
// their rows are in the table twice, or came back where the file was removed in between. There is one finding for each
// earlier snapshot.
func OfDuplicateFile(c models.Commit, twins []TwinFile) []models.Finding {
	by := map[int64][]TwinFile{}
	for _, t := range twins {
		if t.Record.SnapshotID != c.SnapshotID {
			by[t.Record.SnapshotID] = append(by[t.Record.SnapshotID], t)
		}
	}
	var out []models.Finding
	for _, earlier := range slices.Sorted(maps.Keys(by)) {
		out = append(out, duplicateFiles(c, earlier, by[earlier]))
	}
	return out
}

func duplicateFiles(c models.Commit, earlier int64, twins []TwinFile) models.Finding {
	var rows, bytes, removed int64
	paths := make([]string, 0, min(len(twins), mostFiles))
	removers := map[string]bool{}
	for _, t := range twins {
		rows, bytes = rows+t.Rows, bytes+t.Record.Size
		if len(paths) < mostFiles {
			paths = append(paths, t.Record.Location)
		}
		if t.Record.RemovedAt != nil {
			removed++
			if t.Record.RemovedBy != nil {
				removers[idText(*t.Record.RemovedBy)] = true
			}
		}
	}
	f := aboutCommit(models.FindingDuplicateFile, c)
	f.Subject = paths[0]
	if len(twins) > 1 {
		f.Subject = fmt.Sprintf("%s and %d more", paths[0], len(twins)-1)
	}
	f.SubjectKey = models.SubjectKey(string(f.Kind), idText(c.SnapshotID), idText(earlier))
	f.Evidence.V = map[string]any{
		"writer": writerOf(c), "snapshot": idText(c.SnapshotID), "earlierSnapshot": idText(earlier), "at": timeText(c.CommittedAt),
		"files": paths, "fileCount": int64(len(twins)), "bytes": bytes, "removedBetween": removed,
		"remedy": "The rows of these files are read twice. Remove one of the two entries: delete the files from the table and add them once, or roll it back to before the later snapshot.",
	}
	if rows > 0 {
		f.Evidence.V["rows"] = rows
	}
	if removed > 0 {
		f.Evidence.V["removedBy"] = slices.Sorted(maps.Keys(removers))
		f.Evidence.V["remedy"] = "Files that had been removed from the table are back, and their rows with them. If that is not meant, delete them again, or roll it back to before the later snapshot."
	}
	return f
}

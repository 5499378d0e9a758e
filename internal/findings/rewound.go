package findings

import (
	"fmt"
	"strings"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// pieceSize is below which a data file is what a writer had at a checkpoint, and not one of those that it closes in between
// because they are large enough.
const pieceSize = 1 << 20

// OfRewound finds a Flink job that was started from an older checkpoint than the last one that the job before it committed,
// where the sink keeps back what it writes until its checkpoints pass that one, and commits it all at once: its
// first commit has a number that could as well be that of a job that went on where the other one ended. But such a job
// has written for no more checkpoints by then than have been since, and of each of its writers there is one file for each.
// Concerned of the history are worth asking for where it finds something.
func OfRewound(c models.Commit, h History, added []NewFile) (models.Finding, bool) {
	checkpoint, ok := writers.Checkpoint(c.Summary.V)
	if !ok || c.Unit == "" || checkpoint <= freshCheckpoint {
		return models.Finding{}, false
	}
	h = builtOn(before(c, h))
	if h.FirstOfJob != nil || len(h.Before) == 0 || sideBySide(h.Before) {
		return models.Finding{}, false
	}
	last := h.Before[0]
	committed, ok := writers.Checkpoint(last.Summary.V)
	pieces := Pieces(c, added)
	if !ok || last.Unit == "" || last.Job == c.Job || checkpoint <= committed || pieces <= checkpoint-committed {
		return models.Finding{}, false
	}
	f := aboutCommit(models.FindingOffsetRegression, c)
	f.Evidence.V = pair(c, last)
	f.Evidence.V["checkpoints"] = pieces
	f.Evidence.V["remedy"] = fmt.Sprintf("The job was started from an older checkpoint or savepoint than the last one that was committed: its first commit holds what it "+
		"wrote in %d checkpoints, of which at least %d had been committed by the job before it. Their rows are in the table twice where the source was read again. "+
		"Compare with the source, delete what is there twice, and start the job from its latest checkpoint.", pieces, pieces-(checkpoint-committed))
	return f, true
}

// Pieces gives for how many checkpoints a commit of Flink holds data at least: how many small files it has of one writer in one folder,
// which is one partition. It is 0 where that cannot be told, as where files of deletes are among them.
func Pieces(c models.Commit, added []NewFile) int64 {
	_, flink := writers.Checkpoint(c.Summary.V)
	if deletes := c.Summary.V["added-delete-files"]; !flink || c.Operation != "append" || deletes != "" && deletes != "0" {
		return 0
	}
	var most int64
	of := map[string]int64{}
	for _, f := range added {
		// <folder>/<task>-<attempt>-<id of the writer>-<number>.<format>
		number := strings.LastIndexByte(f.Path, '-')
		if number <= strings.LastIndexByte(f.Path, '/') || f.Size >= pieceSize {
			continue
		}
		writer := f.Path[:number]
		of[writer]++
		most = max(most, of[writer])
	}
	return most
}

package findings

import (
	"slices"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// freshCheckpoint is up to which checkpoint the first commit of a Flink job may be that of a job that started afresh: Flink
// commits at least every tenth checkpoint, even an empty one.
const freshCheckpoint = 10

// twinOf gives the earlier commit that this one repeats. A commit id of a connector and an epoch of a query are of one
// piece of data; so is a checkpoint of one Flink job. Jobs count checkpoints each for itself, so that of another job is a
// twin only where this job carries on with that one's state.
func twinOf(c models.Commit, h History) (models.Commit, bool) {
	if c.Unit == "" || len(h.SameUnit) == 0 {
		return models.Commit{}, false
	}
	checkpoint, flink := writers.Checkpoint(c.Summary.V)
	if !flink {
		i := slices.IndexFunc(h.SameUnit, func(twin models.Commit) bool { return !oneRequest(c, twin) })
		if i < 0 {
			return models.Commit{}, false
		}
		return h.SameUnit[i], true
	}
	for _, twin := range h.SameUnit {
		if twin.Job == c.Job {
			return twin, true
		}
	}
	for _, twin := range slices.Backward(h.SameUnit) {
		if carriesOn(c, twin, checkpoint, h) {
			return twin, true
		}
	}
	return models.Commit{}, false
}

// oneRequest tells whether a connector made two commits with one request: it makes one for each partition spec of its files, all
// under the id of the round.
func oneRequest(a, b models.Commit) bool {
	return a.Summary.V["kafka.connect.commit-id"] != "" && a.MetadataLocation != "" && a.MetadataLocation == b.MetadataLocation &&
		(a.ID > 0) == (b.ID > 0) // what is not in the ledger yet has the location of the commit before
}

// carriesOn tells whether the job of a commit took the state of another job over, so that equal checkpoints hold equal data.
// Two jobs side by side have one operator id when nobody gave them any, and both commit on.
func carriesOn(c, twin models.Commit, checkpoint int64, h History) bool {
	if h.FirstOfJob != nil && committedSince(h.Before, twin.Job, h.FirstOfJob.ID) {
		return false
	}
	first := checkpoint
	if h.FirstOfJob != nil {
		if n, ok := writers.Checkpoint(h.FirstOfJob.Summary.V); ok {
			first = n
		}
	}
	if first == 1 {
		return false // who carries on goes on counting
	}
	if sameContent(c, twin) {
		return h.FirstOfJob == nil || !beganOtherwise(h.Before, twin.Job, *h.FirstOfJob)
	}
	return first > freshCheckpoint && !sideBySide(h.Before)
}

// beganOtherwise tells whether a job's first commit has the number, but not the content, of one of another job: it counts
// for itself, and what it has in common with that one later is chance, as of a source that sends alike rows.
func beganOtherwise(before []models.Commit, job string, first models.Commit) bool {
	return slices.ContainsFunc(before, func(c models.Commit) bool {
		return c.Job == job && c.Unit == first.Unit && c.Unit != "" && differ(c, first)
	})
}

func committedSince(before []models.Commit, job string, id int64) bool {
	return slices.ContainsFunc(before, func(c models.Commit) bool { return c.Job == job && c.ID > id })
}

// sameContent tells whether two commits say that they brought as many rows in as many bytes.
func sameContent(a, b models.Commit) bool {
	rows, size := a.Summary.V["added-records"], a.Summary.V["added-files-size"]
	return rows != "" && rows != "0" && size != "" && rows == b.Summary.V["added-records"] && size == b.Summary.V["added-files-size"]
}

// differ tells whether two commits say that they brought different amounts of rows or bytes.
func differ(a, b models.Commit) bool {
	for _, property := range []string{"added-records", "added-files-size"} {
		if x, y := a.Summary.V[property], b.Summary.V[property]; x != "" && y != "" && x != y {
			return true
		}
	}
	return false
}

// sideBySide tells whether a job committed again after another one had: neither took the other's place.
func sideBySide(before []models.Commit) bool {
	left := map[string]bool{} // jobs that another one followed
	last := ""
	for _, c := range slices.Backward(before) {
		if c.Job == last {
			continue
		}
		if left[c.Job] {
			return true
		}
		left[last], last = true, c.Job
	}
	return false
}

func duplicate(c, twin models.Commit) models.Finding {
	f := aboutCommit(models.FindingDuplicateCheckpoint, c)
	f.Evidence.V = pair(c, twin)
	f.Evidence.V["remedy"] = "Compare the files of both snapshots. If they hold the same rows, delete those of the later one, or roll the table back " +
		"to before it; then start the job from its latest checkpoint or savepoint, never from an older one."
	return f
}

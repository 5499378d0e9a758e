package findings

import (
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// regression finds a commit whose place in its writer's stream is before what the writer had committed last, and that is not
// in the ledger: what lies between is read again, or was lost.
func regression(c models.Commit, h History) (models.Finding, bool) {
	if n, ok := writers.Checkpoint(c.Summary.V); ok {
		return checkpointBack(c, n, h)
	}
	if n, ok := writers.Epoch(c.Summary.V); ok {
		for _, last := range h.Before {
			if m, ok := writers.Epoch(last.Summary.V); ok {
				return wentBack(c, last, n < m, "The query went back to an older epoch: its checkpoint folder was restored or replaced. "+
					"Look whether the rows since then are in the table twice, or not at all.")
			}
		}
		return models.Finding{}, false
	}
	return offsetsBack(c, h)
}

// checkpointBack compares with the job's own last commit; the first one of a job that took another's place, with that one's.
func checkpointBack(c models.Commit, checkpoint int64, h History) (models.Finding, bool) {
	if c.Unit == "" {
		return models.Finding{}, false
	}
	const remedy = "The job was started from an older checkpoint or savepoint than the last one that it had committed. Rows since then may be in the " +
		"table twice; and while its checkpoints are below the committed one, Flink may drop what it writes. Compare with the source, and start it from the latest."
	last := slices.IndexFunc(h.Before, func(b models.Commit) bool { return b.Job == c.Job && b.Unit != "" })
	if last < 0 && h.FirstOfJob == nil && checkpoint > freshCheckpoint && !sideBySide(h.Before) {
		last = slices.IndexFunc(h.Before, func(b models.Commit) bool { return b.Unit != "" })
	}
	if last < 0 {
		return models.Finding{}, false
	}
	before, ok := writers.Checkpoint(h.Before[last].Summary.V)
	return wentBack(c, h.Before[last], ok && checkpoint < before, remedy)
}

// offsetsBack compares how far a connector had read its control topic.
func offsetsBack(c models.Commit, h History) (models.Finding, bool) {
	now := writers.Offsets(c.Summary.V)
	if len(now) == 0 {
		return models.Finding{}, false
	}
	for _, last := range h.Before {
		then := writers.Offsets(last.Summary.V)
		if len(then) == 0 {
			continue
		}
		var back []string
		for _, partition := range slices.Sorted(maps.Keys(now)) {
			if was, ok := then[partition]; ok && now[partition] < was {
				back = append(back, partition)
			}
		}
		f, ok := wentBack(c, last, len(back) > 0, "The connector reads parts of its control topic again: the topic or the group was made anew, or another "+
			"coordinator is at work. Look for files that are in both snapshots, and for rows that are in the table twice.")
		if ok {
			f.Evidence.V["partitions"] = back
		}
		return f, ok
	}
	return models.Finding{}, false
}

func wentBack(c, last models.Commit, back bool, remedy string) (models.Finding, bool) {
	if !back {
		return models.Finding{}, false
	}
	f := aboutCommit(models.FindingOffsetRegression, c)
	f.Evidence.V = pair(c, last)
	f.Evidence.V["remedy"] = remedy
	return f, true
}

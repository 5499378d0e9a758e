package findings

import (
	"time"

	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// A task of a connector that commits again within these after another one did has not handed over to it.
const (
	coordinatorCommits = 10
	coordinatorSpan    = time.Hour
)

// twoCoordinators finds a connector for which two tasks commit in turn. One change of task is a rebalance.
func twoCoordinators(c models.Commit, h History) (models.Finding, bool) {
	if c.Job == "" || writers.Offsets(c.Summary.V) == nil && c.Summary.V["kafka.connect.commit-id"] == "" {
		return models.Finding{}, false
	}
	window := []models.Commit{c}
	other, again := "", false
	for _, b := range h.Before[:min(len(h.Before), coordinatorCommits-1)] {
		if b.Job == "" || c.CommittedAt.Sub(b.CommittedAt) > coordinatorSpan {
			break
		}
		window = append(window, b)
		if b.Job != c.Job && other == "" {
			other = b.Job
		}
		if again = other != "" && b.Job == c.Job; again {
			break
		}
	}
	if !again {
		return models.Finding{}, false
	}
	f := aboutCommit(models.FindingDualCoordinator, c)
	f.Subject, f.SubjectKey = writerOf(c), models.SubjectKey(string(f.Kind), c.WriterID)
	commits := make([]any, len(window))
	for i, b := range window {
		commits[i] = map[string]any{"snapshot": idText(b.SnapshotID), "task": b.Job, "unit": b.Unit, "at": timeText(b.CommittedAt)}
	}
	f.Evidence.V = map[string]any{
		"writer": f.Subject, "tasks": []string{c.Job, other}, "commits": commits,
		"remedy": "Two tasks of the connector think that they coordinate its commits. Stop all of its tasks, see that no worker still runs one, " +
			"and start it again; then look for rows that were committed twice.",
	}
	return f, true
}

package writers

import (
	"time"

	"github.com/sluice-data/sluice/models"
)

// enough is how many intervals it takes to know a cadence.
const enough = 5

// steady is how long the rhythm of a batch writer must have held.
const steady = 24 * time.Hour

// Limits say how much later than usual is late.
type Limits struct {
	Factor float64       // times the learned cadence
	Floor  time.Duration // never sooner than this
}

// Due says when a writer is late, and whether it owes a commit at all: a declared cadence always counts, the learned one of
// a stream once it is known, of a batch writer only when it is as regular as a clock. Who is finished or retired owes
// nothing.
func Due(w models.TableWriter, t Limits) (at time.Time, owes bool) {
	if w.State == models.WriterFinished || w.State == models.WriterRetired {
		return time.Time{}, false
	}
	last := w.CreatedAt
	if w.LastCommitAt != nil {
		last = *w.LastCommitAt
	}
	if w.Every > 0 {
		every := millis(w.Every)
		return last.Add(every + max(every/10, time.Second)), true
	}
	if w.LastCommitAt == nil || !rhythmic(w) {
		return time.Time{}, false
	}
	median, spread := millis(w.Median), millis(w.Spread)
	return last.Add(max(t.Floor, times(median, t.Factor), median+times(spread, t.Factor))), true
}

// rhythmic tells whether the writer's learned cadence is one to hold it to. Of a batch writer one interval in ten may be
// another one.
func rhythmic(w models.TableWriter) bool {
	intervals := w.Intervals.V
	if len(intervals) < enough {
		return false
	}
	switch w.Kind {
	case models.FlinkWriter, models.ConnectWriter, models.StreamingWriter:
		return true
	case models.ExpectedWriter:
		return false
	case models.BatchWriter:
	}
	var span int64
	off := 0
	for _, n := range intervals {
		if span += n; max(n-w.Median, w.Median-n) > w.Median/4 {
			off++
		}
	}
	return millis(span) >= steady && off <= max(1, len(intervals)/10)
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// times multiplies without running over: what would be longer than a century is one.
func times(d time.Duration, factor float64) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	return time.Duration(min(float64(d)*factor, float64(century)))
}

package writers

import (
	"slices"
	"time"

	"github.com/sluice-data/sluice/models"
)

// Depth is how many commits of a writer Summarize makes use of.
const Depth = models.MostIntervals + 1

// burst is how close commits of a batch writer are one piece of work: a job that replaces rows commits twice or more.
const burst = time.Minute

// Summarize says of a writer what its newest commits tell, newest first and at least one. Commits and FirstCommitAt are of
// those that are given; what people declare of a writer is not among them.
func Summarize(latest []models.Commit) models.TableWriter {
	if len(latest) == 0 {
		return models.TableWriter{}
	}
	c := latest[0]
	w, summary := c.Writer.V, c.Summary.V
	id := Identify(c.TableID, c.Ref, w, summary)
	at, first := c.CommittedAt, latest[len(latest)-1].CommittedAt
	snapshot := c.SnapshotID
	out := models.TableWriter{
		ID: c.WriterID, CatalogID: c.CatalogID, TableID: c.TableID, TableUUID: c.TableUUID, Table: c.TableName,
		Kind: id.Kind, Key: id.Key, Principal: w.Principal, Engine: w.Engine, Version: Shorten(summary["engine-version"]), Client: w.Client,
		Job: c.Job, Ref: c.Ref, TokenID: w.TokenID, ValidTo: validTo(summary),
		LastCommit: &snapshot, Commits: int64(len(latest)), FirstCommitAt: &first, LastCommitAt: &at,
		State: models.WriterActive, CreatedAt: first,
	}
	if n, ok := Checkpoint(summary); ok && n == LastCheckpoint {
		out.State = models.WriterFinished
	}
	out.Watermark.V = watermark(latest)
	out.Intervals.V = intervals(id.Kind, latest)
	out.Median, out.Spread = cadence(out.Intervals.V)
	return out
}

// watermark is how far the writer's newest commit that says so is.
func watermark(latest []models.Commit) map[string]int64 {
	for _, c := range latest {
		if n, ok := Checkpoint(c.Summary.V); ok && n != LastCheckpoint {
			return map[string]int64{"checkpoint": n}
		}
		if n, ok := Epoch(c.Summary.V); ok {
			return map[string]int64{"epoch": n}
		}
		if offsets := Offsets(c.Summary.V); len(offsets) > 0 {
			return offsets
		}
	}
	return map[string]int64{}
}

// intervals gives the milliseconds between commits, oldest first. A clock that went back makes none.
func intervals(kind models.WriterKind, latest []models.Commit) []int64 {
	out := []int64{}
	before := latest[len(latest)-1].CommittedAt
	for _, c := range slices.Backward(latest[:len(latest)-1]) {
		passed := c.CommittedAt.Sub(before)
		if kind == models.BatchWriter && passed < burst {
			continue
		}
		out = append(out, max(passed.Milliseconds(), 0))
		before = c.CommittedAt
	}
	return out[max(0, len(out)-models.MostIntervals):]
}

// cadence gives the median of intervals, and the median of their distances from it: one outage, or one commit out of
// turn, moves neither.
func cadence(intervals []int64) (median, spread int64) {
	if len(intervals) == 0 {
		return 0, 0
	}
	median = middle(intervals)
	distances := make([]int64, len(intervals))
	for i, n := range intervals {
		distances[i] = max(n-median, median-n)
	}
	return median, middle(distances)
}

// middle gives the median; of an even number the lower one of the two in the middle.
func middle(numbers []int64) int64 {
	sorted := slices.Sorted(slices.Values(numbers))
	return sorted[(len(sorted)-1)/2]
}

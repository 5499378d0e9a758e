package findings

import (
	"slices"

	"github.com/sluice-data/sluice/models"
)

// OfCommit finds what is wrong with a commit by what its writer committed before it: a piece of its stream that is there
// already, a step back, two coordinators at work. It looks at nothing that came after the commit, so that it gives
// the same whenever it is asked.
func OfCommit(c models.Commit, h History) []models.Finding {
	if c.WriterID == "" || c.Operation == "replace" {
		return nil
	}
	var out []models.Finding
	h = before(c, h)
	if f, ok := twoCoordinators(c, h); ok {
		out = append(out, f)
	}
	h = builtOn(h)
	if twin, ok := twinOf(c, h); ok {
		return append(out, duplicate(c, twin))
	}
	if f, ok := regression(c, h); ok {
		out = append(out, f)
	}
	return out
}

// Twin gives the commit that carries the same piece of the writer's stream, where that makes this one a duplicate, as
// OfCommit judges it.
func Twin(c models.Commit, h History) (models.Commit, bool) {
	if c.WriterID == "" || c.Unit == "" {
		return models.Commit{}, false
	}
	return twinOf(c, builtOn(before(c, h)))
}

// Concerned gives the snapshots whose ancestry decides what OfCommit finds.
func Concerned(h History) []int64 {
	var ids []int64
	for _, c := range slices.Concat(h.Before, h.SameUnit) {
		ids = append(ids, c.SnapshotID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// before leaves out of a history what the ledger has from after the commit. A commit without an id is not in the ledger yet.
func before(c models.Commit, h History) History {
	later := func(other models.Commit) bool {
		return other.SnapshotID == c.SnapshotID || c.ID > 0 && other.ID >= c.ID
	}
	h.Before = slices.DeleteFunc(slices.Clone(h.Before), later)
	h.SameUnit = slices.DeleteFunc(slices.Clone(h.SameUnit), later)
	if h.FirstOfJob != nil && later(*h.FirstOfJob) {
		h.FirstOfJob = nil
	}
	return h
}

// builtOn leaves out what was rolled back before the commit: to write that again is right.
func builtOn(h History) History {
	if h.Ancestors == nil {
		return h
	}
	gone := func(c models.Commit) bool { return !h.Ancestors[c.SnapshotID] }
	h.Before = slices.DeleteFunc(slices.Clone(h.Before), gone)
	h.SameUnit = slices.DeleteFunc(slices.Clone(h.SameUnit), gone)
	return h
}

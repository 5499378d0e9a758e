package metadata

import (
	"math"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// How far a commit's clock may be off, in milliseconds: commits come from different machines. Engines themselves refuse
// to read or write what goes back by more than clockSkewMs.
const (
	clockSkewMs  = 60_000
	clockAheadMs = 600_000
)

// hasSnapshot tells whether the table has the snapshot now.
func (b *builder) hasSnapshot(id int64) bool {
	if b.addedSnapshot(id) != nil {
		return true
	}
	if b.base == nil || b.removed[id] {
		return false
	}
	_, ok := b.base.snapshots.find(id)
	return ok
}

func (b *builder) addedSnapshot(id int64) *Snapshot {
	return b.addedByID[id]
}

func (b *builder) addSnapshot(s *Snapshot) error {
	switch {
	case len(b.schemas) == 0:
		return fault.New(fault.Invalid, "Attempting to add a snapshot before a schema is added")
	case len(b.specs) == 0:
		return fault.New(fault.Invalid, "Attempting to add a snapshot before a partition spec is added")
	case len(b.orders) == 0:
		return fault.New(fault.Invalid, "Attempting to add a snapshot before a sort order is added")
	case b.hasSnapshot(s.ID):
		return fault.New(fault.Invalid, "Snapshot already exists for id: %d", s.ID)
	case s.ID == -1 || s.ParentID != nil && *s.ParentID == s.ID:
		return fault.New(fault.Invalid, "Invalid snapshot id: %d", s.ID)
	}
	if err := b.checkSnapshotMembers(s); err != nil {
		return err
	}
	if err := b.advanceSequence(s); err != nil {
		return err
	}
	if err := b.advanceRows(s); err != nil {
		return err
	}
	b.added = append(b.added, s)
	b.addedByID[s.ID] = s
	b.updatedAt = max(b.updatedAt, b.commitTime(s))
	b.dirty["snapshots"] = true
	return nil
}

// checkSnapshotMembers wants what engines of the format version need to read a snapshot.
func (b *builder) checkSnapshotMembers(s *Snapshot) error {
	if b.v.formatVersion >= 2 {
		if s.ManifestList == "" {
			return fault.New(fault.Invalid, "Invalid snapshot %d: missing manifest-list", s.ID)
		}
		if s.Operation == "" {
			return fault.New(fault.Invalid, "Invalid snapshot %d: missing summary.operation", s.ID)
		}
	} else if s.ManifestList == "" && s.Manifests == nil {
		return fault.New(fault.Invalid, "Invalid snapshot %d: missing manifest-list", s.ID)
	}
	return b.checkTime(s)
}

// checkTime wants a snapshot to be about as old as the commit. A table that already has a time in the future takes
// snapshots of the present all the same.
func (b *builder) checkTime(s *Snapshot) error {
	if s.TimestampMs > b.now+clockAheadMs {
		return fault.New(fault.Invalid, "Invalid snapshot timestamp %d: it is more than %d minutes ahead of the catalog's clock. "+
			"Set the writer's clock and commit again.", s.TimestampMs, clockAheadMs/60_000)
	}
	if last := min(b.lastTime(), b.now); s.TimestampMs < last-clockSkewMs {
		return fault.New(fault.Invalid, "Invalid snapshot timestamp %d: before last updated timestamp %d", s.TimestampMs, last)
	}
	return nil
}

// commitTime is the time of an added snapshot as the table records it: the writer's, as long as it is not ahead of the
// catalog's. Engines refuse to commit to a table whose last time is ahead of their own clock.
func (b *builder) commitTime(s *Snapshot) int64 {
	return min(s.TimestampMs, b.now)
}

// lastTime is the latest time the table knows, 0 for a new one.
func (b *builder) lastTime() int64 {
	last := b.updatedAt
	if b.base != nil {
		last = max(last, b.base.view.lastUpdated, b.base.log.timestamp)
	}
	return last
}

// updateTime is the time of this commit as far as it is known: the commitTime of the added snapshots,
// otherwise now. Engines compare their own clock with it before they commit, so
// that the server's clock must not push it ahead of a client whose clock is late. It never goes back.
func (b *builder) updateTime() int64 {
	if len(b.added) > 0 {
		return b.lastTime()
	}
	return max(b.now, b.lastTime())
}

// advanceSequence refuses a snapshot that was prepared before another one was committed. It is a
// conflict, so that the client refreshes and assigns a new number. The last number is never lowered, nor raised so far
// that the numbers could run out.
func (b *builder) advanceSequence(s *Snapshot) error {
	if s.SequenceNumber < 0 {
		return fault.New(fault.Invalid, "Invalid snapshot %d: sequence number %d is negative", s.ID, s.SequenceNumber)
	}
	if b.v.formatVersion == 1 {
		if s.SequenceNumber > 0 {
			return fault.New(fault.Invalid, "Invalid snapshot %d: sequence number must be 0 in v1: %d", s.ID, s.SequenceNumber)
		}
		return nil
	}
	if s.SequenceNumber <= b.v.lastSequence && s.ParentID != nil {
		return fault.New(fault.Conflict, "Cannot add snapshot with sequence number %d older than last sequence number %d",
			s.SequenceNumber, b.v.lastSequence)
	}
	if s.SequenceNumber-idGap > max(b.v.lastSequence, 0) {
		return fault.New(fault.Invalid, "Cannot add snapshot with sequence number %d: the last sequence number is %d. "+
			"Assign the next one.", s.SequenceNumber, b.v.lastSequence)
	}
	if s.SequenceNumber > b.v.lastSequence {
		b.v.lastSequence = s.SequenceNumber
		b.dirty["last-sequence-number"] = true
	}
	return nil
}

// advanceRows reserves the row ids of a v3 snapshot. They follow on those given before: no row id is given twice, and
// none is lost to a gap.
func (b *builder) advanceRows(s *Snapshot) error {
	if b.v.formatVersion < 3 {
		return nil
	}
	if s.FirstRowID == nil {
		return fault.New(fault.Invalid, "Cannot add a snapshot: first-row-id is null")
	}
	if s.AddedRows == nil || *s.AddedRows < 0 {
		return fault.New(fault.Invalid, "Cannot add a snapshot: added-rows is missing or negative")
	}
	if *s.FirstRowID < b.v.nextRow {
		return fault.New(fault.Conflict, "Cannot add a snapshot, first-row-id is behind table next-row-id: %d < %d",
			*s.FirstRowID, b.v.nextRow)
	}
	if *s.FirstRowID > b.v.nextRow {
		return fault.New(fault.Invalid, "Cannot add a snapshot, first-row-id is ahead of table next-row-id: %d > %d",
			*s.FirstRowID, b.v.nextRow)
	}
	if *s.AddedRows > min(maxAddedRows, math.MaxInt64-*s.FirstRowID) {
		return fault.New(fault.Invalid, "Cannot add a snapshot: added-rows %d is more than a snapshot can add", *s.AddedRows)
	}
	if next := *s.FirstRowID + *s.AddedRows; next != b.v.nextRow {
		b.v.nextRow = next
		b.dirty["next-row-id"] = true
	}
	return nil
}

func (b *builder) setRef(name string, ref Ref) error {
	if name == "" {
		return fault.New(fault.Invalid, "Cannot set a ref with an empty name")
	}
	if name == mainBranch && ref.Type != branchType {
		return fault.New(fault.Invalid, "Cannot set main to a tag: it must be a branch")
	}
	if !b.hasSnapshot(ref.SnapshotID) {
		return fault.New(fault.Invalid, "Cannot set %s to unknown snapshot: %d", name, ref.SnapshotID)
	}
	old, existed := b.v.refs[name]
	if existed && sameRef(old, ref) {
		return nil
	}
	change := RefChange{Name: name, After: &ref}
	if existed {
		change.Before = &old
	}
	b.changes.RefChanges = append(b.changes.RefChanges, change)
	b.v.refs[name] = ref
	written := b.writtenRefs()
	written.set(name, encodeRef(ref, written.written(name)))
	b.dirty["refs"] = true
	if name == mainBranch {
		b.setMain(ref.SnapshotID)
	}
	return nil
}

// setMain makes a snapshot the current one and enters it in the log.
func (b *builder) setMain(id int64) {
	b.mainSetNew = b.mainRemoved
	entry := logEntry{snapshot: id, timestamp: b.updateTime()}
	if s := b.addedSnapshot(id); s != nil {
		entry.timestamp = b.commitTime(s)
		b.mainAdded[id] = true
	}
	if b.base != nil && entry.timestamp < b.base.log.timestamp-clockSkewMs {
		entry.timestamp = b.base.log.timestamp // engines refuse a log that goes back
	}
	if b.v.hasCurrent && b.v.current == id {
		return // only its retention changed
	}
	b.newLog = append(b.newLog, entry)
	b.v.current, b.v.hasCurrent = id, true
	b.dirty["current-snapshot-id"] = true
	b.dirty["snapshot-log"] = true
}

// removeRef removes a branch or tag; one that is not there is no error. Without main the table has no
// current snapshot.
func (b *builder) removeRef(name string) error {
	if name == mainBranch && b.v.hasCurrent {
		b.v.current, b.v.hasCurrent = -1, false
		b.dirty["current-snapshot-id"] = true
		b.mainRemoved = true
	}
	old, ok := b.v.refs[name]
	if !ok {
		return nil
	}
	delete(b.v.refs, name)
	b.writtenRefs().remove(name)
	b.changes.RefChanges = append(b.changes.RefChanges, RefChange{Name: name, Before: &old})
	b.dirty["refs"] = true
	return nil
}

// removeSnapshots removes those of the ids that the table has, with the refs that point to them and
// their statistics.
func (b *builder) removeSnapshots(ids []int64) error {
	gone := make(map[int64]bool, len(ids))
	for _, id := range ids {
		if gone[id] || !b.hasSnapshot(id) {
			continue
		}
		gone[id] = true
		b.changes.RemovedSnapshots = append(b.changes.RemovedSnapshots, id)
		if b.addedSnapshot(id) != nil {
			delete(b.addedByID, id)
			b.added = slices.DeleteFunc(b.added, func(s *Snapshot) bool { return s.ID == id })
			continue
		}
		if b.removed == nil {
			b.removed = make(map[int64]bool, len(ids))
		}
		b.removed[id] = true
	}
	if len(gone) == 0 {
		return nil
	}
	b.dirty["snapshots"] = true
	b.dirty["snapshot-log"] = true
	for _, name := range refsTo(b.v.refs, gone) {
		if err := b.removeRef(name); err != nil {
			return err
		}
	}
	if b.v.hasCurrent && gone[b.v.current] {
		if err := b.removeRef(mainBranch); err != nil {
			return err
		}
	}
	for _, section := range []string{statisticsName, partitionStatisticsName} {
		for id := range gone {
			if err := b.removeStatistics(section, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// refsTo gives the names of the refs that point to the snapshots, sorted.
func refsTo(refs map[string]Ref, snapshots map[int64]bool) []string {
	var names []string
	for name, ref := range refs {
		if snapshots[ref.SnapshotID] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

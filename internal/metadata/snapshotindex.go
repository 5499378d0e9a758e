package metadata

import (
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
)

// tailLimit is the number of appended snapshots after which the index is rebuilt in one piece.
const tailLimit = 512

// indexEntry is what the server needs of every snapshot without decoding it. start and end are
// positions in the snapshots section, which appending does not move.
type indexEntry struct {
	id, parent, sequence, timestamp int64
	operation                       string
	start, end                      int
	hasParent                       bool
}

// snapshotIndex lists the snapshots in document order. head and byID are shared between versions
// and never change; tail holds what was appended since and is copied by every append.
type snapshotIndex struct {
	head, tail []indexEntry
	byID       map[int64]int32 // positions in head
}

func (x snapshotIndex) len() int { return len(x.head) + len(x.tail) }

func (x snapshotIndex) at(i int) indexEntry {
	if i < len(x.head) {
		return x.head[i]
	}
	return x.tail[i-len(x.head)]
}

func (x snapshotIndex) find(id int64) (indexEntry, bool) {
	if i, ok := x.byID[id]; ok {
		return x.head[i], true
	}
	for i := len(x.tail) - 1; i >= 0; i-- {
		if x.tail[i].id == id {
			return x.tail[i], true
		}
	}
	return indexEntry{}, false
}

// appended gives the index with one more entry, sharing what it can with x.
func (x snapshotIndex) appended(e indexEntry) snapshotIndex {
	if len(x.tail) < tailLimit {
		tail := make([]indexEntry, len(x.tail), len(x.tail)+1)
		copy(tail, x.tail)
		x.tail = append(tail, e)
		return x
	}
	return newSnapshotIndex(append(slices.Concat(x.head, x.tail), e))
}

// newSnapshotIndex takes over entries. Of entries with one id the first counts.
func newSnapshotIndex(entries []indexEntry) snapshotIndex {
	x := snapshotIndex{head: entries, byID: make(map[int64]int32, len(entries))}
	for i := len(entries) - 1; i >= 0; i-- {
		x.byID[entries[i].id] = int32(i) //nolint:gosec // a document has fewer than 2^31 snapshots
	}
	return x
}

func (x snapshotIndex) highestSequence() int64 {
	var highest int64
	for i := range x.len() {
		highest = max(highest, x.at(i).sequence)
	}
	return highest
}

// indexSnapshots reads the snapshots section; nil is an empty one.
func indexSnapshots(array json.RawMessage) (snapshotIndex, error) {
	if array == nil {
		return snapshotIndex{}, nil
	}
	var entries []indexEntry
	var bad error
	ok := eachElement(array, func(value []byte, start int) {
		if bad == nil && len(entries) == maxElements {
			bad = tooMany("snapshots")
		}
		if bad != nil {
			return
		}
		var e indexEntry
		e, bad = indexSnapshot(value)
		e.start, e.end = start, start+len(value)
		entries = append(entries, e)
	})
	if !ok {
		return snapshotIndex{}, fault.New(fault.Invalid, "Cannot parse table metadata: snapshots is not an array")
	}
	if bad != nil {
		return snapshotIndex{}, bad
	}
	x := newSnapshotIndex(entries)
	if len(x.byID) != len(entries) {
		return snapshotIndex{}, fault.New(fault.Invalid, "Cannot parse table metadata: a snapshot id occurs twice")
	}
	return x, nil
}

func indexSnapshot(raw []byte) (indexEntry, error) {
	var e indexEntry
	var hasID, hasTime bool
	bad := ""
	ok := eachMember(raw, func(key, value []byte) {
		valid := true
		switch string(key) {
		case "snapshot-id":
			e.id, hasID = int64Of(value)
		case "timestamp-ms":
			e.timestamp, hasTime = int64Of(value)
		case "sequence-number":
			if !isNull(value) {
				e.sequence, valid = int64Of(value)
			}
		case "parent-snapshot-id":
			if !isNull(value) {
				e.parent, e.hasParent = int64Of(value)
				valid = e.hasParent
			}
		case "summary":
			e.operation = operationOf(value)
		}
		if !valid {
			bad = string(key)
		}
	})
	switch {
	case !ok:
		return e, fault.New(fault.Invalid, "Cannot parse table metadata: a snapshot is not an object")
	case !hasID:
		bad = "snapshot-id"
	case !hasTime:
		bad = "timestamp-ms"
	}
	if bad != "" {
		return e, fault.New(fault.Invalid, "Cannot parse table metadata: a snapshot has no valid %s", bad)
	}
	return e, nil
}

// operationOf reads summary.operation without allocating for the four operations there are.
func operationOf(summary []byte) string {
	operation := ""
	eachMember(summary, func(key, value []byte) {
		if string(key) != "operation" || !isString(value) {
			return
		}
		switch string(value) {
		case `"append"`:
			operation = "append"
		case `"overwrite"`:
			operation = "overwrite"
		case `"delete"`:
			operation = "delete"
		case `"replace"`:
			operation = "replace"
		default:
			operation, _ = stringOf(value)
		}
	})
	return operation
}

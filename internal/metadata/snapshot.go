package metadata

import (
	"encoding/json"
	"maps"

	"github.com/sluice-data/sluice/internal/fault"
)

// SnapshotCount is the number of snapshots the document holds.
func (d *Document) SnapshotCount() int { return d.snapshots.len() }

// SnapshotIDs gives the ids of all snapshots in document order.
func (d *Document) SnapshotIDs() []int64 {
	ids := make([]int64, 0, d.snapshots.len())
	for i := range d.snapshots.len() {
		ids = append(ids, d.snapshots.at(i).id)
	}
	return ids
}

// Snapshot decodes one snapshot; false when the document has none of that id. Optional members of
// an unexpected type are left empty.
func (d *Document) Snapshot(id int64) (Snapshot, bool) {
	e, ok := d.snapshots.find(id)
	if !ok {
		return Snapshot{}, false
	}
	s, _ := decodeSnapshot(d.sectionValue("snapshots")[e.start:e.end:e.end])
	return s, true
}

// IsAncestor tells whether ancestor is reached from of by parents; a snapshot is its own ancestor.
// It walks the index and decodes nothing. A snapshot whose record is gone ends the walk.
func (d *Document) IsAncestor(ancestor, of int64) bool {
	for steps := 0; steps <= d.snapshots.len(); steps++ {
		e, ok := d.snapshots.find(of)
		if !ok {
			return false
		}
		if of == ancestor {
			return true
		}
		if !e.hasParent {
			return false
		}
		of = e.parent
	}
	return false // a cycle
}

// HasIdentical tells whether the document already holds s: the same id, summary and manifest list.
// The commit path answers such a replay without writing.
func (d *Document) HasIdentical(s Snapshot) bool {
	own, ok := d.Snapshot(s.ID)
	return ok && own.ManifestList == s.ManifestList && maps.Equal(own.Summary, s.Summary)
}

// decodeSnapshot reads a snapshot. The error names the first member that is missing or ill-typed;
// the other members are read all the same.
func decodeSnapshot(raw json.RawMessage) (Snapshot, error) {
	s := Snapshot{Raw: raw}
	var hasID, hasTime bool
	bad := ""
	ok := eachMember(raw, func(key, value []byte) {
		if isNull(value) {
			return
		}
		name := string(key)
		switch name {
		case "snapshot-id":
			s.ID, hasID = int64Of(value)
		case "timestamp-ms":
			s.TimestampMs, hasTime = int64Of(value)
		default:
			if !s.readMember(name, value) && bad == "" {
				bad = name
			}
		}
	})
	switch {
	case !ok:
		return s, fault.New(fault.Invalid, "snapshot is not an object")
	case !hasID:
		bad = "snapshot-id"
	case !hasTime:
		bad = "timestamp-ms"
	}
	if bad != "" {
		return s, fault.New(fault.Invalid, "snapshot has a missing or invalid field %s", bad)
	}
	return s, nil
}

// readMember reads one of the members that a snapshot may lack, and tells whether it is well-typed.
func (s *Snapshot) readMember(name string, value []byte) (valid bool) {
	valid = true
	switch name {
	case "sequence-number":
		s.SequenceNumber, valid = int64Of(value)
	case "parent-snapshot-id":
		s.ParentID, valid = optionalInt64(value)
	case "manifest-list":
		s.ManifestList, valid = stringOf(value)
	case "schema-id":
		s.SchemaID, valid = optionalInt(value)
	case "first-row-id":
		s.FirstRowID, valid = optionalInt64(value)
	case "added-rows":
		s.AddedRows, valid = optionalInt64(value)
	case "summary":
		s.Summary, valid = stringMapOf(value)
		s.Operation = s.Summary["operation"]
	case "manifests":
		s.Manifests, valid = stringsOf(value)
	}
	return valid
}

func optionalInt64(raw []byte) (*int64, bool) {
	n, ok := int64Of(raw)
	if !ok {
		return nil, false
	}
	return &n, true
}

func optionalInt(raw []byte) (*int, bool) {
	n, ok := intOf(raw)
	if !ok {
		return nil, false
	}
	return &n, true
}

// stringMapOf reads an object whose values are all strings; other values are left out and give false.
func stringMapOf(raw []byte) (map[string]string, bool) {
	values := make(map[string]string)
	valid := true
	ok := eachMember(raw, func(key, value []byte) {
		s, isStr := stringOf(value)
		if !isStr {
			valid = false
			return
		}
		values[string(key)] = s
	})
	return values, ok && valid
}

// stringsOf reads an array of strings.
func stringsOf(raw []byte) ([]string, bool) {
	var values []string
	valid := true
	ok := eachElement(raw, func(value []byte, _ int) {
		s, isStr := stringOf(value)
		valid = valid && isStr
		values = append(values, s)
	})
	return values, ok && valid
}

// intsOf reads an array of 32-bit integers.
func intsOf(raw []byte) ([]int, bool) {
	var values []int
	valid := true
	ok := eachElement(raw, func(value []byte, _ int) {
		n, isInt := intOf(value)
		valid = valid && isInt
		values = append(values, n)
	})
	return values, ok && valid
}

// int64sOf reads an array of 64-bit integers.
func int64sOf(raw []byte) ([]int64, bool) {
	var values []int64
	valid := true
	ok := eachElement(raw, func(value []byte, _ int) {
		n, isInt := int64Of(value)
		valid = valid && isInt
		values = append(values, n)
	})
	return values, ok && valid
}

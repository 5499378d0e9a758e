package metadata

import (
	"encoding/json"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// mainBranch is the branch whose snapshot is the table's current one.
const mainBranch = "main"

// The types of a ref.
const (
	branchType = "branch"
	tagType    = "tag"
)

// decodeRef reads and checks a ref: its snapshot and type are required, ages and counts are positive,
// a tag has only max-ref-age-ms. The error is Invalid and names the member.
func decodeRef(raw json.RawMessage) (Ref, error) {
	var ref Ref
	hasID := false
	bad := ""
	ok := eachMember(raw, func(key, value []byte) {
		if isNull(value) {
			return
		}
		valid := true
		switch string(key) {
		case "snapshot-id":
			ref.SnapshotID, hasID = int64Of(value)
		case "type":
			ref.Type, valid = stringOf(value)
			ref.Type = strings.ToLower(ref.Type)
		case "max-ref-age-ms":
			ref.MaxRefAgeMs, valid = optionalInt64(value)
		case "max-snapshot-age-ms":
			ref.MaxSnapshotAgeMs, valid = optionalInt64(value)
		case "min-snapshots-to-keep":
			ref.MinSnapshotsToKeep, valid = optionalInt(value)
		}
		if !valid {
			bad = string(key)
		}
	})
	switch {
	case !ok:
		return ref, fault.New(fault.Invalid, "ref is not an object")
	case bad != "":
	case !hasID:
		bad = "snapshot-id"
	default:
		bad = ref.wrongMember()
	}
	if bad != "" {
		return ref, fault.New(fault.Invalid, "missing or invalid field %s", bad)
	}
	return ref, nil
}

// wrongMember names a member that is ill-formed or does not go with the type, "" if all is well.
func (r Ref) wrongMember() string {
	switch {
	case r.Type != branchType && r.Type != tagType:
		return "type"
	case r.MaxRefAgeMs != nil && *r.MaxRefAgeMs <= 0:
		return "max-ref-age-ms"
	case r.MaxSnapshotAgeMs != nil && (*r.MaxSnapshotAgeMs <= 0 || r.Type == tagType):
		return "max-snapshot-age-ms (positive, for branches only)"
	case r.MinSnapshotsToKeep != nil && (*r.MinSnapshotsToKeep <= 0 || r.Type == tagType):
		return "min-snapshots-to-keep (positive, for branches only)"
	}
	return ""
}

// encodeRef writes a ref. Members of old that the server does not know stay.
func encodeRef(ref Ref, old json.RawMessage) json.RawMessage {
	members := []member{{"snapshot-id", integer(ref.SnapshotID)}, {"type", quoted(ref.Type)}}
	if ref.MaxRefAgeMs != nil {
		members = append(members, member{"max-ref-age-ms", integer(*ref.MaxRefAgeMs)})
	}
	if ref.MaxSnapshotAgeMs != nil {
		members = append(members, member{"max-snapshot-age-ms", integer(*ref.MaxSnapshotAgeMs)})
	}
	if ref.MinSnapshotsToKeep != nil {
		members = append(members, member{"min-snapshots-to-keep", integerOf(*ref.MinSnapshotsToKeep)})
	}
	eachMember(old, func(key, value []byte) {
		switch string(key) {
		case "snapshot-id", "type", "max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep":
		default:
			members = append(members, member{string(key), value})
		}
	})
	return joinMembers(members)
}

func sameRef(a, b Ref) bool {
	return a.SnapshotID == b.SnapshotID && a.Type == b.Type && samePointer(a.MaxRefAgeMs, b.MaxRefAgeMs) &&
		samePointer(a.MaxSnapshotAgeMs, b.MaxSnapshotAgeMs) && samePointer(a.MinSnapshotsToKeep, b.MinSnapshotsToKeep)
}

func sameRefPointer(a, b *Ref) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameRef(*a, *b)
}

func samePointer[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

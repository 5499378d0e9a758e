package metadata

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// The requirement types of the REST protocol.
const (
	AssertCreate                  = "assert-create"
	AssertTableUUID               = "assert-table-uuid"
	AssertRefSnapshotID           = "assert-ref-snapshot-id"
	AssertLastAssignedFieldID     = "assert-last-assigned-field-id"
	AssertCurrentSchemaID         = "assert-current-schema-id"
	AssertLastAssignedPartitionID = "assert-last-assigned-partition-id"
	AssertDefaultSpecID           = "assert-default-spec-id"
	AssertDefaultSortOrderID      = "assert-default-sort-order-id"
)

// Requirement is a condition that a commit puts on the table it changes.
type Requirement interface {
	Type() string              // one of the Assert constants
	check(doc *Document) error // doc is never nil
}

type (
	assertCreate struct{}
	assertUUID   struct{ uuid string }
	assertRef    struct {
		ref      string
		snapshot *int64 // nil: the ref must not exist
	}
	assertID struct {
		kind string
		id   int
	}
)

// Type is assert-create.
func (assertCreate) Type() string { return AssertCreate }

// Type is assert-table-uuid.
func (assertUUID) Type() string { return AssertTableUUID }

// Type is assert-ref-snapshot-id.
func (assertRef) Type() string { return AssertRefSnapshotID }

// Type is one of the five assertions on an id.
func (r assertID) Type() string { return r.kind }

// DecodeRequirements reads the requirements of a commit. The error is Invalid and names the unknown
// type or the member that is missing.
func DecodeRequirements(raw []json.RawMessage) ([]Requirement, error) {
	reqs := make([]Requirement, 0, len(raw))
	for _, r := range raw {
		req, err := decodeRequirement(r)
		if err != nil {
			return nil, err
		}
		reqs = append(reqs, req)
	}
	return reqs, nil
}

func decodeRequirement(raw json.RawMessage) (Requirement, error) {
	if err := checkJSON(raw, maxInputDepth); err != nil {
		return nil, err
	}
	raw = bytes.TrimSpace(raw)
	kind, ok := stringOf(memberOf(raw, "type"))
	if !ok {
		return nil, fault.New(fault.Invalid, "Invalid requirement: missing or invalid field type")
	}
	switch kind {
	case AssertCreate:
		return assertCreate{}, nil
	case AssertTableUUID:
		if uuid, ok := stringOf(memberOf(raw, "uuid")); ok {
			return assertUUID{uuid}, nil
		}
		return nil, badRequirement(kind, "uuid")
	case AssertRefSnapshotID:
		return decodeAssertRef(raw)
	}
	field, ok := strings.CutPrefix(kind, "assert-")
	switch kind {
	case AssertLastAssignedFieldID, AssertCurrentSchemaID, AssertLastAssignedPartitionID, AssertDefaultSpecID,
		AssertDefaultSortOrderID:
	default:
		ok = false
	}
	if !ok {
		return nil, fault.New(fault.Invalid, "Invalid requirement: unknown type %s", kind)
	}
	id, ok := intOf(memberOf(raw, field))
	if !ok {
		return nil, badRequirement(kind, field)
	}
	return assertID{kind: kind, id: id}, nil
}

// decodeAssertRef takes an absent snapshot-id for null: older clients leave it out.
func decodeAssertRef(raw json.RawMessage) (Requirement, error) {
	ref, ok := stringOf(memberOf(raw, "ref"))
	if !ok {
		return nil, badRequirement(AssertRefSnapshotID, "ref")
	}
	req := assertRef{ref: ref}
	if value := memberOf(raw, "snapshot-id"); value != nil {
		if req.snapshot, ok = optionalInt64(value); !ok {
			return nil, badRequirement(AssertRefSnapshotID, "snapshot-id")
		}
	}
	return req, nil
}

func badRequirement(kind, field string) error {
	return fault.New(fault.Invalid, "Invalid requirement %s: missing or invalid field %s", kind, field)
}

// Check tells whether the document meets all requirements. doc nil means that the table does not
// exist: assert-create holds and everything else fails. A failure is Conflict, so that the client
// refreshes; a failed assert-create is AlreadyExists about Table.
func Check(doc *Document, reqs []Requirement) error {
	for _, req := range reqs {
		if doc != nil {
			if err := req.check(doc); err != nil {
				return err
			}
		} else if req.Type() != AssertCreate {
			return failed("table does not exist (%s)", req.Type())
		}
	}
	return nil
}

// AssertsCreate tells whether the commit wants to create the table.
func AssertsCreate(reqs []Requirement) bool {
	for _, req := range reqs {
		if req.Type() == AssertCreate {
			return true
		}
	}
	return false
}

// AssertedUUID gives the table uuid that the commit expects, if it says one.
func AssertedUUID(reqs []Requirement) (string, bool) {
	for _, req := range reqs {
		if r, ok := req.(assertUUID); ok {
			return r.uuid, true
		}
	}
	return "", false
}

func failed(format string, args ...any) error {
	return fault.New(fault.Conflict, "Requirement failed: "+format, args...)
}

func (assertCreate) check(*Document) error {
	return fault.About(fault.AlreadyExists, fault.Table, "Requirement failed: table already exists")
}

func (r assertUUID) check(doc *Document) error {
	if !strings.EqualFold(r.uuid, doc.view.uuid) {
		return failed("UUID does not match: expected %s != %s", r.uuid, doc.view.uuid)
	}
	return nil
}

func (r assertRef) check(doc *Document) error {
	ref, exists := doc.view.refs[r.ref]
	kind := branchType
	if exists {
		kind = ref.Type
	}
	switch {
	case r.snapshot == nil && exists:
		return failed("%s %s was created concurrently", kind, r.ref)
	case r.snapshot != nil && !exists:
		return failed("branch or tag %s is missing, expected %d", r.ref, *r.snapshot)
	case r.snapshot != nil && *r.snapshot != ref.SnapshotID:
		return failed("%s %s has changed: expected id %d != %d", kind, r.ref, *r.snapshot, ref.SnapshotID)
	}
	return nil
}

func (r assertID) check(doc *Document) error {
	var have int
	var what string
	switch r.kind {
	case AssertLastAssignedFieldID:
		have, what = doc.view.lastColumn, "last assigned field id"
	case AssertCurrentSchemaID:
		have, what = doc.view.currentSchema, "current schema"
	case AssertLastAssignedPartitionID:
		have, what = doc.view.lastPartition, "last assigned partition id"
	case AssertDefaultSpecID:
		have, what = doc.view.defaultSpec, "default partition spec"
	case AssertDefaultSortOrderID:
		have, what = doc.view.defaultOrder, "default sort order"
	}
	if have != r.id {
		return failed("%s changed: expected id %d != %d", what, r.id, have)
	}
	return nil
}

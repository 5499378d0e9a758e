package metadata

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
)

// The update actions and the requirement that views alone have.
const (
	ActionAddViewVersion        = "add-view-version"
	ActionSetCurrentViewVersion = "set-current-view-version"
	AssertViewUUID              = "assert-view-uuid"
)

// ViewUpdate is one decoded update of a view's commit. Raw is what the client sent and must not be modified.
type ViewUpdate struct {
	Action string
	Raw    json.RawMessage

	apply func(*viewBuilder) error
}

// ViewRequirement is a condition that a commit puts on the view it changes: its uuid is all there is to ask for.
type ViewRequirement struct{ uuid string }

// DecodeViewUpdates reads the updates of a view's commit. The error is Invalid and names the unknown action, or the
// action and its member that is missing or ill-typed; TooLarge when there are more than a commit may have.
func DecodeViewUpdates(raw []json.RawMessage) ([]ViewUpdate, error) {
	if len(raw) > maxLayoutUpdates {
		return nil, fault.New(fault.TooLarge, "A view's commit has at most %d updates, not %d. Split it.", maxLayoutUpdates, len(raw))
	}
	updates := make([]ViewUpdate, 0, len(raw))
	for _, r := range raw {
		clean, err := cleanJSON(r, "update")
		if err != nil {
			return nil, err
		}
		action, ok := stringOf(memberOf(clean, "action"))
		if !ok {
			return nil, fault.New(fault.Invalid, "Invalid update: missing or invalid field action")
		}
		u := ViewUpdate{Action: action, Raw: clean}
		if err := u.decode(); err != nil {
			return nil, err
		}
		updates = append(updates, u)
	}
	return updates, nil
}

// decode chooses what the update does, reading its members.
func (u *ViewUpdate) decode() error {
	r := memberReader{update: &Update{Action: u.Action, Raw: u.Raw}}
	switch u.Action {
	case ActionAssignUUID:
		uuid := r.string("uuid")
		u.apply = func(b *viewBuilder) error { return b.assignUUID(uuid) }
	case ActionUpgradeFormatVersion:
		version := r.int("format-version")
		u.apply = func(b *viewBuilder) error { return b.upgrade(version) }
	case ActionAddSchema:
		schema := r.object("schema")
		u.apply = func(b *viewBuilder) error { return b.addSchema(schema) }
	case ActionSetLocation:
		location := r.string("location")
		u.apply = func(b *viewBuilder) error { return b.setLocation(location) }
	case ActionSetProperties:
		properties := r.properties("updates", "updated")
		u.apply = func(b *viewBuilder) error { return b.setProperties(properties) }
	case ActionRemoveProperties:
		keys := r.strings("removals", "removed")
		u.apply = func(b *viewBuilder) error { return b.removeProperties(keys) }
	case ActionAddViewVersion:
		version := r.object("view-version")
		u.apply = func(b *viewBuilder) error { return b.addVersion(version) }
	case ActionSetCurrentViewVersion:
		id := r.int("view-version-id")
		u.apply = func(b *viewBuilder) error { return b.setCurrentVersion(id) }
	default:
		return fault.New(fault.Invalid, "Invalid update: unknown action %s for a view", u.Action)
	}
	return r.err
}

// DecodeViewRequirements reads the requirements of a view's commit. The error is Invalid and names the unknown type or
// the member that is missing.
func DecodeViewRequirements(raw []json.RawMessage) ([]ViewRequirement, error) {
	reqs := make([]ViewRequirement, 0, len(raw))
	for _, r := range raw {
		if err := checkJSON(r, maxInputDepth); err != nil {
			return nil, err
		}
		r = bytes.TrimSpace(r)
		kind, ok := stringOf(memberOf(r, "type"))
		switch {
		case !ok:
			return nil, fault.New(fault.Invalid, "Invalid requirement: missing or invalid field type")
		case kind != AssertViewUUID:
			return nil, fault.New(fault.Invalid, "Invalid requirement: unknown type %s for a view", kind)
		}
		uuid, ok := stringOf(memberOf(r, "uuid"))
		if !ok {
			return nil, badRequirement(kind, "uuid")
		}
		reqs = append(reqs, ViewRequirement{uuid: uuid})
	}
	return reqs, nil
}

// CheckView tells whether the view meets all requirements. A failure is Conflict, so that the client refreshes.
func CheckView(doc *ViewDocument, reqs []ViewRequirement) error {
	for _, req := range reqs {
		if !strings.EqualFold(req.uuid, doc.uuid) {
			return failed("view UUID does not match: expected %s != %s", req.uuid, doc.uuid)
		}
	}
	return nil
}

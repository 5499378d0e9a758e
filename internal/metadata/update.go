package metadata

import (
	"bytes"
	"encoding/json"

	"github.com/sluice-data/sluice/internal/fault"
)

// The update actions of the REST protocol that tables have.
const (
	ActionAssignUUID                = "assign-uuid"
	ActionUpgradeFormatVersion      = "upgrade-format-version"
	ActionAddSchema                 = "add-schema"
	ActionSetCurrentSchema          = "set-current-schema"
	ActionAddSpec                   = "add-spec"
	ActionSetDefaultSpec            = "set-default-spec"
	ActionAddSortOrder              = "add-sort-order"
	ActionSetDefaultSortOrder       = "set-default-sort-order"
	ActionAddSnapshot               = "add-snapshot"
	ActionSetSnapshotRef            = "set-snapshot-ref"
	ActionRemoveSnapshots           = "remove-snapshots"
	ActionRemoveSnapshotRef         = "remove-snapshot-ref"
	ActionSetLocation               = "set-location"
	ActionSetProperties             = "set-properties"
	ActionRemoveProperties          = "remove-properties"
	ActionSetStatistics             = "set-statistics"
	ActionRemoveStatistics          = "remove-statistics"
	ActionSetPartitionStatistics    = "set-partition-statistics"
	ActionRemovePartitionStatistics = "remove-partition-statistics"
	ActionRemovePartitionSpecs      = "remove-partition-specs"
	ActionRemoveSchemas             = "remove-schemas"
	ActionAddEncryptionKey          = "add-encryption-key"
	ActionRemoveEncryptionKey       = "remove-encryption-key"
)

// Update is one decoded update of a commit. Raw is what the client sent and must not be modified.
type Update struct {
	Action string
	Raw    json.RawMessage

	apply         func(*builder) error
	snapshot      *Snapshot // of add-snapshot
	formatVersion int       // of upgrade-format-version
}

// DecodeUpdates reads the updates of a commit. The error is Invalid and names the unknown action, or
// the action and its member that is missing or ill-typed; TooLarge when there are more than a commit may have.
func DecodeUpdates(raw []json.RawMessage) ([]Update, error) {
	if err := checkCount(len(raw)); err != nil {
		return nil, err
	}
	updates := make([]Update, 0, len(raw))
	layout := 0
	for _, r := range raw {
		clean, err := cleanJSON(r, "update")
		if err != nil {
			return nil, err
		}
		u := Update{Raw: clean}
		var ok bool
		if u.Action, ok = stringOf(memberOf(clean, "action")); !ok {
			return nil, fault.New(fault.Invalid, "Invalid update: missing or invalid field action")
		}
		if err := chargeLayout(&layout, u.Action); err != nil {
			return nil, err
		}
		if err := u.decode(); err != nil {
			return nil, err
		}
		updates = append(updates, u)
	}
	return updates, nil
}

// PendingSnapshots gives the snapshots that the updates add, in order.
func PendingSnapshots(updates []Update) []Snapshot {
	var snapshots []Snapshot
	for _, u := range updates {
		if u.snapshot != nil {
			snapshots = append(snapshots, *u.snapshot)
		}
	}
	return snapshots
}

// cleanJSON checks what a client sent and trims it. The error is Invalid; it wants an object.
func cleanJSON(raw json.RawMessage, what string) (json.RawMessage, error) {
	if err := checkJSON(raw, maxInputDepth); err != nil {
		return nil, err
	}
	raw = bytes.TrimSpace(raw)
	if !isObject(raw) {
		return nil, fault.New(fault.Invalid, "Invalid %s: not an object", what)
	}
	return raw, nil
}

// decode chooses what the update does, reading its members.
func (u *Update) decode() error {
	r := memberReader{update: u}
	switch u.Action {
	case ActionAssignUUID:
		uuid := r.string("uuid")
		u.apply = func(b *builder) error { return b.assignUUID(uuid) }
	case ActionUpgradeFormatVersion:
		u.formatVersion = r.int("format-version")
		u.apply = func(b *builder) error { return b.upgrade(u.formatVersion) }
	case ActionSetLocation:
		location := r.string("location")
		u.apply = func(b *builder) error { return b.setLocation(location) }
	case ActionSetProperties:
		properties := r.properties("updates", "updated")
		u.apply = func(b *builder) error { return b.setProperties(properties) }
	case ActionRemoveProperties:
		keys := r.strings("removals", "removed")
		u.apply = func(b *builder) error { return b.removeProperties(keys) }
	case ActionAddEncryptionKey:
		key := r.object("encryption-key")
		u.apply = func(b *builder) error { return b.addEncryptionKey(key) }
	case ActionRemoveEncryptionKey:
		id := r.string("key-id")
		u.apply = func(b *builder) error { return b.removeEncryptionKey(id) }
	default:
		if !u.decodeLayout(&r) && !u.decodeSnapshots(&r) {
			return fault.New(fault.Invalid, "Invalid update: unknown action %s", u.Action)
		}
	}
	return r.err
}

// decodeLayout reads the actions on schemas, specs and sort orders.
func (u *Update) decodeLayout(r *memberReader) bool {
	switch u.Action {
	case ActionAddSchema:
		schema := r.object("schema")
		u.apply = func(b *builder) error { return b.addSchema(schema) }
	case ActionSetCurrentSchema:
		id := r.int("schema-id")
		u.apply = func(b *builder) error { return b.setCurrentSchema(id) }
	case ActionAddSpec:
		spec := r.object("spec")
		u.apply = func(b *builder) error { return b.addSpec(spec) }
	case ActionSetDefaultSpec:
		id := r.int("spec-id")
		u.apply = func(b *builder) error { return b.setDefaultSpec(id) }
	case ActionAddSortOrder:
		order := r.object("sort-order")
		u.apply = func(b *builder) error { return b.addOrder(order) }
	case ActionSetDefaultSortOrder:
		id := r.int("sort-order-id")
		u.apply = func(b *builder) error { return b.setDefaultOrder(id) }
	case ActionRemovePartitionSpecs:
		ids := r.ints("spec-ids")
		u.apply = func(b *builder) error { return b.removeSpecs(ids) }
	case ActionRemoveSchemas:
		ids := r.ints("schema-ids")
		u.apply = func(b *builder) error { return b.removeSchemas(ids) }
	default:
		return false
	}
	return true
}

// decodeSnapshots reads the actions on snapshots, refs and statistics.
func (u *Update) decodeSnapshots(r *memberReader) bool {
	switch u.Action {
	case ActionAddSnapshot:
		u.snapshot = r.snapshot()
		u.apply = func(b *builder) error { return b.addSnapshot(u.snapshot) }
	case ActionSetSnapshotRef:
		name, ref := r.string("ref-name"), r.ref()
		u.apply = func(b *builder) error { return b.setRef(name, ref) }
	case ActionRemoveSnapshotRef:
		name := r.string("ref-name")
		u.apply = func(b *builder) error { return b.removeRef(name) }
	case ActionRemoveSnapshots:
		ids := r.int64s("snapshot-ids")
		u.apply = func(b *builder) error { return b.removeSnapshots(ids) }
	case ActionSetStatistics, ActionSetPartitionStatistics:
		section := statisticsSection(u.Action)
		file := r.statistics(section)
		u.apply = func(b *builder) error { return b.setStatistics(section, file) }
	case ActionRemoveStatistics, ActionRemovePartitionStatistics:
		section, id := statisticsSection(u.Action), r.int64("snapshot-id")
		u.apply = func(b *builder) error { return b.removeStatistics(section, id) }
	default:
		return false
	}
	return true
}

func statisticsSection(action string) string {
	if action == ActionSetPartitionStatistics || action == ActionRemovePartitionStatistics {
		return partitionStatisticsName
	}
	return statisticsName
}

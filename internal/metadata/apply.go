package metadata

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// lastAdded stands for the schema, spec or sort order that was added last in the same commit.
const lastAdded = -1

// ApplyOptions are what a new version needs beyond the updates.
type ApplyOptions struct {
	Now time.Time // snapshots may be a few minutes younger
	// PreviousLocation is the metadata file of the base, entered in the metadata log. Empty: no entry.
	PreviousLocation string
}

// Apply makes the next version of a document. The base is not changed and shares what it can with the
// result. base nil builds a new table from the updates of a staged create, which must bring a schema,
// spec, sort order, location and uuid. The error is Invalid for updates that are wrong whatever the
// state, Conflict for a snapshot that was prepared against an older version of the table, TooLarge beyond the limits.
func Apply(base *Document, updates []Update, opt ApplyOptions) (*Result, error) {
	version := defaultFormatVersion
	if base == nil {
		for _, u := range updates {
			if u.formatVersion != 0 {
				version = u.formatVersion
				break
			}
		}
	}
	if err := checkCount(len(updates)); err != nil {
		return nil, err
	}
	b := newBuilder(base, opt.Now, version)
	for _, u := range updates {
		if u.apply == nil {
			return nil, fault.New(fault.Invalid, "Invalid update: %s was not decoded", u.Action)
		}
		b.choseLayout = b.choseLayout || isLayoutAction(u.Action)
		if err := u.apply(b); err != nil {
			return nil, err
		}
	}
	return b.finish(opt.PreviousLocation)
}

// listed is a schema, spec or sort order with its id.
type listed struct {
	id  int
	raw json.RawMessage
}

func findListed(list []listed, id int) (listed, bool) {
	for _, l := range list {
		if l.id == id {
			return l, true
		}
	}
	return listed{}, false
}

// builder is a document under change. dirty names the sections whose value is no longer the base's.
type builder struct {
	base    *Document // nil for a new table
	now     int64     // Unix milliseconds
	v       view      // maps are cloned: refs and properties may be changed
	dirty   map[string]bool
	changes Changes

	schemas, specs, orders          []listed
	lastSchema, lastSpec, lastOrder *int // added or found again in this commit
	hasSchema, hasSpec, hasOrder    bool // a current one was chosen

	setKeys   []string                   // properties set in this commit, in order
	setValues map[string]json.RawMessage // their values as they were sent
	refs      *memberSet                 // as they are written; nil until one changes

	schemaIndex, specIndex, orderIndex *layoutIndex   // nil until one of its kind is added
	partitions                         *partitionUses // nil until a spec is added
	current                            *indexedSchema // the current schema, once it was needed
	schemaSpent                        int            // bytes, see schemaBudget

	added       []*Snapshot
	addedByID   map[int64]*Snapshot
	removed     map[int64]bool // snapshots of the base
	mainAdded   map[int64]bool // added snapshots that main pointed to
	newLog      []logEntry
	spliced     *logEnd // the end of the new snapshot log, where it was only appended to
	updatedAt   int64   // highest timestamp of an added snapshot
	mainRemoved bool
	mainSetNew  bool // main was set after it had been removed
	choseLayout bool // a schema, spec or sort order was sent or chosen

	files map[string]*fileList[int64] // statistics, loaded when they change
	keys  *fileList[string]           // encryption keys, likewise
}

func newBuilder(base *Document, now time.Time, formatVersion int) *builder {
	b := &builder{
		base: base, now: now.UnixMilli(), dirty: make(map[string]bool), files: make(map[string]*fileList[int64]),
		setValues: make(map[string]json.RawMessage), addedByID: make(map[int64]*Snapshot), mainAdded: make(map[int64]bool),
	}
	if base == nil {
		b.v = view{
			formatVersion: formatVersion, current: -1, lastPartition: initialPartitionID, hasNextRow: formatVersion >= 3,
			refs: make(map[string]Ref), properties: make(map[string]string),
		}
		return b
	}
	b.v = base.view
	b.v.refs, b.v.properties = maps.Clone(base.view.refs), maps.Clone(base.view.properties)
	b.hasSchema, b.hasSpec, b.hasOrder = true, true, true
	b.schemas, b.specs, b.orders = base.view.schemas.elements(), base.view.specs.elements(), base.view.orders.elements()
	return b
}

// writtenRefs gives the refs section to change.
func (b *builder) writtenRefs() *memberSet {
	if b.refs != nil {
		return b.refs
	}
	var members []member
	if b.base != nil {
		members, _ = membersOf(b.base.sectionValue("refs"))
		if main, ok := b.base.view.refs[mainBranch]; ok && !b.base.view.refsWritten {
			members = []member{{mainBranch, encodeRef(main, nil)}}
		}
	}
	b.refs = newMemberSet(members)
	return b.refs
}

func (b *builder) assignUUID(uuid string) error {
	if !isUUID(uuid) {
		return fault.New(fault.Invalid, "Cannot set uuid to %q", uuid)
	}
	if b.v.uuid == uuid {
		return nil
	}
	if b.v.uuid != "" {
		return fault.New(fault.Invalid, "Cannot reassign uuid: the table has uuid %s", b.v.uuid)
	}
	b.v.uuid = uuid
	b.dirty["table-uuid"] = true
	b.changes.UUIDAssigned = true
	return nil
}

// isUUID tells whether s has the 36 characters of a UUID.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && s[i] != '-' || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

func (b *builder) upgrade(version int) error {
	if version < 1 || version > 3 {
		return fault.New(fault.Invalid, "Cannot upgrade table to unsupported format version: v%d (supported: v3)", version)
	}
	if version < b.v.formatVersion {
		return fault.New(fault.Invalid, "Cannot downgrade v%d table to v%d", b.v.formatVersion, version)
	}
	if version == b.v.formatVersion {
		return nil
	}
	if b.v.formatVersion == 1 {
		b.v.lastSequence = 0
		b.dirty["last-sequence-number"] = true
	}
	if version == 3 {
		b.v.nextRow, b.v.hasNextRow = 0, true
		b.dirty["next-row-id"] = true
	}
	b.v.formatVersion = version
	b.dirty["format-version"] = true
	b.changes.FormatVersionChanged = true
	return nil
}

func (b *builder) setLocation(location string) error {
	if location == "" {
		return fault.New(fault.Invalid, "Cannot set location to an empty string")
	}
	if location == b.v.location {
		return nil
	}
	b.v.location = location
	b.dirty["location"] = true
	b.changes.LocationChanged = b.base != nil
	return nil
}

func (b *builder) setProperties(properties []member) error {
	for _, m := range properties {
		if isReservedProperty(m.key) {
			return fault.New(fault.Invalid, "Cannot set reserved property %s", m.key)
		}
		value, _ := stringOf(m.value)
		if old, ok := b.v.properties[m.key]; ok && old == value {
			continue
		}
		b.v.properties[m.key] = value
		b.setKeys = append(b.setKeys, m.key)
		b.setValues[m.key] = m.value
	}
	return nil
}

func (b *builder) removeProperties(keys []string) error {
	for _, key := range keys {
		delete(b.v.properties, key)
	}
	return nil
}

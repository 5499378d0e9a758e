package metadata

import "encoding/json"

// Ref is a named pointer to a snapshot. Ages are milliseconds; nil means the table's default.
type Ref struct {
	SnapshotID         int64
	Type               string // branch or tag
	MaxRefAgeMs        *int64
	MaxSnapshotAgeMs   *int64 // branches only
	MinSnapshotsToKeep *int   // branches only
}

// RefChange is one move of one ref. Before is nil when it was created, After when it was removed.
type RefChange struct {
	Name          string
	Before, After *Ref
}

// Changes tells what updates did to a document: policy judges it, the ledger records it.
type Changes struct {
	AddedSnapshots []Snapshot
	// RefChanges holds every move in order, intermediate ones too; NetRefs reduces it.
	RefChanges       []RefChange
	RemovedSnapshots []int64
	// ColumnChanges holds the differences of every set-current-schema in order. Empty for a new table.
	ColumnChanges []ColumnChange

	AddedSchemas, AddedSpecs, AddedSortOrders int
	RemovedSchemas, RemovedSpecs              []int

	DefaultSpecChanged, DefaultSortOrderChanged, LocationChanged bool
	FormatVersionChanged, UUIDAssigned, StatisticsChanged        bool
	EncryptionKeysChanged, CurrentSchemaChanged                  bool

	PropertiesSet     map[string]string // only keys whose value differs from before
	PropertiesRemoved []string          // only keys that existed, sorted

	// ReplacedTable is true for create-or-replace: main was removed together with
	// updates that choose a schema, spec or sort order, or that point main elsewhere.
	ReplacedTable bool
}

// NetRefs reduces RefChanges to one entry per ref whose value differs in the end, in order of first move.
func (c Changes) NetRefs() []RefChange {
	var net []RefChange
	at := make(map[string]int, len(c.RefChanges))
	for _, change := range c.RefChanges {
		if i, ok := at[change.Name]; ok {
			net[i].After = change.After
			continue
		}
		at[change.Name] = len(net)
		net = append(net, change)
	}
	out := net[:0]
	for _, change := range net {
		if !sameRefPointer(change.Before, change.After) {
			out = append(out, change)
		}
	}
	return out
}

// Result is what Apply made of a document.
type Result struct {
	Document *Document
	Changed  bool // false: Document is the base and there is nothing to write
	Changes  Changes
}

// Snapshot is the typed view of one snapshot. Times are Unix milliseconds.
type Snapshot struct {
	ID                          int64
	ParentID                    *int64
	SequenceNumber, TimestampMs int64
	Operation                   string            // summary.operation; empty in old v1 snapshots
	Summary                     map[string]string // operation included
	ManifestList                string
	Manifests                   []string // v1 only: manifests listed in the snapshot itself
	SchemaID                    *int
	FirstRowID, AddedRows       *int64          // v3 row lineage
	Raw                         json.RawMessage // as it was written; must not be modified
}

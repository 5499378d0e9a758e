package catalog

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Store keeps catalogs, namespaces and table pointers. Every mutation is one transaction with its audit event.
// Absent rows are fault.NotFound with their subject, taken names fault.AlreadyExists, a lost compare-and-swap
// fault.Conflict, a commit whose outcome is in doubt fault.UnknownState; any other error means nothing was written.
type Store interface {
	NamespaceStore
	TableStore
	DroppedStore
	ViewStore
	MetricsStore
	StorageStore
	FindingStore
	WriterStore
	LedgerStore
	OwnershipStore
	RoleStore
	CatalogByName(ctx context.Context, name string) (models.Catalog, error)
	CatalogByID(ctx context.Context, id string) (models.Catalog, error)
	Catalogs(ctx context.Context) ([]models.Catalog, error)
	UpdateCatalog(ctx context.Context, c models.Catalog, event models.AuditEvent) error // compare-and-swap on Version
	AppendAudit(ctx context.Context, event models.AuditEvent) error
}

// NamespaceStore keeps namespaces.
type NamespaceStore interface {
	CreateNamespace(ctx context.Context, ns models.Namespace, event models.AuditEvent) error
	// NamespacePath gives the namespace of the key preceded by its ancestors, outermost first.
	NamespacePath(ctx context.Context, catalogID string, key models.NamespaceKey) ([]models.Namespace, error)
	// ListNamespaces gives the direct children of parent ("" for the top level) in order of their keys.
	ListNamespaces(ctx context.Context, catalogID string, parent models.NamespaceKey, page Page) ([]models.Namespace, error)
	// AllNamespaces gives the namespaces of a catalog, with nothing but their ids, keys and properties.
	AllNamespaces(ctx context.Context, catalogID string) ([]models.Namespace, error)
	// NamespacesNamed gives the namespaces of a catalog whose levels joined by dots are among the names.
	NamespacesNamed(ctx context.Context, catalogID string, names []string) ([]models.Namespace, error)
	UpdateNamespace(ctx context.Context, ns models.Namespace, event models.AuditEvent) error // compare-and-swap on Version
	// DropNamespace answers fault.NotEmpty while it has tables, views or namespaces. The grants on it go with it.
	DropNamespace(ctx context.Context, id string, event models.AuditEvent) error
}

// TableStore keeps table pointers and the commit ledger.
type TableStore interface {
	TableByName(ctx context.Context, namespaceID, name string) (models.Table, error)
	TableByID(ctx context.Context, id string) (models.Table, error)
	ListTables(ctx context.Context, namespaceID string, page Page) ([]models.Table, error)
	CreateTable(ctx context.Context, t models.Table, effects Effects) error
	// SwapTables moves every pointer and makes every new table, or does nothing.
	SwapTables(ctx context.Context, swaps []Swap) error
	// ReserveTable keeps the table's pointer for the commits of a holder until then. It gives false, and changes nothing,
	// while another holder has it, or where the table is gone. It does not raise the version.
	ReserveTable(ctx context.Context, id, holder string, until time.Time) (bool, error)
	// ReleaseTable ends the reservation of that holder, if there is one.
	ReleaseTable(ctx context.Context, id, holder string) error
	// RenameTable answers fault.Conflict when the table is not the one that the event names any more. So do DropTable,
	// ReplaceTable, DropView and RenameView.
	RenameTable(ctx context.Context, id, namespaceID, name string, event models.AuditEvent) error
	// UpdateGovernance stores policy, classification, identity columns, columns and row filters of after alone.
	// fault.Conflict where they are not those of before any more.
	UpdateGovernance(ctx context.Context, before, after models.Table, event models.AuditEvent) error
	// UpdateDuplicateCommits stores the mode of t alone.
	UpdateDuplicateCommits(ctx context.Context, t models.Table, event models.AuditEvent) error
	// OverlappingTable gives a table or view of any catalog, or a dropped table whose files are kept, other than exceptID (of
	// a table or of the record of a drop), whose location contains, equals or lies in location; zero if there is none.
	OverlappingTable(ctx context.Context, location, exceptID string) (Occupant, error)
}

// ViewStore keeps view pointers. Names are shared with tables: AlreadyExists is about the kind that has the name.
type ViewStore interface {
	// IdentifierByName says what has a name; fault.NotFound when it is free.
	IdentifierByName(ctx context.Context, namespaceID, name string) (models.Identifier, error)
	ViewByName(ctx context.Context, namespaceID, name string) (models.View, error)
	ListViews(ctx context.Context, namespaceID string, page Page) ([]models.View, error)
	CreateView(ctx context.Context, v models.View, event models.AuditEvent) error
	SwapView(ctx context.Context, v models.View, event models.AuditEvent) error // compare-and-swap on Version
	DropView(ctx context.Context, id string, event models.AuditEvent) error
	RenameView(ctx context.Context, id, namespaceID, name string, event models.AuditEvent) error
	// TableAt is OverlappingTable for tables alone: views may share a location with each other.
	TableAt(ctx context.Context, location string) (Occupant, error)
}

// StorageStore keeps what engines write before it is a table, and how they reach the files of tables. A staged create is live
// until it expires by the store's clock.
type StorageStore interface {
	// StageCreate remembers a staged create, in the place of one of the same name at the same location, and forgets what is
	// long expired. fault.Conflict when the location overlaps that of a table, a view, a dropped table whose files are
	// kept, or a live staged create of another name. A table that is made, in whatever way, ends those of its name, and is
	// held apart from those of others.
	StageCreate(ctx context.Context, staged models.StagedCreate) error
	// StagedCreates gives the live ones of a name by one principal, the newest first.
	StagedCreates(ctx context.Context, namespaceID, name, principalID string) ([]models.StagedCreate, error)
	// StagedAt gives a live staged create, of any catalog and of another name than this one, whose location contains,
	// equals or lies in location; zero if there is none.
	StagedAt(ctx context.Context, location, namespaceID, name string) (Occupant, error)
	// TableAtLocation gives the catalog's table with the longest location that contains location; fault.NotFound.
	TableAtLocation(ctx context.Context, catalogID, location string) (models.Table, error)
	// StagedAtLocation gives the live staged create of the catalog by one principal whose location contains location, and its
	// namespace; fault.NotFound.
	StagedAtLocation(ctx context.Context, catalogID, location, principalID string) (models.StagedCreate, models.NamespaceKey, error)
	// RecordAccess adds to the record of the table, token and mode. At is in LastAt; FirstAt and Count are the store's.
	RecordAccess(ctx context.Context, record models.StorageRecord) error
}

// Occupant is what has a location already.
type Occupant struct {
	CatalogID string
	Name      string // dotted, with the namespace; followed by " (dropped)" for a dropped table; "" for none
}

// Page asks for a slice of a list in order of names: those after After, at most Limit (0: all).
type Page struct {
	After string
	Limit int
}

// Effects is what is written in the transaction of a pointer change: ledger rows, an outbox event for each, audit.
type Effects struct {
	Commits []models.Commit
	Audit   []models.AuditEvent
	Writes  []models.GovernedWrite // governed writes that land with it, with the audit of their rows
	// Continues is the record of a drop whose table is registered again by this creation; Conflict when the record
	// has changed meanwhile.
	Continues string
}

// Swap moves one table's pointer if its row still has the version of Table, or with Create makes the table, as
// CreateTable does.
type Swap struct {
	Table  models.Table // the row as it is to be, Version as it was read
	Create bool
	// Moves: the location is another one than before. If it overlaps that of another table the answer is Conflict.
	Moves bool
	// Returns: main is at a snapshot that this commit does not add. What its reconciliation found holds for the table
	// again; one that has none is asked for.
	Returns bool
	Effects Effects
}

// Files reads and writes metadata files. Locations are absolute URIs.
type Files interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
	// CreateFile never overwrites: an existing file is fault.AlreadyExists.
	CreateFile(ctx context.Context, location string, data []byte) error
	DeleteFile(ctx context.Context, location string) error
}

// Folders makes folders where a store has them; on object stores it does nothing.
type Folders interface {
	EnsureFolder(ctx context.Context, location string) error
}

// Inspector reads a new snapshot's manifest list and says what it truly does.
type Inspector interface {
	Inspect(ctx context.Context, in Inspection) (policy.SnapshotFacts, error)
	// OutsideFile reads whole snapshots that were not committed here and gives the first file of theirs that lies outside
	// the location, "" if there is none.
	OutsideFile(ctx context.Context, location string, snapshots []metadata.Snapshot) (string, error)
	// AddedFiles gives the paths of the data files that a snapshot adds, most at the most.
	AddedFiles(ctx context.Context, snap metadata.Snapshot, most int) ([]string, error)
	// Manifests gives the paths of a snapshot's manifests. fault.Invalid when its manifest list is missing or unreadable.
	Manifests(ctx context.Context, snap metadata.Snapshot) ([]string, error)
}

// Inspection is one added snapshot to read.
type Inspection struct {
	FormatVersion int
	Snapshot      metadata.Snapshot
	Parent        *metadata.Snapshot // nil for the first
	Location      string             // of the table: every file must lie in it
	Ownership     *Ownership         // nil: whose rows it removes does not matter
}

// Ownership asks an inspection for the first file of the platform's that a snapshot removes or deletes from.
type Ownership struct {
	Document *metadata.Document // of the table, for its partition specs
	Before   metadata.Snapshot  // what readers had before it: most often its parent
	// AnyLocation: the manifests may lie outside the table, and are read there.
	AnyLocation bool
	// Owned gives those of the snapshots whose files belong to the platform.
	Owned func(ctx context.Context, ids []int64) ([]int64, error)
}

// Waker is told that the outbox has something new.
type Waker interface{ Wake() }

// Reports is the read side for governance: tables with their state, the ledger, the audit.
type Reports interface {
	TableState(ctx context.Context, tableID string) (models.TableState, error)
	TableStates(ctx context.Context, f models.TableFilter) ([]models.TableState, error)
	Commits(ctx context.Context, f models.CommitFilter) ([]models.Commit, error)
	AuditEvents(ctx context.Context, f models.AuditFilter) ([]models.AuditEvent, error)
	// StorageRecords gives how tables' files were reached, in order of table, token and mode.
	StorageRecords(ctx context.Context, f models.StorageRecordFilter) ([]models.NamedStorageRecord, error)
	// Findings gives findings, newest first.
	Findings(ctx context.Context, f models.FindingFilter) ([]models.Finding, error)
	// Writers gives writers, in order of id.
	Writers(ctx context.Context, f models.WriterFilter) ([]models.NamedWriter, error)
	// FindTable gives the tables of a uuid; catalogID "" looks in all catalogs.
	FindTable(ctx context.Context, catalogID, uuid string) ([]models.Table, error)
}

// Reconciler takes a wish to have a snapshot reconciled now, durably, and gives the ID of the workflow that does it.
type Reconciler interface {
	RequestReconcile(ctx context.Context, event models.OutboxEvent) (workflowID string, err error)
}

package governance

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

// A ref names a table as catalog.namespace.table, levels joined by dots, or by its UUID. Every use case checks the
// caller's rights itself.

// Tokens mints, lists and revokes engine tokens.
type Tokens interface {
	// MintToken gives the token and the secret that is shown once.
	MintToken(ctx context.Context, caller policy.Caller, in access.MintInput) (models.Token, string, error)
	// ListTokens gives tokens, newest first, those that follow the one with the id after.
	ListTokens(ctx context.Context, caller policy.Caller, after string, limit int) ([]access.TokenView, error)
	RevokeToken(ctx context.Context, caller policy.Caller, id string) error
}

// Policies sets what governance says of tables and of new ones.
type Policies interface {
	SetWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) (models.TableState, error)
	// DefaultWritePolicy takes a catalog's name, or a namespace as catalog.level.level.
	DefaultWritePolicy(ctx context.Context, caller policy.Caller, ref string) (core.DefaultPolicy, error)
	// SetDefaultWritePolicy takes a catalog's name, or a namespace as catalog.level.level.
	SetDefaultWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) error
	SetGovernance(ctx context.Context, caller policy.Caller, ref string, in core.GovernanceInput) (models.TableState, error)
	SetDuplicateCommits(ctx context.Context, caller policy.Caller, ref string, mode models.DuplicateMode) (models.TableState, error)
	Classifications
	RowFilters
}

// Classifications says how sensitive tables and their columns are.
type Classifications interface {
	// DefaultClassification takes a catalog's name, or a namespace as catalog.level.level.
	DefaultClassification(ctx context.Context, caller policy.Caller, ref string) (core.DefaultLevel, error)
	// SetDefaultClassification takes a catalog's name, or a namespace as catalog.level.level.
	SetDefaultClassification(ctx context.Context, caller policy.Caller, ref string, level models.Classification) error
	// ColumnLevels gives the level of every column of a table by its dotted name.
	ColumnLevels(ctx context.Context, caller policy.Caller, ref string) (map[string]models.Classification, error)
}

// RowFilters says which rows of a table the members of a principal role see.
type RowFilters interface {
	RowFilters(ctx context.Context, caller policy.Caller, ref string) ([]models.RowFilter, error)
	// SetRowFilter takes the filter of a role away where it is nil, and gives those that the table has then.
	SetRowFilter(ctx context.Context, caller policy.Caller, ref, role string, filter *string) ([]models.RowFilter, error)
}

// Drops protects tables against being dropped, and takes drops back.
type Drops interface {
	SetProtection(ctx context.Context, caller policy.Caller, ref string, protected bool) (models.TableState, error)
	// DroppedTables gives the drops that the caller may know of, newest first.
	DroppedTables(ctx context.Context, caller policy.Caller, catalog string, filter models.DroppedFilter) (core.ListPage[core.DroppedView], error)
	// UndropTable brings a table back under its name, or another.
	UndropTable(ctx context.Context, caller policy.Caller, id string, as *models.TableIdent) (models.TableState, error)
	ForgetTable(ctx context.Context, caller policy.Caller, id string) error
}

// Tables shows tables as their governors see them, and asks for a reconciliation.
type Tables interface {
	// Resolve gives the catalog of that name; "" means the token's own.
	Resolve(ctx context.Context, caller policy.Caller, warehouse string) (models.Catalog, error)
	TableState(ctx context.Context, caller policy.Caller, ref string) (models.TableState, error)
	// TableStates gives the tables that the caller sees in a catalog, "" for all that its token opens.
	TableStates(ctx context.Context, caller policy.Caller, catalog string, filter models.TableFilter) (core.ListPage[models.TableState], error)
	// Reconcile starts the reconciliation of the table's head and gives the workflow's id.
	Reconcile(ctx context.Context, caller policy.Caller, ref string) (string, error)
	// CheckTable looks at the files that a table's snapshots stand on.
	CheckTable(ctx context.Context, caller policy.Caller, ref string) (core.TableCheckup, error)
}

// Explainer says why a principal holds a privilege, or what it lacks.
type Explainer interface {
	Explain(ctx context.Context, caller policy.Caller, q management.Question) (management.Explanation, error)
}

// Records are the commit ledger and the audit.
type Records interface {
	// Commits gives ledger rows, newest first, of the table ref; "" for every table.
	Commits(ctx context.Context, caller policy.Caller, ref string, filter models.CommitFilter) ([]core.CommitView, error)
	AuditEvents(ctx context.Context, caller policy.Caller, filter models.AuditFilter) ([]models.AuditEvent, error)
	// AuditScope gives a filter that selects what the caller may see of what it asks for.
	AuditScope(ctx context.Context, caller policy.Caller, filter models.AuditFilter) (models.AuditFilter, error)
}

// Webhooks are addresses that audit events are sent to.
type Webhooks interface {
	// Webhooks gives webhooks in order of their ids after the given one.
	Webhooks(ctx context.Context, caller policy.Caller, after string, limit int) ([]webhooks.View, error)
	Webhook(ctx context.Context, caller policy.Caller, id string) (webhooks.View, error)
	// CreateWebhook gives the secret too, which is shown once.
	CreateWebhook(ctx context.Context, caller policy.Caller, in webhooks.Input) (webhooks.View, string, error)
	// UpdateWebhook gives the secret where there is a new one.
	UpdateWebhook(ctx context.Context, caller policy.Caller, id string, in webhooks.Input) (webhooks.View, string, error)
	DeleteWebhook(ctx context.Context, caller policy.Caller, id string) error
	TestWebhook(ctx context.Context, caller policy.Caller, id string) (webhooks.TestResult, error)
	// Deliveries gives deliveries of a webhook, newest first.
	Deliveries(ctx context.Context, caller policy.Caller, f models.DeliveryFilter) ([]models.WebhookDelivery, error)
	// Replay sends again what is dead, or what happened since a time, and counts it.
	Replay(ctx context.Context, caller policy.Caller, id string, since time.Time, dead bool) (int64, error)
}

// Findings are what should be looked at.
type Findings interface {
	// Findings gives findings, newest first, of the table ref; "" for every table.
	Findings(ctx context.Context, caller policy.Caller, ref string, filter models.FindingFilter) ([]models.Finding, error)
	// ResolveFinding closes one; one that is closed stays as it is.
	ResolveFinding(ctx context.Context, caller policy.Caller, id, note string) (models.Finding, error)
}

// Writers are who commits to tables by names of their own.
type Writers interface {
	// Writers gives writers of the table ref, "" for every table, in order of id.
	Writers(ctx context.Context, caller policy.Caller, ref string, filter models.WriterFilter) ([]models.NamedWriter, error)
	Writer(ctx context.Context, caller policy.Caller, id string) (models.NamedWriter, error)
	// DeclareWriter says that a principal is to commit to a table at least so often.
	DeclareWriter(ctx context.Context, caller policy.Caller, ref, principal string, every time.Duration) (models.NamedWriter, error)
	// SetWriterCadence says how often a writer is to commit; nil: as it does.
	SetWriterCadence(ctx context.Context, caller policy.Caller, id string, every *time.Duration) (models.NamedWriter, error)
	// RetireWriter says that a writer owes nothing until it commits again.
	RetireWriter(ctx context.Context, caller policy.Caller, id, note string) (models.NamedWriter, error)
}

// Storage administers how catalogs' object stores are reached.
type Storage interface {
	SetStorageSecrets(ctx context.Context, caller policy.Caller, catalog string, secrets models.StorageSecrets) error
	RemoveStorageSecrets(ctx context.Context, caller policy.Caller, catalog string) error
	// ValidateStorage says of each step how it went.
	ValidateStorage(ctx context.Context, caller policy.Caller, catalog string) ([]models.StorageStep, error)
}

// StorageRecords tells who reaches the files of tables and how.
type StorageRecords interface {
	// StorageRecords gives records of the table ref, "" for every table, in an order of their own.
	StorageRecords(ctx context.Context, caller policy.Caller, ref string, f models.StorageRecordFilter) ([]models.NamedStorageRecord, error)
}

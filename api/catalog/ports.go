package catalog

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Resolver finds the catalog that a request means.
type Resolver interface {
	// Resolve gives the catalog of that name; "" means the token's own. A catalog that is unknown, or that the
	// token does not open, is fault.NotFound on fault.Catalog.
	Resolve(ctx context.Context, caller policy.Caller, warehouse string) (models.Catalog, error)
}

// Namespaces are the namespace use cases. Each checks the caller's rights itself.
type Namespaces interface {
	CreateNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.NamespaceInput) (core.NamespaceView, error)
	LoadNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) (core.NamespaceView, error)
	NamespaceExists(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) error
	ListNamespaces(ctx context.Context, caller policy.Caller, cat models.Catalog, parent []string, page core.Page) (core.ListPage[[]string], error)
	UpdateNamespaceProperties(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, update core.PropertiesUpdate) (core.PropertiesResult, error)
	DropNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) error
}

// Tables are the table use cases. Each checks the caller's rights and the write policy itself.
type Tables interface {
	ListTables(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, page core.Page) (core.ListPage[models.TableIdent], error)
	CreateTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.CreateTableInput) (core.TableView, error)
	RegisterTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.RegisterInput) (core.TableView, error)
	LoadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (core.TableView, error)
	// LoadSettled answers the repeat of a request that made or changed a table, see core.Settled.
	LoadSettled(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, settled core.Settled) (core.TableView, error)
	TableExists(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error
	DropTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, purge bool) error
	// UnregisterTable takes a table out of the catalog with its files, and gives its last metadata.
	UnregisterTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (core.TableView, error)
	RenameTable(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error
}

// Views are the view use cases. Each checks the caller's rights itself.
type Views interface {
	ListViews(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, page core.Page) (core.ListPage[models.TableIdent], error)
	CreateView(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.CreateViewInput) (core.LoadedView, error)
	RegisterView(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.RegisterViewInput) (core.LoadedView, error)
	LoadView(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (core.LoadedView, error)
	ViewExists(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error
	ReplaceView(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.ReplaceViewInput) (core.LoadedView, error)
	DropView(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) error
	RenameView(ctx context.Context, caller policy.Caller, cat models.Catalog, from, to models.TableIdent) error
}

// Idempotency keeps what requests under an Idempotency-Key were settled with; idempotency.Keeper has the contract.
type Idempotency interface {
	Lifetime() time.Duration
	Begin(ctx context.Context, claim *idempotency.Claim) (kept *models.IdempotencyKey, end func(), err error)
	Kept(ctx context.Context, claim *idempotency.Claim) (*models.IdempotencyKey, error)
	Settle(ctx context.Context, claim *idempotency.Claim, outcome error) *models.IdempotencyKey
}

// Commits are the commit use cases. An outcome in doubt is fault.UnknownState; with any other error nothing happened.
type Commits interface {
	CommitTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in core.CommitInput) (core.TableView, error)
	CommitTransaction(ctx context.Context, caller policy.Caller, cat models.Catalog, in []core.CommitInput) error
}

// OAuth issues access tokens. Refusals are *access.OAuthError.
type OAuth interface {
	IssueAccessToken(ctx context.Context, in access.GrantRequest) (access.AccessGrant, error)
}

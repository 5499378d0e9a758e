package dataplane

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// Catalog finds tables for those who may read or write their rows, and lands what was written.
type Catalog interface {
	// FindForData gives the table of a ref to a caller who may do the operation on it; one that the caller may not see is
	// fault.NotFound.
	FindForData(ctx context.Context, caller policy.Caller, op policy.Operation, ref string) (catalog.DataTable, error)
	// RequireOnTable refuses an operation on the table of that id, which may be gone: then it takes the right on the catalog.
	RequireOnTable(ctx context.Context, caller policy.Caller, op policy.Operation, catalogID, tableID string) error
	// NoteGovernedRead records that the caller read the table through a governed query; it fails nobody.
	NoteGovernedRead(ctx context.Context, caller policy.Caller, table catalog.DataTable)

	// Reserve makes the commits of others to the table wait for the holder's, and tells whether they do.
	Reserve(ctx context.Context, tableID, holder string) (bool, error)
	Release(ctx context.Context, tableID, holder string)
	CommitTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.CommitInput) (catalog.TableView, error)
	CommitTransaction(ctx context.Context, caller policy.Caller, cat models.Catalog, in []catalog.CommitInput) error
	CreateTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.CreateTableInput) (catalog.TableView, error)
	LoadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (catalog.TableView, error)
	SetWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) (models.TableState, error)
	SetGovernance(ctx context.Context, caller policy.Caller, ref string, in catalog.GovernanceInput) (models.TableState, error)
}

// Reader reads the live rows of tables.
type Reader interface {
	Schema(s tableread.Scan) (*arrow.Schema, error)
	Scan(ctx context.Context, s tableread.Scan, yield func(arrow.RecordBatch) error) (tableread.Stats, error)
	Page(ctx context.Context, s tableread.Scan, order []int, after *tableread.Position, rows int) (*tableread.Page, error)
	Locate(ctx context.Context, l tableread.Lookup) ([]tableread.Found, error)
	Held() int64 // bytes that all reads hold now
}

// Store keeps what governed writes landed, and the keys that data is hashed with.
type Store interface {
	GovernedWrites(ctx context.Context, f models.GovernedWriteFilter) ([]models.GovernedWrite, error)
	// GovernedWrite answers fault.NotFound for an id that no write has.
	GovernedWrite(ctx context.Context, id string) (models.GovernedWrite, error)
	// RowAuditBlocks gives blocks in order of write and place.
	RowAuditBlocks(ctx context.Context, f models.RowAuditFilter) ([]models.RowAuditBlock, error)
	// DataKey gives the key of a purpose; where there is none, sealed becomes it. All processes are given the same.
	DataKey(ctx context.Context, purpose string, sealed []byte) (models.DataKey, error)
}

// Sealer encrypts so that only the holder of Sluice's own keys can read or make what was sealed, and only beside the same
// associated data.
type Sealer interface {
	Seal(plain, associated []byte) ([]byte, error)
	Open(sealed, associated []byte) ([]byte, error)
}

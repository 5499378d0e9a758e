package tableio

import (
	"context"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Core commits to tables.
type Core interface {
	CommitTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.CommitInput) (catalog.TableView, error)
}

// Files reads and writes the files of tables. Locations are absolute URIs.
type Files interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
	// CreateFile never overwrites.
	CreateFile(ctx context.Context, location string, data []byte) error
	DeleteFile(ctx context.Context, location string) error
}

package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Settled is what a repeat of a request under an idempotency key needs to find the table that it made or changed.
type Settled struct {
	UUID             string `json:"uuid"`
	MetadataLocation string `json:"metadata-location"`
}

// settle keeps where a mutation leaves its table. It is called before the mutation, whose transaction keeps it.
func settle(ctx context.Context, row models.Table) {
	idempotency.SetResult(ctx, Settled{UUID: row.UUID, MetadataLocation: row.MetadataLocation})
}

// LoadSettled answers the repeat of a request that made or changed a table: with the table as it is now, or as the
// request left it when its name is gone or means another table by now. A zero Settled means the table of the name.
func (s *Service) LoadSettled(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, settled Settled) (TableView, error) {
	view, err := s.LoadTable(ctx, caller, cat, ident)
	if settled.MetadataLocation == "" || err == nil && view.Row.UUID == settled.UUID || err != nil && !fault.Is(err, fault.NotFound) {
		return view, err
	}
	doc, err := s.documents.get(ctx, settled.MetadataLocation)
	return TableView{Document: doc, MetadataLocation: settled.MetadataLocation}, err
}

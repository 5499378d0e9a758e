package api_test

import (
	"context"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (u *useCases) LoadSettled(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, _ core.Settled) (core.TableView, error) {
	return u.LoadTable(ctx, caller, cat, ident)
}

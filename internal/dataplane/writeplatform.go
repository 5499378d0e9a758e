package dataplane

import (
	"context"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// platformFor is who commits what somebody wrote: ledger and audit name the caller, and in the catalog it may do what
// landing rows takes. What the caller itself may do was judged before.
func platformFor(caller policy.Caller, catalogID string) policy.Caller {
	var grants []policy.Grant
	for _, p := range []models.Privilege{
		models.CatalogManageContent, models.CatalogManageAccess, models.TableGovern, models.DataWrite, models.DataRead,
	} {
		grants = append(grants, policy.Grant{Privilege: p, ObjectID: catalogID})
	}
	caller.Held, caller.CatalogID = policy.NewHeld(nil, grants), catalogID
	caller.EngineToken, caller.ReadOnly, caller.CanGovern = false, false, true
	return caller
}

// fit is what rows were checked and written for.
type fit struct {
	Schema int `json:"schema"`
	Spec   int `json:"spec"`
}

func fitOf(table catalog.DataTable) fit {
	return fit{Schema: table.Document.CurrentSchemaID(), Spec: table.Document.DefaultSpecID()}
}

// tableAt gives a table as it is now, by its uuid, under whatever name. fault.Conflict: it is gone, or rows that fit are
// no longer what it takes.
func (s *Service) tableAt(ctx context.Context, platform policy.Caller, uuid, rowID string, f fit) (catalog.DataTable, error) {
	table, err := s.Catalog.FindForData(ctx, platform, policy.WriteRows, uuid)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && table.Row.ID != rowID:
		return table, fault.Wrap(errChanged, fault.Conflict, "The table was dropped while rows were written to it. Nothing landed.")
	case err != nil:
		return table, err
	case fitOf(table) != f:
		return table, fault.Wrap(errChanged, fault.Conflict, "Table %s got another schema or partition spec while rows were written to it. Nothing landed: send the rows again.", table.Name)
	}
	return table, nil
}

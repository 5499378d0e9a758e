package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// ColumnLevels gives how sensitive every column of a table is, by its dotted name: what governance says of it, else what it
// says of the table.
func (s *Service) ColumnLevels(ctx context.Context, caller policy.Caller, ref string) (map[string]models.Classification, error) {
	at, row, err := s.byRef(ctx, caller, policy.ReadTableState, ref)
	if err != nil {
		return nil, err
	}
	if err := caller.Require(policy.ReadTableState, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return nil, err
	}
	row, doc, err := s.current(ctx, row)
	if err != nil {
		return nil, err
	}
	schema, err := doc.CurrentSchema()
	if err != nil {
		return nil, err
	}
	return policy.Levels(row, schema), nil
}

package api_test

import (
	"context"
	"encoding/json"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (u *useCases) SetDefaultClassification(_ context.Context, _ policy.Caller, ref string, level models.Classification) error {
	u.ref, u.govern.Level = ref, level
	return u.fail
}

func (u *useCases) DefaultClassification(_ context.Context, _ policy.Caller, ref string) (core.DefaultLevel, error) {
	u.ref = ref
	return core.DefaultLevel{Level: models.Confidential, Inherited: ref != "main"}, u.fail
}

func (u *useCases) ColumnLevels(context.Context, policy.Caller, string) (map[string]models.Classification, error) {
	return u.column, u.fail
}

func (u *useCases) RowFilters(_ context.Context, _ policy.Caller, ref string) ([]models.RowFilter, error) {
	u.ref = ref
	return u.state.Table.RowFilters.V, u.fail
}

func (u *useCases) SetRowFilter(_ context.Context, _ policy.Caller, ref, role string, filter *string) ([]models.RowFilter, error) {
	u.ref, u.role, u.filter = ref, role, filter
	if filter == nil || u.fail != nil {
		return nil, u.fail
	}
	return []models.RowFilter{
		{Role: "another", Filter: "TRUE", Expression: json.RawMessage("true")}, {Role: role, Filter: *filter, Expression: json.RawMessage("false")},
	}, nil
}

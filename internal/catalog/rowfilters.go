package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// mostRowFilters is how many roles may have a filter on one table: every query joins those of its caller's.
const mostRowFilters = 1000

// RoleStore knows principal roles.
type RoleStore interface {
	// PrincipalRoleByName answers fault.NotFound where there is none.
	PrincipalRoleByName(ctx context.Context, name string) (models.PrincipalRole, error)
}

// RowFilters gives the row filters of a table, in order of their roles.
func (s *Service) RowFilters(ctx context.Context, caller policy.Caller, ref string) ([]models.RowFilter, error) {
	at, row, err := s.byRef(ctx, caller, policy.ReadRowFilters, ref)
	if err != nil {
		return nil, err
	}
	if err := caller.Require(policy.ReadRowFilters, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return nil, err
	}
	return append([]models.RowFilter{}, row.RowFilters.V...), nil
}

// SetRowFilter says which rows of a table the members of a principal role see through the governed data plane, in the words
// of SQL's WHERE; "TRUE" is all of them. nil takes the role's filter away, which is fault.NotFound where it has none. Once
// a table has a filter, roles without one see no rows. Setting what is set already writes nothing.
func (s *Service) SetRowFilter(ctx context.Context, caller policy.Caller, ref, role string, filter *string) ([]models.RowFilter, error) {
	at, row, err := s.governed(ctx, caller, policy.SetRowFilters, ref)
	if err != nil {
		return nil, err
	}
	var after []models.RowFilter
	_, err = s.regovern(ctx, row, func(row *models.Table) (*models.AuditEvent, error) {
		before := row.RowFilters.V
		if after, err = s.refiltered(ctx, at, *row, role, filter); err != nil || slices.EqualFunc(before, after, sameFilter) {
			return nil, err
		}
		row.RowFilters.V = after
		event := s.tableEvent(caller, models.AuditRowFiltersChanged, at, *row, map[string]any{"role": role, "from": textOf(before, role), "to": textOf(after, role)})
		return &event, nil
	})
	if err != nil {
		return nil, err
	}
	return after, nil
}

// refiltered gives the row filters of a table with that of a role set, or with nil taken away.
func (s *Service) refiltered(ctx context.Context, at tablePlace, row models.Table, role string, filter *string) ([]models.RowFilter, error) {
	before := row.RowFilters.V
	after := slices.DeleteFunc(slices.Clone(before), func(f models.RowFilter) bool { return f.Role == role })
	if filter == nil && len(after) == len(before) {
		return nil, fault.New(fault.NotFound, "Role %s has no row filter on table %s.", role, at.ref(row.Name))
	}
	if filter != nil {
		made, err := s.rowFilter(ctx, at, row, role, *filter)
		if err != nil {
			return nil, err
		}
		after = append(after, made)
		slices.SortFunc(after, func(a, b models.RowFilter) int { return strings.Compare(a.Role, b.Role) })
	}
	if len(after) > mostRowFilters {
		return nil, fault.New(fault.Invalid, "A table has row filters for at most %d roles. Give the members of some of them a role in common.", mostRowFilters)
	}
	return after, nil
}

func sameFilter(a, b models.RowFilter) bool {
	return a.Role == b.Role && a.Filter == b.Filter && string(a.Expression) == string(b.Expression)
}

// rowFilter makes the filter of a role, which must be there: a filter of a role that is misspelled would keep everybody out.
func (s *Service) rowFilter(ctx context.Context, at tablePlace, row models.Table, role, filter string) (models.RowFilter, error) {
	if strings.TrimSpace(filter) == "" {
		return models.RowFilter{}, fault.New(fault.Invalid, "The row filter is empty. Write a condition such as region = 'EU', or TRUE for every row.")
	}
	_, err := s.store.PrincipalRoleByName(ctx, role)
	if fault.Is(err, fault.NotFound) {
		return models.RowFilter{}, fault.New(fault.NotFound, "There is no principal role %q. Make it first, or look for its name with `sluice principal-roles list`.", role)
	}
	if err != nil {
		return models.RowFilter{}, err
	}
	view, err := s.view(ctx, at, row)
	if err != nil {
		return models.RowFilter{}, err
	}
	schema, err := view.Document.CurrentSchema()
	if err != nil {
		return models.RowFilter{}, err
	}
	parsed, err := expression.ParseText(filter, schema)
	if err == nil {
		err = parsed.Evaluable()
	}
	if err != nil {
		return models.RowFilter{}, err
	}
	return models.RowFilter{Role: role, Filter: strings.TrimSpace(filter), Expression: parsed.JSON()}, nil
}

// textOf gives the filter of a role as it was written, nil where it has none.
func textOf(filters []models.RowFilter, role string) any {
	for _, f := range filters {
		if f.Role == role {
			return f.Filter
		}
	}
	return nil
}

// filterColumns gives the columns that the row filters of a table name.
func filterColumns(row models.Table) []string {
	var names []string
	for _, f := range row.RowFilters.V {
		names = append(names, f.Columns()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hideFilters leaves the row filters of a table to those who may read them: they tell of values.
func hideFilters(caller policy.Caller, path policy.Path, state models.TableState) models.TableState {
	if !caller.May(policy.ReadRowFilters, path) {
		state.Table.RowFilters.V = nil
	}
	return state
}

package catalog

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// SetWritePolicy changes what engines may commit to a table.
func (s *Service) SetWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) (models.TableState, error) {
	return s.govern(ctx, caller, policy.SetWritePolicy, ref, models.AuditWritePolicyChanged, func(_ tablePlace, _ TableView, row *models.Table) (any, any, error) {
		before := row.WritePolicy
		row.WritePolicy = p
		return before, p, nil
	})
}

// SetDuplicateCommits says what becomes of a commit to a table that was made before: it is taken and is a finding, or it is
// refused.
func (s *Service) SetDuplicateCommits(ctx context.Context, caller policy.Caller, ref string, mode models.DuplicateMode) (models.TableState, error) {
	if mode != models.AuditDuplicates && mode != models.RejectDuplicates {
		return models.TableState{}, fault.New(fault.Invalid, "The mode %q is neither audit nor reject.", mode)
	}
	at, row, err := s.governed(ctx, caller, policy.SetDuplicateCommits, ref)
	if err != nil {
		return models.TableState{}, err
	}
	before := row.DuplicateCommits
	if before == "" {
		before = models.AuditDuplicates
	}
	if before != mode {
		row.DuplicateCommits, row.UpdatedAt = mode, s.now()
		event := s.tableEvent(caller, models.AuditDuplicatesChanged, at, row, map[string]any{"from": before, "to": mode})
		if err := s.store.UpdateDuplicateCommits(ctx, row, event); err != nil {
			return models.TableState{}, err
		}
	}
	return s.reports.TableState(ctx, row.ID)
}

// SetGovernance changes a table's classification, its identity columns and what is said of its columns, all at once.
func (s *Service) SetGovernance(ctx context.Context, caller policy.Caller, ref string, in GovernanceInput) (models.TableState, error) {
	return s.govern(ctx, caller, policy.SetClassification, ref, models.AuditClassificationChanged, func(at tablePlace, view TableView, row *models.Table) (any, any, error) {
		if err := checkColumns(at.ref(row.Name), view, in); err != nil {
			return nil, nil, err
		}
		before := saidOf(*row)
		if in.Level != "" {
			row.Classification = in.Level
		}
		if in.IdentityColumns != nil {
			row.IdentityColumns.V = in.IdentityColumns
		}
		if in.Columns != nil {
			row.Columns.V, row.KnownColumn = in.Columns, view.Document.LastColumnID()
		}
		return before, saidOf(*row), nil
	})
}

// classified is what governance says of a table, as the audit records it.
type classified struct {
	Level           models.Classification              `json:"level"`
	IdentityColumns []string                           `json:"identityColumns"`
	Columns         map[string]models.ColumnGovernance `json:"columns"`
}

func saidOf(row models.Table) classified {
	c := classified{Level: row.Classification, IdentityColumns: []string{}, Columns: map[string]models.ColumnGovernance{}}
	c.IdentityColumns = append(c.IdentityColumns, row.IdentityColumns.V...)
	maps.Copy(c.Columns, row.Columns.V)
	return c
}

// checkColumns: governing a column that is not there would protect nothing and look as if it did.
func checkColumns(ref string, view TableView, in GovernanceInput) error {
	schema, err := view.Document.CurrentSchema()
	if err != nil {
		return err
	}
	for _, name := range append(slices.Sorted(maps.Keys(in.Columns)), in.IdentityColumns...) {
		if _, ok := schema.FieldByName(name); !ok {
			return fault.New(fault.Invalid, "Table %s has no column %q. Name columns as its schema does, nested ones with dots.", ref, name)
		}
	}
	return nil
}

// governed finds the table that a caller may govern so.
func (s *Service) governed(ctx context.Context, caller policy.Caller, op policy.Operation, ref string) (tablePlace, models.Table, error) {
	if err := refuseGoverning(caller, "change governance"); err != nil {
		return tablePlace{}, models.Table{}, err
	}
	at, row, err := s.byRef(ctx, caller, op, ref)
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	return at, row, caller.Require(op, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name))
}

// govern changes a table's governance and stamps it into the table's metadata. change alters the row and gives what
// was before and what is now; where they are equal, nothing is written.
func (s *Service) govern(
	ctx context.Context, caller policy.Caller, op policy.Operation, ref string, typ models.AuditType,
	change func(tablePlace, TableView, *models.Table) (before, after any, err error),
) (models.TableState, error) {
	at, row, err := s.governed(ctx, caller, op, ref)
	if err != nil {
		return models.TableState{}, err
	}
	changed, err := s.changeGovernance(ctx, caller, at, row, typ, change)
	if err != nil {
		return models.TableState{}, err
	}
	if !changed {
		return s.reports.TableState(ctx, row.ID)
	}
	if _, err := s.Restamp(ctx, row.ID); err != nil {
		// The decision stands in the row that every commit is judged by; the next reconciliation stamps it.
		s.log.WarnContext(ctx, "governance properties are not stamped yet", "table", at.ref(row.Name), "error", err)
	}
	return s.reports.TableState(ctx, row.ID)
}

// changeGovernance stores what change makes of a row; false where that is what it was.
func (s *Service) changeGovernance(
	ctx context.Context, caller policy.Caller, at tablePlace, row models.Table, typ models.AuditType,
	change func(tablePlace, TableView, *models.Table) (before, after any, err error),
) (bool, error) {
	return s.regovern(ctx, row, func(row *models.Table) (*models.AuditEvent, error) {
		view, err := s.view(ctx, at, *row)
		if err != nil {
			return nil, err
		}
		before, after, err := change(at, view, row)
		if err != nil || reflect.DeepEqual(before, after) {
			return nil, err
		}
		event := s.tableEvent(caller, typ, at, *row, map[string]any{"from": before, "to": after})
		return &event, nil
	})
}

// regovern stores what change makes of a table's row as it is then; change gives the event of it, nil where nothing is
// to be stored. What governance says is stored as a whole, so changes follow one another in this process, and one that
// loses to another process is made again.
func (s *Service) regovern(ctx context.Context, of models.Table, change func(*models.Table) (*models.AuditEvent, error)) (changed bool, err error) {
	unlock, err := s.locks.Lock(ctx, "governance\x00"+of.ID)
	if err != nil {
		return false, err
	}
	defer unlock()
	err = retryLost(ctx, func() error {
		before, err := s.store.TableByID(ctx, of.ID)
		if err != nil {
			return err
		}
		after := before
		event, err := change(&after)
		if changed = err == nil && event != nil; !changed {
			return err
		}
		after.UpdatedAt = s.now()
		return s.store.UpdateGovernance(ctx, before, after, *event)
	})
	return changed && err == nil, err
}

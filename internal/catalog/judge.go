package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// attempt starts the question to the policy with what is known before anything is read.
func (s *Service) attempt(caller policy.Caller, at tablePlace, row models.Table, in CommitInput) policy.Attempt {
	path := at.path
	if row.MetadataLocation != "" {
		path = at.tablePath(row.ID)
	}
	actions := make([]string, len(in.Updates))
	for i, u := range in.Updates {
		actions[i] = u.Action
	}
	return policy.Attempt{
		Table: at.cat.Name + "." + at.name(row.Name), Policy: row.WritePolicy, EngineToken: caller.EngineToken,
		Has:            func(p models.Privilege) bool { return caller.Has(p, path) },
		ReservedPrefix: s.stamps.Prefix, AnyLocation: s.anyLocation, Columns: row.Columns.V, IdentityColumns: row.IdentityColumns.V,
		FilterColumns: filterColumns(row),
		Change:        policy.Change{Actions: actions},
	}
}

// operationsOf gives what a commit does to its table, each once.
func operationsOf(updates []metadata.Update) []policy.Operation {
	var ops []policy.Operation
	for _, u := range updates {
		if op, known := policy.OperationFor(u.Action); known && !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return ops
}

// judge refuses what can be refused by the actions alone, and says whose commit it is.
func (s *Service) judge(ctx context.Context, caller policy.Caller, p *plan, attempt policy.Attempt) (models.CommitKind, error) {
	if len(attempt.Change.Actions) == 0 {
		return models.ExternalCommit, nil
	}
	return s.decide(ctx, caller, p, attempt)
}

// decide asks the policy and records a refusal in the audit before the client hears of it.
func (s *Service) decide(ctx context.Context, caller policy.Caller, p *plan, attempt policy.Attempt) (models.CommitKind, error) {
	d := policy.Decide(attempt)
	if d.Allowed {
		return d.Kind, nil
	}
	if d.Rule == policy.RuleOwnership {
		s.noteOwnership(ctx, caller, p, attempt)
	}
	return "", s.denied(ctx, caller, p, d.Rule, attempt, d.Err)
}

// denied records in the audit that a commit is refused, and gives the refusal.
func (s *Service) denied(ctx context.Context, caller policy.Caller, p *plan, rule string, attempt policy.Attempt, refusal error) error {
	event := s.tableEvent(caller, models.AuditCommitDenied, p.at, p.row, map[string]any{
		"rule": rule, "policy": attempt.Policy, "actions": counted(attempt.Change.Actions), "client": caller.Origin.Client,
	})
	event.Allowed, event.Reason = false, refusal.Error()
	if err := s.store.AppendAudit(ctx, event); err != nil {
		return err
	}
	return audited(refusal)
}

// audited marks a refusal that is in the audit already.
func audited(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		e.Audited = true
	}
	return err
}

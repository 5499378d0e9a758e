package policy

import (
	"fmt"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// refusal is why a commit is refused: the rule, what the commit does (a verb phrase) and what can be done about it.
type refusal struct {
	rule   string
	does   string
	remedy string
}

// Decide judges one commit. The rules run in this order and the first that refuses gives the answer:
//
//  1. a missing privilege, steward or not;
//  2. what no policy allows: reserved properties, files outside the table's location and, for all but stewards,
//     destructive changes of governed columns;
//  3. the write policy, then ownership, for all but stewards.
//
// A steward is who holds TABLE_GOVERN and comes without an engine token; such a commit is a platform commit.
// An unknown policy counts as governed_only.
func Decide(a Attempt) Decision {
	steward := !a.EngineToken && a.missing(CommitAsSteward) == ""
	d := Decision{Allowed: true, Kind: models.ExternalCommit}
	if steward {
		d.Kind = models.PlatformCommit
	}
	if r := firstRefusal(a, steward); r != nil {
		d.Allowed, d.Rule = false, r.rule
		d.Err = fault.About(fault.Forbidden, fault.Table, "%s: this commit %s. %s", a.subject(), r.does, r.remedy)
	}
	return d
}

func firstRefusal(a Attempt, steward bool) *refusal {
	rules := []func(Attempt) *refusal{missingPrivilege, reservedProperty, outsideLocation}
	if !steward {
		rules = append(rules, governedColumn)
		rules = append(rules, policyRules(a)...)
	}
	for _, rule := range rules {
		if r := rule(a); r != nil {
			return r
		}
	}
	return nil
}

func policyRules(a Attempt) []func(Attempt) *refusal {
	switch a.Policy {
	case models.OpenFull:
		return []func(Attempt) *refusal{ownedFile}
	case models.OpenAppend:
		return []func(Attempt) *refusal{
			replacedTable, notAppended, movedRef, removedHistory, changedColumn, changedStructure, guardedProperty,
		}
	}
	return []func(Attempt) *refusal{governed}
}

// missing gives the first privilege that an operation on the table takes and that is not held, "" if there is none. Without
// a function nothing is held.
func (a Attempt) missing(op Operation) models.Privilege {
	for _, need := range op.needs() {
		if need.Privilege != "" && (a.Has == nil || !a.Has(need.Privilege)) {
			return need.Privilege
		}
	}
	return ""
}

// subject names the table and the policy in force.
func (a Attempt) subject() string {
	switch {
	case a.Change.Registers: // its policy may be the one it had before
		return fmt.Sprintf("Table %s would have write policy %s", a.Table, a.policyName())
	case a.Change.CreatesTable:
		return fmt.Sprintf("Table %s would have write policy %s, the default of its namespace", a.Table, a.policyName())
	}
	return fmt.Sprintf("Table %s has write policy %s", a.Table, a.policyName())
}

func (a Attempt) policyName() models.WritePolicy {
	if a.Policy == "" {
		return models.GovernedOnly
	}
	return a.Policy
}

// openTo says how to get a wider policy.
func (a Attempt) openTo(p models.WritePolicy) string {
	if a.Change.CreatesTable {
		return fmt.Sprintf("ask a data steward to set the namespace's default write policy to %s", p)
	}
	return fmt.Sprintf("ask a data steward to set the policy to %s (sluice policy set %s %s)", p, a.Table, p)
}

// capital makes a remedy the start of a sentence.
func capital(remedy string) string { return strings.ToUpper(remedy[:1]) + remedy[1:] }

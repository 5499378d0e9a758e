package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

// missingPrivilege checks the privilege of every update as it was sent. A commit that creates its table needs
// TABLE_CREATE for all of them, and TABLE_WRITE_DATA when it brings data. TABLE_ADD_SCHEMA is enough to make an added
// schema the current one when all it does is additive: evolving a table is one right, not two.
func missingPrivilege(a Attempt) *refusal {
	if a.Change.CreatesTable {
		if p := a.missing(UpdateTableForStagedCreate); p != "" {
			return lacks(a, "creates the table", p)
		}
		if p := a.missing(WriteDataForStagedCreate); p != "" && len(a.Change.Snapshots) > 0 {
			return lacks(a, "creates the table with data", p)
		}
	}
	for _, action := range a.Change.Actions {
		op, known := OperationFor(action)
		if !known {
			return &refusal{RulePrivilege, fmt.Sprintf("has the update %q, which no privilege covers", action), "Leave it out."}
		}
		if a.Change.CreatesTable {
			continue
		}
		wanted := a.missing(op)
		if wanted == "" || op == SetTableCurrentSchema && addsOnly(a.Change) && a.missing(AddTableSchema) == "" {
			continue
		}
		return lacks(a, fmt.Sprintf("has the update %q", action), wanted)
	}
	return nil
}

// lacks names the missing privilege and what helps in one step: of a commit that adds data, the privilege to write data
// where it has the missing one, for else the next update would be refused.
func lacks(a Attempt, does string, p models.Privilege) *refusal {
	on := "this table"
	if a.Change.CreatesTable {
		on = "its namespace"
	}
	remedy := fmt.Sprintf("Ask an administrator of the catalog to grant %s to one of your roles.", p)
	if write := models.TableWriteData; p != write && slices.Contains(a.Change.Actions, "add-snapshot") && Implies(write, p) {
		remedy = fmt.Sprintf("Ask an administrator of the catalog to grant %s to one of your roles: it has %s and all else that an append takes.", write, p)
	}
	return &refusal{RulePrivilege, fmt.Sprintf("%s, for which you lack the privilege %s on %s", does, p, on), remedy}
}

// addsOnly tells whether a commit adds a schema and all that it does to columns is additive.
func addsOnly(c Change) bool {
	return slices.Contains(c.Actions, "add-schema") && !c.SchemasRemoved &&
		!slices.ContainsFunc(c.Columns, func(column ColumnChange) bool { return !column.Additive })
}

// reservedProperty keeps what Sluice stamps out of everybody's hands. Case does not count, so that no look-alike is stored.
func reservedProperty(a Attempt) *refusal {
	prefix := strings.ToLower(a.ReservedPrefix)
	if prefix == "" {
		return nil
	}
	for _, key := range slices.Concat(a.Change.PropertiesSet, a.Change.PropertiesGone) {
		if strings.HasPrefix(strings.ToLower(key), prefix) {
			return &refusal{
				RuleReserved, fmt.Sprintf("changes the reserved property %s", key),
				fmt.Sprintf("Properties that start with %s are written by Sluice alone, from the table's governance: change that instead.",
					a.ReservedPrefix),
			}
		}
	}
	return nil
}

// outsideLocation refuses files that do not lie under the table, under every policy; but under open_full an operator
// may allow them, for a catalog whose tables have such files.
func outsideLocation(a Attempt) *refusal {
	if a.AnyLocation && a.Policy == models.OpenFull {
		return nil
	}
	outside := a.Change.Outside()
	if outside == "" {
		return nil
	}
	return &refusal{
		RuleLocation, fmt.Sprintf("refers to a file outside the table's location: %s", outside),
		"No policy allows that: write the file below the table's location and commit again.",
	}
}

// governedColumn protects columns that carry identity or sensitive values or that row filters name, and what contains or is
// contained in them: masks, tags and filters are kept by name and would lose their column.
func governedColumn(a Attempt) *refusal {
	for _, change := range a.Change.Columns {
		if change.Additive || harmless(change.What) {
			continue
		}
		if name, why := a.governedBy(change.Column); name != "" {
			return &refusal{
				RuleSensitiveColumn, fmt.Sprintf("%s column %s, but %s is governed as %s", change.What, change.Column, name, why),
				"No policy allows that to an engine: ask a data steward to make the change, or to take the column out of governance first.",
			}
		}
	}
	return nil
}

func harmless(what string) bool {
	switch what {
	case ColumnAdds, ColumnReorders, ColumnDocuments, ColumnMakesOptional, ColumnMakesRequired:
		return true
	}
	return false
}

// governedBy gives the governed column that a change of this one touches, and what it is governed as.
func (a Attempt) governedBy(column string) (name, why string) {
	for _, identity := range a.IdentityColumns {
		if related(identity, column) {
			return identity, "identity"
		}
	}
	for _, governed := range sortedKeys(a.Columns) {
		if g := a.Columns[governed]; related(governed, column) && sensitive(g) {
			return governed, "sensitive"
		}
	}
	for _, filtered := range a.FilterColumns {
		if related(filtered, column) {
			return filtered, "what a row filter goes by"
		}
	}
	return "", ""
}

func sensitive(g models.ColumnGovernance) bool {
	return g.Sensitivity.Rank() >= models.Confidential.Rank() || g.Tag != "" || g.Mask != ""
}

// related tells whether one dotted name is the other or lies in it.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func sortedKeys(m map[string]models.ColumnGovernance) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// ownedFile keeps what a platform upsert wrote from being rewritten by engines.
func ownedFile(a Attempt) *refusal {
	for _, s := range a.Change.Snapshots {
		if s.OwnershipHurts != "" {
			return &refusal{
				RuleOwnership, fmt.Sprintf("removes rows of a file that belongs to the platform (snapshot %d: %s)", s.ID, s.OwnershipHurts),
				"Keep engines to other keys and partitions.",
			}
		}
	}
	return nil
}

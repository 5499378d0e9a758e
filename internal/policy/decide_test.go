package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// holding makes an Attempt's Has of grants, with what they imply.
func holding(held ...models.Privilege) func(models.Privilege) bool {
	return func(wanted models.Privilege) bool {
		for _, h := range held {
			if policy.Implies(h, wanted) {
				return true
			}
		}
		return false
	}
}

func attempt(p models.WritePolicy, c policy.Change, held ...models.Privilege) policy.Attempt {
	return policy.Attempt{
		Table: "sales.orders", Policy: p, Has: holding(held...), ReservedPrefix: "sluice.", Change: c,
		Columns: map[string]models.ColumnGovernance{
			"email":        {Sensitivity: models.Confidential, Tag: "email"},
			"note":         {Sensitivity: models.Internal},
			"person.phone": {Mask: "partial"},
		},
		IdentityColumns: []string{"customer_id"}, FilterColumns: []string{"region.code"},
	}
}

const (
	yes  = ""
	pol  = policy.RulePolicy
	priv = policy.RulePrivilege
)

// appendOf is a verified append by which main goes forward.
func appendOf(ids ...int64) policy.Change {
	c := policy.Change{Actions: []string{"add-snapshot", "set-snapshot-ref"}}
	for _, id := range ids {
		c.Snapshots = append(c.Snapshots, policy.SnapshotFacts{ID: id, Operation: "append", Append: true})
	}
	c.RefMoves = []policy.RefMove{{Ref: "main", Forward: true}}
	return c
}

func with(c policy.Change, change func(*policy.Change)) policy.Change {
	change(&c)
	return c
}

type cell struct {
	name   string
	change policy.Change
	held   []models.Privilege // TABLE_WRITE_DATA when nil
	// the rule that refuses under governed_only, open_append and open_full; yes for none
	governed, appends, full string
}

func TestWritePolicyTable(t *testing.T) {
	for _, row := range append(snapshotRows(), changeRows()...) {
		held := row.held
		if held == nil {
			held = []models.Privilege{models.TableWriteData}
		}
		for _, c := range []struct {
			policy models.WritePolicy
			rule   string
		}{{models.GovernedOnly, row.governed}, {models.OpenAppend, row.appends}, {models.OpenFull, row.full}} {
			t.Run(row.name+"/"+string(c.policy), func(t *testing.T) {
				a := attempt(c.policy, row.change, held...)
				requireRule(t, policy.Decide(a), c.rule, models.ExternalCommit)
				a.EngineToken, a.Has = true, holding(append(held, models.TableGovern)...)
				requireRule(t, policy.Decide(a), c.rule, models.ExternalCommit)
			})
		}
	}
}

func requireRule(t *testing.T, d policy.Decision, rule string, kind models.CommitKind) {
	t.Helper()
	require.Equal(t, rule, d.Rule, "%v", d.Err)
	require.Equal(t, rule == yes, d.Allowed)
	require.Equal(t, kind, d.Kind)
	if rule == yes {
		require.NoError(t, d.Err)
		return
	}
	require.True(t, fault.Is(d.Err, fault.Forbidden))
}

func snapshotRows() []cell {
	overwrite := func(op string) policy.Change {
		return with(appendOf(), func(c *policy.Change) {
			c.Snapshots = []policy.SnapshotFacts{{ID: 7, Operation: op, NotAppend: "it removes the live file f of its parent"}}
		})
	}
	create := func(facts ...policy.SnapshotFacts) policy.Change {
		return policy.Change{
			Actions:      []string{"assign-uuid", "add-schema", "set-current-schema", "set-location", "add-snapshot", "set-snapshot-ref"},
			CreatesTable: true, Snapshots: facts, RefMoves: []policy.RefMove{{Ref: "main", Forward: true}},
			PropertiesSet: []string{"write.data.path", "format-version"}, SpecChanged: true, LocationChanged: true,
		}
	}
	first := policy.SnapshotFacts{ID: 1, Operation: "overwrite", Append: true, FirstOfCreate: true}
	creator := []models.Privilege{models.TableCreate, models.TableWriteData}
	return []cell{
		{"append", appendOf(1), nil, pol, yes, yes},
		{"append without the privilege", appendOf(1), []models.Privilege{models.TableReadData}, priv, priv, priv},
		{"first snapshot of a create", create(first), creator, pol, yes, yes},
		{"first snapshot of a create without write", create(first), []models.Privilege{models.TableCreate}, priv, priv, priv},
		{"first snapshot of a create without create", create(first), []models.Privilege{models.TableWriteData}, priv, priv, priv},
		{"create without data", with(create(), func(c *policy.Change) { c.RefMoves = nil }),
			[]models.Privilege{models.TableCreate}, yes, yes, yes},
		{"create with an overwrite after the first", create(first, policy.SnapshotFacts{ID: 2, Operation: "overwrite", Append: true}),
			creator, pol, pol, yes},
		{"create with deletes", create(policy.SnapshotFacts{ID: 1, FirstOfCreate: true, NotAppend: "it adds the delete manifest m"}),
			creator, pol, pol, yes},
		{"overwrite", overwrite("overwrite"), nil, pol, pol, yes},
		{"delete", overwrite("delete"), nil, pol, pol, yes},
		{"replace", overwrite("replace"), nil, pol, pol, yes},
		{"claimed append that is none", overwrite("append"), nil, pol, pol, yes},
		{"append that is called an overwrite", with(appendOf(), func(c *policy.Change) {
			c.Snapshots = []policy.SnapshotFacts{{ID: 7, Operation: "overwrite", Append: true}}
		}), nil, pol, pol, yes},
		{"append without an operation, as v1 has", with(appendOf(1), func(c *policy.Change) { c.Snapshots[0].Operation = "" }),
			nil, pol, yes, yes},
		{"first of create claimed by an existing table", with(appendOf(), func(c *policy.Change) {
			c.Snapshots = []policy.SnapshotFacts{first}
		}), nil, pol, pol, yes},
		{"two appends", appendOf(1, 2), nil, pol, yes, yes},
		{"an append and an overwrite behind it", with(appendOf(1), func(c *policy.Change) {
			c.Snapshots = append(c.Snapshots, overwrite("append").Snapshots...)
		}), nil, pol, pol, yes},
		{"an overwrite that no ref names", with(overwrite("overwrite"), func(c *policy.Change) { c.RefMoves = nil }), nil, pol, pol, yes},
		{"a file outside", with(appendOf(1), func(c *policy.Change) { c.Snapshots[0].OutsideFile = "s3://b/x" }), nil,
			policy.RuleLocation, policy.RuleLocation, policy.RuleLocation},
		{"a statistics file outside", policy.Change{Actions: []string{"set-statistics"}, OutsideFile: "s3://b/x"}, nil,
			policy.RuleLocation, policy.RuleLocation, policy.RuleLocation},
		{"a platform-owned file", with(overwrite("overwrite"), func(c *policy.Change) { c.Snapshots[0].OwnershipHurts = "f" }), nil,
			pol, pol, policy.RuleOwnership},
	}
}

func changeRows() []cell {
	ref := func(m policy.RefMove) policy.Change {
		return policy.Change{Actions: []string{"set-snapshot-ref"}, RefMoves: []policy.RefMove{m}}
	}
	schema := func(changes ...policy.ColumnChange) policy.Change {
		return policy.Change{Actions: []string{"add-schema", "set-current-schema"}, Columns: changes}
	}
	added := policy.ColumnChange{Column: "city", Additive: true, What: policy.ColumnAdds}
	does := func(what, column string) policy.Change {
		return schema(policy.ColumnChange{Column: column, What: what})
	}
	evolve := []models.Privilege{models.TableWriteData, models.TableAddSchema}
	manage := []models.Privilege{models.TableWriteData, models.TableManageStructure}
	set := func(keys ...string) policy.Change {
		return policy.Change{Actions: []string{"set-properties"}, PropertiesSet: keys}
	}
	gone := func(keys ...string) policy.Change {
		return policy.Change{Actions: []string{"remove-properties"}, PropertiesGone: keys}
	}
	sensitive := policy.RuleSensitiveColumn
	return []cell{
		{"ref backwards", ref(policy.RefMove{Ref: "main"}), nil, pol, pol, yes},
		{"tag forward", ref(policy.RefMove{Ref: "v1", Forward: true, Tag: true}), nil, pol, pol, yes},
		{"shorter retention", ref(policy.RefMove{Ref: "main", Forward: true, ShortensRetention: true}), nil, pol, pol, yes},
		{"new branch or tag", ref(policy.RefMove{Ref: "audit", Forward: true}), nil, pol, yes, yes},
		{"fast-forward over what was not read", ref(policy.RefMove{Ref: "main", Forward: true, Gains: []int64{9}}), nil, pol, pol, yes},
		{"fast-forward over an append", with(ref(policy.RefMove{Ref: "main", Forward: true, Gains: []int64{9}}), func(c *policy.Change) {
			c.Snapshots = []policy.SnapshotFacts{{ID: 9, Operation: "append", Append: true}}
		}), nil, pol, yes, yes},
		{"fast-forward over an overwrite", with(ref(policy.RefMove{Ref: "main", Forward: true, Gains: []int64{9}}), func(c *policy.Change) {
			c.Snapshots = []policy.SnapshotFacts{{ID: 9, Operation: "overwrite"}}
		}), nil, pol, pol, yes},
		{"remove snapshots", policy.Change{Actions: []string{"remove-snapshots"}, RemovedSnapshots: 2}, nil, pol, pol, yes},
		{"remove a ref", policy.Change{Actions: []string{"remove-snapshot-ref"}, RemovedRefs: []string{"b"}}, nil, pol, pol, yes},
		{"remove and add main", with(appendOf(1), func(c *policy.Change) { c.RemovedRefs = []string{"main"} }), nil, pol, pol, yes},
		{"create or replace", with(appendOf(1), func(c *policy.Change) { c.ReplacesTable = true }), nil, pol, pol, yes},

		{"add a column", schema(added), evolve, pol, yes, yes},
		{"add a column with the umbrella", schema(added), manage, pol, yes, yes},
		{"add a column as a mere writer", schema(added), nil, priv, priv, priv},
		{"make a column required", does(policy.ColumnMakesRequired, "city"), manage, pol, pol, yes},
		{"drop a column", does(policy.ColumnDrops, "city"), manage, pol, pol, yes},
		{"drop a column of a row filter", does(policy.ColumnDrops, "region.code"), manage, sensitive, sensitive, sensitive},
		{"rename what a column of a row filter is in", does(policy.ColumnRenames, "region"), manage, sensitive, sensitive, sensitive},
		{"drop what is beside a column of a row filter", does(policy.ColumnDrops, "region.name"), manage, pol, pol, yes},
		{"drop a column with the right to add", does(policy.ColumnDrops, "city"), evolve, priv, priv, priv},
		{"go back to an older schema", policy.Change{
			Actions: []string{"set-current-schema"},
			Columns: []policy.ColumnChange{{Column: "city", What: policy.ColumnDrops}},
		}, evolve, priv, priv, priv},
		{"rename a column", does(policy.ColumnRenames, "city"), manage, pol, pol, yes},
		{"retype a column", does(policy.ColumnRetypes, "city"), manage, pol, pol, yes},
		{"drop a sensitive column", does(policy.ColumnDrops, "email"), manage, sensitive, sensitive, sensitive},
		{"rename an identity column", does(policy.ColumnRenames, "customer_id"), manage, sensitive, sensitive, sensitive},
		{"retype a masked nested column", does(policy.ColumnRetypes, "person.phone"), manage, sensitive, sensitive, sensitive},
		{"drop what contains a masked column", does(policy.ColumnDrops, "person"), manage, sensitive, sensitive, sensitive},
		{"rename inside a sensitive column", does(policy.ColumnRenames, "email.domain"), manage, sensitive, sensitive, sensitive},
		{"an unknown change of a sensitive column", does("does something to", "email"), manage, sensitive, sensitive, sensitive},
		{"reorder a sensitive column", does(policy.ColumnReorders, "email"), manage, pol, pol, yes},
		{"document a sensitive column", schema(policy.ColumnChange{Column: "email", Additive: true, What: policy.ColumnDocuments}), evolve, pol, yes, yes},
		{"drop a column that is merely internal", does(policy.ColumnDrops, "note"), manage, pol, pol, yes},
		{"drop a look-alike of a sensitive column", does(policy.ColumnDrops, "email2"), manage, pol, pol, yes},

		{"spec", policy.Change{Actions: []string{"add-spec", "set-default-spec"}, SpecChanged: true}, manage, pol, pol, yes},
		{"spec as a mere writer", policy.Change{Actions: []string{"add-spec"}, SpecChanged: true}, nil, priv, priv, priv},
		{"sort order", policy.Change{Actions: []string{"add-sort-order"}, SortOrderChanged: true}, manage, pol, pol, yes},
		{"location", policy.Change{Actions: []string{"set-location"}, LocationChanged: true}, manage, pol, pol, yes},
		{"location as a mere writer", policy.Change{Actions: []string{"set-location"}, LocationChanged: true}, nil, priv, priv, priv},
		{"format version", policy.Change{Actions: []string{"upgrade-format-version"}, FormatUpgraded: true}, manage, pol, pol, yes},
		{"format version by property", set("format-version"), nil, pol, pol, yes},
		{"schemas removed", policy.Change{Actions: []string{"remove-schemas"}, SchemasRemoved: true}, manage, pol, pol, yes},
		{"encryption keys", policy.Change{Actions: []string{"add-encryption-key"}, EncryptionKeys: true}, manage, pol, pol, yes},

		{"ordinary properties", set("owner", "write.parquet.compression-codec"), nil, pol, yes, yes},
		{"ordinary property removed", gone("owner"), nil, pol, yes, yes},
		{"data path", set("write.data.path"), nil, pol, pol, yes},
		{"metadata path removed", gone("write.metadata.path"), nil, pol, pol, yes},
		{"location provider", set("write.location-provider.impl"), nil, pol, pol, yes},
		{"gc", set("gc.enabled"), nil, pol, pol, yes},
		{"history", set("history.expire.max-snapshot-age-ms"), nil, pol, pol, yes},
		{"statistics", policy.Change{Actions: []string{"set-statistics", "remove-partition-statistics"}}, nil, pol, yes, yes},
		{"reserved property", set("sluice.classification"), nil, policy.RuleReserved, policy.RuleReserved, policy.RuleReserved},
		{"reserved property removed", gone("sluice.write-policy"), nil, policy.RuleReserved, policy.RuleReserved, policy.RuleReserved},
		{"reserved look-alike", set("Sluice.Classification"), nil, policy.RuleReserved, policy.RuleReserved, policy.RuleReserved},
		{"unknown update", policy.Change{Actions: []string{"drop-everything"}}, manage, priv, priv, priv},
	}
}

// A steward is outside the policy, not outside what no policy allows.
func TestSteward(t *testing.T) {
	steward := []models.Privilege{models.CatalogManageContent, models.TableGovern}
	for _, row := range append(snapshotRows(), changeRows()...) {
		want := row.full
		switch want {
		case policy.RuleSensitiveColumn, policy.RuleOwnership:
			want = yes
		case priv:
			if row.name != "unknown update" {
				want = yes // the steward of this test holds every privilege
			}
		}
		t.Run(row.name, func(t *testing.T) {
			requireRule(t, policy.Decide(attempt(models.GovernedOnly, row.change, steward...)), want, models.PlatformCommit)
		})
	}
	t.Run("needs the privileges too", func(t *testing.T) {
		d := policy.Decide(attempt(models.OpenFull, appendOf(1), models.TableGovern))
		requireRule(t, d, priv, models.PlatformCommit)
	})
}

func TestRefusalTellsWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name string
		a    policy.Attempt
		says []string
	}{
		{"overwrite", attempt(models.OpenAppend, with(appendOf(), func(c *policy.Change) {
			c.Snapshots = []policy.SnapshotFacts{{ID: 123, Operation: "overwrite", NotAppend: "it removes the live file s3://b/f of its parent"}}
		}), models.TableWriteData), []string{
			"Table sales.orders", "write policy open_append", "overwrites", "snapshot 123", "s3://b/f",
			"data steward", "sluice policy set sales.orders open_full",
		}},
		{"governed", attempt(models.GovernedOnly, appendOf(1), models.TableWriteData), []string{
			"Table sales.orders", "write policy governed_only", "engine", "sluice policy set sales.orders open_append",
		}},
		{"privilege", attempt(models.OpenFull, policy.Change{Actions: []string{"set-location"}}, models.TableWriteData), []string{
			"Table sales.orders", "set-location", "TABLE_SET_LOCATION", "grant",
		}},
		{"append without rights", attempt(models.OpenAppend, appendOf(1)), []string{
			"TABLE_ADD_SNAPSHOT on this table", "to grant TABLE_WRITE_DATA to one of your roles: it has TABLE_ADD_SNAPSHOT and all else",
		}},
		{"append by a narrow role", attempt(models.OpenAppend, appendOf(1), models.TableAddSnapshot), []string{
			"TABLE_SET_SNAPSHOT_REF on this table", "to grant TABLE_WRITE_DATA to one of your roles: it has TABLE_SET_SNAPSHOT_REF and all else",
		}},
		{"properties alone", attempt(models.OpenAppend, policy.Change{Actions: []string{"set-properties"}}), []string{"to grant TABLE_SET_PROPERTIES to one"}},
		{"ctas", attempt(models.GovernedOnly, policy.Change{CreatesTable: true, Snapshots: []policy.SnapshotFacts{{ID: 1, Append: true}}},
			models.CatalogManageContent), []string{"would have write policy governed_only", "default of its namespace", "default write policy"}},
		{"unset policy", attempt("", appendOf(1), models.TableWriteData), []string{"write policy governed_only"}},
		{"column", attempt(models.OpenFull, policy.Change{Columns: []policy.ColumnChange{{Column: "person", What: "drops"}}}), []string{
			"drops column person", "person.phone", "sensitive", "steward",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			message := fault.PublicMessage(policy.Decide(c.a).Err)
			for _, part := range c.says {
				assert.Contains(t, message, part)
			}
		})
	}
}

func TestNobodyWithoutRights(t *testing.T) {
	a := attempt(models.OpenFull, appendOf(1))
	a.Has = nil
	requireRule(t, policy.Decide(a), priv, models.ExternalCommit)
}

// An operator may let files lie anywhere, and then under open_full alone.
func TestAnyLocation(t *testing.T) {
	outside := with(appendOf(1), func(c *policy.Change) { c.Snapshots[0].OutsideFile = "s3://elsewhere/f.parquet" })
	for p, rule := range map[models.WritePolicy]string{
		models.OpenFull: yes, models.OpenAppend: policy.RuleLocation, models.GovernedOnly: policy.RuleLocation,
	} {
		a := attempt(p, outside, models.TableWriteData)
		a.AnyLocation = true
		requireRule(t, policy.Decide(a), rule, models.ExternalCommit)
	}
}

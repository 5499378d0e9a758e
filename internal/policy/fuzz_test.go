package policy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// randomChange makes any combination of facts, sensible or not.
func randomChange(r *rand.Rand) policy.Change {
	coin := func() bool { return r.IntN(3) == 0 }
	some := func(of ...string) []string {
		var out []string
		for _, s := range of {
			if coin() {
				out = append(out, s)
			}
		}
		return out
	}
	c := policy.Change{
		Actions: some("add-snapshot", "set-snapshot-ref", "remove-snapshots", "set-properties", "add-schema",
			"set-current-schema", "set-location", "set-statistics"),
		CreatesTable: coin(), ReplacesTable: coin(), RemovedSnapshots: r.IntN(2), RemovedRefs: some("main", "b"),
		SpecChanged: coin(), SortOrderChanged: coin(), LocationChanged: coin(), FormatUpgraded: coin(), SchemasRemoved: coin(),
		EncryptionKeys: coin(), PropertiesSet: some("a", "sluice.b", "gc.enabled"), PropertiesGone: some("x", "history.y"),
	}
	for id := range int64(r.IntN(3)) {
		operations := []string{"append", "overwrite", "delete", "replace", ""}
		c.Snapshots = append(c.Snapshots, policy.SnapshotFacts{
			ID: id, Operation: operations[r.IntN(len(operations))], Append: !coin(), FirstOfCreate: coin(),
		})
	}
	for range r.IntN(3) {
		c.RefMoves = append(c.RefMoves, policy.RefMove{Ref: "main", Forward: !coin(), Tag: coin(), ShortensRetention: coin()})
	}
	for range r.IntN(3) {
		c.Columns = append(c.Columns, policy.ColumnChange{Column: "c", Additive: coin(), What: "drops"})
	}
	return c
}

// Whatever a commit is made of, these hold: under governed_only nobody but a steward touches an existing table or brings
// data; under open_append nothing but verified appends gets through.
func TestNoCombinationGetsThrough(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	allowed := 0
	for range 200_000 {
		c := randomChange(r)
		d := policy.Decide(attempt(models.GovernedOnly, c, models.CatalogManageContent, models.CatalogManageAccess))
		if d.Allowed {
			require.True(t, c.CreatesTable && len(c.Snapshots) == 0 && len(c.RefMoves) == 0, "%+v", c)
		}
		d = policy.Decide(attempt(models.OpenAppend, c, models.CatalogManageContent))
		if !d.Allowed {
			continue
		}
		allowed++
		require.False(t, c.ReplacesTable, "%+v", c)
		require.Zero(t, c.RemovedSnapshots+len(c.RemovedRefs), "%+v", c)
		for _, s := range c.Snapshots {
			require.True(t, s.Append, "%+v", c)
		}
		for _, m := range c.RefMoves {
			require.True(t, m.Forward && !m.Tag && !m.ShortensRetention, "%+v", c)
		}
	}
	require.Positive(t, allowed, "the generator makes nothing that is allowed")
}

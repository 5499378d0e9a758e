package policy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// What a principal holds counts on the object and everything below it, and nowhere else.
func TestHeldFollowsThePath(t *testing.T) {
	held := policy.NewHeld(nil, []policy.Grant{
		{ObjectID: "ns", Privilege: models.TableWriteData, Within: []string{"c", "outer"}},
		{ObjectID: "t2", Privilege: models.TableGovern, Within: []string{"c", "outer", "ns"}},
	})
	at := func(table string) policy.Path {
		return policy.Path{CatalogID: "c", NamespaceIDs: []string{"outer", "ns"}, TableID: table}
	}
	assert.True(t, held.Has(models.TableAddSnapshot, at("t1")))
	assert.False(t, held.Has(models.TableGovern, at("t1")))
	assert.True(t, held.Has(models.TableGovern, at("t2")))
	assert.False(t, held.Has(models.TableAddSnapshot, policy.Path{CatalogID: "c", NamespaceIDs: []string{"outer"}, TableID: "t3"}))
	assert.False(t, policy.Caller{}.Has(models.TableList, at("t1")), "a caller without grants holds nothing")
}

// Who holds something deep down knows what it lies in, and nothing beside it.
func TestWhoHoldsSomethingSeesTheWayToIt(t *testing.T) {
	job := policy.Caller{Principal: "job", Held: policy.NewHeld(nil, []policy.Grant{
		{ObjectID: "t", Privilege: models.TableWriteData, Within: []string{"c", "outer", "ns"}},
		{ObjectID: "c2", Privilege: models.AuditRead},
	})}
	namespace := func(ids ...string) policy.Path { return policy.Path{CatalogID: "c", NamespaceIDs: ids} }
	assert.True(t, job.SeesCatalog("c"))
	assert.True(t, job.SeesCatalog("c2"))
	assert.False(t, job.SeesCatalog("c3"))
	assert.True(t, job.SeesNamespace(namespace("outer")))
	assert.True(t, job.SeesNamespace(namespace("outer", "ns")))
	assert.False(t, job.SeesNamespace(namespace("outer", "beside")))
	assert.False(t, job.SeesNamespace(policy.Path{CatalogID: "c2", NamespaceIDs: []string{"x"}}), "AUDIT_READ lists nothing")
	assert.True(t, job.HasWithin(models.TableReadProperties, "outer"))
	assert.False(t, job.HasWithin(models.TableDrop, "outer"))
	assert.False(t, job.HasWithin(models.TableWriteData, "t"), "nothing lies in a table")
	assert.False(t, policy.Caller{}.SeesCatalog("c"))

	admin := policy.Caller{Held: policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)}
	assert.True(t, admin.SeesCatalog("c3"))
	assert.False(t, admin.SeesNamespace(namespace("outer")), "who manages access is not let into what it manages")
}

// SERVICE_MANAGE_ACCESS comes from service_admin alone, and what there is not implies nothing.
func TestGrantsThatCountForNothing(t *testing.T) {
	caller := policy.Caller{Held: policy.NewHeld([]models.Privilege{"X"}, []policy.Grant{
		{ObjectID: "c", Privilege: models.ServiceManageAccess}, {ObjectID: "c", Privilege: "TABLE_EVERYTHING"}, {ObjectID: "c"},
	})}
	at := policy.Path{CatalogID: "c", NamespaceIDs: []string{"ns"}, TableID: "t"}
	for _, p := range append(allPrivileges(), "TABLE_EVERYTHING", "X", "") {
		assert.False(t, caller.Has(p, at), p)
		assert.False(t, caller.Has(p, policy.Path{}), p)
	}
	assert.False(t, caller.SeesCatalog("c"))
}

func TestChecksAllocateNothing(t *testing.T) {
	held, paths := thousandPrincipals(100)
	caller := policy.Caller{Held: held[0]}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		caller.Has(models.TableAddSnapshot, paths[0][0])
		caller.HasWithin(models.TableList, paths[0][0].NamespaceIDs[0])
		caller.May(policy.RenameTable, paths[0][0])
		caller.SeesNamespace(paths[0][0])
	}))
}

// thousandPrincipals gives each of 1,000 principals so many grants, each on a table three namespaces deep.
func thousandPrincipals(grantsEach int) ([]*policy.Held, [][]policy.Path) {
	id := func(kind string, n int) string { return fmt.Sprintf("%s-7d9c1e5a-5b0e-4f5d-8a5e-%012d", kind, n) }
	privileges := []models.Privilege{models.TableWriteData, models.TableReadData, models.TableAddSchema, models.TableReadProperties}
	held, paths := make([]*policy.Held, 1000), make([][]policy.Path, 1000)
	for p := range held {
		grants := make([]policy.Grant, grantsEach)
		paths[p] = make([]policy.Path, grantsEach)
		for g := range grants {
			n := p*grantsEach + g
			within := []string{id("c", n/10_000), id("n", n/1000), id("n", 1000+n/100), id("n", 20_000+n/10)}
			grants[g] = policy.Grant{Privilege: privileges[n%len(privileges)], ObjectID: id("t", n), Within: within}
			paths[p][g] = policy.Path{CatalogID: within[0], NamespaceIDs: within[1:], TableID: id("t", n)}
		}
		held[p] = policy.NewHeld(nil, grants)
	}
	return held, paths
}

// BenchmarkHas is the check that every request makes, at 1,000 principals and 100,000 grants, on a table three namespaces
// deep: where the grant is on the table itself, and where there is none and every look-up is made in vain.
func BenchmarkHas(b *testing.B) {
	held, paths := thousandPrincipals(100)
	for name, grant := range map[string]int{"held": 0, "lacking": 1} { // of the grants in turn, that of TABLE_WRITE_DATA, of TABLE_READ_DATA
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := i % 1000
				if held[p].Has(models.TableAddSnapshot, paths[p][i/1000%25*4+grant]) != (grant == 0) {
					b.Fatal("wrong answer")
				}
			}
		})
	}
	b.Run("require", func(b *testing.B) {
		b.ReportAllocs()
		caller := policy.Caller{Held: held[0]}
		for b.Loop() {
			if err := caller.Require(policy.LoadTable, policy.Object, paths[0][0], "table"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNewHeld is what the first request after a change of grants pays, at 100 and at 1,000 grants of its principal.
func BenchmarkNewHeld(b *testing.B) {
	for _, n := range []int{100, 1000} {
		grants := make([]policy.Grant, n)
		for i := range grants {
			grants[i] = policy.Grant{Privilege: models.TableWriteData, ObjectID: fmt.Sprintf("t%036d", i), Within: []string{"c", fmt.Sprintf("n%036d", i/10)}}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy.NewHeld(nil, grants)
			}
		})
	}
}

package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// world is catalogs, namespaces and tables, with principals and the grants of their roles.
type world struct {
	parents    map[string]string // of every object but catalogs, by id
	tables     []string
	namespaces []string
	grants     map[string][]policy.Grant // by role
	principals [][]string                // roles
	service    []models.Privilege
}

func newWorld(r *rand.Rand) *world {
	w := &world{parents: map[string]string{}, grants: map[string][]policy.Grant{}}
	var objects []string
	for c := range 1 + r.IntN(3) {
		cat := fmt.Sprintf("c%d", c)
		inside := []string{cat}
		for n := range r.IntN(6) {
			ns := fmt.Sprintf("%s-n%d", cat, n)
			w.parents[ns] = inside[r.IntN(len(inside))]
			inside = append(inside, ns)
			w.namespaces = append(w.namespaces, ns)
			for t := range r.IntN(3) {
				table := fmt.Sprintf("%s-t%d", ns, t)
				w.parents[table] = ns
				w.tables = append(w.tables, table)
			}
		}
		objects = append(objects, inside...)
	}
	objects = append(objects, w.tables...)
	privileges := append(allPrivileges(), "", "TABLE_EVERYTHING")
	roles := []string{"r0", "r1", "r2", "r3"}
	for _, role := range roles {
		for range r.IntN(6) {
			id := objects[r.IntN(len(objects))]
			within := w.above(id)
			slices.Reverse(within)
			w.grants[role] = append(w.grants[role], policy.Grant{Privilege: privileges[r.IntN(len(privileges))], ObjectID: id, Within: within})
		}
	}
	for range 1 + r.IntN(3) {
		has := slices.DeleteFunc(slices.Clone(roles), func(string) bool { return r.IntN(2) == 0 })
		w.principals = append(w.principals, has)
	}
	if r.IntN(4) == 0 {
		w.service = []models.Privilege{models.ServiceManageAccess}
	}
	return w
}

// above gives what an object lies in, nearest first.
func (w *world) above(id string) []string {
	var ids []string
	for parent, ok := w.parents[id]; ok; parent, ok = w.parents[parent] {
		ids = append(ids, parent)
	}
	return ids
}

func (w *world) path(id string, table bool) policy.Path {
	ids := append([]string{id}, w.above(id)...)
	slices.Reverse(ids)
	path := policy.Path{CatalogID: ids[0]}
	if table {
		path.TableID, ids = id, ids[:len(ids)-1]
	}
	path.NamespaceIDs = ids[1:]
	return path
}

// naive walks a principal's grants one by one.
type naive struct {
	w         *world
	roles     []string
	satisfies map[string]string
}

func (n naive) implies(held, wanted models.Privilege) bool {
	if by, told := n.satisfies[string(wanted)]; told {
		return slices.Contains(strings.Fields(by), string(held))
	}
	return held == wanted && slices.Contains(allPrivileges(), wanted) // implied by nothing but itself
}

func (n naive) any(wanted models.Privilege, counts func(policy.Grant) bool) bool {
	for _, role := range n.roles {
		for _, g := range n.w.grants[role] {
			if counts(g) && g.Privilege != models.ServiceManageAccess && n.implies(g.Privilege, wanted) {
				return true
			}
		}
	}
	return false
}

func (n naive) has(wanted models.Privilege, at policy.Path) bool {
	for _, p := range n.w.service {
		if n.implies(p, wanted) {
			return true
		}
	}
	return n.any(wanted, func(g policy.Grant) bool {
		return g.ObjectID == at.CatalogID || g.ObjectID == at.TableID || slices.Contains(at.NamespaceIDs, g.ObjectID)
	})
}

func (n naive) hasWithin(wanted models.Privilege, id string) bool {
	return n.any(wanted, func(g policy.Grant) bool { return slices.Contains(n.w.above(g.ObjectID), id) })
}

// fullySatisfiedBy is satisfiedBy with the umbrellas that no operation asks for by themselves.
func fullySatisfiedBy() map[string]string {
	all := satisfiedBy()
	for wanted, by := range map[string]string{
		"CATALOG_MANAGE_METADATA": "CATALOG_MANAGE_METADATA CATALOG_MANAGE_CONTENT",
		"NAMESPACE_FULL_METADATA": "NAMESPACE_FULL_METADATA CATALOG_MANAGE_METADATA CATALOG_MANAGE_CONTENT",
		"VIEW_FULL_METADATA":      "VIEW_FULL_METADATA CATALOG_MANAGE_METADATA CATALOG_MANAGE_CONTENT",
	} {
		all[wanted] = by
	}
	return all
}

// FuzzHeld compares the evaluator with one that walks grants one by one by its own table of what implies what.
func FuzzHeld(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, seed*7919)
	}
	satisfies := fullySatisfiedBy()
	wanted := append(allPrivileges(), "", "TABLE_EVERYTHING")
	f.Fuzz(func(t *testing.T, a, b uint64) {
		w := newWorld(rand.New(rand.NewPCG(a, b)))
		for _, roles := range w.principals {
			slow := naive{w, roles, satisfies}
			var grants []policy.Grant
			for _, role := range roles {
				grants = append(grants, w.grants[role]...)
			}
			caller := policy.Caller{Held: policy.NewHeld(w.service, grants)}
			compare := func(id string, at policy.Path) {
				for _, p := range wanted {
					if got, want := caller.Has(p, at), slow.has(p, at); got != want {
						t.Fatalf("%s on %+v: %t, want %t; grants %+v", p, at, got, want, grants)
					}
					if got, want := caller.HasWithin(p, id), slow.hasWithin(p, id); got != want {
						t.Fatalf("%s within %s: %t, want %t; grants %+v", p, id, got, want, grants)
					}
				}
			}
			for _, id := range w.tables {
				compare(id, w.path(id, true))
			}
			for _, id := range w.namespaces {
				compare(id, w.path(id, false))
			}
			for _, id := range []string{"c0", "c1", "elsewhere", ""} {
				compare(id, policy.Path{CatalogID: id})
			}
		}
	})
}

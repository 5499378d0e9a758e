package setup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// catalog compares a catalog itself, without what is in it.
func (d *differ) catalog(name string) {
	want := d.wanted.Catalogs[name]
	have, exists := d.current.Catalogs[name]
	c := Change{Kind: OfCatalog, Catalog: name}
	if !exists {
		c.Action, c.CatalogState = Add, want
		texts := []string{}
		if want.BaseLocation != "" {
			texts = append(texts, want.BaseLocation)
		}
		c.What = phrase("catalog "+name, append(texts, said(want.Properties)...))
		d.add(c)
	} else if to, texts := catalogChange(have, want, d.prune); len(texts) > 0 {
		c.Action, c.CatalogState, c.What = Modify, to, phrase("catalog "+name, texts)
		d.add(c)
	}
}

// inCatalog compares a catalog's default write policy and its namespaces.
func (d *differ) inCatalog(name string) {
	want, have := d.wanted.Catalogs[name], d.now(name)
	if p := want.DefaultWritePolicy; p != "" && p != have.DefaultWritePolicy {
		what := fmt.Sprintf("default write policy of catalog %s: %s → %s", name, have.DefaultWritePolicy, p)
		d.add(Change{Action: Modify, Kind: OfDefaultWritePolicy, Catalog: name, Policy: p, What: what})
	}
	d.namespaces(name, have.Namespaces, want.Namespaces)
}

// newCatalog is how a catalog is when it is made: with a role that holds every right in it, for the administrators.
func newCatalog() Catalog {
	admin := CatalogRole{AssignTo: []string{models.ServiceAdminRole}}
	for _, p := range policy.AdminPrivileges() {
		admin.Grants = append(admin.Grants, Grant{Scope: models.OnCatalog, Privilege: p})
	}
	return Catalog{DefaultWritePolicy: models.GovernedOnly, Roles: map[string]CatalogRole{models.CatalogAdminRole: admin}}
}

func catalogChange(have, want Catalog, prune bool) (Catalog, []string) {
	var texts []string
	to := have
	if want.BaseLocation != "" && !sameLocation(have.BaseLocation, want.BaseLocation) {
		to.BaseLocation = want.BaseLocation
		texts = append(texts, fmt.Sprintf("default_base_location %s → %s", have.BaseLocation, want.BaseLocation))
	}
	if want.AllowedLocations != nil {
		var more []string
		to.AllowedLocations, more = locations(have, want, prune)
		texts = append(texts, more...)
	}
	for _, key := range have.Storage.differences(want.Storage) {
		texts = append(texts, fmt.Sprintf("%s %s", key, storageText(want.Storage, key)))
	}
	to.Storage = have.Storage.with(want.Storage)
	var more []string
	to.Properties, more = properties(have.Properties, want.Properties, prune)
	return to, append(texts, more...)
}

// locations compares where tables may lie beside the base location, which is always among them.
func locations(have, want Catalog, prune bool) (to, texts []string) {
	in := func(list []string, location string) bool {
		return slices.ContainsFunc(list, func(l string) bool { return sameLocation(l, location) })
	}
	base := []string{have.BaseLocation, want.BaseLocation}
	to = slices.Clone(have.AllowedLocations)
	for _, location := range want.AllowedLocations {
		if !in(to, location) && !in(base, location) {
			to = append(to, location)
			texts = append(texts, "allowed location "+location)
		}
	}
	if !prune {
		return to, texts
	}
	return slices.DeleteFunc(to, func(location string) bool {
		goes := !in(want.AllowedLocations, location) && !in(base, location)
		if goes {
			texts = append(texts, "no allowed location "+location)
		}
		return goes
	}), texts
}

func storageText(s Storage, key string) string {
	for _, m := range storageMembers() {
		if m.key != key {
			continue
		}
		if list, ok := s[m.wire].([]string); ok {
			return strings.Join(list, ",")
		}
		return fmt.Sprint(s[m.wire])
	}
	return ""
}

func (d *differ) namespaces(catalog string, have, want []Namespace) {
	known := map[string]Namespace{}
	for _, ns := range have {
		known[namespaceKey(ns.Levels)] = ns
	}
	for _, ns := range want {
		name := "namespace " + strings.Join(append([]string{catalog}, ns.Levels...), ".")
		c := Change{Action: Add, Kind: OfNamespace, Catalog: catalog, Namespace: ns, What: phrase(name, said(ns.Properties))}
		old, exists := known[namespaceKey(ns.Levels)]
		if !exists {
			d.add(c)
			d.namespaceDefault(catalog, old, ns)
			continue
		}
		d.namespaceDefault(catalog, old, ns)
		to, texts := properties(old.Properties, ns.Properties, d.prune)
		if len(texts) == 0 {
			continue
		}
		c.Action, c.Namespace.Properties, c.What = Modify, to, phrase(name, texts)
		c.Removed = missing(slices.Collect(maps.Keys(old.Properties)), slices.Collect(maps.Keys(to)))
		d.add(c)
	}
}

// namespaceDefault never takes a default away: what a file does not say stays.
func (d *differ) namespaceDefault(catalog string, have, want Namespace) {
	p := want.DefaultWritePolicy
	if p == "" || p == have.DefaultWritePolicy {
		return
	}
	name := strings.Join(append([]string{catalog}, want.Levels...), ".")
	what := fmt.Sprintf("default write policy of namespace %s: %s → %s", name, cmp.Or(have.DefaultWritePolicy, "inherited"), p)
	d.add(Change{Action: Modify, Kind: OfDefaultWritePolicy, Catalog: catalog, Namespace: want, Policy: p, What: what})
}

// now gives the catalog as it is, or as it will be when it is made.
func (d *differ) now(catalog string) Catalog {
	if have, exists := d.current.Catalogs[catalog]; exists {
		return have
	}
	return newCatalog()
}

func (d *differ) catalogRoles(catalog string) {
	have, want := d.now(catalog).Roles, d.wanted.Catalogs[catalog].Roles
	for _, name := range slices.Sorted(maps.Keys(want)) {
		object := "catalog role " + catalog + "." + name
		c := Change{Action: Add, Kind: OfCatalogRole, Catalog: catalog, CatalogRole: name, What: phrase(object, said(want[name].Properties))}
		old, exists := have[name]
		if !exists {
			c.RoleState.Properties = want[name].Properties
			d.add(c)
			continue
		}
		to, texts := properties(old.Properties, want[name].Properties, d.prune)
		if len(texts) > 0 {
			c.Action, c.RoleState, c.What = Modify, PrincipalRole{Version: old.Version, Properties: to}, phrase(object, texts)
			d.add(c)
		}
	}
	if !d.prune || want == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, kept := want[name]; !kept && name != models.CatalogAdminRole {
			d.deleted = append(d.deleted, Change{
				Action: Remove, Kind: OfCatalogRole, Catalog: catalog, CatalogRole: name, What: "catalog role " + catalog + "." + name + " with its grants",
			})
		}
	}
}

func (d *differ) grants(catalog string) {
	have, want := d.now(catalog).Roles, d.wanted.Catalogs[catalog].Roles
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c := Change{Kind: OfGrant, Catalog: catalog, CatalogRole: name}
		for _, g := range without(want[name].Grants, have[name].Grants) {
			c.Action, c.Grant, c.What = Add, g, grantText(g, catalog, name)
			d.add(c)
		}
		if !d.prune || want[name].Grants == nil || name == models.CatalogAdminRole {
			continue
		}
		for _, g := range without(have[name].Grants, want[name].Grants) {
			c.Action, c.Grant, c.What = Remove, g, grantText(g, catalog, name)
			d.revoked = append(d.revoked, c)
		}
	}
}

func grantText(g Grant, catalog, role string) string {
	return fmt.Sprintf("%s on %s for catalog role %s", g.Privilege, g.Object(catalog), role)
}

// without gives the grants that are not among others, in order of objects and privileges.
func without(grants, others []Grant) []Grant {
	seen := map[string]bool{}
	for _, g := range others {
		seen[g.key()] = true
	}
	var rest []Grant
	for _, g := range sortedGrants(grants) {
		if key := g.key(); !seen[key] {
			seen[key] = true
			rest = append(rest, g)
		}
	}
	return rest
}

func sortedGrants(grants []Grant) []Grant {
	return slices.SortedFunc(slices.Values(grants), func(a, b Grant) int {
		if a.Scope != b.Scope {
			return scopeRank(a.Scope) - scopeRank(b.Scope)
		}
		return strings.Compare(a.key(), b.key())
	})
}

func scopeRank(s models.GrantScope) int {
	return slices.Index([]models.GrantScope{models.OnCatalog, models.OnNamespace, models.OnTable, models.OnView}, s)
}

// catalogAssignments are of catalog roles to principal roles.
func (d *differ) catalogAssignments(catalog string) {
	have, want := d.now(catalog).Roles, d.wanted.Catalogs[catalog].Roles
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c := Change{Kind: OfCatalogAssignment, Catalog: catalog, CatalogRole: name}
		for _, role := range missing(want[name].AssignTo, have[name].AssignTo) {
			c.Action, c.PrincipalRole, c.What = Add, role, "catalog role "+catalog+"."+name+" for principal role "+role
			d.add(c)
		}
		if !d.prune || want[name].AssignTo == nil {
			continue
		}
		for _, role := range missing(have[name].AssignTo, want[name].AssignTo) {
			if name == models.CatalogAdminRole && role == models.ServiceAdminRole {
				continue
			}
			c.Action, c.PrincipalRole, c.What = Remove, role, "catalog role "+catalog+"."+name+" for principal role "+role
			d.unassigned = append(d.unassigned, c)
		}
	}
}

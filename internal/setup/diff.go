package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

// Diff gives what is to be done so that an installation that is as current becomes as wanted, in an order in which every
// step is possible: what others refer to first, a role's grants before anybody has the role, and what is taken away
// after what is added, so that nobody is without a right that stays. Applied, it leaves nothing to do.
//
// Nothing is taken away without prune. With it, of the objects that the file names, roles, assignments, grants and
// properties go that it does not list, where it lists any or an empty list; root's roles, catalog_admin and its grants,
// and service_admin's catalog_admin stay whatever it says.
func Diff(current, wanted State, prune bool) []Change {
	d := differ{current: current, wanted: wanted, prune: prune}
	names := slices.Sorted(maps.Keys(wanted.Catalogs))
	for _, name := range names {
		d.catalog(name) // first: where a server refuses a location, nothing has been made
	}
	d.principalRoles()
	d.principals()
	for _, name := range names {
		d.inCatalog(name)
	}
	for _, name := range names {
		d.catalogRoles(name)
	}
	for _, name := range names {
		d.grants(name)
	}
	for _, name := range names {
		d.catalogAssignments(name)
	}
	d.assignments()
	return slices.Concat(d.made, d.unassigned, d.revoked, d.deleted)
}

// differ collects changes. What is taken away is kept apart: of the three kinds, each goes before the next.
type differ struct {
	current, wanted State
	prune           bool

	made       []Change
	unassigned []Change
	revoked    []Change
	deleted    []Change
}

func (d *differ) add(c Change) { d.made = append(d.made, c) }

func (d *differ) principalRoles() {
	for _, name := range slices.Sorted(maps.Keys(d.wanted.PrincipalRoles)) {
		want := d.wanted.PrincipalRoles[name]
		have, exists := d.current.PrincipalRoles[name]
		c := Change{Action: Add, Kind: OfPrincipalRole, PrincipalRole: name, RoleState: want}
		if !exists {
			texts := said(want.Properties)
			if federated(want) {
				texts = append([]string{federatedText(true)}, texts...)
			}
			c.What = phrase("principal role "+name, texts)
			d.add(c)
			continue
		}
		var texts []string
		c.Action = Modify
		if c.RoleState, texts = roleChange(have, want, d.prune); len(texts) > 0 {
			c.What = phrase("principal role "+name, texts)
			d.add(c)
		}
	}
}

func roleChange(have, want PrincipalRole, prune bool) (PrincipalRole, []string) {
	to := have
	var texts, more []string
	if want.Federated != nil && federated(want) != federated(have) {
		to.Federated = want.Federated
		texts = append(texts, federatedText(*want.Federated))
	}
	to.Properties, more = properties(have.Properties, want.Properties, prune)
	return to, append(texts, more...)
}

func federated(r PrincipalRole) bool { return r.Federated != nil && *r.Federated }

func federatedText(is bool) string {
	return map[bool]string{true: "federated", false: "not federated"}[is]
}

func (d *differ) principals() {
	for _, name := range slices.Sorted(maps.Keys(d.wanted.Principals)) {
		want := d.wanted.Principals[name]
		have, exists := d.current.Principals[name]
		c := Change{Action: Modify, Kind: OfPrincipal, Principal: name}
		if !exists {
			c.Action, c.PrincipalState = Add, want
			texts := said(want.Properties)
			if want.Clearance != "" {
				texts = append([]string{"clearance " + string(want.Clearance)}, texts...)
			}
			if disabled(want) {
				texts = append([]string{"disabled"}, texts...)
			}
			c.What = phrase("principal "+name, texts)
			d.add(c)
			continue
		}
		var texts []string
		if c.PrincipalState, texts = principalChange(have, want, d.prune); len(texts) > 0 {
			c.What = phrase("principal "+name, texts)
			d.add(c)
		}
	}
}

func principalChange(have, want Principal, prune bool) (Principal, []string) {
	var texts []string
	to := have
	if want.Disabled != nil && disabled(want) != disabled(have) {
		to.Disabled = want.Disabled
		texts = append(texts, map[bool]string{true: "disabled", false: "enabled"}[*want.Disabled])
	}
	if want.Clearance != "" && want.Clearance != have.Clearance {
		to.Clearance = want.Clearance
		texts = append(texts, fmt.Sprintf("clearance %s → %s", have.Clearance, want.Clearance))
	}
	var more []string
	to.Properties, more = properties(have.Properties, want.Properties, prune)
	return to, append(texts, more...)
}

func disabled(p Principal) bool { return p.Disabled != nil && *p.Disabled }

// assignments are of principal roles to principals.
func (d *differ) assignments() {
	for _, name := range slices.Sorted(maps.Keys(d.wanted.Principals)) {
		want, have := d.wanted.Principals[name].Roles, d.current.Principals[name].Roles
		c := Change{Kind: OfAssignment, Principal: name}
		for _, role := range missing(want, have) {
			c.Action, c.PrincipalRole, c.What = Add, role, "principal role "+role+" for principal "+name
			d.add(c)
		}
		if !d.prune || want == nil || name == models.RootPrincipal {
			continue
		}
		for _, role := range missing(have, want) {
			c.Action, c.PrincipalRole, c.What = Remove, role, "principal role "+role+" for principal "+name
			d.unassigned = append(d.unassigned, c)
		}
	}
}

// properties gives what have becomes and what that changes. Without prune, what want does not name stays.
func properties(have, want map[string]string, prune bool) (map[string]string, []string) {
	if want == nil {
		return have, nil
	}
	var texts []string
	to := map[string]string{}
	maps.Copy(to, have)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if old, ok := have[key]; !ok || old != want[key] {
			texts = append(texts, fmt.Sprintf("property %s=%s", key, want[key]))
		}
		to[key] = want[key]
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if _, kept := want[key]; prune && !kept {
			delete(to, key)
			texts = append(texts, "no property "+key)
		}
	}
	return to, texts
}

func said(props map[string]string) []string {
	_, texts := properties(nil, props, false)
	return texts
}

// phrase names an object with what is said of it.
func phrase(object string, texts []string) string {
	if len(texts) == 0 {
		return object
	}
	return object + ": " + strings.Join(texts, ", ")
}

// missing gives what of is in one list and not in the other, in order.
func missing(of, in []string) []string {
	var names []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(of))) {
		if !slices.Contains(in, name) {
			names = append(names, name)
		}
	}
	return names
}

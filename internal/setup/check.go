package setup

import (
	"fmt"
	"maps"
	"slices"
)

// Check says why wanted cannot be reached from current whatever is done: a sentence for each reason.
func Check(current, wanted State) []string {
	c := checker{current: current, wanted: wanted}
	for _, name := range slices.Sorted(maps.Keys(wanted.PrincipalRoles)) {
		if have, there := current.PrincipalRoles[name]; there && wanted.PrincipalRoles[name].Federated && !have.Federated {
			c.fail("principal role %s is not federated, and cannot become so: delete it first", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted.Principals)) {
		c.roles(wanted.Principals[name].Roles, "principal "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted.Catalogs)) {
		c.catalog(name)
	}
	return c.reasons
}

type checker struct {
	current, wanted State
	reasons         []string
}

func (c *checker) fail(format string, args ...any) {
	c.reasons = append(c.reasons, fmt.Sprintf(format, args...))
}

// roles checks that the principal roles that something refers to are there, or are to be.
func (c *checker) roles(names []string, whose string) {
	for _, name := range names {
		_, made := c.wanted.PrincipalRoles[name]
		_, there := c.current.PrincipalRoles[name]
		if !made && !there {
			c.fail("principal role %s of %s is not there: add it to principal_roles", name, whose)
		}
	}
}

func (c *checker) catalog(name string) {
	want := c.wanted.Catalogs[name]
	have, there := c.current.Catalogs[name]
	kind, said := want.Storage[storageTypeMember]
	switch {
	case !there && (!said || want.BaseLocation == ""):
		c.fail("catalog %s is to be made: say its storage_type and default_base_location", name)
	case there && said && kind != have.Storage[storageTypeMember]:
		c.fail("catalog %s has storage_type %v, and cannot change to %v", name, have.Storage[storageTypeMember], kind)
	}
	for _, role := range slices.Sorted(maps.Keys(want.Roles)) {
		c.roles(want.Roles[role].AssignTo, "catalog role "+name+"."+role)
	}
}

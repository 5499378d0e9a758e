package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-data/sluice/models"
)

// Check says why wanted cannot be reached from current whatever is done: a sentence for each reason.
func Check(current, wanted State) []string {
	c := checker{current: current, wanted: wanted}
	if federated(wanted.PrincipalRoles[models.ServiceAdminRole]) {
		c.fail("principal role %s cannot be federated", models.ServiceAdminRole)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted.Principals)) {
		c.principal(name)
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

func (c *checker) principal(name string) {
	want := c.wanted.Principals[name]
	_, there := c.current.Principals[name]
	switch {
	case !there && name == platformName:
		c.fail("principal %s cannot be made: the audit names so what the server does by itself", name)
	case name == models.RootPrincipal && disabled(want):
		c.fail("principal %s cannot be disabled", name)
	}
	c.roles(want.Roles, "principal "+name)
	for _, role := range want.Roles {
		assigned := slices.Contains(c.current.Principals[name].Roles, role)
		if c.federated(role) && !assigned {
			c.fail("principal role %s of principal %s is federated: its identity provider says who has it", role, name)
		}
	}
}

// federated tells whether a principal role is to be, or is and the file does not say.
func (c *checker) federated(role string) bool {
	if want := c.wanted.PrincipalRoles[role]; want.Federated != nil {
		return *want.Federated
	}
	return federated(c.current.PrincipalRoles[role])
}

// platformName is whom the audit names for what Sluice does by itself.
const platformName = "sluice"

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
	case !there && !addressable(name):
		c.fail("catalog %s cannot be made: its name must have no dot, slash or space, and not be v1 or namespaces", name)
	case !there && (!said || want.BaseLocation == ""):
		c.fail("catalog %s is to be made: say its storage_type and default_base_location", name)
	case there && said && kind != have.Storage[storageTypeMember]:
		c.fail("catalog %s has storage_type %v, and cannot change to %v", name, have.Storage[storageTypeMember], kind)
	}
	for _, role := range slices.Sorted(maps.Keys(want.Roles)) {
		c.roles(want.Roles[role].AssignTo, "catalog role "+name+"."+role)
	}
}

// addressable tells whether a catalog can be called so: refs and routes take other names for something else.
func addressable(name string) bool {
	return !strings.ContainsAny(name, "./") && !strings.ContainsFunc(name, unicode.IsSpace) && name != "v1" && name != "namespaces"
}

package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// world is an installation in memory. It refuses what a server would.
type world struct {
	State
	failOn string // the change at which it breaks
	made   []string
}

func newWorld() *world {
	return &world{State: State{
		PrincipalRoles: map[string]PrincipalRole{models.ServiceAdminRole: {}},
		Principals: map[string]Principal{
			models.RootPrincipal: {Clearance: models.Restricted, Roles: []string{models.ServiceAdminRole}},
		},
		Catalogs: map[string]Catalog{},
	}}
}

// Do implements Target.
func (w *world) Do(_ context.Context, c Change) (*Credentials, error) {
	if c.String() == w.failOn {
		return nil, errors.New("the server broke")
	}
	w.made = append(w.made, c.String())
	switch c.Kind {
	case OfPrincipalRole:
		return nil, put(w.PrincipalRoles, c.PrincipalRole, c.RoleState, c.Action)
	case OfPrincipal:
		return w.principal(c)
	case OfAssignment:
		p, there := w.Principals[c.Principal]
		_, known := w.PrincipalRoles[c.PrincipalRole]
		if !there || !known {
			return nil, fault.New(fault.NotFound, "no principal or no role: %s", c)
		}
		if c.Principal == models.RootPrincipal && c.Action == Remove {
			return nil, errors.New("root keeps its roles")
		}
		p.Roles = toggle(p.Roles, c.PrincipalRole, c.Action)
		w.Principals[c.Principal] = p
		return nil, nil
	case OfCatalog:
		if c.Action == Add {
			cat := newCatalog()
			cat.BaseLocation, cat.AllowedLocations, cat.Storage, cat.Properties = c.CatalogState.BaseLocation, c.CatalogState.AllowedLocations, c.CatalogState.Storage, c.CatalogState.Properties
			return nil, put(w.Catalogs, c.Catalog, cat, Add)
		}
		return nil, put(w.Catalogs, c.Catalog, c.CatalogState, Modify)
	}
	cat, there := w.Catalogs[c.Catalog]
	if !there {
		return nil, fault.New(fault.NotFound, "no catalog: %s", c)
	}
	cat.Roles = maps.Clone(cat.Roles)
	err := w.inCatalog(&cat, c)
	w.Catalogs[c.Catalog] = cat
	return nil, err
}

func (w *world) principal(c Change) (*Credentials, error) {
	p := c.PrincipalState
	if p.Clearance == "" {
		p.Clearance = models.Internal
	}
	if c.Action == Add {
		p.Roles = nil
		return &Credentials{ClientID: "id-" + c.Principal, ClientSecret: "secret-" + c.Principal}, put(w.Principals, c.Principal, p, Add)
	}
	return nil, put(w.Principals, c.Principal, p, c.Action)
}

func (w *world) inCatalog(cat *Catalog, c Change) error {
	role, known := cat.Roles[c.CatalogRole]
	if c.CatalogRole != "" && !known && c.Kind != OfCatalogRole {
		return fault.New(fault.NotFound, "no catalog role: %s", c)
	}
	switch c.Kind {
	case OfDefaultWritePolicy:
		if len(c.Namespace.Levels) > 0 {
			return w.namespace(cat, c)
		}
		cat.DefaultWritePolicy = c.Policy
	case OfNamespace:
		return w.namespace(cat, c)
	case OfCatalogRole:
		role.Properties = c.RoleState.Properties
		if c.Action == Remove && c.CatalogRole == models.CatalogAdminRole {
			return errors.New("catalog_admin stays")
		}
		return put(cat.Roles, c.CatalogRole, role, c.Action)
	case OfGrant:
		i := slices.IndexFunc(role.Grants, func(g Grant) bool { return g.key() == c.Grant.key() })
		switch {
		case c.Action == Remove && i < 0:
			return fmt.Errorf("no such grant: %s", c)
		case c.Action == Remove:
			role.Grants = slices.Delete(slices.Clone(role.Grants), i, i+1)
		case i < 0:
			role.Grants = append(slices.Clone(role.Grants), c.Grant)
		}
		cat.Roles[c.CatalogRole] = role
	case OfCatalogAssignment:
		if _, there := w.PrincipalRoles[c.PrincipalRole]; !there {
			return fault.New(fault.NotFound, "no principal role: %s", c)
		}
		role.AssignTo = toggle(role.AssignTo, c.PrincipalRole, c.Action)
		cat.Roles[c.CatalogRole] = role
	default:
		return fmt.Errorf("what is %q?", c.Kind)
	}
	return nil
}

func (w *world) namespace(cat *Catalog, c Change) error {
	find := func(levels []string) int {
		return slices.IndexFunc(cat.Namespaces, func(ns Namespace) bool { return slices.Equal(ns.Levels, levels) })
	}
	i, levels := find(c.Namespace.Levels), c.Namespace.Levels
	switch {
	case c.Action == Add && (i >= 0 || len(levels) > 1 && find(levels[:len(levels)-1]) < 0):
		return fmt.Errorf("there already, or without what it lies in: %s", c)
	case c.Action == Add:
		made := c.Namespace
		made.DefaultWritePolicy = ""
		cat.Namespaces = append(slices.Clone(cat.Namespaces), made)
	case i < 0:
		return fault.New(fault.NotFound, "no namespace: %s", c)
	default:
		cat.Namespaces = slices.Clone(cat.Namespaces)
		if c.Kind == OfDefaultWritePolicy {
			cat.Namespaces[i].DefaultWritePolicy = c.Policy
			break
		}
		cat.Namespaces[i].Properties = c.Namespace.Properties
	}
	return nil
}

func put[T any](in map[string]T, name string, v T, a Action) error {
	_, there := in[name]
	if there == (a == Add) {
		return fmt.Errorf("%s %s: there is %v", a, name, there)
	}
	if in[name] = v; a == Remove {
		delete(in, name)
	}
	return nil
}

func toggle(names []string, name string, a Action) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	if a == Add {
		names = append(names, name)
	}
	return names
}

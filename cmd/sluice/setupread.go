package main

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/setup"
	"github.com/sluice-data/sluice/models"
)

// catalogState is a catalog as the management API has it.
type catalogState struct {
	Name               string            `json:"name"`
	Properties         map[string]string `json:"properties"`
	DefaultWritePolicy string            `json:"defaultWritePolicy"`
	Storage            map[string]any    `json:"storageConfigInfo"`
	Version            int64             `json:"entityVersion"`
}

// installation reads and changes a running Sluice, for setup.
type installation struct{ api, facade, governance *apiClient }

func (c *cli) installation() (*installation, error) {
	api, err := c.client()
	if err != nil {
		return nil, err
	}
	return &installation{api: api.on(managementPath), facade: api.on(facadePath), governance: api}, nil
}

// read gives the state of what only names, in full where only is nil. Principal roles are all there: files refer to them.
func (i *installation) read(ctx context.Context, only *setup.State) (setup.State, error) {
	s := setup.State{
		PrincipalRoles: map[string]setup.PrincipalRole{}, Principals: map[string]setup.Principal{}, Catalogs: map[string]setup.Catalog{},
	}
	var roles rolesList
	if err := i.list(ctx, &roles, "principal-roles"); err != nil {
		return s, err
	}
	for _, r := range roles.Roles {
		s.PrincipalRoles[r.Name] = setup.PrincipalRole{Version: r.Version, Federated: &r.Federated, Properties: r.Properties}
	}
	if only == nil || len(only.Principals) > 0 {
		if err := i.readPrincipals(ctx, s, only); err != nil {
			return s, err
		}
	}
	if only != nil && len(only.Catalogs) == 0 {
		return s, nil
	}
	var catalogs struct {
		Catalogs []catalogState `json:"catalogs"`
	}
	if err := i.list(ctx, &catalogs, "catalogs"); err != nil {
		return s, err
	}
	for _, c := range catalogs.Catalogs {
		if only != nil {
			if _, named := only.Catalogs[c.Name]; !named {
				continue
			}
		}
		read, err := i.readCatalog(ctx, c)
		if err != nil {
			return s, err
		}
		s.Catalogs[c.Name] = read
	}
	return s, nil
}

func (i *installation) list(ctx context.Context, answer any, path ...string) error {
	return i.api.call(ctx, http.MethodGet, path, nil, nil, answer)
}

func (i *installation) readPrincipals(ctx context.Context, s setup.State, only *setup.State) error {
	var all struct {
		Principals []principalAnswer `json:"principals"`
	}
	if err := i.list(ctx, &all, "principals"); err != nil {
		return err
	}
	for _, p := range all.Principals {
		if only != nil {
			if _, named := only.Principals[p.Name]; !named {
				continue
			}
		}
		var roles rolesList
		if err := i.list(ctx, &roles, "principals", p.Name, "principal-roles"); err != nil {
			return err
		}
		s.Principals[p.Name] = setup.Principal{
			Version: p.Version, Clearance: p.Clearance, Disabled: &p.Disabled, Properties: p.Properties, Roles: roles.names(),
		}
	}
	return nil
}

func (i *installation) readCatalog(ctx context.Context, c catalogState) (setup.Catalog, error) {
	out := setup.Catalog{
		Version: c.Version, BaseLocation: c.Properties[baseLocationProperty], Storage: setup.ReadStorage(c.Storage),
		AllowedLocations: []string{}, Properties: c.Properties, DefaultWritePolicy: models.WritePolicy(c.DefaultWritePolicy),
		Roles: map[string]setup.CatalogRole{},
	}
	delete(out.Properties, baseLocationProperty)
	allowed, _ := c.Storage["allowedLocations"].([]any)
	for _, v := range allowed {
		// The base location is always among them.
		if location, _ := v.(string); location != "" && location != out.BaseLocation {
			out.AllowedLocations = append(out.AllowedLocations, location)
		}
	}
	var roles rolesList
	if err := i.list(ctx, &roles, "catalogs", c.Name, "catalog-roles"); err != nil {
		return out, err
	}
	for _, r := range roles.Roles {
		role := setup.CatalogRole{Version: r.Version, Properties: r.Properties}
		if err := i.readRole(ctx, c.Name, r.Name, &role); err != nil {
			return out, err
		}
		out.Roles[r.Name] = role
	}
	namespaces, err := i.facade.namespacesBelow(ctx, c.Name, nil)
	if err != nil {
		return out, err
	}
	for _, levels := range namespaces {
		ns, err := i.readNamespace(ctx, c.Name, out.BaseLocation, levels)
		if err != nil {
			return out, err
		}
		out.Namespaces = append(out.Namespaces, ns)
	}
	return out, nil
}

func (i *installation) readRole(ctx context.Context, catalog, name string, role *setup.CatalogRole) error {
	path := []string{"catalogs", catalog, "catalog-roles", name}
	var assigned rolesList
	if err := i.list(ctx, &assigned, append(slices.Clone(path), "principal-roles")...); err != nil {
		return err
	}
	role.AssignTo = assigned.names()
	var held grantsList
	if err := i.list(ctx, &held, append(path, "grants")...); err != nil {
		return err
	}
	for _, g := range held.Grants {
		role.Grants = append(role.Grants, setup.Grant{
			Scope: models.GrantScope(g.Type), Namespace: g.Namespace, Name: g.TableName + g.ViewName, Privilege: models.Privilege(g.Privilege),
		})
	}
	return nil
}

func (i *installation) readNamespace(ctx context.Context, catalog, base string, levels []string) (setup.Namespace, error) {
	var answer struct {
		Properties map[string]string `json:"properties"`
	}
	path := []string{catalog, "namespaces", strings.Join(levels, levelSeparator)}
	if err := i.facade.call(ctx, http.MethodGet, path, nil, nil, &answer); err != nil {
		return setup.Namespace{}, err
	}
	var policy defaultPolicyAnswer
	if err := i.governance.call(ctx, http.MethodGet, defaultPolicyPath(catalog, levels), nil, nil, &policy); err != nil {
		return setup.Namespace{}, err
	}
	ns := setup.Namespace{Levels: levels, Properties: answer.Properties}
	if !policy.Inherited {
		ns.DefaultWritePolicy = policy.Policy
	}
	// A place that the catalog itself would choose is none that was chosen.
	if at := answer.Properties["location"]; at != strings.TrimRight(base, "/")+"/"+strings.Join(levels, "/") {
		ns.Location = at
	}
	delete(ns.Properties, "location")
	return ns, nil
}

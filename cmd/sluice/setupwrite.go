package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/setup"
	"github.com/sluice-data/sluice/models"
)

// Do makes one change of a set-up. It implements setup.Target.
func (i *installation) Do(ctx context.Context, c setup.Change) (*setup.Credentials, error) {
	var creds *setup.Credentials
	var err error
	switch c.Kind {
	case setup.OfPrincipalRole:
		err = i.putRole(ctx, c, []string{"principal-roles"}, c.PrincipalRole, "principalRole")
	case setup.OfPrincipal:
		creds, err = i.putPrincipal(ctx, c)
	case setup.OfCatalog:
		err = i.putCatalog(ctx, c)
	case setup.OfDefaultWritePolicy:
		err = i.governance.call(ctx, http.MethodPut, defaultPolicyPath(c.Catalog, c.Namespace.Levels), nil, entity{"policy": c.Policy}, nil)
	case setup.OfNamespace:
		err = i.putNamespace(ctx, c)
	case setup.OfCatalogRole:
		err = i.putRole(ctx, c, []string{"catalogs", c.Catalog, "catalog-roles"}, c.CatalogRole, "catalogRole")
	case setup.OfGrant:
		err = i.putGrant(ctx, c)
	case setup.OfCatalogAssignment:
		err = i.assign(ctx, c, []string{"principal-roles", c.PrincipalRole, "catalog-roles", c.Catalog}, c.CatalogRole, "catalogRole")
	case setup.OfAssignment:
		err = i.assign(ctx, c, []string{"principals", c.Principal, "principal-roles"}, c.PrincipalRole, "principalRole")
	default:
		err = fmt.Errorf("a set-up has no change of a %s", c.Kind)
	}
	return creds, refusedChange(c, err)
}

// refusedChange makes of a server's refusal what Apply knows, and adds what helps.
func refusedChange(c setup.Change, err error) error {
	no, isRefused := errors.AsType[*refused](err)
	switch {
	case isRefused && no.status == http.StatusNotFound && c.Kind == setup.OfGrant:
		return fault.Wrap(err, fault.NotFound, "%s", no.message)
	case isRefused && no.status == http.StatusBadRequest && c.SaysLocation():
		return fmt.Errorf("%w: if catalogs lie elsewhere here than the file says, write it by `sluice setup export --without-locations`", err)
	}
	return err
}

// put makes, changes or removes the entity name at path.
func (i *installation) put(ctx context.Context, a setup.Action, path []string, name string, make, change entity, answer any) error {
	switch a {
	case setup.Add:
		return i.api.call(ctx, http.MethodPost, path, nil, make, answer)
	case setup.Modify:
		return i.api.call(ctx, http.MethodPut, append(path, name), nil, change, answer)
	}
	return i.api.call(ctx, http.MethodDelete, append(path, name), nil, nil, nil)
}

// putRole is for both kinds of roles; member is what a request to make one calls it.
func (i *installation) putRole(ctx context.Context, c setup.Change, path []string, name, member string) error {
	props := filledProperties(c.RoleState.Properties)
	role := entity{"name": name, "properties": props}
	update := entity{"currentEntityVersion": c.RoleState.Version, "properties": props}
	if is := c.RoleState.Federated; is != nil {
		role["federated"], update["federated"] = *is, *is
	}
	return i.put(ctx, c.Action, path, name, entity{member: role}, update, nil)
}

func (i *installation) putPrincipal(ctx context.Context, c setup.Change) (*setup.Credentials, error) {
	p := c.PrincipalState
	props := filledProperties(p.Properties)
	update := entity{"currentEntityVersion": p.Version, "properties": props}
	principal := entity{"name": c.Principal, "properties": props}
	if p.Clearance != "" {
		update["clearance"], principal["clearance"] = p.Clearance, p.Clearance
	}
	if p.Disabled != nil {
		update["disabled"] = *p.Disabled
	}
	var answer credentialsAnswer
	if c.Action == setup.Modify {
		return nil, i.put(ctx, c.Action, []string{"principals"}, c.Principal, nil, update, nil)
	}
	if err := i.put(ctx, setup.Add, []string{"principals"}, c.Principal, entity{"principal": principal}, nil, &answer); err != nil {
		return nil, err
	}
	creds := &setup.Credentials{ClientID: answer.Credentials.ClientID, ClientSecret: answer.Credentials.ClientSecret}
	if p.Disabled == nil || !*p.Disabled {
		return creds, nil
	}
	// A principal is never made disabled.
	update["currentEntityVersion"] = answer.Principal.Version
	return creds, i.put(ctx, setup.Modify, []string{"principals"}, c.Principal, nil, update, nil)
}

func (i *installation) putCatalog(ctx context.Context, c setup.Change) error {
	state := c.CatalogState
	props := filledProperties(state.Properties)
	props[baseLocationProperty] = state.BaseLocation
	storage := entity{"allowedLocations": append([]string{}, state.AllowedLocations...)}
	maps.Copy(storage, entity(state.Storage))
	catalog := entity{"type": "INTERNAL", "name": c.Catalog, "properties": props, "storageConfigInfo": storage}
	update := entity{"currentEntityVersion": state.Version, "properties": props, "storageConfigInfo": storage}
	return i.put(ctx, c.Action, []string{"catalogs"}, c.Catalog, entity{"catalog": catalog}, update, nil)
}

func (i *installation) putNamespace(ctx context.Context, c setup.Change) error {
	props := filledProperties(c.Namespace.Properties)
	if c.Action == setup.Add {
		if c.Namespace.Location != "" {
			props["location"] = c.Namespace.Location
		}
		body := entity{"namespace": c.Namespace.Levels, "properties": props}
		return i.facade.call(ctx, http.MethodPost, []string{c.Catalog, "namespaces"}, nil, body, nil)
	}
	path := []string{c.Catalog, "namespaces", strings.Join(c.Namespace.Levels, levelSeparator), "properties"}
	body := entity{"updates": props, "removals": append([]string{}, c.Removed...)}
	return i.facade.call(ctx, http.MethodPost, path, nil, body, nil)
}

func (i *installation) putGrant(ctx context.Context, c setup.Change) error {
	g := grantAnswer{Type: string(c.Grant.Scope), Namespace: c.Grant.Namespace, Privilege: string(c.Grant.Privilege)}
	switch c.Grant.Scope {
	case models.OnTable:
		g.TableName = c.Grant.Name
	case models.OnView:
		g.ViewName = c.Grant.Name
	case models.OnCatalog, models.OnNamespace:
	}
	method := http.MethodPut
	if c.Action == setup.Remove {
		method = http.MethodPost
	}
	path := []string{"catalogs", c.Catalog, "catalog-roles", c.CatalogRole, "grants"}
	return i.api.call(ctx, method, path, nil, entity{"grant": g}, nil)
}

// assign gives or takes a role; member is what a request calls it.
func (i *installation) assign(ctx context.Context, c setup.Change, path []string, role, member string) error {
	if c.Action == setup.Remove {
		return i.api.call(ctx, http.MethodDelete, append(slices.Clone(path), role), nil, nil, nil)
	}
	return i.api.call(ctx, http.MethodPut, path, nil, entity{member: entity{"name": role}}, nil)
}

func filledProperties(props map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, props)
	return out
}

package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// catalogSummary is what summarize tells of a catalog.
type catalogSummary struct {
	Name               string   `json:"name"`
	StorageType        string   `json:"storageType"`
	BaseLocation       string   `json:"baseLocation"`
	DefaultWritePolicy string   `json:"defaultWritePolicy"`
	Namespaces         int      `json:"namespaces"`
	Tables             int      `json:"tables"`
	Views              int      `json:"views"`
	CatalogRoles       []string `json:"catalogRoles"`
	PrincipalRoles     []string `json:"principalRoles"`
}

func (c *cli) summarizeCatalog(ctx context.Context, name string) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var catalog catalogState
	if err := api.on(managementPath).call(ctx, http.MethodGet, []string{"catalogs", name}, nil, nil, &catalog); err != nil {
		return err
	}
	sum := catalogSummary{
		Name: name, BaseLocation: catalog.Properties[baseLocationProperty], DefaultWritePolicy: catalog.DefaultWritePolicy,
	}
	sum.StorageType, _ = catalog.Storage["storageType"].(string)
	if err := sum.countContent(ctx, api.on(facadePath)); err != nil {
		return err
	}
	if err := sum.nameRoles(ctx, api.on(managementPath)); err != nil {
		return err
	}
	object, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	return c.showObject(object, "name", "storageType", "baseLocation", "defaultWritePolicy", "namespaces", "tables", "views", "catalogRoles", "principalRoles")
}

func (s *catalogSummary) countContent(ctx context.Context, facade *apiClient) error {
	namespaces, err := facade.namespacesBelow(ctx, s.Name, nil)
	if err != nil {
		return err
	}
	s.Namespaces = len(namespaces)
	for _, levels := range namespaces {
		in := strings.Join(levels, levelSeparator)
		for kind, count := range map[string]*int{"tables": &s.Tables, "views": &s.Views} {
			items, err := facade.pages(ctx, []string{s.Name, "namespaces", in, kind}, nil, "identifiers")
			if err != nil {
				return err
			}
			*count += len(items)
		}
	}
	return nil
}

func (s *catalogSummary) nameRoles(ctx context.Context, api *apiClient) error {
	var roles rolesList
	path := []string{"catalogs", s.Name, "catalog-roles"}
	if err := api.call(ctx, http.MethodGet, path, nil, nil, &roles); err != nil {
		return err
	}
	s.CatalogRoles = roles.names()
	having := map[string]bool{}
	for _, role := range s.CatalogRoles {
		var principalRoles rolesList
		if err := api.call(ctx, http.MethodGet, append(slices.Clone(path), role, "principal-roles"), nil, nil, &principalRoles); err != nil {
			return err
		}
		for _, name := range principalRoles.names() {
			having[name] = true
		}
	}
	s.PrincipalRoles = append([]string{}, slices.Sorted(maps.Keys(having))...)
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// levelSeparator stands between the levels of a namespace in the paths and queries of the facade.
const levelSeparator = "\x1f"

// pages gives the items of a list of the facade, of all its pages: member of the answers holds them.
func (c *apiClient) pages(ctx context.Context, path []string, query url.Values, member string) ([]json.RawMessage, error) {
	asked := url.Values{"pageToken": {""}, "pageSize": {"1000"}}
	for key, values := range query {
		asked[key] = values
	}
	var items []json.RawMessage
	for {
		var answer map[string]json.RawMessage
		if err := c.call(ctx, http.MethodGet, path, asked, nil, &answer); err != nil {
			return nil, err
		}
		var some []json.RawMessage
		if err := decodeAnswer(answer[member], &some); err != nil {
			return nil, err
		}
		items = append(items, some...)
		var next *string
		if err := decodeAnswer(answer["next-page-token"], &next); err != nil {
			return nil, err
		}
		if next == nil || *next == "" || *next == asked.Get("pageToken") {
			return items, nil
		}
		asked.Set("pageToken", *next)
	}
}

// namespacesIn gives the namespaces that lie directly in one, or in the catalog.
func (c *apiClient) namespacesIn(ctx context.Context, catalog string, parent []string) ([][]string, error) {
	query := url.Values{}
	if len(parent) > 0 {
		query.Set("parent", strings.Join(parent, levelSeparator))
	}
	items, err := c.pages(ctx, []string{catalog, "namespaces"}, query, "namespaces")
	if err != nil {
		return nil, err
	}
	namespaces := make([][]string, 0, len(items))
	for _, item := range items {
		var levels []string
		if err := decodeAnswer(item, &levels); err != nil {
			return nil, err
		}
		namespaces = append(namespaces, levels)
	}
	return namespaces, nil
}

// namespacesBelow gives the namespaces that lie in one, or in the catalog, at any depth, each before what lies in it.
func (c *apiClient) namespacesBelow(ctx context.Context, catalog string, parent []string) ([][]string, error) {
	found, err := c.namespacesIn(ctx, catalog, parent)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(found)
	for _, levels := range found {
		if len(levels) <= len(parent) { // a server that answers with the parent itself would never end
			continue
		}
		below, err := c.namespacesBelow(ctx, catalog, levels)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

package product

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// Loaded is the answer of a table's creation or load.
type Loaded struct {
	MetadataLocation string          `json:"metadata-location"`
	Metadata         json.RawMessage `json:"metadata"`
}

// NamespaceURL is the address of a namespace of one level.
func (c *Client) NamespaceURL(namespace string) string {
	return c.catalogURI + "/v1/" + url.PathEscape(c.catalog) + "/namespaces/" + url.PathEscape(namespace)
}

// TableURL is the address of a table.
func (c *Client) TableURL(namespace, table string) string {
	return c.NamespaceURL(namespace) + "/tables/" + url.PathEscape(table)
}

// CreateNamespace makes a namespace of one level.
func (c *Client) CreateNamespace(ctx context.Context, namespace string) error {
	body := map[string]any{"namespace": []string{namespace}}
	return c.Do(ctx, http.MethodPost, c.catalogURI+"/v1/"+url.PathEscape(c.catalog)+"/namespaces", body, nil)
}

// CreateTable makes an unpartitioned table with the columns id and name.
func (c *Client) CreateTable(ctx context.Context, namespace, table string, properties map[string]string) (Loaded, error) {
	return c.createTable(ctx, namespace, table, properties, []int{})
}

// CreateKeyedTable is CreateTable of a table whose rows id identifies.
func (c *Client) CreateKeyedTable(ctx context.Context, namespace, table string, properties map[string]string) (Loaded, error) {
	return c.createTable(ctx, namespace, table, properties, []int{1})
}

func (c *Client) createTable(ctx context.Context, namespace, table string, properties map[string]string, keys []int) (Loaded, error) {
	body := map[string]any{
		"name": table, "properties": properties,
		"schema": map[string]any{"type": "struct", "schema-id": 0, "identifier-field-ids": keys, "fields": []any{
			map[string]any{"id": 1, "name": "id", "type": "long", "required": true},
			map[string]any{"id": 2, "name": "name", "type": "string", "required": false},
		}},
	}
	var out Loaded
	return out, c.Do(ctx, http.MethodPost, c.NamespaceURL(namespace)+"/tables", body, &out)
}

// RegisterTable makes a table of an existing metadata file.
func (c *Client) RegisterTable(ctx context.Context, namespace, table, metadataLocation string) error {
	body := map[string]any{"name": table, "metadata-location": metadataLocation}
	return c.Do(ctx, http.MethodPost, c.NamespaceURL(namespace)+"/register", body, nil)
}

// LoadTable reads a table.
func (c *Client) LoadTable(ctx context.Context, namespace, table string) (Loaded, error) {
	var out Loaded
	return out, c.Do(ctx, http.MethodGet, c.TableURL(namespace, table), nil, &out)
}

// Commit sends the body of a commit.
func (c *Client) Commit(ctx context.Context, namespace, table string, body []byte) error {
	var ignored []byte
	return c.Do(ctx, http.MethodPost, c.TableURL(namespace, table), body, &ignored)
}

// DropTable drops a table; with purge, its files are deleted after the grace period.
func (c *Client) DropTable(ctx context.Context, namespace, table string, purge bool) error {
	return c.Do(ctx, http.MethodDelete, c.TableURL(namespace, table)+"?purgeRequested="+strconv.FormatBool(purge), nil, nil)
}

package product

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// WriteResult is what a governed write came to.
type WriteResult struct {
	AuditID    string `json:"audit-id"`
	SnapshotID string `json:"snapshot-id"`
	Rows       int64  `json:"rows"`
	Updated    int64  `json:"updated"`
}

// LandedRow is a row of a write, as its audit tells it.
type LandedRow struct {
	Hash    string `json:"hash"`
	Updated bool   `json:"updated"`
}

// Landing is a write that landed a row.
type Landing struct {
	Row   LandedRow   `json:"row"`
	Write WriteResult `json:"write"`
}

func (c *Client) dataURL(path string) string {
	return strings.TrimSuffix(c.governanceURI, "/api/governance/v1") + "/data/v1" + path
}

func (c *Client) rowsURL(namespace, table string) string {
	return c.dataURL("/tables/" + url.PathEscape(strings.Join([]string{c.catalog, namespace, table}, ".")))
}

// WriteRows writes rows, each JSON, under an Idempotency-Key.
func (c *Client) WriteRows(ctx context.Context, namespace, table, mode, key string, lines []string) (WriteResult, error) {
	header := http.Header{"Idempotency-Key": {key}}
	var out WriteResult
	body := []byte("[" + strings.Join(lines, ",") + "]")
	_, err := c.DoHeader(ctx, http.MethodPost, c.rowsURL(namespace, table)+"/write?mode="+mode, header, body, &out)
	return out, err
}

// ReadRows gives all rows of a table, each JSON.
func (c *Client) ReadRows(ctx context.Context, namespace, table string) ([]string, error) {
	var answer struct {
		Rows []json.RawMessage `json:"rows"`
	}
	if err := c.Do(ctx, http.MethodPost, c.rowsURL(namespace, table)+"/query", struct{}{}, &answer); err != nil {
		return nil, err
	}
	out := make([]string, len(answer.Rows))
	for i, row := range answer.Rows {
		out[i] = string(row)
	}
	return out, nil
}

// Writes gives the governed writes of a table, newest first.
func (c *Client) Writes(ctx context.Context, namespace, table string) ([]WriteResult, error) {
	return pages[WriteResult](ctx, c, c.rowsURL(namespace, table)+"/writes", url.Values{})
}

// LandedRows gives the audit of a write's rows.
func (c *Client) LandedRows(ctx context.Context, auditID string) ([]LandedRow, error) {
	return pages[LandedRow](ctx, c, c.dataURL("/writes/"+url.PathEscape(auditID)+"/rows"), url.Values{})
}

// RowAudit gives the writes that landed the row of an identity, oldest first.
func (c *Client) RowAudit(ctx context.Context, namespace, table string, identity map[string]any) ([]Landing, error) {
	var answer struct {
		Items []Landing `json:"items"`
	}
	body := map[string]any{"identity": identity}
	err := c.Do(ctx, http.MethodPost, c.rowsURL(namespace, table)+"/row-audit", body, &answer)
	return answer.Items, err
}

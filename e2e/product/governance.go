package product

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Table is what governance says and knows of a table.
type Table struct {
	UUID               string   `json:"uuid"`
	Ref                string   `json:"ref"`
	Namespace          []string `json:"namespace"`
	Name               string   `json:"name"`
	WritePolicy        string   `json:"writePolicy"`
	RowCount           *int64   `json:"rowCount"`
	CurrentSnapshotID  *string  `json:"currentSnapshotId"`
	RecordedSnapshotID *string  `json:"recordedSnapshotId"`
	PendingCommits     int64    `json:"pendingCommits"`
}

// LedgerRow is a commit of the ledger.
type LedgerRow struct {
	ID             string     `json:"id"`
	TableUUID      string     `json:"tableUuid"`
	SnapshotID     string     `json:"snapshotId"`
	Status         string     `json:"status"`
	CommittedAt    time.Time  `json:"committedAt"`
	ReconciledAt   *time.Time `json:"reconciledAt"`
	AddedRows      *int64     `json:"addedRows"`
	AddedFiles     *int64     `json:"addedFiles"`
	RowCountBefore *int64     `json:"rowCountBefore"`
	RowCountAfter  *int64     `json:"rowCountAfter"`
}

// AuditEvent is an event of the audit.
type AuditEvent struct {
	ID         string         `json:"id"`
	EventID    string         `json:"eventId"`
	Type       string         `json:"type"`
	At         time.Time      `json:"at"`
	TableUUID  string         `json:"tableUuid"`
	SnapshotID *string        `json:"snapshotId"`
	Details    map[string]any `json:"details"`
}

// SetDefaultPolicy sets the write policy that the catalog's new tables get.
func (c *Client) SetDefaultPolicy(ctx context.Context, policy string) error {
	address := c.governanceURI + "/catalogs/" + url.PathEscape(c.catalog) + "/default-write-policy"
	return c.Do(ctx, http.MethodPut, address, map[string]string{"policy": policy}, nil)
}

// Reconcile has a table reconciled now; ref is catalog.namespace.table.
func (c *Client) Reconcile(ctx context.Context, ref string) error {
	return c.Do(ctx, http.MethodPost, c.governanceURI+"/tables/"+url.PathEscape(ref)+"/reconcile", nil, nil)
}

// Tables gives every table.
func (c *Client) Tables(ctx context.Context) ([]Table, error) {
	return all[Table](ctx, c, "/tables", url.Values{})
}

// Ledger gives the commits of every table, newest first.
func (c *Client) Ledger(ctx context.Context) ([]LedgerRow, error) {
	return all[LedgerRow](ctx, c, "/commits", url.Values{})
}

// Audit gives the events of a type, "" for all, newest first.
func (c *Client) Audit(ctx context.Context, kind string) ([]AuditEvent, error) {
	query := url.Values{}
	if kind != "" {
		query.Set("type", kind)
	}
	return all[AuditEvent](ctx, c, "/audit", query)
}

// Finding is something that a governor should look at.
type Finding struct {
	ID         string         `json:"id"`
	Kind       string         `json:"kind"`
	Ref        string         `json:"ref"`
	TableUUID  string         `json:"tableUuid"`
	SnapshotID *string        `json:"snapshotId"`
	Subject    string         `json:"subject"`
	Evidence   map[string]any `json:"evidence"`
	Open       bool           `json:"open"`
	Note       string         `json:"note"`
}

// Findings gives all findings, resolved ones too, newest first.
func (c *Client) Findings(ctx context.Context) ([]Finding, error) {
	return all[Finding](ctx, c, "/findings", url.Values{})
}

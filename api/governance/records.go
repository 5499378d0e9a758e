package governance

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

type commitAnswer struct {
	ID               string              `json:"id"`
	Ref              string              `json:"ref"` // of the table, as of the commit
	Catalog          string              `json:"catalog"`
	Table            string              `json:"table"` // with its namespace
	TableUUID        string              `json:"tableUuid"`
	SnapshotID       string              `json:"snapshotId"`
	ParentSnapshotID *string             `json:"parentSnapshotId"`
	SequenceNumber   int64               `json:"sequenceNumber"`
	Branch           string              `json:"branch,omitempty"` // or tag that the commit moved
	Operation        string              `json:"operation"`
	Summary          map[string]string   `json:"summary"`
	MetadataLocation string              `json:"metadataLocation"`
	Kind             models.CommitKind   `json:"kind"`
	Writer           models.Writer       `json:"writer"`
	CommittedAt      time.Time           `json:"committedAt"`
	Status           models.CommitStatus `json:"status"`
	ReconciledAt     *time.Time          `json:"reconciledAt"`
	WorkflowID       string              `json:"workflowId,omitempty"`
	AddedRows        *int64              `json:"addedRows"`
	AddedFiles       *int64              `json:"addedFiles"`
	AddedBytes       *int64              `json:"addedBytes"`
	RowCountBefore   *int64              `json:"rowCountBefore"`
	RowCountAfter    *int64              `json:"rowCountAfter"`
}

type auditAnswer struct {
	ID         string           `json:"id"`
	EventID    string           `json:"eventId"`
	Type       models.AuditType `json:"type"`
	At         time.Time        `json:"at"`
	Principal  string           `json:"principal"`
	TokenID    string           `json:"tokenId,omitempty"`
	Ref        string           `json:"ref,omitempty"` // of the table, view, namespace or catalog it is about
	Catalog    string           `json:"catalog,omitempty"`
	Namespace  string           `json:"namespace,omitempty"`
	Table      string           `json:"table,omitempty"`
	TableUUID  string           `json:"tableUuid,omitempty"`
	SnapshotID *string          `json:"snapshotId,omitempty"`
	Allowed    bool             `json:"allowed"`
	Reason     string           `json:"reason,omitempty"`
	RequestID  string           `json:"requestId,omitempty"`
	Address    string           `json:"address,omitempty"`
	Details    map[string]any   `json:"details"`
}

func (h *Handler) listCommits(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	before, err := beforeOf(c)
	if err != nil {
		return err
	}
	rows, err := h.Records.Commits(c.Request.Context(), wire.Caller(c), c.Query("table"), models.CommitFilter{Before: before, Limit: limit})
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, commitOf, func(m core.CommitView) string { return strconv.FormatInt(m.ID, 10) }))
}

func commitOf(m core.CommitView) commitAnswer {
	out := commitAnswer{
		ID: strconv.FormatInt(m.ID, 10), Ref: refOf(m.CatalogName, "", m.TableName), Catalog: m.CatalogName,
		Table: m.TableName, TableUUID: m.TableUUID,
		SnapshotID: strconv.FormatInt(m.SnapshotID, 10), ParentSnapshotID: idString(m.ParentSnapshotID),
		SequenceNumber: m.SequenceNumber, Branch: m.Ref, Operation: m.Operation, Summary: m.Summary.V,
		MetadataLocation: m.MetadataLocation, Kind: m.Kind, Writer: m.Writer.V, CommittedAt: m.CommittedAt,
		Status: m.Status, ReconciledAt: m.ReconciledAt, WorkflowID: m.WorkflowID,
		AddedRows: m.AddedRows, AddedFiles: m.AddedFiles, AddedBytes: m.AddedBytes,
		RowCountBefore: m.RowCountBefore, RowCountAfter: m.RowCountAfter,
	}
	if out.Summary == nil {
		out.Summary = map[string]string{}
	}
	return out
}

func (h *Handler) listAudit(c *gin.Context) error {
	filter, err := h.auditFilter(c)
	if err != nil {
		return err
	}
	rows, err := h.Records.AuditEvents(c.Request.Context(), wire.Caller(c), filter)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, filter.Limit, auditOf, func(e models.AuditEvent) string { return strconv.FormatInt(e.ID, 10) }))
}

func (h *Handler) auditFilter(c *gin.Context) (models.AuditFilter, error) {
	filter := models.AuditFilter{Principal: c.Query("principal"), Catalog: c.Query("catalog")}
	var err error
	if filter.Type, err = knownType(c.Query("type")); err != nil {
		return filter, err
	}
	if filter.Limit, err = limitOf(c); err != nil {
		return filter, err
	}
	if filter.Before, err = beforeOf(c); err != nil {
		return filter, err
	}
	if filter.Since, err = h.sinceOf(c); err != nil {
		return filter, err
	}
	table := c.Query("table")
	if table == "" {
		return filter, nil
	}
	if id, err := uuid.Parse(table); err == nil {
		filter.TableUUID = id.String()
		return filter, nil
	}
	// Events outlive their table, so the ref is matched by its names and not looked up.
	catalog, ident, err := core.SplitRef(table)
	if err != nil {
		return filter, err
	}
	if filter.Catalog != "" && filter.Catalog != catalog {
		return filter, fault.New(fault.Invalid, "The parameters contradict each other: %s is not in the catalog %s.", table, filter.Catalog)
	}
	filter.Catalog, filter.Table = catalog, ident.String()
	return filter, nil
}

// knownType refuses a type that no event has: a typing mistake would look like an audit without such events.
func knownType(name string) (models.AuditType, error) {
	types := models.AuditTypes()
	if name == "" || slices.Contains(types, models.AuditType(name)) {
		return models.AuditType(name), nil
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return "", fault.New(fault.Invalid, "There is no event %q. %s.", name, likely(name, names))
}

// refOf names what an event or a commit is about as commands and routes take it: the most particular of the names.
func refOf(catalog, namespace, table string) string {
	switch {
	case catalog == "":
		return ""
	case table != "":
		return catalog + "." + table
	case namespace != "":
		return catalog + "." + namespace
	}
	return catalog
}

func auditOf(e models.AuditEvent) auditAnswer {
	out := auditAnswer{
		ID: strconv.FormatInt(e.ID, 10), EventID: e.EventID, Type: e.Type, At: e.At, Principal: e.Principal,
		TokenID: e.TokenID, Ref: refOf(e.Catalog, e.Namespace, e.Table), Catalog: e.Catalog, Namespace: e.Namespace, Table: e.Table, TableUUID: e.TableUUID,
		SnapshotID: idString(e.SnapshotID), Allowed: e.Allowed, Reason: e.Reason, RequestID: e.RequestID,
		Address: e.Address, Details: e.Details.V,
	}
	if out.Details == nil {
		out.Details = map[string]any{}
	}
	return out
}

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
	"github.com/sluice-data/sluice/internal/events"
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
	WriterID         string              `json:"writerId,omitempty"`
	Job              string              `json:"job,omitempty"`
	Unit             string              `json:"unit,omitempty"` // piece of the writer's stream that it carries
	CommittedAt      time.Time           `json:"committedAt"`
	Status           models.CommitStatus `json:"status"`
	ReconciledAt     *time.Time          `json:"reconciledAt"`
	WorkflowID       string              `json:"workflowId,omitempty"`
	AddedRows        *int64              `json:"addedRows"`
	AddedFiles       *int64              `json:"addedFiles"`
	AddedBytes       *int64              `json:"addedBytes"`
	RemovedRows      *int64              `json:"removedRows"`
	RemovedFiles     *int64              `json:"removedFiles"`
	RemovedBytes     *int64              `json:"removedBytes"`
	DeleteFiles      *int64              `json:"deleteFiles"` // that it added
	RowCountBefore   *int64              `json:"rowCountBefore"`
	RowCountAfter    *int64              `json:"rowCountAfter"`
	// Partitions are those that it touched, the most rows first and a hundred at most; absent until it is reconciled.
	Partitions []models.PartitionChange `json:"partitions,omitempty"`
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
		MetadataLocation: m.MetadataLocation, Kind: m.Kind, Writer: m.Writer.V, WriterID: m.WriterID, Job: m.Job, Unit: m.Unit, CommittedAt: m.CommittedAt,
		Status: m.Status, ReconciledAt: m.ReconciledAt, WorkflowID: m.WorkflowID,
		AddedRows: m.AddedRows, AddedFiles: m.AddedFiles, AddedBytes: m.AddedBytes,
		RemovedRows: m.RemovedRows, RemovedFiles: m.RemovedFiles, RemovedBytes: m.RemovedBytes, DeleteFiles: m.DeleteFiles,
		RowCountBefore: m.RowCountBefore, RowCountAfter: m.RowCountAfter, Partitions: m.Partitions.V,
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
	return wire.JSON(c, http.StatusOK, listOf(rows, filter.Limit, events.RecordOf, func(e models.AuditEvent) string { return strconv.FormatInt(e.ID, 10) }))
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
	return aboutTable(filter, c.Query("table"))
}

// aboutTable narrows a filter to what is about a table ref, "" for none.
func aboutTable(filter models.AuditFilter, table string) (models.AuditFilter, error) {
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

// refOf names what an event, a commit or a finding is about.
func refOf(catalog, namespace, table string) string { return events.Ref(catalog, namespace, table) }

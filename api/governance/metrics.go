package governance

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Metrics shows what engines reported of their scans and commits.
type Metrics interface {
	// MetricsReports gives reports, newest first, of the table ref; "" for every table.
	MetricsReports(ctx context.Context, caller policy.Caller, ref string, filter models.MetricsReportFilter) ([]models.MetricsReport, error)
}

type metricsAnswer struct {
	ID         string                   `json:"id"`
	Type       models.MetricsReportType `json:"type"`
	Table      string                   `json:"table"` // with its namespace, as of the report
	TableUUID  string                   `json:"tableUuid"`
	SnapshotID *string                  `json:"snapshotId"`
	Principal  string                   `json:"principal"`
	Client     string                   `json:"client,omitempty"`
	ReportedAt time.Time                `json:"reportedAt"`
	Report     json.RawMessage          `json:"report"` // as the engine sent it
}

func (h *Handler) listMetrics(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	before, err := beforeOf(c)
	if err != nil {
		return err
	}
	filter := models.MetricsReportFilter{Type: models.MetricsReportType(c.Query("type")), Before: before, Limit: limit}
	rows, err := h.Metrics.MetricsReports(c.Request.Context(), wire.Caller(c), c.Query("table"), filter)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, metricsOf, func(m models.MetricsReport) string { return strconv.FormatInt(m.ID, 10) }))
}

func metricsOf(m models.MetricsReport) metricsAnswer {
	return metricsAnswer{
		ID: strconv.FormatInt(m.ID, 10), Type: m.Type, Table: m.TableName, TableUUID: m.TableUUID, SnapshotID: idString(m.SnapshotID),
		Principal: m.Principal, Client: m.Client, ReportedAt: m.ReportedAt, Report: json.RawMessage(m.Report),
	}
}

package catalog

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Metrics keeps what engines report of their scans and commits.
type Metrics interface {
	ReportMetrics(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, in core.ReportInput) error
}

func (h *Handler) metricsRoutes() []route {
	return []route{{http.MethodPost, "/namespaces/{namespace}/tables/{table}/metrics", h.reportMetrics}}
}

// reportMetrics takes reports of any type with any metrics: engines are ahead of the specification.
func (h *Handler) reportMetrics(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.ReportInput{
		Type:       models.MetricsReportType(body.String("report-type")),
		SnapshotID: optionalID(body, "snapshot-id"),
		Members:    make(map[string]json.RawMessage),
	}
	for _, name := range body.Names() {
		in.Members[name] = body.Raw(name)
	}
	if err := body.Err(); err != nil {
		return err
	}
	if err := h.Metrics.ReportMetrics(s.ctx, s.caller, s.cat, ident, in); err != nil {
		return err
	}
	return wire.NoContent(c)
}

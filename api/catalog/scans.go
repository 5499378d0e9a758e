package catalog

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/models"
)

// Readable are the tables that somebody may read the data of.
type Readable interface {
	// ReadTable gives the table's metadata to callers who may read its data.
	ReadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (core.TableView, error)
}

// Scans plans scans. Plans and plan tasks that are not a table's are fault.NotFound on fault.Plan and fault.PlanTask.
type Scans interface {
	Plan(ctx context.Context, doc *metadata.Document, req scan.Request) (scan.Plan, error)
	Poll(ctx context.Context, doc *metadata.Document, id string) (scan.Plan, error)
	Cancel(ctx context.Context, doc *metadata.Document, id string) error
	Tasks(ctx context.Context, doc *metadata.Document, token string) (scan.Page, error)
}

func (h *Handler) scanRoutes() []route {
	const table = "/namespaces/{namespace}/tables/{table}"
	return []route{
		{http.MethodPost, table + "/plan", h.planScan},
		{http.MethodGet, table + "/plan/{plan-id}", h.pollScan},
		{http.MethodDelete, table + "/plan/{plan-id}", h.cancelScan},
		{http.MethodPost, table + "/tasks", h.fetchTasks},
	}
}

// planAnswer is a plan or a part of one: plan-id and status are absent in the answer to a plan task.
type planAnswer struct {
	Status      string             `json:"status,omitempty"`
	PlanID      string             `json:"plan-id,omitempty"`
	PlanTasks   []string           `json:"plan-tasks"`
	Tasks       []scan.Task        `json:"file-scan-tasks"`
	DeleteFiles []scan.ContentFile `json:"delete-files,omitempty"`
	Credentials []credentialAnswer `json:"storage-credentials,omitempty"`
}

// completed is the status of every plan: planning is done when it is answered.
const completed = "completed"

func planOf(page scan.Page) planAnswer {
	return planAnswer{PlanTasks: orEmpty(page.PlanTasks), Tasks: orEmpty(page.Tasks), DeleteFiles: page.DeleteFiles}
}

func (h *Handler) planScan(c *gin.Context, s scope) error {
	view, err := h.readable(c, s)
	if err != nil {
		return err
	}
	req, err := scanRequest(c)
	if err != nil {
		return err
	}
	plan, err := h.Scans.Plan(s.ctx, view.Document, req)
	if err != nil {
		return err
	}
	answer := planOf(plan.Page)
	answer.Status, answer.PlanID = completed, plan.ID
	return h.answerPlan(c, s, view, answer)
}

// answerPlan adds the keys that a client asks for to read the plan's files. To have requests signed it needs what loading the
// table gave it.
func (h *Handler) answerPlan(c *gin.Context, s scope, view core.TableView, answer planAnswer) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	use, err := h.Storage.UsePlanned(s.ctx, s.caller, s.cat, view, delegation(c))
	if err != nil {
		return err
	}
	if use.Choice.Mode == core.Vending {
		open, err := h.opened(c, s, ident, use)
		if err != nil {
			return err
		}
		answer.Credentials = credentialAnswers(open.Credentials)
	}
	c.Header("Cache-Control", neverStored)
	return wire.JSON(c, http.StatusOK, answer)
}

// scanRequest reads a PlanTableScanRequest.
func scanRequest(c *gin.Context) (scan.Request, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return scan.Request{}, err
	}
	req := scan.Request{
		SnapshotID:        optionalID(body, "snapshot-id"),
		StartSnapshotID:   optionalID(body, "start-snapshot-id"),
		EndSnapshotID:     optionalID(body, "end-snapshot-id"),
		Select:            body.OptionalStrings("select"),
		Filter:            body.Raw("filter"),
		IgnoreCase:        body.Has("case-sensitive") && !body.Bool("case-sensitive"),
		UseSnapshotSchema: body.Bool("use-snapshot-schema"),
		StatsFields:       body.OptionalStrings("stats-fields"),
	}
	if rows := optionalID(body, "min-rows-requested"); rows != nil {
		req.MinRows = *rows
	}
	return req, body.Err()
}

// optionalID reads a whole number of 64 bits, nil when absent.
func optionalID(body *wire.Fields, name string) *int64 {
	raw := body.Raw(name)
	if raw == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		body.Fail(name, "must be a whole number")
		return nil
	}
	return &n
}

func (h *Handler) pollScan(c *gin.Context, s scope) error {
	view, err := h.readable(c, s)
	if err != nil {
		return err
	}
	plan, err := h.Scans.Poll(s.ctx, view.Document, c.Param("plan-id"))
	if err != nil {
		return err
	}
	answer := planOf(plan.Page)
	answer.Status = completed
	return h.answerPlan(c, s, view, answer)
}

func (h *Handler) cancelScan(c *gin.Context, s scope) error {
	view, err := h.readable(c, s)
	if err != nil {
		return err
	}
	if err := h.Scans.Cancel(s.ctx, view.Document, c.Param("plan-id")); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) fetchTasks(c *gin.Context, s scope) error {
	view, err := h.readable(c, s)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	token := body.String("plan-task")
	if err := body.Err(); err != nil {
		return err
	}
	page, err := h.Scans.Tasks(s.ctx, view.Document, token)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, planOf(page))
}

func (h *Handler) readable(c *gin.Context, s scope) (core.TableView, error) {
	ident, err := pathTable(c)
	if err != nil {
		return core.TableView{}, err
	}
	return h.Readable.ReadTable(s.ctx, s.caller, s.cat, ident)
}

package governance

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
)

type webhookAnswer struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Types     []string  `json:"types"`   // of the events that it gets; empty: all
	Catalog   string    `json:"catalog"` // "": events of all catalogs and of none
	Disabled  bool      `json:"disabled"`
	Pending   int64     `json:"pending"` // deliveries
	Dead      int64     `json:"dead"`
	CreatedBy string    `json:"createdBy"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Secret    string    `json:"secret,omitempty"` // only where it is new
}

type deliveryAnswer struct {
	ID          string               `json:"id"`
	EventID     string               `json:"eventId"`
	Seq         int64                `json:"seq"` // place of the event in the audit
	Type        models.AuditType     `json:"type"`
	State       models.DeliveryState `json:"state"`
	Attempts    int                  `json:"attempts"`
	NextAt      *time.Time           `json:"nextAt"` // of the next attempt, while it is pending
	LastStatus  *int                 `json:"lastStatus"`
	LastError   string               `json:"lastError,omitempty"`
	CreatedAt   time.Time            `json:"createdAt"`
	DeliveredAt *time.Time           `json:"deliveredAt"`
}

type webhookTestAnswer struct {
	EventID string `json:"eventId"`
	OK      bool   `json:"ok"`
	Status  *int   `json:"status"` // null: there was no answer
	Problem string `json:"problem,omitempty"`
	Body    string `json:"body,omitempty"` // the start of it
	TookMS  int64  `json:"tookMs"`
}

type replayAnswer struct {
	Deliveries int64 `json:"deliveries"`
}

func (h *Handler) mountWebhooks(g gin.IRouter) {
	g.GET("/webhooks", takes(h.listWebhooks, "limit", "after"))
	g.POST("/webhooks", takes(h.createWebhook))
	g.GET("/webhooks/:id", takes(h.showWebhook))
	g.PUT("/webhooks/:id", takes(h.updateWebhook))
	g.DELETE("/webhooks/:id", takes(h.deleteWebhook))
	g.POST("/webhooks/:id/test", takes(h.testWebhook))
	g.GET("/webhooks/:id/deliveries", takes(h.listDeliveries, "state", "limit", "after"))
	g.POST("/webhooks/:id/replay", takes(h.replayWebhook))
}

func (h *Handler) listWebhooks(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	rows, err := h.Webhooks.Webhooks(c.Request.Context(), wire.Caller(c), c.Query("after"), limit)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, webhookOf, func(v webhooks.View) string { return v.ID }))
}

func (h *Handler) showWebhook(c *gin.Context) error {
	view, err := h.Webhooks.Webhook(c.Request.Context(), wire.Caller(c), c.Param("id"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, webhookOf(view))
}

func (h *Handler) createWebhook(c *gin.Context) error {
	in, err := readWebhook(c, "name", "url", "types", "catalog", "disabled")
	if err != nil {
		return err
	}
	view, secret, err := h.Webhooks.CreateWebhook(c.Request.Context(), wire.Caller(c), in)
	if err != nil {
		return err
	}
	out := webhookOf(view)
	out.Secret = secret
	return wire.JSON(c, http.StatusCreated, out)
}

// updateWebhook changes what the body names; what it leaves out stays as it is.
func (h *Handler) updateWebhook(c *gin.Context) error {
	in, err := readWebhook(c, "name", "url", "types", "catalog", "disabled", "rotateSecret")
	if err != nil {
		return err
	}
	view, secret, err := h.Webhooks.UpdateWebhook(c.Request.Context(), wire.Caller(c), c.Param("id"), in)
	if err != nil {
		return err
	}
	out := webhookOf(view)
	out.Secret = secret
	return wire.JSON(c, http.StatusOK, out)
}

func readWebhook(c *gin.Context, members ...string) (webhooks.Input, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return webhooks.Input{}, err
	}
	body.Only(members...)
	in := webhooks.Input{RotateSecret: body.Bool("rotateSecret")}
	for name, to := range map[string]**string{"name": &in.Name, "url": &in.URL, "catalog": &in.Catalog} {
		if body.Has(name) {
			text := body.OptionalString(name)
			*to = &text
		}
	}
	if body.Has("types") {
		types := body.OptionalStrings("types")
		in.Types = &types
	}
	if body.Has("disabled") {
		disabled := body.Bool("disabled")
		in.Disabled = &disabled
	}
	return in, body.Err()
}

func (h *Handler) deleteWebhook(c *gin.Context) error {
	if err := h.Webhooks.DeleteWebhook(c.Request.Context(), wire.Caller(c), c.Param("id")); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) testWebhook(c *gin.Context) error {
	r, err := h.Webhooks.TestWebhook(c.Request.Context(), wire.Caller(c), c.Param("id"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, webhookTestAnswer{
		EventID: r.EventID, OK: r.OK, Status: orNull(r.Status), Problem: r.Problem, Body: r.Body, TookMS: r.Took.Milliseconds(),
	})
}

func (h *Handler) listDeliveries(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	filter := models.DeliveryFilter{WebhookID: c.Param("id"), State: models.DeliveryState(c.Query("state")), Before: c.Query("after"), Limit: limit}
	states := []models.DeliveryState{"", models.DeliveryPending, models.DeliveryDelivered, models.DeliveryDead}
	if !slices.Contains(states, filter.State) {
		return fault.New(fault.Invalid, "The parameter state must be pending, delivered or dead.")
	}
	rows, err := h.Webhooks.Deliveries(c.Request.Context(), wire.Caller(c), filter)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, deliveryOf, func(d models.WebhookDelivery) string { return d.ID }))
}

// replayWebhook takes {"state": "dead"}, or {"since"} with a time or an age.
func (h *Handler) replayWebhook(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("since", "state")
	dead := body.Has("state")
	if dead && body.OptionalString("state") != string(models.DeliveryDead) {
		body.Fail("state", "must be dead: nothing else is replayed by its state")
	}
	text := body.OptionalString("since")
	if body.Has("since") == dead {
		body.Fail("since", "is to be given, or else state")
	}
	if err := body.Err(); err != nil {
		return err
	}
	var since time.Time
	if !dead {
		if since, err = h.timeOf(text); err != nil {
			return fault.New(fault.Invalid, "Field \"since\" must be a time such as 2026-01-31T08:00:00Z (RFC 3339), or an age such as 24h or 7d.")
		}
	}
	n, err := h.Webhooks.Replay(c.Request.Context(), wire.Caller(c), c.Param("id"), since, dead)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, replayAnswer{Deliveries: n})
}

func webhookOf(v webhooks.View) webhookAnswer {
	return webhookAnswer{
		ID: v.ID, Name: v.Name, URL: v.URL, Types: orEmpty(v.Types.V), Catalog: v.Catalog, Disabled: v.Disabled, Pending: v.Pending, Dead: v.Dead,
		CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
}

func deliveryOf(d models.WebhookDelivery) deliveryAnswer {
	out := deliveryAnswer{
		ID: d.ID, EventID: d.EventID, Seq: d.EventSeq, Type: d.Type, State: d.State, Attempts: d.Attempts, LastStatus: orNull(d.LastStatus),
		LastError: d.LastError, CreatedAt: d.CreatedAt, DeliveredAt: d.DeliveredAt,
	}
	if d.State == models.DeliveryPending {
		out.NextAt = &d.NextAt
	}
	return out
}

// orNull gives null for a status that there was none of.
func orNull(status int) *int {
	if status == 0 {
		return nil
	}
	return &status
}

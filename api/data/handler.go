package data

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// Routes that the router treats apart, below the API's own path.
const (
	WritePath    = "/tables/:ref/write"     // its body is a stream
	QueryPath    = "/tables/:ref/query"     // a POST that changes nothing, and its answer is a stream
	RowAuditPath = "/tables/:ref/row-audit" // likewise, with a short answer
)

// Handler serves the routes of the data plane.
type Handler struct{ Deps }

// New makes a Handler.
func New(d Deps) *Handler { return &Handler{Deps: d} }

// Mount adds the routes to r. known finds out who asks and reads the body; streaming leaves the body to be read.
func (h *Handler) Mount(r gin.IRouter, known, streaming gin.HandlerFunc) {
	g := r.Group("", known, wire.DecodePath)
	g.POST(QueryPath, wire.Takes(h.query))
	g.GET("/tables/:ref/preview", wire.Takes(h.preview, "limit"))
	g.GET("/tables/:ref/profile", wire.Takes(h.profile))
	g.GET("/tables/:ref/writes", wire.Takes(h.listWrites, "principal", "limit", "after"))
	g.POST(RowAuditPath, wire.Takes(h.findRow))
	g.GET("/writes/:id", wire.Takes(h.showWrite))
	g.GET("/writes/:id/rows", wire.Takes(h.listRows, "limit", "after"))
	r.Group("", streaming, wire.DecodePath).POST(WritePath, wire.Takes(h.write, "mode", "label", "on-violation"))
}

// contextOf is the context of reads and writes of rows, which have a time limit of their own.
func contextOf(c *gin.Context) context.Context {
	return policy.WithAsOf(wire.Whole(c), wire.Caller(c).AsOf)
}

// numberOf reads a parameter that is a whole number from 1 on; otherwise where it is missing.
func numberOf(c *gin.Context, name string, otherwise, most int) (int, error) {
	text := c.Query(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fault.New(fault.Invalid, "The parameter %s must be a whole number from 1 to %d.", name, most)
	}
	return n, nil
}

func (h *Handler) preview(c *gin.Context) error {
	limit, err := numberOf(c, "limit", dataplane.PreviewRows, dataplane.MostPreviewRows)
	if err != nil {
		return err
	}
	out, err := h.Rows.Preview(contextOf(c), wire.Caller(c), wire.Param(c, "ref"), limit)
	if err != nil {
		return refusal(err)
	}
	return wire.JSON(c, http.StatusOK, out)
}

func (h *Handler) profile(c *gin.Context) error {
	out, err := h.Rows.Profile(contextOf(c), wire.Caller(c), wire.Param(c, "ref"))
	if err != nil {
		return refusal(err)
	}
	return wire.JSON(c, http.StatusOK, out)
}

package governance

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

// Deps are the use cases behind the API.
type Deps struct {
	Tokens   Tokens
	Policies Policies
	Tables   Tables
	Records  Records
	Now      func() time.Time
}

// Handler serves the governance routes.
type Handler struct{ Deps }

// New makes a Handler.
func New(d Deps) *Handler { return &Handler{Deps: d} }

// Mount adds the routes to r, each behind authenticate.
func (h *Handler) Mount(r gin.IRouter, authenticate gin.HandlerFunc) {
	g := r.Group("", authenticate, wire.DecodePath)
	g.GET("/whoami", wire.Handle(h.whoami))

	g.POST("/tokens", wire.Handle(h.mintToken))
	g.GET("/tokens", wire.Handle(h.listTokens))
	g.DELETE("/tokens/:id", wire.Handle(h.revokeToken))

	g.GET("/tables", wire.Handle(h.listTables))
	g.GET("/tables/:ref", wire.Handle(h.showTable))
	g.PUT("/tables/:ref/write-policy", wire.Handle(h.setWritePolicy))
	g.PUT("/tables/:ref/classification", wire.Handle(h.setClassification))
	g.POST("/tables/:ref/reconcile", wire.Handle(h.reconcile))
	g.PUT("/namespaces/:ref/default-write-policy", wire.Handle(h.setNamespacePolicy))
	g.PUT("/catalogs/:ref/default-write-policy", wire.Handle(h.setCatalogPolicy))

	g.GET("/commits", wire.Handle(h.listCommits))
	g.GET("/audit", wire.Handle(h.listAudit))
}

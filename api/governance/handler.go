package governance

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/writers"
)

// Deps are the use cases behind the API.
type Deps struct {
	Tokens      Tokens
	Policies    Policies
	Tables      Tables
	Records     Records
	Drops       Drops
	Metrics     Metrics
	Explainer   Explainer      // nil: /access is not served
	Storage     Storage        // nil: storage secrets and validation are not served
	Accesses    StorageRecords // nil: /storage-access is not served
	Findings    Findings       // nil: /findings is not served
	Writers     Writers        // nil: /writers is not served
	Limits      writers.Limits // from when on a writer is late
	Webhooks    Webhooks       // nil: /webhooks is not served
	Feed        *events.Feed   // nil: /events is not served
	Checkpoints Checkpoints    // nil: /audit/checkpoints is not served
	Now         func() time.Time
}

// Handler serves the governance routes.
type Handler struct{ Deps }

// New makes a Handler.
func New(d Deps) *Handler { return &Handler{Deps: d} }

// Mount adds the routes to r, each behind authenticate, with the query parameters that it takes.
func (h *Handler) Mount(r gin.IRouter, authenticate gin.HandlerFunc) {
	g := r.Group("", authenticate, wire.DecodePath)
	g.GET("/whoami", takes(h.whoami))
	if h.Explainer != nil {
		g.GET("/access", takes(h.explain, "principal", "privilege", "object"))
	}

	g.POST("/tokens", takes(h.mintToken))
	g.GET("/tokens", takes(h.listTokens, "limit", "after"))
	g.DELETE("/tokens/:id", takes(h.revokeToken))

	h.mountTables(g)
	h.mountClassification(g)
	h.mountStorage(g)
	if h.Findings != nil {
		g.GET("/findings", takes(h.listFindings, "table", "writer", "kind", "open", "limit", "after"))
		g.POST("/findings/:id/resolve", takes(h.resolveFinding))
	}
	if h.Writers != nil {
		g.GET("/writers", takes(h.listWriters, "table", "state", "limit", "after"))
		g.POST("/writers", takes(h.declareWriter))
		g.GET("/writers/:id", takes(h.showWriter))
		g.PUT("/writers/:id", takes(h.setWriter))
		g.POST("/writers/:id/retire", takes(h.retireWriter))
	}

	if h.Webhooks != nil {
		h.mountWebhooks(g)
	}
	if h.Feed != nil {
		g.GET(EventsPath, takes(h.streamEvents, "type", "table", "principal", "catalog", "after"))
	}

	g.GET("/commits", takes(h.listCommits, "table", "limit", "after"))
	g.GET("/audit", takes(h.listAudit, "type", "table", "principal", "catalog", "since", "limit", "after"))
	if h.Checkpoints != nil {
		g.GET("/audit/checkpoints", takes(h.listCheckpoints, "limit", "after"))
	}
	g.GET("/metrics-reports", takes(h.listMetrics, "table", "type", "limit", "after"))
}

func (h *Handler) mountTables(g gin.IRouter) {
	g.GET("/tables", takes(h.listTables, "catalog", "limit", "after"))
	g.GET("/tables/:ref", takes(h.showTable))
	g.PUT("/tables/:ref/write-policy", takes(h.setWritePolicy))
	g.PUT("/tables/:ref/protection", takes(h.setProtection))
	g.PUT("/tables/:ref/duplicate-commits", takes(h.setDuplicateCommits))
	g.GET("/tables/:ref/check", takes(h.checkTable))
	g.POST("/tables/:ref/reconcile", takes(h.reconcile))
	g.GET("/dropped-tables", takes(h.listDropped, "catalog", "state", "limit", "after"))
	g.POST("/dropped-tables/:id/undrop", takes(h.undropTable))
	g.POST("/dropped-tables/:id/forget", takes(h.forgetTable))
	g.GET("/namespaces/:ref/default-write-policy", takes(h.showNamespacePolicy))
	g.PUT("/namespaces/:ref/default-write-policy", takes(h.setNamespacePolicy))
	g.GET("/catalogs/:ref/default-write-policy", takes(h.showCatalogPolicy))
	g.PUT("/catalogs/:ref/default-write-policy", takes(h.setCatalogPolicy))
}

func (h *Handler) mountStorage(g gin.IRouter) {
	if h.Storage != nil {
		g.PUT("/catalogs/:ref/storage-secrets", takes(h.setStorageSecrets))
		g.DELETE("/catalogs/:ref/storage-secrets", takes(h.removeStorageSecrets))
		g.POST("/catalogs/:ref/storage/validate", takes(h.validateStorage))
	}
	if h.Accesses != nil {
		g.GET("/storage-access", takes(h.listStorageAccess, "table", "limit", "after"))
	}
}

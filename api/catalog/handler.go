package catalog

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Deps are the use cases behind the facade.
type Deps struct {
	Resolver   Resolver
	Namespaces Namespaces
	Tables     Tables
	Views      Views
	Commits    Commits
	OAuth      OAuth
	Readable   Readable
	Scans      Scans
	Metrics    Metrics
	Storage    Storage

	Idempotency Idempotency // nil: Idempotency-Key is not offered
	// NamespaceSeparator is offered to clients besides the unit separator, decoded; "": no other. A namespace level
	// that contains it cannot be addressed.
	NamespaceSeparator string
	// PublicURL is the base under which clients reach the API, without the path of the facade; "" to have them go on with
	// what they use.
	PublicURL string
}

// Handler serves the Iceberg REST routes.
type Handler struct{ Deps }

// New makes a Handler.
func New(d Deps) *Handler { return &Handler{Deps: d} }

// scope is what every catalog route needs: who asks, and in which catalog.
type scope struct {
	ctx    context.Context
	caller policy.Caller
	cat    models.Catalog
}

// route is one operation of the protocol; path is as the specification spells it after /v1/{prefix}.
type route struct {
	method, path string
	serve        func(*gin.Context, scope) error
}

func (h *Handler) routes() []route {
	const (
		namespaces = "/namespaces"
		namespace  = namespaces + "/{namespace}"
		tables     = namespace + "/tables"
		table      = tables + "/{table}"
	)
	own := []route{
		{http.MethodGet, namespaces, h.listNamespaces},
		{http.MethodPost, namespaces, h.createNamespace},
		{http.MethodGet, namespace, h.loadNamespace},
		{http.MethodHead, namespace, h.namespaceExists},
		{http.MethodDelete, namespace, h.dropNamespace},
		{http.MethodPost, namespace + "/properties", h.updateProperties},
		{http.MethodGet, tables, h.listTables},
		{http.MethodPost, tables, h.createTable},
		{http.MethodPost, namespace + "/register", h.registerTable},
		{http.MethodGet, table, h.loadTable},
		{http.MethodHead, table, h.tableExists},
		{http.MethodPost, table, h.commitTable},
		{http.MethodDelete, table, h.dropTable},
		{http.MethodPost, table + "/unregister", h.unregisterTable},
		{http.MethodPost, "/tables/rename", h.renameTable},
		{http.MethodPost, "/transactions/commit", h.commitTransaction},
	}
	return slices.Concat(own, h.viewRoutes(), h.scanRoutes(), h.metricsRoutes(), h.functionRoutes(), h.storageRoutes())
}

// Mount adds the routes below /v1 to r. Every route but the token endpoint runs authenticate first. Each operation is
// there with a prefix, which is a catalog's name, and without, which means the token's catalog.
func (h *Handler) Mount(r gin.IRouter, authenticate gin.HandlerFunc) {
	h.mountPolaris(r, authenticate)
	v1 := r.Group("/v1")
	r.POST(TokenPath, h.issueToken)
	known := v1.Group("", authenticate)
	known.GET("/config", wire.Handle(h.config))
	h.mountLegacySign(known)
	for _, op := range append(h.routes(), h.signRoutes()...) {
		path := ginPath(op.path)
		serve := h.inCatalog(h.once(op))
		known.Handle(op.method, "/:prefix"+path, wire.DecodePath, serve)
		known.Handle(op.method, path, wire.DecodePath, serve)
	}
}

// ginPath spells {name} as :name.
func ginPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

func (h *Handler) inCatalog(serve func(*gin.Context, scope) error) gin.HandlerFunc {
	return wire.Handle(func(c *gin.Context) error {
		s := scope{ctx: c.Request.Context(), caller: wire.Caller(c)}
		if h.NamespaceSeparator != "" {
			c.Set(separatorKey, h.NamespaceSeparator)
		}
		var err error
		if s.cat, err = h.Resolver.Resolve(s.ctx, s.caller, c.Param("prefix")); err != nil {
			return err
		}
		wire.SetCatalog(c, s.cat.Name)
		return serve(c, s)
	})
}

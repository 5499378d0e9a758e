package management

import (
	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

// Handler serves the management routes.
type Handler struct{ admin Administration }

// New makes a Handler over the use cases.
func New(admin Administration) *Handler { return &Handler{admin: admin} }

// The names of path parameters.
const (
	PrincipalParam     = "principal"
	CatalogParam       = "catalog"
	principalRoleParam = "principalRole"
	catalogRoleParam   = "catalogRole"
)

// RotatePath is the route, below the mount, that rotates credentials: all that first credentials may ask for.
const RotatePath = "/principals/:" + PrincipalParam + "/rotate"

// Mount adds the routes to r, each behind authenticate.
func (h *Handler) Mount(r gin.IRouter, authenticate gin.HandlerFunc) {
	g := r.Group("", authenticate, wire.DecodePath)
	h.mountCatalogs(g)
	h.mountPrincipals(g)
	h.mountPrincipalRoles(g)
	h.mountCatalogRoles(g)
}

func (h *Handler) mountCatalogs(g gin.IRouter) {
	const one = "/catalogs/:" + CatalogParam
	g.GET("/catalogs", wire.Handle(h.listCatalogs))
	g.POST("/catalogs", wire.Handle(h.createCatalog))
	g.GET(one, wire.Handle(h.getCatalog))
	g.PUT(one, wire.Handle(h.updateCatalog))
	g.DELETE(one, wire.Handle(h.deleteCatalog))
}

func (h *Handler) mountPrincipals(g gin.IRouter) {
	const (
		one   = "/principals/:" + PrincipalParam
		roles = one + "/principal-roles"
	)
	g.GET("/principals", wire.Handle(h.listPrincipals))
	g.POST("/principals", wire.Handle(h.createPrincipal))
	g.GET(one, wire.Handle(h.getPrincipal))
	g.PUT(one, wire.Handle(h.updatePrincipal))
	g.DELETE(one, wire.Handle(h.deletePrincipal))
	g.POST(RotatePath, wire.Handle(h.rotateCredentials))
	g.POST(one+"/reset", wire.Handle(h.resetCredentials))
	g.GET(roles, wire.Handle(h.rolesOfPrincipal))
	g.PUT(roles, wire.Handle(h.assignPrincipalRole))
	g.DELETE(roles+"/:"+principalRoleParam, wire.Handle(h.revokePrincipalRole))
}

func (h *Handler) mountPrincipalRoles(g gin.IRouter) {
	const (
		one      = "/principal-roles/:" + principalRoleParam
		assigned = one + "/catalog-roles/:" + CatalogParam
	)
	g.GET("/principal-roles", wire.Handle(h.listPrincipalRoles))
	g.POST("/principal-roles", wire.Handle(h.createPrincipalRole))
	g.GET(one, wire.Handle(h.getPrincipalRole))
	g.PUT(one, wire.Handle(h.updatePrincipalRole))
	g.DELETE(one, wire.Handle(h.deletePrincipalRole))
	g.GET(one+"/principals", wire.Handle(h.principalsOf))
	g.GET(assigned, wire.Handle(h.catalogRolesOf))
	g.PUT(assigned, wire.Handle(h.assignCatalogRole))
	g.DELETE(assigned+"/:"+catalogRoleParam, wire.Handle(h.revokeCatalogRole))
}

func (h *Handler) mountCatalogRoles(g gin.IRouter) {
	const (
		all    = "/catalogs/:" + CatalogParam + "/catalog-roles"
		one    = all + "/:" + catalogRoleParam
		grants = one + "/grants"
	)
	g.GET(all, wire.Handle(h.listCatalogRoles))
	g.POST(all, wire.Handle(h.createCatalogRole))
	g.GET(one, wire.Handle(h.getCatalogRole))
	g.PUT(one, wire.Handle(h.updateCatalogRole))
	g.DELETE(one, wire.Handle(h.deleteCatalogRole))
	g.GET(one+"/principal-roles", wire.Handle(h.principalRolesWith))
	g.GET(grants, wire.Handle(h.listGrants))
	g.PUT(grants, wire.Handle(h.addGrant))
	g.POST(grants, wire.Handle(h.revokeGrant))
}

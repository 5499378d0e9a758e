package catalog

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

// Below polaris/v1 Polaris keeps what it adds to the protocol: policies of its own, and tables of other formats. Sluice
// has neither, and says so by empty lists, because Polaris's command line asks for them when it summarises or exports.

type applicablePoliciesAnswer struct {
	Policies []struct{} `json:"applicable-policies"`
}

type identifiersAnswer struct {
	Identifiers []struct{} `json:"identifiers"`
}

func (h *Handler) mountPolaris(r gin.IRouter, authenticate gin.HandlerFunc) {
	g := r.Group("/polaris/v1/:prefix", authenticate, wire.DecodePath)
	g.GET("/applicable-policies", h.inCatalog(noApplicablePolicies))
	g.GET("/namespaces/:namespace/policies", h.inCatalog(h.noneInNamespace))
	g.GET("/namespaces/:namespace/generic-tables", h.inCatalog(h.noneInNamespace))
}

func noApplicablePolicies(c *gin.Context, _ scope) error {
	return wire.JSON(c, http.StatusOK, applicablePoliciesAnswer{Policies: []struct{}{}})
}

// noneInNamespace answers with nothing for a namespace that the caller sees.
func (h *Handler) noneInNamespace(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	if err := h.Namespaces.NamespaceExists(s.ctx, s.caller, s.cat, levels); err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, identifiersAnswer{Identifiers: []struct{}{}})
}

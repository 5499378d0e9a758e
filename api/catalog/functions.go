package catalog

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func (h *Handler) functionRoutes() []route {
	const functions = "/namespaces/{namespace}/functions"
	return []route{
		{http.MethodGet, functions, h.listFunctions},
		{http.MethodGet, functions + "/{function}", h.loadFunction},
	}
}

// functionsAnswer lists functions by their levels and name.
type functionsAnswer struct {
	Identifiers [][]string `json:"identifiers"`
}

// listFunctions answers that there are none: the protocol has no way yet to create one.
func (h *Handler) listFunctions(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	if _, err := pageOf(c); err != nil {
		return err
	}
	if err := h.Namespaces.NamespaceExists(s.ctx, s.caller, s.cat, levels); err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, functionsAnswer{Identifiers: [][]string{}})
}

func (h *Handler) loadFunction(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	if err := h.Namespaces.NamespaceExists(s.ctx, s.caller, s.cat, levels); err != nil {
		return err
	}
	return fault.About(fault.NotFound, fault.Function, "Function does not exist: %s",
		models.TableIdent{Namespace: levels, Name: c.Param("function")})
}

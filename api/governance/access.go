package governance

import (
	"net/http"

	"github.com/gin-gonic/gin"

	apimanagement "github.com/sluice-data/sluice/api/management"
	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

type explanationAnswer struct {
	Allowed      bool              `json:"allowed"`
	Object       string            `json:"object"`
	Scope        models.GrantScope `json:"scope"` // "" for the service
	Ways         []wayAnswer       `json:"ways"`
	Roles        []string          `json:"roles"`
	CatalogRoles []string          `json:"catalogRoles"`
	Advice       string            `json:"advice,omitempty"`
}

// wayAnswer is one chain of roles and a grant. What service_admin holds of itself has no catalog role and no grant.
type wayAnswer struct {
	PrincipalRole string               `json:"principalRole"`
	CatalogRole   string               `json:"catalogRole,omitempty"`
	Grant         *apimanagement.Grant `json:"grant,omitempty"`
	On            string               `json:"on"`
	Implies       bool                 `json:"implies"`
}

// explain says whether a principal holds a privilege on an object, and by which roles. The caller's own principal is
// meant where none is named, the service where no object is.
func (h *Handler) explain(c *gin.Context) error {
	caller := wire.Caller(c)
	q := management.Question{Principal: c.Query("principal"), Privilege: models.Privilege(c.Query("privilege")), Object: c.Query("object")}
	if q.Privilege == "" {
		return fault.New(fault.Invalid, "The parameter privilege is required, such as TABLE_READ_DATA.")
	}
	if q.Principal == "" {
		q.Principal = caller.Principal
	}
	e, err := h.Explainer.Explain(c.Request.Context(), caller, q)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, explanationOf(e))
}

func explanationOf(e management.Explanation) explanationAnswer {
	out := explanationAnswer{
		Allowed: e.Allowed, Object: e.Object, Scope: e.Scope, Ways: make([]wayAnswer, 0, len(e.Ways)),
		Roles: names(e.Roles), CatalogRoles: names(e.CatalogRoles), Advice: e.Advice,
	}
	for _, w := range e.Ways {
		way := wayAnswer{PrincipalRole: w.PrincipalRole, CatalogRole: w.CatalogRole, On: w.On, Implies: w.Implies}
		if w.CatalogRole != "" {
			g := apimanagement.GrantOf(w.Grant)
			way.Grant = &g
		}
		out.Ways = append(out.Ways, way)
	}
	return out
}

// names gives a list for one that is nil.
func names(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

package governance

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

type whoamiAnswer struct {
	Principal      string                `json:"principal"`
	TokenID        string                `json:"tokenId"`
	Kind           string                `json:"kind"`    // engine, access or oidc
	Catalog        string                `json:"catalog"` // "" for every catalog
	CanWrite       bool                  `json:"canWrite"`
	CanGovern      bool                  `json:"canGovern"`
	Clearance      models.Classification `json:"clearance"`
	PrincipalRoles []string              `json:"principalRoles"` // that the token acts with
	ExpiresAt      *time.Time            `json:"expiresAt"`
}

func (h *Handler) whoami(c *gin.Context) error {
	caller := wire.Caller(c)
	out := whoamiAnswer{
		Principal: caller.Principal, TokenID: caller.TokenID, Kind: kindOf(caller), CanWrite: !caller.ReadOnly, CanGovern: caller.CanGovern,
		Clearance: caller.Clearance, PrincipalRoles: names(caller.RoleNames), ExpiresAt: caller.ExpiresAt,
	}
	var err error
	if out.Catalog, err = h.ownCatalog(c); err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, out)
}

// kindOf tells what kind of token the caller has. Those of other issuers have no row, and an id that says so.
func kindOf(caller policy.Caller) string {
	switch {
	case caller.EngineToken:
		return string(models.EngineToken)
	case strings.HasPrefix(caller.TokenID, "oidc:"):
		return "oidc"
	}
	return string(models.AccessToken)
}

// ownCatalog names the catalog that the caller's token is bound to, "" when it opens every one.
func (h *Handler) ownCatalog(c *gin.Context) (string, error) {
	caller := wire.Caller(c)
	if caller.CatalogID == "" {
		return "", nil
	}
	cat, err := h.Tables.Resolve(c.Request.Context(), caller, "")
	return cat.Name, err
}

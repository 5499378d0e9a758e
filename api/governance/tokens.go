package governance

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/models"
)

type mintedAnswer struct {
	ID        string     `json:"id"`
	Token     string     `json:"token"` // shown this once
	Name      string     `json:"name,omitempty"`
	Principal string     `json:"principal"`
	Catalog   string     `json:"catalog"`
	Roles     []string   `json:"principalRoles,omitempty"` // the only ones that it acts with
	CanWrite  bool       `json:"canWrite"`
	CanGovern bool       `json:"canGovern"`
	ExpiresAt *time.Time `json:"expiresAt"`
	Hint      string     `json:"hint"`
}

type tokenAnswer struct {
	ID         string     `json:"id"`
	Name       string     `json:"name,omitempty"`
	Hint       string     `json:"hint"`
	Principal  string     `json:"principal"`
	Catalog    string     `json:"catalog"`
	Roles      []string   `json:"principalRoles,omitempty"` // the only ones that it acts with
	CanWrite   bool       `json:"canWrite"`
	CanGovern  bool       `json:"canGovern"`
	CreatedBy  string     `json:"createdBy"`
	CreatedAt  time.Time  `json:"createdAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"`
	RevokedAt  *time.Time `json:"revokedAt"`
}

// mintToken defaults to the caller's own principal and to the catalog of its token.
func (h *Handler) mintToken(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("principal", "catalog", "name", "principalRoles", "canWrite", "canGovern", "expiresIn")
	in := access.MintInput{
		Principal: body.OptionalString("principal"),
		Catalog:   body.OptionalString("catalog"),
		Name:      body.OptionalString("name"),
		Roles:     roles(body),
		CanWrite:  body.Bool("canWrite"),
		CanGovern: body.Bool("canGovern"),
		ExpiresIn: expiresIn(body),
	}
	if err := body.Err(); err != nil {
		return err
	}
	caller := wire.Caller(c)
	if in.Principal == "" {
		in.Principal = caller.Principal
	}
	if in.Catalog == "" && caller.CatalogID != "" {
		if in.Catalog, err = h.ownCatalog(c); err != nil {
			return err
		}
	}
	token, secret, err := h.Tokens.MintToken(c.Request.Context(), caller, in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusCreated, mintedAnswer{
		ID: token.ID, Token: secret, Name: token.Name, Principal: in.Principal, Catalog: in.Catalog,
		Roles: in.Roles, CanWrite: token.CanWrite, CanGovern: token.CanGovern, ExpiresAt: token.ExpiresAt, Hint: token.Hint,
	})
}

// roles reads the names of the only principal roles that a token is to act with, nil when absent.
func roles(body *wire.Fields) []string {
	const field = "principalRoles"
	list := body.OptionalStrings(field)
	if list != nil && len(list) == 0 {
		body.Fail(field, "must name at least one role; leave it out for all of the principal's")
	}
	return list
}

// expiresIn reads a number of seconds, or a duration such as "90m", "24h" or "30d"; 0 when absent.
func expiresIn(body *wire.Fields) time.Duration {
	const field, want = "expiresIn", `must be a positive number of seconds or a duration such as "24h" or "30d"`
	raw := body.Raw(field)
	if raw == nil {
		return 0
	}
	text := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			text = ""
		}
	} else {
		text += "s"
	}
	d, err := models.ParseDuration(text)
	if err != nil || d <= 0 {
		body.Fail(field, want)
		return 0
	}
	return d
}

func (h *Handler) listTokens(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	rows, err := h.Tokens.ListTokens(c.Request.Context(), wire.Caller(c), c.Query("after"), limit)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, tokenOf, func(t access.TokenView) string { return t.ID }))
}

func tokenOf(t access.TokenView) tokenAnswer {
	return tokenAnswer{
		ID: t.ID, Name: t.Name, Hint: t.Hint, Principal: t.Principal, Catalog: t.Catalog, Roles: t.Roles, CanWrite: t.CanWrite, CanGovern: t.CanGovern,
		CreatedBy: t.CreatedBy, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt,
	}
}

func (h *Handler) revokeToken(c *gin.Context) error {
	if err := h.Tokens.RevokeToken(c.Request.Context(), wire.Caller(c), c.Param("id")); err != nil {
		return err
	}
	return wire.NoContent(c)
}

package management

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

// Grant is a grant as the API writes it.
type Grant struct {
	Type      models.GrantScope `json:"type"`
	Namespace []string          `json:"namespace,omitempty"`
	TableName string            `json:"tableName,omitempty"`
	ViewName  string            `json:"viewName,omitempty"`
	Privilege models.Privilege  `json:"privilege"`
}

type grantsAnswer struct {
	Grants []Grant `json:"grants"`
}

// GrantOf writes a grant.
func GrantOf(g management.GrantInput) Grant {
	out := Grant{Type: g.Scope, Namespace: g.Namespace, Privilege: g.Privilege}
	switch g.Scope {
	case models.OnTable:
		out.TableName = g.Name
	case models.OnView:
		out.ViewName = g.Name
	case models.OnCatalog, models.OnNamespace:
	}
	return out
}

const (
	// leftOutHeader counts the grants that a client was not shown because it could not have read them.
	leftOutHeader = "X-Sluice-Grants-Left-Out"
	// generatedClient is how clients call themselves that were generated from Polaris's own description of the API.
	generatedClient = "OpenAPI-Generator/"
)

// listGrants shows all grants, except that clients generated from Polaris's description are not shown those of
// privileges that it does not know: they would refuse the whole list.
func (h *Handler) listGrants(c *gin.Context) error {
	list, err := h.admin.ListGrants(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam))
	if err != nil {
		return err
	}
	if strings.HasPrefix(c.Request.UserAgent(), generatedClient) {
		shown := slices.DeleteFunc(slices.Clone(list), func(g management.GrantInput) bool { return ownPrivilege(g.Privilege) })
		if n := len(list) - len(shown); n > 0 {
			c.Header(leftOutHeader, strconv.Itoa(n))
		}
		list = shown
	}
	return wire.JSON(c, http.StatusOK, grantsAnswer{listOf(list, GrantOf)})
}

// ownPrivilege tells the privileges that Sluice has and Polaris has not.
func ownPrivilege(p models.Privilege) bool {
	switch p {
	case models.TableGovern, models.AuditRead, models.DataRead, models.DataWrite:
		return true
	}
	return false
}

func (h *Handler) addGrant(c *gin.Context) error {
	in, err := readGrant(c)
	if err != nil {
		return err
	}
	if err := h.admin.AddGrant(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam), in); err != nil {
		return err
	}
	c.Status(http.StatusCreated)
	return nil
}

// revokeGrant is a POST, and answers 201: so it is in Polaris.
func (h *Handler) revokeGrant(c *gin.Context) error {
	cascade, err := cascadeOf(c)
	if err != nil {
		return err
	}
	in, err := readGrant(c)
	if err != nil {
		return err
	}
	if err := h.admin.RevokeGrant(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam), in, cascade); err != nil {
		return err
	}
	c.Status(http.StatusCreated)
	return nil
}

func cascadeOf(c *gin.Context) (bool, error) {
	text := c.Query("cascade")
	if text == "" {
		return false, nil
	}
	cascade, err := strconv.ParseBool(text)
	if err != nil {
		return false, fault.New(fault.Invalid, "The parameter cascade must be true or false.")
	}
	return cascade, nil
}

func readGrant(c *gin.Context) (management.GrantInput, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return management.GrantInput{}, err
	}
	known(body, "grant")
	f := body.Nested("grant")
	in := management.GrantInput{Scope: models.GrantScope(f.String("type")), Privilege: models.Privilege(f.String("privilege"))}
	switch in.Scope {
	case models.OnCatalog:
		known(f, "type", "privilege")
	case models.OnNamespace:
		known(f, "type", "privilege", "namespace")
		in.Namespace = readLevels(f)
	case models.OnTable:
		known(f, "type", "privilege", "namespace", "tableName")
		in.Namespace, in.Name = readLevels(f), f.String("tableName")
	case models.OnView:
		known(f, "type", "privilege", "namespace", "viewName")
		in.Namespace, in.Name = readLevels(f), f.String("viewName")
	case "policy", "semantic-model":
		f.Fail("type", "is %s, and Sluice has no such objects: grant on a catalog, namespace, table or view", in.Scope)
	case "":
	default:
		f.Fail("type", "must be catalog, namespace, table or view, not %q", in.Scope)
	}
	return in, body.Err()
}

func readLevels(f *wire.Fields) []string {
	levels := f.Strings("namespace")
	if len(levels) == 0 && f.Has("namespace") {
		f.Fail("namespace", "must have at least one level")
	}
	if slices.Contains(levels, "") {
		f.Fail("namespace", "must have no empty level")
	}
	if slices.ContainsFunc(levels, func(l string) bool { return strings.Contains(l, "\x1f") }) { // it would be two of them
		f.Fail("namespace", "must have no level with a unit separator")
	}
	return levels
}

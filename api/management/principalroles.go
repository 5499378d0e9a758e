package management

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

// roleAnswer is a principal role or, without federated, a catalog role.
type roleAnswer struct {
	Name       string            `json:"name"`
	Federated  *bool             `json:"federated,omitempty"`
	Properties map[string]string `json:"properties"`
	stamp
}

type rolesAnswer struct {
	Roles []roleAnswer `json:"roles"`
}

func principalRoleOf(r models.PrincipalRole) roleAnswer {
	return roleAnswer{Name: r.Name, Federated: &r.Federated, Properties: propertiesOf(r.Properties), stamp: stampOf(r.CreatedAt, r.UpdatedAt, r.Version)}
}

// newRole reads the role that a body has as its member field, with the members that it may have.
func newRole(c *gin.Context, field string, members ...string) (management.NewRole, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return management.NewRole{}, err
	}
	known(body, field)
	f := body.Nested(field)
	known(f, append(outputOnly(), members...)...)
	in := management.NewRole{Name: f.String(nameField), Federated: f.Bool(federatedField), Properties: f.OptionalStringMap(propertiesField)}
	return in, body.Err()
}

// namedRole reads the name of the role that a body has as its member field. Clients send all that they know of it.
func namedRole(c *gin.Context, field string) (string, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return "", err
	}
	known(body, field)
	name := body.Nested(field).String(nameField)
	return name, body.Err()
}

func (h *Handler) listPrincipalRoles(c *gin.Context) error {
	list, err := h.admin.ListPrincipalRoles(c.Request.Context(), wire.Caller(c))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, rolesAnswer{listOf(list, principalRoleOf)})
}

func (h *Handler) createPrincipalRole(c *gin.Context) error {
	in, err := newRole(c, "principalRole", nameField, federatedField, propertiesField)
	if err != nil {
		return err
	}
	r, err := h.admin.CreatePrincipalRole(c.Request.Context(), wire.Caller(c), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusCreated, principalRoleOf(r))
}

func (h *Handler) getPrincipalRole(c *gin.Context) error {
	r, err := h.admin.GetPrincipalRole(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, principalRoleOf(r))
}

func (h *Handler) updatePrincipalRole(c *gin.Context) error {
	in, err := roleChange(c, federatedField)
	if err != nil {
		return err
	}
	r, err := h.admin.UpdatePrincipalRole(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, principalRoleOf(r))
}

func (h *Handler) deletePrincipalRole(c *gin.Context) error {
	if err := h.admin.DeletePrincipalRole(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam)); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) principalsOf(c *gin.Context) error {
	list, err := h.admin.PrincipalsOf(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, principalsAnswer{listOf(list, principalOf)})
}

func (h *Handler) catalogRolesOf(c *gin.Context) error {
	list, err := h.admin.CatalogRolesOf(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam), c.Param(CatalogParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, rolesAnswer{listOf(list, catalogRoleOf)})
}

func (h *Handler) assignCatalogRole(c *gin.Context) error {
	role, err := namedRole(c, "catalogRole")
	if err != nil {
		return err
	}
	if err := h.admin.AssignCatalogRole(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam), c.Param(CatalogParam), role); err != nil {
		return err
	}
	c.Status(http.StatusCreated)
	return nil
}

func (h *Handler) revokeCatalogRole(c *gin.Context) error {
	err := h.admin.RevokeCatalogRole(c.Request.Context(), wire.Caller(c), c.Param(principalRoleParam), c.Param(CatalogParam), c.Param(catalogRoleParam))
	if err != nil {
		return err
	}
	return wire.NoContent(c)
}

package management

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/models"
)

func catalogRoleOf(r models.CatalogRole) roleAnswer {
	return roleAnswer{Name: r.Name, Properties: propertiesOf(r.Properties), stamp: stampOf(r.CreatedAt, r.UpdatedAt, r.Version)}
}

func (h *Handler) listCatalogRoles(c *gin.Context) error {
	list, err := h.admin.ListCatalogRoles(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, rolesAnswer{listOf(list, catalogRoleOf)})
}

func (h *Handler) createCatalogRole(c *gin.Context) error {
	in, err := newRole(c, "catalogRole", nameField, propertiesField)
	if err != nil {
		return err
	}
	r, err := h.admin.CreateCatalogRole(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusCreated, catalogRoleOf(r))
}

func (h *Handler) getCatalogRole(c *gin.Context) error {
	r, err := h.admin.GetCatalogRole(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, catalogRoleOf(r))
}

func (h *Handler) updateCatalogRole(c *gin.Context) error {
	in, err := roleChange(c)
	if err != nil {
		return err
	}
	r, err := h.admin.UpdateCatalogRole(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, catalogRoleOf(r))
}

func (h *Handler) deleteCatalogRole(c *gin.Context) error {
	if err := h.admin.DeleteCatalogRole(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam)); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) principalRolesWith(c *gin.Context) error {
	list, err := h.admin.PrincipalRolesWith(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), c.Param(catalogRoleParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, rolesAnswer{listOf(list, principalRoleOf)})
}

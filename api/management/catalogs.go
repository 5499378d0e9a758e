package management

import (
	"maps"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

const (
	// baseLocation is the property that Polaris keeps a catalog's base location in; Sluice has a column for it.
	baseLocation = "default-base-location"
	internal     = "INTERNAL" // the type of catalogs whose tables are managed here
	storageField = "storageConfigInfo"
)

type catalogAnswer struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Properties map[string]string `json:"properties"`
	stamp
	Storage            storageAnswer      `json:"storageConfigInfo"`
	DefaultWritePolicy models.WritePolicy `json:"defaultWritePolicy"` // Sluice's own member
}

type catalogsAnswer struct {
	Catalogs []catalogAnswer `json:"catalogs"`
}

func catalogOf(c models.Catalog) catalogAnswer {
	properties := maps.Clone(propertiesOf(c.Properties))
	properties[baseLocation] = c.BaseLocation
	return catalogAnswer{
		Type: internal, Name: c.Name, Properties: properties, stamp: stampOf(c.CreatedAt, c.UpdatedAt, c.Version),
		Storage: storageOf(c), DefaultWritePolicy: c.DefaultWritePolicy,
	}
}

func (h *Handler) listCatalogs(c *gin.Context) error {
	list, err := h.admin.ListCatalogs(c.Request.Context(), wire.Caller(c))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, catalogsAnswer{listOf(list, catalogOf)})
}

func (h *Handler) createCatalog(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	known(body, "catalog")
	in := newCatalog(body.Nested("catalog"))
	if err := body.Err(); err != nil {
		return err
	}
	cat, err := h.admin.CreateCatalog(c.Request.Context(), wire.Caller(c), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusCreated, catalogOf(cat))
}

// newCatalog reads a catalog; members that it does not know may be those of a newer client and are left out.
func newCatalog(f *wire.Fields) management.NewCatalog {
	if t := f.OptionalString("type"); t != internal && t != "" {
		f.Fail("type", "must be %s: Sluice keeps its own tables and serves no external catalogs, so that %s is not to be had", internal, t)
	}
	if f.Has("connectionConfigInfo") {
		f.Fail("connectionConfigInfo", "is for external catalogs, which Sluice does not serve; leave it out")
	}
	in := management.NewCatalog{Name: f.String(nameField), Properties: requiredProperties(f)}
	var ok bool
	if in.BaseLocation, ok = takeBase(in.Properties); !ok {
		f.Fail(propertiesField+"."+baseLocation, "is required: say where the catalog's tables go")
	}
	if f.Has(storageField) {
		in.Storage, in.AllowedLocations = readStorage(f.Nested(storageField), in.BaseLocation)
	} else {
		f.Fail(storageField, "is required")
	}
	return in
}

// takeBase takes the base location out of the properties.
func takeBase(properties map[string]string) (location string, ok bool) {
	location = properties[baseLocation]
	delete(properties, baseLocation)
	return location, location != ""
}

func (h *Handler) getCatalog(c *gin.Context) error {
	cat, err := h.admin.GetCatalog(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, catalogOf(cat))
}

func (h *Handler) updateCatalog(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	known(body, versionField, propertiesField, storageField)
	in := management.CatalogChange{Version: body.Int64(versionField), Properties: body.OptionalStringMap(propertiesField)}
	in.BaseLocation, _ = takeBase(in.Properties)
	if body.Has(storageField) {
		storage, allowed := readStorage(body.Nested(storageField), in.BaseLocation)
		in.Storage, in.AllowedLocations = &storage, allowed
	}
	if err := body.Err(); err != nil {
		return err
	}
	cat, err := h.admin.UpdateCatalog(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam), in)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, catalogOf(cat))
}

func (h *Handler) deleteCatalog(c *gin.Context) error {
	if err := h.admin.DeleteCatalog(c.Request.Context(), wire.Caller(c), c.Param(CatalogParam)); err != nil {
		return err
	}
	return wire.NoContent(c)
}

package catalog

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

func (h *Handler) viewRoutes() []route {
	const (
		views = "/namespaces/{namespace}/views"
		view  = views + "/{view}"
	)
	return []route{
		{http.MethodGet, views, h.listViews},
		{http.MethodPost, views, h.createView},
		{http.MethodGet, view, h.loadView},
		{http.MethodHead, view, h.viewExists},
		{http.MethodPost, view, h.replaceView},
		{http.MethodDelete, view, h.dropView},
		{http.MethodPost, "/views/rename", h.renameView},
		{http.MethodPost, "/namespaces/{namespace}/register-view", h.registerView},
	}
}

func pathView(c *gin.Context) (models.TableIdent, error) {
	levels, err := pathNamespace(c)
	return models.TableIdent{Namespace: levels, Name: c.Param("view")}, err
}

// answerView writes a LoadViewResult around the document's own bytes. Views have no ETag: the protocol knows none.
func answerView(c *gin.Context, view core.LoadedView, err error) error {
	if err != nil {
		return err
	}
	head := append([]byte(`{"metadata-location":`), quoted(view.Row.MetadataLocation)...)
	c.Header("Cache-Control", revalidate)
	wire.Raw(c, http.StatusOK, append(head, `,"metadata":`...), view.Document.Bytes(), []byte(`,"config":{}}`))
	return nil
}

func (h *Handler) listViews(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	page, err := pageOf(c)
	if err != nil {
		return err
	}
	list, err := h.Views.ListViews(s.ctx, s.caller, s.cat, levels, page)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, tablesAnswer{
		Identifiers: orEmpty(list.Items), NextPageToken: encodePageToken(list.Next),
	})
}

func (h *Handler) createView(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.CreateViewInput{
		Namespace:  levels,
		Name:       body.String("name"),
		Location:   body.OptionalString("location"),
		Schema:     body.Object("schema"),
		Version:    body.Object("view-version"),
		Properties: body.OptionalStringMap("properties"),
	}
	if err := body.Err(); err != nil {
		return err
	}
	view, err := h.Views.CreateView(s.ctx, s.caller, s.cat, in)
	return answerView(c, view, err)
}

func (h *Handler) registerView(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.RegisterViewInput{
		Namespace: levels, Name: body.String("name"), MetadataLocation: body.String("metadata-location"),
	}
	if err := body.Err(); err != nil {
		return err
	}
	view, err := h.Views.RegisterView(s.ctx, s.caller, s.cat, in)
	return answerView(c, view, err)
}

func (h *Handler) loadView(c *gin.Context, s scope) error {
	ident, err := pathView(c)
	if err != nil {
		return err
	}
	view, err := h.Views.LoadView(s.ctx, s.caller, s.cat, ident)
	return answerView(c, view, err)
}

func (h *Handler) viewExists(c *gin.Context, s scope) error {
	ident, err := pathView(c)
	if err != nil {
		return err
	}
	if err := h.Views.ViewExists(s.ctx, s.caller, s.cat, ident); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) replaceView(c *gin.Context, s scope) error {
	ident, err := pathView(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	if body.Has("identifier") {
		named := identifier(body, "identifier")
		if body.Err() == nil && (named.Name != ident.Name || !slices.Equal(named.Namespace, ident.Namespace)) {
			return fault.New(fault.Invalid, "Field \"identifier\" names %s but the path names %s. Send one view's commit to that view.", named, ident)
		}
	}
	updates := body.List("updates")
	var requirements []json.RawMessage // a view's commit may leave them out, unlike a table's
	if body.Has("requirements") {
		requirements = body.List("requirements")
	}
	if err := body.Err(); err != nil {
		return err
	}
	in := core.ReplaceViewInput{View: ident}
	if in.Requirements, err = metadata.DecodeViewRequirements(requirements); err != nil {
		return err
	}
	if in.Updates, err = metadata.DecodeViewUpdates(updates); err != nil {
		return err
	}
	view, err := h.Views.ReplaceView(s.ctx, s.caller, s.cat, in)
	return answerView(c, view, err)
}

func (h *Handler) dropView(c *gin.Context, s scope) error {
	ident, err := pathView(c)
	if err != nil {
		return err
	}
	if err := h.Views.DropView(s.ctx, s.caller, s.cat, ident); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) renameView(c *gin.Context, s scope) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	from, to := identifier(body, "source"), identifier(body, "destination")
	if err := body.Err(); err != nil {
		return err
	}
	if err := h.Views.RenameView(s.ctx, s.caller, s.cat, from, to); err != nil {
		return err
	}
	return wire.NoContent(c)
}

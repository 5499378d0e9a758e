package catalog

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

type tablesAnswer struct {
	Identifiers   []models.TableIdent `json:"identifiers"`
	NextPageToken string              `json:"next-page-token,omitempty"`
}

func (h *Handler) listTables(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	page, err := pageOf(c)
	if err != nil {
		return err
	}
	list, err := h.Tables.ListTables(s.ctx, s.caller, s.cat, levels, page)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, tablesAnswer{
		Identifiers: orEmpty(list.Items), NextPageToken: encodePageToken(list.Next),
	})
}

func (h *Handler) createTable(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.CreateTableInput{
		Namespace:     levels,
		Name:          body.String("name"),
		Location:      body.OptionalString("location"),
		Schema:        body.Object("schema"),
		PartitionSpec: body.OptionalObject("partition-spec"),
		WriteOrder:    body.OptionalObject("write-order"),
		Properties:    body.OptionalStringMap("properties"),
		Stage:         body.Bool("stage-create"),
	}
	if err := body.Err(); err != nil {
		return err
	}
	view, err := h.Tables.CreateTable(s.ctx, s.caller, s.cat, in)
	if err != nil {
		return err
	}
	return h.answerMade(c, s, models.TableIdent{Namespace: levels, Name: in.Name}, view)
}

func (h *Handler) registerTable(c *gin.Context, s scope) error {
	levels, err := pathNamespace(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	in := core.RegisterInput{
		Namespace:        levels,
		Name:             body.String("name"),
		MetadataLocation: body.String("metadata-location"),
		Overwrite:        body.Bool("overwrite"),
	}
	if err := body.Err(); err != nil {
		return err
	}
	view, err := h.Tables.RegisterTable(s.ctx, s.caller, s.cat, in)
	if err != nil {
		return err
	}
	return h.answerMade(c, s, models.TableIdent{Namespace: levels, Name: in.Name}, view)
}

func (h *Handler) loadTable(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	mode, err := snapshotMode(c.Query("snapshots"))
	if err != nil {
		return err
	}
	view, err := h.Tables.LoadTable(s.ctx, s.caller, s.cat, ident)
	if err != nil {
		return err
	}
	use, err := h.Storage.UseLoaded(s.ctx, s.caller, s.cat, view, delegation(c))
	if err != nil {
		return err
	}
	tag := etagOf(view, mode, use)
	if matchesETag(c.Request.Header.Values("If-None-Match"), tag) {
		c.Header("ETag", tag)
		c.Header("Cache-Control", revalidate)
		c.Status(http.StatusNotModified)
		return nil
	}
	open, err := h.opened(c, s, ident, use)
	if err != nil {
		return err
	}
	answerLoaded(c, view, mode, tag, open)
	return nil
}

func (h *Handler) tableExists(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	if err := h.Tables.TableExists(s.ctx, s.caller, s.cat, ident); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) dropTable(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	purge, err := purgeRequested(c.Query("purgeRequested"))
	if err != nil {
		return err
	}
	if err := h.Tables.DropTable(s.ctx, s.caller, s.cat, ident, purge); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) unregisterTable(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	view, err := h.Tables.UnregisterTable(s.ctx, s.caller, s.cat, ident)
	if err != nil {
		return err
	}
	answerCommitted(c, view)
	return nil
}

// purgeRequested reads the flag as Java (true) and as Python (True) spell it.
func purgeRequested(raw string) (bool, error) {
	switch raw {
	case "true", "True", "TRUE":
		return true, nil
	case "", "false", "False", "FALSE":
		return false, nil
	}
	return false, fault.New(fault.Invalid, "The parameter purgeRequested must be true or false.")
}

func (h *Handler) renameTable(c *gin.Context, s scope) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	from, to := identifier(body, "source"), identifier(body, "destination")
	if err := body.Err(); err != nil {
		return err
	}
	if err := h.Tables.RenameTable(s.ctx, s.caller, s.cat, from, to); err != nil {
		return err
	}
	return wire.NoContent(c)
}

// identifier reads a required table identifier; what is wrong is kept in body.
func identifier(body *wire.Fields, name string) models.TableIdent {
	inner := body.Nested(name)
	ident := models.TableIdent{Namespace: inner.Strings("namespace"), Name: inner.String("name")}
	if err := checkLevels(ident.Namespace); err != nil && body.Err() == nil {
		inner.Fail("namespace", "is wrong: %s", fault.PublicMessage(err))
	}
	return ident
}

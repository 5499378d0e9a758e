package governance

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const defaultLevelPath = "default-classification"

func (h *Handler) mountClassification(g gin.IRouter) {
	g.PUT("/tables/:ref/classification", takes(h.setClassification))
	g.GET("/tables/:ref/row-filters", takes(h.listRowFilters))
	g.PUT("/tables/:ref/row-filters/:role", takes(h.setRowFilter))
	g.DELETE("/tables/:ref/row-filters/:role", takes(h.removeRowFilter))
	g.GET("/namespaces/:ref/default-classification", takes(defaultOf(namespaceRef, h.showDefaultLevel)))
	g.PUT("/namespaces/:ref/default-classification", takes(defaultOf(namespaceRef, h.setDefaultLevel)))
	g.GET("/catalogs/:ref/default-classification", takes(defaultOf(catalogRef, h.showDefaultLevel)))
	g.PUT("/catalogs/:ref/default-classification", takes(defaultOf(catalogRef, h.setDefaultLevel)))
}

type defaultLevelAnswer struct {
	Ref       string                `json:"ref"`
	Level     models.Classification `json:"level"`
	Inherited bool                  `json:"inherited"` // there is none of its own
}

// defaultOf handles the default level of what a path names.
func defaultOf(named func(c *gin.Context, what string) (string, error), handle func(c *gin.Context, ref string) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		ref, err := named(c, defaultLevelPath)
		if err != nil {
			return err
		}
		return handle(c, ref)
	}
}

func (h *Handler) showDefaultLevel(c *gin.Context, ref string) error {
	d, err := h.Policies.DefaultClassification(c.Request.Context(), wire.Caller(c), ref)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, defaultLevelAnswer{Ref: ref, Level: d.Level, Inherited: d.Inherited})
}

func (h *Handler) setDefaultLevel(c *gin.Context, ref string) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("level")
	body.String("level") // it is required
	level := readLevel(body, "level")
	if err := body.Err(); err != nil {
		return err
	}
	if err := h.Policies.SetDefaultClassification(c.Request.Context(), wire.Caller(c), ref, level); err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, defaultLevelAnswer{Ref: ref, Level: level})
}

// setClassification changes what the body names; what it leaves out stays as it is.
func (h *Handler) setClassification(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("level", "identityColumns", "columns")
	in := core.GovernanceInput{
		Level:           readLevel(body, "level"),
		IdentityColumns: body.OptionalStrings("identityColumns"),
	}
	if body.Has("columns") {
		in.Columns = make(map[string]models.ColumnGovernance)
		for name, column := range body.Map("columns") {
			in.Columns[name] = readColumn(column)
		}
	}
	if err := body.Err(); err != nil {
		return err
	}
	if in.Level == "" && in.IdentityColumns == nil && in.Columns == nil {
		return fault.New(fault.Invalid, "The body changes nothing. Give level, identityColumns or columns.")
	}
	state, err := h.Policies.SetGovernance(c.Request.Context(), wire.Caller(c), c.Param("ref"), in)
	return h.answerTable(c, state, err)
}

// maxTag is the longest tag of a column, in characters.
const maxTag = 256

func readColumn(column *wire.Fields) models.ColumnGovernance {
	column.Only("sensitivity", "tag", "mask")
	mask, err := models.ParseMask(column.OptionalString("mask"))
	if err != nil {
		column.Fail("mask", "is wrong: %s", err)
	}
	return models.ColumnGovernance{Sensitivity: readLevel(column, "sensitivity"), Tag: column.Text("tag", maxTag), Mask: mask}
}

// readLevel reads an optional level.
func readLevel(f *wire.Fields, field string) models.Classification {
	name := f.OptionalString(field)
	if name == "" {
		return ""
	}
	level, err := models.ParseClassification(name)
	if err != nil {
		f.Fail(field, "is wrong: %s", err)
	}
	return level
}

package governance

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/models"
)

type rowFilterAnswer struct {
	Role       string          `json:"role"`
	Filter     string          `json:"filter"`     // as it was written
	Expression json.RawMessage `json:"expression"` // the same as an Iceberg expression
}

func rowFilterOf(f models.RowFilter) rowFilterAnswer {
	return rowFilterAnswer{Role: f.Role, Filter: f.Filter, Expression: f.Expression}
}

func (h *Handler) listRowFilters(c *gin.Context) error {
	filters, err := h.Policies.RowFilters(c.Request.Context(), wire.Caller(c), c.Param("ref"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(filters, len(filters)+1, rowFilterOf, func(f models.RowFilter) string { return f.Role }))
}

// setRowFilter answers the filter with the expression that was made of it.
func (h *Handler) setRowFilter(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("filter")
	filter := body.String("filter")
	if err := body.Err(); err != nil {
		return err
	}
	role := c.Param("role")
	filters, err := h.Policies.SetRowFilter(c.Request.Context(), wire.Caller(c), c.Param("ref"), role, &filter)
	if err != nil {
		return err
	}
	out := rowFilterAnswer{Role: role, Filter: filter}
	if i := slices.IndexFunc(filters, func(f models.RowFilter) bool { return f.Role == role }); i >= 0 {
		out = rowFilterOf(filters[i])
	}
	return wire.JSON(c, http.StatusOK, out)
}

func (h *Handler) removeRowFilter(c *gin.Context) error {
	if _, err := h.Policies.SetRowFilter(c.Request.Context(), wire.Caller(c), c.Param("ref"), c.Param("role"), nil); err != nil {
		return err
	}
	return wire.NoContent(c)
}

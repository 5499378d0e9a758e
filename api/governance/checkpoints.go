package governance

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/policy"
)

// Checkpoints are the signed statements of where the audit's chain was.
type Checkpoints interface {
	// Checkpoints gives checkpoints, newest first, those that follow the one with the id after.
	Checkpoints(ctx context.Context, caller policy.Caller, after string, limit int) ([]audit.Checkpoint, error)
}

func (h *Handler) listCheckpoints(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	rows, err := h.Checkpoints.Checkpoints(c.Request.Context(), wire.Caller(c), c.Query("after"), limit)
	if err != nil {
		return err
	}
	same := func(p audit.Checkpoint) audit.Checkpoint { return p }
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, same, func(p audit.Checkpoint) string { return p.ID }))
}

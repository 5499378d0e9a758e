package data

import (
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/models"
)

const idempotencyHeader = "Idempotency-Key"

// write lands the rows of the body, which is read as it comes.
func (h *Handler) write(c *gin.Context) error {
	format, err := formatOf(c.GetHeader("Content-Type"))
	if err != nil {
		return err
	}
	out, err := h.Rows.Write(contextOf(c), wire.Caller(c), wire.Param(c, "ref"), dataplane.WriteInput{
		Mode: models.WriteMode(c.Query("mode")), Format: format, Body: body{c.Request.Body}, Label: models.Classification(c.Query("label")),
		OnViolation: dataplane.OnViolation(c.Query("on-violation")), Key: c.GetHeader(idempotencyHeader),
	})
	if err != nil {
		return refusal(err)
	}
	return wire.JSON(c, http.StatusOK, resultOf(out))
}

// resultAnswer is what a write did. What is null it did not need: without rows there is no audit, and without rows that
// landed no snapshot.
type resultAnswer struct {
	AuditID    *string `json:"audit-id"`
	SnapshotID *string `json:"snapshot-id"`
	dataplane.WriteResult
}

func resultOf(r dataplane.WriteResult) resultAnswer {
	out := resultAnswer{SnapshotID: snapshotID(r.SnapshotID), WriteResult: r}
	if r.AuditID != "" {
		out.AuditID = &r.AuditID
	}
	return out
}

// body is the body of a request, whose errors say what is wrong with it.
type body struct{ from io.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // readers of io.Reader compare likewise
		err = wire.ReadError(err)
	}
	return n, err
}

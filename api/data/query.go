package data

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// query answers with rows. Once something of the answer was sent an error can only cut it off: clients must not take a
// part of the rows for all of them.
func (h *Handler) query(c *gin.Context) error {
	in, err := queryInput(c)
	if err != nil {
		return err
	}
	out := &sink{c: c}
	err = h.Rows.Query(contextOf(c), wire.Caller(c), wire.Param(c, "ref"), in, out)
	if err == nil {
		err = out.finish()
	}
	if err != nil && !out.sent {
		out.withdraw()
		return refusal(err)
	}
	if err != nil {
		h.cutOff(c, out, in.Format, err)
	}
	return nil
}

// queryInput reads what is asked for.
func queryInput(c *gin.Context) (dataplane.QueryInput, error) {
	var in dataplane.QueryInput
	var err error
	if in.Format, err = accepted(c.Request.Header.Values("Accept")); err != nil {
		return in, err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return in, err
	}
	body.Only("select", "filter", "where", "limit", "snapshot-id", "as-of", "page-size", "page-token")
	in.Select, in.Filter, in.Where = body.OptionalStrings("select"), body.Raw("filter"), body.OptionalString("where")
	in.PageToken = body.OptionalString("page-token")
	in.Limit, in.PageSize = atLeastOne(body, "limit"), int(min(atLeastOne(body, "page-size"), 1<<30))
	in.SnapshotID = snapshotOf(body)
	if text := body.OptionalString("as-of"); text != "" {
		if in.AsOf, err = time.Parse(time.RFC3339Nano, text); err != nil {
			body.Fail("as-of", "must be a time such as 2026-01-31T08:00:00Z (RFC 3339)")
		}
	}
	return in, body.Err()
}

// atLeastOne reads a number that may be missing, which is 0.
func atLeastOne(body *wire.Fields, name string) int64 {
	if !body.Has(name) {
		return 0
	}
	n := body.Int64(name)
	if n < 1 {
		body.Fail(name, "must be at least 1")
	}
	return n
}

// snapshotOf reads the id of a snapshot, as text or as a number; nil where there is none.
func snapshotOf(body *wire.Fields) *int64 {
	const name = "snapshot-id"
	raw := body.Raw(name)
	if raw == nil {
		return nil
	}
	text := string(raw)
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // it is a string
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		body.Fail(name, "must be the id of a snapshot, as text")
		return nil
	}
	return &id
}

// cutOff ends an answer that cannot be finished. In NDJSON a last line says why; then the connection is cut.
func (h *Handler) cutOff(c *gin.Context, out *sink, f rows.Format, err error) {
	status := "failed"
	if wire.Whole(c).Err() != nil || errors.Is(err, errGone) {
		status = "was left by its client"
	}
	h.Log.WarnContext(c.Request.Context(), "an answer with rows "+status,
		"requestId", c.Writer.Header().Get(wire.RequestIDHeader), "route", c.FullPath(), "error", wire.Scrubbed(err.Error()))
	if f == rows.NDJSON {
		line, _ := json.Marshal(map[string]any{"error": map[string]any{
			"message": fault.PublicMessage(err), "type": "AnswerCutOffException", "code": http.StatusInternalServerError,
		}})
		_, _ = out.Write(append(line, '\n')) // a client that has gone misses nothing
		_ = out.finish()
	}
	panic(http.ErrAbortHandler)
}

package data

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/models"
)

// Limits of lists.
const (
	defaultLimit = 100
	mostWrites   = 1000
	mostRows     = 10_000
)

// list is every list's answer. Next is the value of ?after= for the next page, absent after the last one.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// writeAnswer is a governed write that landed.
type writeAnswer struct {
	AuditID              string                          `json:"audit-id"`
	Table                string                          `json:"table"` // with its namespace, as of the write
	TableUUID            string                          `json:"table-uuid"`
	SnapshotID           *string                         `json:"snapshot-id"` // null when all rows were quarantined
	Principal            string                          `json:"principal"`
	Mode                 models.WriteMode                `json:"mode"`
	Label                models.Classification           `json:"label,omitempty"`
	Digest               string                          `json:"digest"` // SHA-256 of what was sent
	Bytes                int64                           `json:"bytes"`
	Rows                 int64                           `json:"rows"`
	Updated              int64                           `json:"updated"`
	Superseded           int64                           `json:"superseded"`
	Quarantined          int64                           `json:"quarantined"`
	QuarantineTable      string                          `json:"quarantine-table,omitempty"`
	QuarantineSnapshotID *string                         `json:"quarantine-snapshot-id,omitempty"`
	Level                models.Classification           `json:"level,omitempty"`
	Levels               map[models.Classification]int64 `json:"levels"`
	Tags                 map[string]int64                `json:"tags"`
	IdentityColumns      []string                        `json:"identity-columns"`
	CommittedAt          time.Time                       `json:"committed-at"`
}

func writeOf(w models.GovernedWrite) writeAnswer {
	out := writeAnswer{
		AuditID: w.ID, Table: w.TableName, TableUUID: w.TableUUID, SnapshotID: snapshotID(w.SnapshotID), Principal: w.Principal,
		Mode: w.Mode, Label: w.Label, Digest: w.Digest, Bytes: w.Bytes, Rows: w.Rows, Updated: w.Updated, Superseded: w.Superseded,
		Quarantined: w.Quarantined, QuarantineTable: w.QuarantineTable, QuarantineSnapshotID: snapshotID(w.QuarantineSnapshotID),
		Level: w.Level, Levels: w.Levels.V, Tags: w.Tags.V, IdentityColumns: w.IdentityColumns.V, CommittedAt: w.CommittedAt,
	}
	if out.Levels == nil {
		out.Levels = map[models.Classification]int64{}
	}
	if out.Tags == nil {
		out.Tags = map[string]int64{}
	}
	if out.IdentityColumns == nil {
		out.IdentityColumns = []string{}
	}
	return out
}

// snapshotID writes an id as text; 0 is none.
func snapshotID(id int64) *string {
	if id == 0 {
		return nil
	}
	s := strconv.FormatInt(id, 10)
	return &s
}

// rowAnswer is the audit of a row that landed.
type rowAnswer struct {
	Hash    string                `json:"hash"` // of its identity
	Level   models.Classification `json:"level"`
	Tags    []string              `json:"tags"`
	Updated bool                  `json:"updated"` // it took the place of a row that was there
}

func rowOf(r rowaudit.Record) rowAnswer {
	out := rowAnswer{Hash: hex.EncodeToString(r.Hash[:]), Level: r.Level, Tags: r.Tags, Updated: r.Updated}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	return out
}

func (h *Handler) listWrites(c *gin.Context) error {
	limit, err := numberOf(c, "limit", defaultLimit, mostWrites)
	if err != nil {
		return err
	}
	found, err := h.Audit.ListWrites(c.Request.Context(), wire.Caller(c), wire.Param(c, "ref"), models.GovernedWriteFilter{
		Principal: c.Query("principal"), Before: c.Query("after"), Limit: limit,
	})
	if err != nil {
		return err
	}
	out := list[writeAnswer]{Items: []writeAnswer{}}
	for _, w := range found {
		out.Items = append(out.Items, writeOf(w))
	}
	if len(found) == limit {
		out.Next = found[limit-1].ID
	}
	return wire.JSON(c, http.StatusOK, out)
}

func (h *Handler) showWrite(c *gin.Context) error {
	w, err := h.Audit.ShowWrite(c.Request.Context(), wire.Caller(c), wire.Param(c, "id"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, writeOf(w))
}

func (h *Handler) listRows(c *gin.Context) error {
	limit, err := numberOf(c, "limit", defaultLimit, mostRows)
	if err != nil {
		return err
	}
	after, err := dataplane.ParseRowPlace(c.Query("after"))
	if err != nil {
		return err
	}
	found, next, err := h.Audit.WrittenRows(c.Request.Context(), wire.Caller(c), wire.Param(c, "id"), after, limit)
	if err != nil {
		return err
	}
	out := list[rowAnswer]{Items: []rowAnswer{}}
	for _, r := range found {
		out.Items = append(out.Items, rowOf(r))
	}
	if next != nil {
		out.Next = next.String()
	}
	return wire.JSON(c, http.StatusOK, out)
}

// landingAnswer is a write that landed the row that was asked for.
type landingAnswer struct {
	Row   rowAnswer   `json:"row"`
	Write writeAnswer `json:"write"`
}

// findRow tells which writes landed a row, by the values of its identity columns.
func (h *Handler) findRow(c *gin.Context) error {
	fields, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	fields.Only("identity")
	identity := fields.Object("identity")
	if err := fields.Err(); err != nil {
		return err
	}
	hash, found, err := h.Audit.FindRow(contextOf(c), wire.Caller(c), wire.Param(c, "ref"), identity)
	if err != nil {
		return refusal(err)
	}
	out := struct {
		Hash  string          `json:"hash"`
		Items []landingAnswer `json:"items"`
	}{hex.EncodeToString(hash[:]), []landingAnswer{}}
	for _, l := range found {
		out.Items = append(out.Items, landingAnswer{Row: rowOf(l.Row), Write: writeOf(l.Write)})
	}
	return wire.JSON(c, http.StatusOK, out)
}

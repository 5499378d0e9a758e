package governance

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// longestNote bounds what somebody says of a finding, in characters.
const longestNote = 1000

type findingAnswer struct {
	ID          string             `json:"id"`
	Kind        models.FindingKind `json:"kind"`
	Severity    models.Severity    `json:"severity"`
	Ref         string             `json:"ref"` // of the table, when it was seen last
	Catalog     string             `json:"catalog"`
	Table       string             `json:"table"` // with its namespace
	TableUUID   string             `json:"tableUuid"`
	SnapshotID  *string            `json:"snapshotId"` // that committed what it is about
	Principal   string             `json:"principal"`  // who committed that
	WriterID    string             `json:"writerId,omitempty"`
	Subject     string             `json:"subject"`
	Evidence    map[string]any     `json:"evidence"`
	FirstSeenAt time.Time          `json:"firstSeenAt"`
	LastSeenAt  time.Time          `json:"lastSeenAt"`
	Open        bool               `json:"open"`
	ResolvedAt  *time.Time         `json:"resolvedAt"`
	ResolvedBy  string             `json:"resolvedBy,omitempty"`
	Note        string             `json:"note,omitempty"`
}

func (h *Handler) listFindings(c *gin.Context) error {
	filter, err := findingFilter(c)
	if err != nil {
		return err
	}
	rows, err := h.Findings.Findings(c.Request.Context(), wire.Caller(c), c.Query("table"), filter)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, filter.Limit, findingOf, func(f models.Finding) string { return f.ID }))
}

func findingFilter(c *gin.Context) (models.FindingFilter, error) {
	filter := models.FindingFilter{WriterID: c.Query("writer"), Before: c.Query("after")}
	var err error
	if filter.Kind, err = knownKind(c.Query("kind")); err != nil {
		return filter, err
	}
	if text := c.Query("open"); text != "" {
		open, err := strconv.ParseBool(text)
		if err != nil {
			return filter, fault.New(fault.Invalid, "The parameter open must be true or false.")
		}
		filter.Open = &open
	}
	filter.Limit, err = limitOf(c)
	return filter, err
}

// knownKind refuses a kind that no finding has: a typing mistake would look as if all were well.
func knownKind(name string) (models.FindingKind, error) {
	kinds := models.FindingKinds()
	if name == "" || slices.Contains(kinds, models.FindingKind(name)) {
		return models.FindingKind(name), nil
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return "", fault.New(fault.Invalid, "There is no kind of finding %q. %s.", name, likely(name, names))
}

func (h *Handler) resolveFinding(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("note")
	note := body.Text("note", longestNote)
	if err := body.Err(); err != nil {
		return err
	}
	finding, err := h.Findings.ResolveFinding(c.Request.Context(), wire.Caller(c), c.Param("id"), note)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, findingOf(finding))
}

func findingOf(f models.Finding) findingAnswer {
	out := findingAnswer{
		ID: f.ID, Kind: f.Kind, Severity: f.Severity, Ref: events.Ref(f.Catalog, "", f.Table), Catalog: f.Catalog, Table: f.Table,
		TableUUID: f.TableUUID, SnapshotID: idString(f.SnapshotID), Principal: f.Principal, WriterID: f.WriterID, Subject: f.Subject, Evidence: f.Evidence.V,
		FirstSeenAt: f.FirstSeenAt, LastSeenAt: f.LastSeenAt, Open: f.ResolvedAt == nil, ResolvedAt: f.ResolvedAt,
		ResolvedBy: f.ResolvedBy, Note: f.Note,
	}
	if out.Evidence == nil {
		out.Evidence = map[string]any{}
	}
	return out
}

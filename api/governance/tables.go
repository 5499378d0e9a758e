package governance

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/models"
)

type tableAnswer struct {
	UUID             string                             `json:"uuid"`
	Ref              string                             `json:"ref"`
	Catalog          string                             `json:"catalog"`
	Namespace        []string                           `json:"namespace"`
	Name             string                             `json:"name"`
	WritePolicy      models.WritePolicy                 `json:"writePolicy"`
	DuplicateCommits models.DuplicateMode               `json:"duplicateCommits"`
	Protected        bool                               `json:"protected"`
	Classification   models.Classification              `json:"classification"`
	IdentityColumns  []string                           `json:"identityColumns"`
	Columns          map[string]models.ColumnGovernance `json:"columns"`
	// ColumnLevels are the levels of all columns, also of those that governance does not name. Absent in lists, and where the
	// table's metadata cannot be read.
	ColumnLevels       map[string]models.Classification `json:"columnLevels,omitempty"`
	RowFilters         []rowFilterAnswer                `json:"rowFilters"` // for those who may read them
	RowCount           *int64                           `json:"rowCount"`
	CurrentSnapshotID  *string                          `json:"currentSnapshotId"`
	RecordedSnapshotID *string                          `json:"recordedSnapshotId"`
	PendingCommits     int64                            `json:"pendingCommits"`
	LagSeconds         float64                          `json:"lagSeconds"` // age of the oldest pending commit
	Location           string                           `json:"location"`
	FormatVersion      int                              `json:"formatVersion"`
	MetadataLocation   string                           `json:"metadataLocation"`
	CreatedAt          time.Time                        `json:"createdAt"`
	UpdatedAt          time.Time                        `json:"updatedAt"`
}

type workflowAnswer struct {
	WorkflowID string `json:"workflowId"`
}

func (h *Handler) listTables(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	filter := models.TableFilter{After: c.Query("after"), Limit: limit}
	page, err := h.Tables.TableStates(c.Request.Context(), wire.Caller(c), c.Query("catalog"), filter)
	if err != nil {
		return err
	}
	out := list[tableAnswer]{Items: make([]tableAnswer, 0, len(page.Items)), Next: page.Next}
	for _, state := range page.Items {
		out.Items = append(out.Items, h.tableOf(state))
	}
	return wire.JSON(c, http.StatusOK, out)
}

func (h *Handler) showTable(c *gin.Context) error {
	state, err := h.Tables.TableState(c.Request.Context(), wire.Caller(c), c.Param("ref"))
	if err != nil {
		return err
	}
	out := h.tableOf(state)
	if levels, err := h.Policies.ColumnLevels(c.Request.Context(), wire.Caller(c), c.Param("ref")); err == nil {
		out.ColumnLevels = levels
	}
	return wire.JSON(c, http.StatusOK, out)
}

func (h *Handler) reconcile(c *gin.Context) error {
	id, err := h.Tables.Reconcile(c.Request.Context(), wire.Caller(c), c.Param("ref"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusAccepted, workflowAnswer{WorkflowID: id})
}

func (h *Handler) answerTable(c *gin.Context, state models.TableState, err error) error {
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, h.tableOf(state))
}

func (h *Handler) tableOf(s models.TableState) tableAnswer {
	t, levels := s.Table, s.NamespaceKey.Levels()
	out := tableAnswer{
		UUID: t.UUID, Catalog: s.CatalogName, Namespace: orEmpty(levels), Name: t.Name,
		Ref:         s.CatalogName + "." + models.TableIdent{Namespace: levels, Name: t.Name}.String(),
		WritePolicy: t.WritePolicy, DuplicateCommits: t.DuplicateCommits, Protected: t.Protected, Classification: t.Classification,
		IdentityColumns: orEmpty(t.IdentityColumns.V), Columns: t.Columns.V,
		RowCount: t.RowCount, CurrentSnapshotID: idString(t.CurrentSnapshotID), RecordedSnapshotID: idString(t.RecordedSnapshotID),
		PendingCommits: s.PendingCommits, Location: t.Location, FormatVersion: t.FormatVersion,
		MetadataLocation: t.MetadataLocation, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
	out.RowFilters = make([]rowFilterAnswer, 0, len(t.RowFilters.V))
	for _, f := range t.RowFilters.V {
		out.RowFilters = append(out.RowFilters, rowFilterOf(f))
	}
	if out.DuplicateCommits == "" {
		out.DuplicateCommits = models.AuditDuplicates
	}
	if out.Columns == nil {
		out.Columns = map[string]models.ColumnGovernance{}
	}
	if s.OldestPending != nil {
		out.LagSeconds = max(0, h.Now().Sub(*s.OldestPending).Seconds())
	}
	return out
}

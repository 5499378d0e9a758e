package governance

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

type droppedAnswer struct {
	ID               string           `json:"id"`
	UUID             string           `json:"uuid"`
	Ref              string           `json:"ref"` // as it was
	Catalog          string           `json:"catalog"`
	Namespace        []string         `json:"namespace"`
	Name             string           `json:"name"`
	State            models.DropState `json:"state"`
	DroppedAt        time.Time        `json:"droppedAt"`
	DroppedBy        string           `json:"droppedBy"`
	PurgeRequested   bool             `json:"purgeRequested"`
	PurgeAfter       *time.Time       `json:"purgeAfter"` // null: its files stay
	ChangedAt        time.Time        `json:"changedAt"`  // of the state
	PurgedFiles      *int64           `json:"purgedFiles"`
	PurgedBytes      *int64           `json:"purgedBytes"`
	Location         string           `json:"location"`
	MetadataLocation string           `json:"metadataLocation"`
}

func (h *Handler) setProtection(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("protected")
	protected := body.Bool("protected")
	if !body.Has("protected") {
		body.Fail("protected", "is required")
	}
	if err := body.Err(); err != nil {
		return err
	}
	state, err := h.Drops.SetProtection(c.Request.Context(), wire.Caller(c), c.Param("ref"), protected)
	return h.answerTable(c, state, err)
}

func (h *Handler) listDropped(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	filter := models.DroppedFilter{Before: c.Query("after"), Limit: limit}
	if filter.States, err = dropStates(c.Query("state")); err != nil {
		return err
	}
	page, err := h.Drops.DroppedTables(c.Request.Context(), wire.Caller(c), c.Query("catalog"), filter)
	if err != nil {
		return err
	}
	out := list[droppedAnswer]{Items: make([]droppedAnswer, 0, len(page.Items)), Next: page.Next}
	for _, d := range page.Items {
		out.Items = append(out.Items, droppedOf(d))
	}
	return wire.JSON(c, http.StatusOK, out)
}

// dropStates reads ?state=: none for those whose files are kept or being deleted, "all", or one state.
func dropStates(raw string) ([]models.DropState, error) {
	every := []models.DropState{
		models.StateDropped, models.StatePurging, models.StatePurged, models.StateUndropped,
		models.StateUnregistered, models.StateRegistered, models.StateForgotten,
	}
	switch raw {
	case "":
		return nil, nil
	case "all":
		return every, nil
	}
	names := make([]string, len(every))
	for i, s := range every {
		if string(s) == raw {
			return []models.DropState{s}, nil
		}
		names[i] = string(s)
	}
	return nil, fault.New(fault.Invalid, "The parameter state must be all or one of %s.", strings.Join(names, ", "))
}

func droppedOf(d core.DroppedView) droppedAnswer {
	return droppedAnswer{
		ID: d.ID, UUID: d.TableUUID, Ref: d.CatalogName + "." + d.Ident().String(),
		Catalog: d.CatalogName, Namespace: orEmpty(d.NamespaceKey.Levels()), Name: d.Name,
		State: d.State, DroppedAt: d.DroppedAt, DroppedBy: d.DroppedBy,
		PurgeRequested: d.PurgeRequested, PurgeAfter: d.PurgeAfter, ChangedAt: d.ChangedAt,
		PurgedFiles: d.PurgedFiles, PurgedBytes: d.PurgedBytes, Location: d.Location, MetadataLocation: d.MetadataLocation,
	}
}

// undropTable takes an optional body: {"name": "namespace.table"}, the levels joined by dots.
func (h *Handler) undropTable(c *gin.Context) error {
	var as *models.TableIdent
	if c.Request.ContentLength != 0 {
		body, err := wire.ReadObject(c)
		if err != nil {
			return err
		}
		body.Only("name")
		if name := body.OptionalString("name"); body.Has("name") {
			levels := strings.Split(name, ".")
			if len(levels) < 2 || strings.Contains("."+name+".", "..") {
				body.Fail("name", "must be namespace.table, with the levels joined by dots")
			}
			as = &models.TableIdent{Namespace: levels[:len(levels)-1], Name: levels[len(levels)-1]}
		}
		if err := body.Err(); err != nil {
			return err
		}
	}
	state, err := h.Drops.UndropTable(c.Request.Context(), wire.Caller(c), c.Param("id"), as)
	return h.answerTable(c, state, err)
}

func (h *Handler) forgetTable(c *gin.Context) error {
	if err := h.Drops.ForgetTable(c.Request.Context(), wire.Caller(c), c.Param("id")); err != nil {
		return err
	}
	return wire.NoContent(c)
}

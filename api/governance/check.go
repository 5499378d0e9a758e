package governance

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
)

type checkAnswer struct {
	OK               bool                  `json:"ok"` // everything is there
	Ref              string                `json:"ref"`
	UUID             string                `json:"uuid"`
	MetadataLocation string                `json:"metadataLocation"`
	Metadata         core.Standing         `json:"metadata"`           // of that file
	LastGood         *string               `json:"lastGoodSnapshotId"` // null: there is none
	Remedy           string                `json:"remedy,omitempty"`
	Snapshots        []snapshotCheckAnswer `json:"snapshots"` // newest first
}

type snapshotCheckAnswer struct {
	ID           string        `json:"id"`
	CommittedAt  time.Time     `json:"committedAt"`
	OnMain       bool          `json:"onMain"`
	State        core.Standing `json:"state"` // the worst of its manifest list and its manifests
	ManifestList string        `json:"manifestList"`
	// MissingManifests are looked for from main's head back to the first snapshot that has all of them.
	MissingManifests []string `json:"missingManifests,omitempty"`
}

func (h *Handler) checkTable(c *gin.Context) error {
	check, err := h.Tables.CheckTable(c.Request.Context(), wire.Caller(c), c.Param("ref"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, checkOf(check))
}

func checkOf(k core.TableCheckup) checkAnswer {
	out := checkAnswer{
		OK: k.Metadata == core.FileThere, Ref: k.Ref, UUID: k.UUID, MetadataLocation: k.MetadataLocation, Metadata: k.Metadata,
		LastGood: idString(k.LastGood), Snapshots: make([]snapshotCheckAnswer, 0, len(k.Snapshots)),
	}
	missing := k.Metadata == core.FileMissing
	for _, s := range k.Snapshots {
		one := snapshotCheckAnswer{
			ID: strconv.FormatInt(s.ID, 10), CommittedAt: s.At, OnMain: s.OnMain, State: s.List, ManifestList: s.ManifestList, MissingManifests: s.Missing,
		}
		if len(s.Missing) > 0 {
			one.State = core.FileMissing
		}
		out.OK = out.OK && one.State == core.FileThere
		missing = missing || one.State == core.FileMissing
		out.Snapshots = append(out.Snapshots, one)
	}
	switch {
	case !missing:
	case out.LastGood != nil:
		out.Remedy = fmt.Sprintf("Restore the missing files from the store's versions or a backup. Where they are gone for good, roll the table back to snapshot %s, "+
			"which is whole: in Spark, CALL <catalog>.system.rollback_to_snapshot('<namespace>.<table>', %s).", *out.LastGood, *out.LastGood)
	default:
		out.Remedy = "Restore the missing files from the store's versions or a backup: no snapshot of main is whole."
	}
	return out
}

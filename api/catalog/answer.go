package catalog

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// The modes of ?snapshots=: every snapshot, or only those that a branch or tag names.
const (
	allSnapshots  = "all"
	refsSnapshots = "refs"
)

// revalidate lets the client alone keep an answer, and makes it ask before each use.
const revalidate = "private, no-cache"

func snapshotMode(raw string) (string, error) {
	switch raw {
	case "", allSnapshots:
		return allSnapshots, nil
	case refsSnapshots:
		return refsSnapshots, nil
	}
	return "", fault.New(fault.Invalid, "The parameter snapshots must be all or refs.")
}

// answerLoaded writes a LoadTableResult around the document's own bytes: it is never encoded again.
func answerLoaded(c *gin.Context, view core.TableView, mode, tag string, open core.StorageOpening) {
	document := view.Document.Bytes
	if mode == refsSnapshots {
		document = view.Document.RefsOnlyBytes
	}
	kept := revalidate
	if holdsKeys(open) {
		kept = neverStored
	}
	answerMetadata(c, view.MetadataLocation, tag, kept, document(), loadedTail(open))
}

// answerMade writes the LoadTableResult of a table that was made or staged.
func (h *Handler) answerMade(c *gin.Context, s scope, ident models.TableIdent, view core.TableView) error {
	use, err := h.Storage.UseMade(s.ctx, s.caller, s.cat, view, delegation(c))
	if err != nil {
		return err
	}
	open, err := h.opened(c, s, ident, use)
	if err != nil {
		return err
	}
	answerLoaded(c, view, allSnapshots, etagOf(view, allSnapshots, use), open)
	return nil
}

// answerCommitted writes a CommitTableResponse. Its tag is that of a load without access to files: it gives no keys, and a
// client that has some is to get new ones with its next load.
func answerCommitted(c *gin.Context, view core.TableView) {
	tag := etagOf(view, allSnapshots, core.StorageUse{})
	answerMetadata(c, view.MetadataLocation, tag, revalidate, view.Document.Bytes(), []byte("}"))
}

func answerMetadata(c *gin.Context, location, tag, kept string, document, tail []byte) {
	head := make([]byte, 0, len(location)+64)
	if location == "" { // staged: there is no file yet, and nothing a client could revalidate
		head = append(head, `{"metadata":`...)
	} else {
		c.Header("ETag", tag)
		head = append(head, `{"metadata-location":`...)
		head = append(head, quoted(location)...)
		head = append(head, `,"metadata":`...)
	}
	c.Header("Cache-Control", kept)
	wire.Raw(c, http.StatusOK, head, document, tail)
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string is always encodable
	return b
}

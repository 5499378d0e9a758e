package catalog

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
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
func (h *Handler) answerLoaded(c *gin.Context, view core.TableView, mode string) {
	document := view.Document.Bytes
	if mode == refsSnapshots {
		document = view.Document.RefsOnlyBytes
	}
	answerMetadata(c, view.MetadataLocation, h.etagOf(c, view, mode), document(), `,"config":{}}`)
}

// answerCommitted writes a CommitTableResponse.
func (h *Handler) answerCommitted(c *gin.Context, view core.TableView) {
	answerMetadata(c, view.MetadataLocation, h.etagOf(c, view, allSnapshots), view.Document.Bytes(), "}")
}

func answerMetadata(c *gin.Context, location, tag string, document []byte, tail string) {
	head := make([]byte, 0, len(location)+64)
	if location == "" { // staged: there is no file yet, and nothing a client could revalidate
		head = append(head, `{"metadata":`...)
	} else {
		c.Header("ETag", tag)
		head = append(head, `{"metadata-location":`...)
		head = append(head, quoted(location)...)
		head = append(head, `,"metadata":`...)
	}
	c.Header("Cache-Control", revalidate)
	wire.Raw(c, http.StatusOK, head, document, []byte(tail))
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string is always encodable
	return b
}

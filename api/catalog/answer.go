package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

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
func answerLoaded(c *gin.Context, view core.TableView, mode string) {
	document := view.Document.Bytes
	if mode == refsSnapshots {
		document = view.Document.RefsOnlyBytes
	}
	answerMetadata(c, view.MetadataLocation, mode, document(), `,"config":{}}`)
}

// answerCommitted writes a CommitTableResponse.
func answerCommitted(c *gin.Context, view core.TableView) {
	answerMetadata(c, view.MetadataLocation, allSnapshots, view.Document.Bytes(), "}")
}

func answerMetadata(c *gin.Context, location, mode string, document []byte, tail string) {
	head := make([]byte, 0, len(location)+64)
	if location == "" { // staged: there is no file yet, and nothing a client could revalidate
		head = append(head, `{"metadata":`...)
	} else {
		c.Header("ETag", etag(location, mode))
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

// etag changes with the metadata file, which is never overwritten, and differs by mode. It is weak because the same
// answer may be sent compressed.
func etag(location, mode string) string {
	if location == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(mode + "\x00" + location))
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// matchesETag compares by RFC 9110's weak comparison; clients that send the tag without quotes count too.
func matchesETag(headers []string, tag string) bool {
	if tag == "" {
		return false
	}
	want := opaqueTag(tag)
	for _, header := range headers {
		for sent := range strings.SplitSeq(header, ",") {
			if sent = strings.TrimSpace(sent); sent == "*" || opaqueTag(sent) == want {
				return true
			}
		}
	}
	return false
}

func opaqueTag(tag string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
}

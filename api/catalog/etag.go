package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	core "github.com/sluice-data/sluice/internal/catalog"
)

const delegationHeader = "X-Iceberg-Access-Delegation"

// etagOf names the answer to a load of a table. It changes with the metadata file, which is never overwritten; it
// differs by snapshot mode and by the access delegation asked for, and with the epoch of vended credentials, so that no
// client is told to go on with expired ones. It is weak because the same answer may be sent compressed. A staged table
// has none.
func (h *Handler) etagOf(c *gin.Context, view core.TableView, mode string) string {
	if view.MetadataLocation == "" {
		return ""
	}
	asked := delegation(c)
	parts := []string{mode, asked, "", view.MetadataLocation}
	if h.CredentialEpoch != nil && asked != "" {
		parts[2] = h.CredentialEpoch(view, asked)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// delegation gives the kinds of access delegation a client asks for, in one spelling: the order says nothing.
func delegation(c *gin.Context) string {
	var kinds []string
	for _, header := range c.Request.Header.Values(delegationHeader) {
		for kind := range strings.SplitSeq(header, ",") {
			if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "" {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), ",")
}

// matchesETag compares an If-None-Match by RFC 9110's weak comparison: a list of tags, or * alone for any. Clients that
// send the tag without quotes count too. Without the header nothing matches.
func matchesETag(headers []string, tag string) bool {
	if tag == "" {
		return false
	}
	want, _ := nextTag(tag)
	rest := strings.Join(headers, ",")
	if strings.TrimSpace(rest) == "*" {
		return true
	}
	for rest != "" {
		var sent string
		if sent, rest = nextTag(rest); sent == want {
			return true
		}
	}
	return false
}

// nextTag cuts the first tag off a list and gives what is between its quotes.
func nextTag(list string) (opaque, rest string) {
	list = strings.TrimPrefix(strings.TrimLeft(list, " \t,"), "W/")
	quoted, isQuoted := strings.CutPrefix(list, `"`)
	if !isQuoted {
		opaque, rest, _ = strings.Cut(list, ",")
		return strings.TrimSpace(opaque), rest
	}
	opaque, rest, _ = strings.Cut(quoted, `"`)
	return opaque, rest
}

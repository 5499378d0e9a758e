package catalog

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/models"
)

const delegationHeader = "X-Iceberg-Access-Delegation"

// delegation gives the ways in that a client asks for, what it likes best first. What is unknown is left out.
func delegation(c *gin.Context) []core.Delegation {
	var asked []core.Delegation
	for _, header := range c.Request.Header.Values(delegationHeader) {
		for kind := range strings.SplitSeq(header, ",") {
			switch d := core.Delegation(strings.ToLower(strings.TrimSpace(kind))); d {
			case core.Vending, core.Signing:
				asked = append(asked, d)
			}
		}
	}
	return asked
}

// routesOf says where a table's client asks for signatures and new keys. The paths are below the URI of the catalog, which
// clients know better than a server behind proxies; where it is configured they are told.
func (h *Handler) routesOf(c *gin.Context, s scope, ident models.TableIdent) core.StorageRoutes {
	levels := make([]string, len(ident.Namespace))
	for i, level := range ident.Namespace {
		levels[i] = encodeSegment(level)
	}
	separator := "%1F"
	if h.NamespaceSeparator != "" {
		separator = encodeAll(h.NamespaceSeparator)
	}
	table := "v1/" + encodeSegment(s.cat.Name) + "/namespaces/" + strings.Join(levels, separator) + "/tables/" + encodeSegment(ident.Name)
	at := core.StorageRoutes{Sign: table + "/sign", Credentials: table + "/credentials"}
	if h.PublicURL != "" {
		mount, _, _ := strings.Cut(c.FullPath(), "/v1/")
		at.URI = strings.TrimRight(h.PublicURL, "/") + mount
	}
	return at
}

// opened gives a client what it asks for to reach the files of a table.
func (h *Handler) opened(c *gin.Context, s scope, ident models.TableIdent, use core.StorageUse) (core.StorageOpening, error) {
	if use.Choice.Mode == core.NoDelegation {
		return core.StorageOpening{}, nil
	}
	open, err := h.Storage.OpenStorage(s.ctx, use, h.routesOf(c, s, ident))
	if open.Mode == core.Signing {
		suitPyIceberg(c.Request, s.cat, open.Config)
	}
	return open, err
}

// firstWithOwnToken is the minor version of PyIceberg 0 that signs with the token of its catalog.
const firstWithOwnToken = 12

// suitPyIceberg makes signing work with PyIceberg. Its file systems are shared by all tables of a process, and so is the
// signer of whichever was loaded last: it is told the route that finds the table by the object. Before version 0.12 it
// signs with no token but the table's, and is given the one that it has; other clients would go on with that after they
// have renewed theirs.
func suitPyIceberg(r *http.Request, cat models.Catalog, config map[string]string) {
	version, ok := strings.CutPrefix(r.UserAgent(), "PyIceberg/")
	if !ok {
		return
	}
	config["s3.signer.endpoint"] = "v1/" + encodeSegment(cat.Name) + legacySign
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if n, err := strconv.Atoi(minor); err == nil && major == "0" && n < firstWithOwnToken {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ") // the scheme is in whichever case
		config["token"] = strings.TrimSpace(token)
	}
}

// loadedTail is what follows the metadata in a LoadTableResult.
func loadedTail(open core.StorageOpening) []byte {
	config := open.Config
	if config == nil {
		config = map[string]string{}
	}
	tail := append([]byte(`,"config":`), encoded(config)...)
	if len(open.Credentials) > 0 {
		tail = append(append(tail, `,"storage-credentials":`...), encoded(credentialAnswers(open.Credentials))...)
	}
	if open.Mode == core.Signing { // nothing has to be repeated in requests for signatures
		tail = append(tail, `,"remote-signing-config":{}`...)
	}
	return append(tail, '}')
}

// encoded writes strings and maps and lists of them, which cannot fail.
func encoded(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

// holdsKeys tells whether an opening must be kept out of caches.
func holdsKeys(open core.StorageOpening) bool {
	return len(open.Credentials) > 0 || open.Config["token"] != ""
}

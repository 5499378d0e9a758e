package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	core "github.com/sluice-data/sluice/internal/catalog"
)

// etagOf names the answer to a load of a table. It changes with the metadata file, which is never overwritten; it differs by
// snapshot mode and by what is given to reach the table's files, and with the epoch of keys, so that no client is told to
// go on with expired ones. It is weak because the same answer may be sent compressed. A staged table has none.
func etagOf(view core.TableView, mode string, use core.StorageUse) string {
	if view.MetadataLocation == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{mode, use.Epoch(), view.MetadataLocation}, "\x00")))
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
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

package catalog

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
)

const (
	tokenVersion    = "1:"
	defaultPageSize = 1000
	maxPageSize     = 10000
)

// pageOf reads pageToken and pageSize. A client that sends no pageToken does not page: it gets everything.
func pageOf(c *gin.Context) (core.Page, error) {
	token, paged := c.GetQuery("pageToken")
	if !paged {
		return core.Page{}, nil
	}
	after, err := decodePageToken(token)
	if err != nil {
		return core.Page{}, err
	}
	size, err := pageSize(c.Query("pageSize"))
	return core.Page{After: after, Limit: size}, err
}

func pageSize(raw string) (int, error) {
	if raw == "" {
		return defaultPageSize, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "The parameter pageSize must be a whole number from 1 to %d.", maxPageSize)
	}
	return min(n, maxPageSize), nil
}

// encodePageToken hides the last name of a page; "" stays "", the end.
func encodePageToken(last string) string {
	if last == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(tokenVersion + last))
}

func decodePageToken(token string) (string, error) {
	if token == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	last, known := strings.CutPrefix(string(raw), tokenVersion)
	if err != nil || !known || last == "" || !utf8.ValidString(last) {
		return "", fault.New(fault.Invalid, "The parameter pageToken is not one that this server gave. Start again with an empty pageToken.")
	}
	return last, nil
}

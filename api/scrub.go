package api

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/api/wire"
)

// longestText bounds a text that is logged or answered: most of it may be what the client sent.
const longestText = 4 << 10

// loggedPath is the request's path as it may be logged, without the query, which may hold secrets.
func loggedPath(c *gin.Context) string {
	const tokens = GovernancePath + "/tokens/"
	path := c.Request.URL.EscapedPath()
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || wire.Scrubbed(plain) != plain {
			segments[i] = wire.Redacted
		}
	}
	// What stands there and is no id may be any secret.
	if id, ok := strings.CutPrefix(path, tokens); ok && uuid.Validate(id) != nil {
		return tokens + wire.Redacted
	}
	return short(strings.Join(segments, "/"))
}

// loggedError is an error's text as it may be logged.
func loggedError(err error) string { return short(wire.Scrubbed(err.Error())) }

// short cuts a long text, not within a character.
func short(text string) string {
	if len(text) <= longestText {
		return text
	}
	end := longestText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

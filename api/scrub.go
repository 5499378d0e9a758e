package api

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// People paste tokens where they do not belong: into a path in the place of an id, into a request id. Logs keep what is
// written to them for long and show it to many.
const (
	redacted = "[redacted]"
	// secretLength is the length from which what looks like a token is one; whole ones have 43 characters.
	secretLength = 20
	// jwtStart is how the header of every JSON Web Token begins: {" in base64.
	jwtStart = "eyJ"
	// longestText bounds a text that is logged or answered: most of it may be what the client sent.
	longestText = 4 << 10
)

// loggedPath is the request's path as it may be logged, without the query, which may hold secrets.
func loggedPath(c *gin.Context) string {
	const tokens = GovernancePath + "/tokens/"
	path := c.Request.URL.EscapedPath()
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || scrubbed(plain) != plain {
			segments[i] = redacted
		}
	}
	// What stands there and is no id may be any secret.
	if id, ok := strings.CutPrefix(path, tokens); ok && uuid.Validate(id) != nil {
		return tokens + redacted
	}
	return short(strings.Join(segments, "/"))
}

// loggedError is an error's text as it may be logged.
func loggedError(err error) string { return short(scrubbed(err.Error())) }

// scrubbed gives the text without tokens, and without what follows "Bearer".
func scrubbed(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		keep, drop := secretAt(text[i:])
		if drop == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(text[i:i+keep] + redacted)
		i += keep + drop
	}
	return b.String()
}

// secretAt finds a secret at the start of a text: after keep bytes that may stay, drop bytes that may not; 0 for none.
func secretAt(text string) (keep, drop int) {
	const bearer = "bearer"
	switch {
	case strings.HasPrefix(text, "slc_"), strings.HasPrefix(text, jwtStart):
	case len(text) > len(bearer) && strings.EqualFold(text[:len(bearer)], bearer):
		keep = len(text) - len(strings.TrimLeft(text[len(bearer):], " \t+:="))
		if keep == len(bearer) {
			return 0, 0
		}
	default:
		return 0, 0
	}
	for keep+drop < len(text) && inToken(text[keep+drop]) {
		drop++
	}
	if drop < secretLength {
		return 0, 0
	}
	return keep, drop
}

func inToken(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-_.~+/=", b) >= 0
}

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

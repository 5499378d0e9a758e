package wire

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/policy"
)

// RequestIDHeader names the request, in requests and answers alike.
const RequestIDHeader = "X-Request-ID"

// Origin tells where the request came from. Its id is the one that the answer has.
func Origin(c *gin.Context) policy.Origin {
	return policy.Origin{RequestID: c.Writer.Header().Get(RequestIDHeader), Address: c.ClientIP(), Client: client(c.Request)}
}

// client names the client's software, without secrets that were put there and cut to a length that is fit to be stored.
func client(r *http.Request) string {
	const longest = 256
	name := r.Header.Get("X-Client-Version")
	if name == "" {
		name = r.UserAgent()
	}
	name = Scrubbed(strings.ToValidUTF8(name, "?"))
	return strings.ToValidUTF8(name[:min(len(name), longest)], "")
}

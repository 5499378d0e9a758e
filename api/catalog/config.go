package catalog

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

type configAnswer struct {
	Defaults  map[string]string `json:"defaults"`
	Overrides map[string]string `json:"overrides"`
	Endpoints []string          `json:"endpoints"`

	IdempotencyKeyLifetime string `json:"idempotency-key-lifetime,omitempty"`
}

func (h *Handler) config(c *gin.Context) error {
	cat, err := h.Resolver.Resolve(c.Request.Context(), wire.Caller(c), c.Query("warehouse"))
	if err != nil {
		return err
	}
	answer := configAnswer{
		Defaults:  map[string]string{},
		Overrides: map[string]string{"prefix": encodeSegment(cat.Name)},
	}
	answer.Endpoints = h.endpoints(h.Storage.Signs(c.Request.Context(), cat))
	if own := h.NamespaceSeparator; own != "" {
		answer.Overrides["namespace-separator"] = encodeAll(own)
	}
	if h.Idempotency != nil {
		answer.IdempotencyKeyLifetime = isoDuration(h.Idempotency.Lifetime())
	}
	return wire.JSON(c, http.StatusOK, answer)
}

// encodeAll percent-encodes every byte: clients decode the separator before they use it.
func encodeAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// isoDuration spells a duration by ISO 8601, in whole seconds.
func isoDuration(d time.Duration) string {
	seconds := int64(d / time.Second)
	out := "PT"
	if h := seconds / 3600; h > 0 {
		out += strconv.FormatInt(h, 10) + "H"
	}
	if m := seconds % 3600 / 60; m > 0 {
		out += strconv.FormatInt(m, 10) + "M"
	}
	if s := seconds % 60; s > 0 || out == "PT" {
		out += strconv.FormatInt(s, 10) + "S"
	}
	return out
}

// endpoints names the operations that are served, as the specification spells them. Without the list clients assume
// a default set that has no HEAD.
func (h *Handler) endpoints(signs bool) []string {
	ops := h.routes()
	if signs {
		ops = append(ops, h.signRoutes()...)
	}
	out := make([]string, 0, len(ops))
	for _, op := range ops {
		out = append(out, op.method+" /v1/{prefix}"+op.path)
	}
	return out
}

// encodeSegment encodes a name for a path so that strict and form decoders read the same: clients paste it unchanged.
func encodeSegment(name string) string {
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

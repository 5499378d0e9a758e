package catalog

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

type configAnswer struct {
	Defaults  map[string]string `json:"defaults"`
	Overrides map[string]string `json:"overrides"`
	Endpoints []string          `json:"endpoints"`
}

func (h *Handler) config(c *gin.Context) error {
	cat, err := h.Resolver.Resolve(c.Request.Context(), wire.Caller(c), c.Query("warehouse"))
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, configAnswer{
		Defaults:  map[string]string{},
		Overrides: map[string]string{"prefix": encodeSegment(cat.Name)},
		Endpoints: h.endpoints(),
	})
}

// endpoints names the operations that are served, as the specification spells them. Without the list clients assume
// a default set that has no HEAD.
func (h *Handler) endpoints() []string {
	ops := h.routes()
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

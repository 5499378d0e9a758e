package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/internal/fault"
)

// Takes makes a handler one that refuses query parameters of other names, and any that is given twice: a filter that is
// mistyped would look as if it had found everything.
func Takes(serve func(*gin.Context) error, parameters ...string) gin.HandlerFunc {
	return Handle(func(c *gin.Context) error {
		given := c.Request.URL.Query()
		for _, name := range slices.Sorted(maps.Keys(given)) {
			switch {
			case len(parameters) == 0:
				return fault.New(fault.Invalid, "This route takes no query parameters, and %q is one.", name)
			case !slices.Contains(parameters, name):
				return fault.New(fault.Invalid, "The query parameter %q is unknown. This route takes %s.", name, strings.Join(parameters, ", "))
			case len(given[name]) > 1:
				return fault.New(fault.Invalid, "The query parameter %q is given more than once.", name)
			}
		}
		return serve(c)
	})
}

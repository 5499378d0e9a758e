package governance

import (
	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

// takes makes the route's handler one that refuses all query parameters but these.
func takes(serve func(*gin.Context) error, parameters ...string) gin.HandlerFunc {
	return wire.Takes(serve, parameters...)
}

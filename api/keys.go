package api

import (
	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
)

// keysFor is how long others may keep the keys, in the words of HTTP. Sluice itself always knows the newest.
const keysFor = "public, max-age=300"

// serveKeys answers with the public keys of access tokens, for others who want to check them.
func serveKeys(keys JWKS) gin.HandlerFunc {
	return wire.Handle(func(c *gin.Context) error {
		set, err := keys.JWKS(c.Request.Context())
		if err != nil {
			return err
		}
		c.Header("Cache-Control", keysFor)
		wire.Raw(c, 200, set)
		return nil
	})
}

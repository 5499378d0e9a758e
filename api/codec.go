package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// CodecPath is where Temporal's command line and Web UI have payloads decoded.
const CodecPath = "/api/temporal/codec"

// serveCodec lets administrators of the service read what workflows were given. A browser asks first whether it may, and
// without the token: that is for the codec to say.
func serveCodec(codec http.Handler, known gin.HandlerFunc) gin.HandlerFunc {
	serve := gin.WrapH(http.StripPrefix(CodecPath, codec))
	return func(c *gin.Context) {
		if c.Request.Method == http.MethodOptions {
			serve(c)
			return
		}
		known(c)
		if c.IsAborted() {
			return
		}
		caller := wire.Caller(c)
		switch {
		case !caller.Has(models.ServiceManageAccess, policy.Path{}):
			wire.Fail(c, fault.New(fault.Forbidden, "Principal %s lacks the privilege %s, which reading what workflows were given needs.",
				caller.Principal, models.ServiceManageAccess))
			return
		case caller.CatalogID != "":
			wire.Fail(c, fault.New(fault.Forbidden, "This token is bound to one catalog and may not read what the workflows of all were given. Use one that is bound to none."))
			return
		}
		serve(c)
	}
}

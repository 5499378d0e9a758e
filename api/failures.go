package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/api/wire"
)

// isFailure tells whether an answer is for the audit as a failed action: of somebody who was let in, by a request that would
// have changed something, and not written as a refusal. Requests beyond a rate limit were not tried, and would fill
// the audit.
func isFailure(c *gin.Context, err error, status int) bool {
	if _, audited := hiddenIn(err); audited {
		return false
	}
	return status != http.StatusUnauthorized && status != http.StatusTooManyRequests &&
		wire.Caller(c).PrincipalID != "" && changesSomething(c.Request.Method, c.FullPath())
}

// changesSomething tells routes that have an effect from those that read, some of which are asked by POST. "" is no route.
func changesSomething(method, route string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodDelete:
	default:
		return false
	}
	if route == "" || strings.HasPrefix(route, CodecPath+"/") {
		return false
	}
	for _, reads := range []string{catalog.TokenPath, "/plan", "/plan/:plan-id", "/tasks", "/sign", "/metrics", "/storage/validate", data.QueryPath, data.RowAuditPath} {
		if strings.HasSuffix(route, reads) {
			return false
		}
	}
	return true
}

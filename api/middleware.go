package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/management"
	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// recoverPanics answers 500 for a handler that panicked and logs the stack. When the answer had begun, the
// connection is cut, so that no client takes half an answer for a whole one.
func recoverPanics(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			log.ErrorContext(c.Request.Context(), "handler panicked",
				"requestId", requestID(c), "route", routeOf(c), "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			c.Abort()
			if c.Writer.Written() {
				panic(http.ErrAbortHandler)
			}
			writeAnswer(c, answerFor(fmt.Errorf("panic: %v", v)))
		}()
		c.Next()
	}
}

// secureHeaders forbids browsers what no answer of the APIs needs.
func secureHeaders(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	if strings.HasPrefix(c.Request.URL.Path, "/api/") || strings.HasPrefix(c.Request.URL.Path, DataPath+"/") {
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
	}
}

// limitTime bounds the context of the request.
func limitTime(d time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		whole := c.Request.Context()
		wire.SetWhole(c, whole)
		ctx, cancel := context.WithTimeout(whole, d)
		defer func() { cancel() }()
		c.Request = c.Request.WithContext(ctx)
		c.Set(restartKey, func() {
			cancel()
			ctx, cancel = context.WithTimeout(whole, d)
			c.Request = c.Request.WithContext(ctx)
		})
		c.Next()
	}
}

// restartKey is where limitTime keeps the function that starts the time anew.
const restartKey = "sluice.restartTime"

// receive reads the request's body, at the client's pace, before the time of the work begins: that is the server's own.
func receive(c *gin.Context) {
	if c.Request.Body == nil || c.Request.Body == http.NoBody {
		return
	}
	if _, err := wire.PeekBody(c); err != nil {
		wire.Fail(c, err)
		return
	}
	if restart, ok := c.Get(restartKey); ok {
		restart.(func())()
	}
}

// authenticate finds out who asks. Whether a read-only token may do what it asks is the use case's to say. Of a token that
// is refused, what is known of it is kept for the log and the audit.
func authenticate(who Authenticator) gin.HandlerFunc {
	return func(c *gin.Context) {
		bearer, ok := bearerToken(c.Request)
		if !ok {
			wire.Fail(c, fault.New(fault.Unauthenticated, "This request needs a token: send the header Authorization: Bearer <token>."))
			return
		}
		caller, err := who.Authenticate(c.Request.Context(), bearer)
		if err != nil {
			if fault.Is(err, fault.Unauthenticated) {
				c.Header("WWW-Authenticate", `Bearer error="invalid_token"`)
			}
			wire.SetCaller(c, policy.Caller{PrincipalID: caller.PrincipalID, Principal: caller.Principal, TokenID: caller.TokenID, Origin: wire.Origin(c)})
			wire.Fail(c, err)
			return
		}
		bePatient(c.Request.Context())
		caller.Origin = wire.Origin(c)
		wire.SetCaller(c, caller)
		wire.SetAgain(c, func(ctx context.Context) (policy.Caller, error) { return who.Authenticate(ctx, bearer) })
		c.Request = c.Request.WithContext(policy.WithAsOf(c.Request.Context(), caller.AsOf))
		if caller.MustRotate && !rotatesItself(c, caller) {
			wire.Fail(c, fault.New(fault.Forbidden,
				"The credentials of principal %s are its first ones and must be rotated before anything else: rotate them first, by `sluice principals rotate-credentials` or POST %s/principals/%s/rotate.",
				caller.Principal, ManagementPath, url.PathEscape(caller.Principal)))
		}
	}
}

// rotatesItself tells the one request that is open to first credentials.
func rotatesItself(c *gin.Context, caller policy.Caller) bool {
	return c.Request.Method == http.MethodPost && c.FullPath() == ManagementPath+management.RotatePath &&
		wire.Param(c, management.PrincipalParam) == caller.Principal
}

func bearerToken(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

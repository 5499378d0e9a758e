package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/governance"
	"github.com/sluice-data/sluice/api/wire"
)

// Limits of a request's head, in bytes. A namespace of the deepest nesting and longest names still fits into a path.
const (
	maxURLBytes    = 128 << 10
	maxHeaderBytes = 64 << 10
)

// dataQueue is how long a request for rows waits for one of the others to end.
const dataQueue = time.Second

// limitInFlight refuses requests while n are being served. It stands before everything that has an effect, so that
// the client may simply try again. Probes are let through, and streams, which have a bound of their own; 0 is no limit.
// Reads and writes of rows last as long as their clients take: there are rows of them beside the n, so that a few slow
// ones keep nobody's commit waiting.
func limitInFlight(n, rows int) gin.HandlerFunc {
	others, data := slotsFor(n), slotsFor(rows)
	return func(c *gin.Context) {
		slots, patience := others, time.Duration(0)
		switch route := c.FullPath(); {
		case isProbe(route) || isStream(route):
			return
		case strings.HasPrefix(route, DataPath+"/"):
			slots, patience = data, dataQueue
		}
		if slots == nil {
			return
		}
		if !enter(c.Request.Context(), slots, patience) {
			wire.Fail(c, &answer{
				status: http.StatusServiceUnavailable, kind: slowDown, retry: true,
				message: "The server is serving as many requests as it can. Nothing was done: try again shortly.",
			})
			return
		}
		defer func() { <-slots }()
		c.Next()
	}
}

// slotsFor gives nil for no limit.
func slotsFor(n int) chan struct{} {
	if n <= 0 {
		return nil
	}
	return make(chan struct{}, n)
}

// enter takes a slot as soon as one is free within patience.
func enter(ctx context.Context, slots chan<- struct{}, patience time.Duration) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	if patience <= 0 {
		return false
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// slowDown is the error type of answers before any effect that ask a client to come back later.
const slowDown = "SlowDownException"

// limitHead refuses a URL or headers that are too long to be meant.
func limitHead(c *gin.Context) {
	if len(c.Request.URL.RawQuery)+len(c.Request.URL.EscapedPath()) > maxURLBytes {
		wire.Fail(c, &answer{
			status: http.StatusRequestURITooLong, kind: "RequestURITooLongException",
			message: "The URL is longer than the limit of " + strconv.Itoa(maxURLBytes) + " bytes. Send shorter names and parameters.",
		})
		return
	}
	total := 0
	for name, values := range c.Request.Header {
		for _, v := range values {
			total += len(name) + len(v)
		}
	}
	if total > maxHeaderBytes {
		wire.Fail(c, &answer{
			status: http.StatusRequestHeaderFieldsTooLarge, kind: "RequestHeadersTooLargeException",
			message: "The headers are larger than the limit of " + strconv.Itoa(maxHeaderBytes) + " bytes. Send fewer or shorter ones.",
		})
	}
}

// rates holds each principal to a number of requests a second, with bursts of as many.
type rates struct {
	perSecond float64
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket // by principal id
	swept   time.Time
}

// bucket has a token for every request that may come now.
type bucket struct {
	tokens float64
	at     time.Time
}

func newRates(perSecond int, now func() time.Time) *rates {
	return &rates{perSecond: float64(perSecond), now: now, buckets: map[string]*bucket{}, swept: now()}
}

// allow takes a token, or tells how long to wait for one.
func (r *rates) allow(principal string) (wait time.Duration) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	b := r.buckets[principal]
	if b == nil {
		b = &bucket{tokens: r.perSecond, at: now}
		r.buckets[principal] = b
	}
	b.tokens = min(r.perSecond, b.tokens+now.Sub(b.at).Seconds()*r.perSecond)
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) / r.perSecond * float64(time.Second))
}

// sweep forgets principals whose bucket is full again: they start with a full one anyway.
func (r *rates) sweep(now time.Time) {
	const every = time.Minute
	if now.Sub(r.swept) < every {
		return
	}
	r.swept = now
	for principal, b := range r.buckets {
		if now.Sub(b.at) > time.Second {
			delete(r.buckets, principal)
		}
	}
}

// limitRate refuses a principal's requests beyond its rate; 0 is no limit. It runs once the caller is known.
func limitRate(perSecond int, now func() time.Time) gin.HandlerFunc {
	if perSecond <= 0 {
		return func(*gin.Context) {}
	}
	r := newRates(perSecond, now)
	return func(c *gin.Context) {
		wait := r.allow(wire.Caller(c).PrincipalID)
		if wait == 0 {
			return
		}
		c.Header("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		wire.Fail(c, &answer{
			status: http.StatusTooManyRequests, kind: slowDown,
			message: "This principal sends more than " + strconv.Itoa(perSecond) + " requests a second. Nothing was done: try again shortly.",
		})
	}
}

// then runs handlers as one, until one of them answers.
func then(handlers ...gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		for _, h := range handlers {
			if h(c); c.IsAborted() {
				return
			}
		}
	}
}

// isProbe tells the routes that operators' machines ask all the time, overload or not.
func isProbe(route string) bool {
	return route == "/healthz" || route == "/readyz" || route == "/metrics"
}

// isStream tells the route whose answers end when their clients leave.
func isStream(route string) bool { return route == GovernancePath+governance.EventsPath }

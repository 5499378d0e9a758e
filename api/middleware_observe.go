package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/api/wire"
)

const (
	requestIDHeader = wire.RequestIDHeader
	requestIDKey    = "sluice.requestId"
	noRouteName     = "unmatched"
)

// observer numbers, measures and logs requests.
type observer struct {
	log      *slog.Logger
	newID    func() string
	duration *prometheus.HistogramVec // nil: not measured
	inFlight prometheus.Gauge
}

func newObserver(log *slog.Logger, reg prometheus.Registerer, newID func() string) *observer {
	o := &observer{log: log, newID: newID}
	if reg == nil {
		return o
	}
	o.duration = register(log, reg, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "sluice_http_request_duration_seconds",
		Help:    "Time from a request's header to the end of its answer, by route template.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"method", "route", "status"}))
	o.inFlight = register[prometheus.Gauge](log, reg, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "sluice_http_requests_in_flight", Help: "Requests being served.",
	}))
	return o
}

// register gives the collector of that name, be it this one or one that an earlier router registered.
func register[C prometheus.Collector](log *slog.Logger, reg prometheus.Registerer, c C) C {
	err := reg.Register(c)
	if taken, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if earlier, ok := taken.ExistingCollector.(C); ok {
			return earlier
		}
	}
	if err != nil {
		log.Error("request metrics are not exposed", "error", err.Error())
	}
	return c
}

func (o *observer) request(c *gin.Context) {
	start := time.Now()
	id := c.GetHeader(requestIDHeader)
	if !saneID(id) {
		id = o.newID()
	}
	c.Set(requestIDKey, id)
	c.Header(requestIDHeader, id)
	if o.inFlight != nil {
		o.inFlight.Inc()
		defer o.inFlight.Dec()
	}
	defer func() { o.done(c, time.Since(start)) }()
	c.Next()
}

func (o *observer) done(c *gin.Context, took time.Duration) {
	status := c.Writer.Status()
	if o.duration != nil && (!isStream(c.FullPath()) || status != http.StatusOK) { // how long a stream lasts is its client's to say
		o.duration.WithLabelValues(methodLabel(c.Request.Method), routeOf(c), strconv.Itoa(status)).Observe(took.Seconds())
	}
	caller := wire.Caller(c)
	attrs := []slog.Attr{
		slog.String("requestId", requestID(c)),
		slog.String("method", c.Request.Method),
		slog.String("path", loggedPath(c)),
		slog.Int("status", status),
		slog.Int("bytes", max(0, c.Writer.Size())),
		slog.Float64("tookMs", milliseconds(took)),
		slog.String("address", c.ClientIP()),
	}
	if caller.Principal != "" {
		attrs = append(attrs, slog.String("principal", caller.Principal), slog.String("tokenId", caller.TokenID))
	}
	if last := c.Errors.Last(); last != nil && status < http.StatusInternalServerError {
		attrs = append(attrs, slog.String("error", loggedError(last.Err)))
	}
	o.log.LogAttrs(c.Request.Context(), levelFor(c.FullPath()), "request", attrs...)
}

// milliseconds gives a time to the microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// levelFor keeps probes out of the log.
func levelFor(route string) slog.Level {
	if isProbe(route) {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

func requestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// routeOf gives the route's template: paths themselves would make a metric for every table.
func routeOf(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return noRouteName
}

func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete:
		return method
	}
	return "other"
}

// saneID accepts what is safe in logs and headers.
func saneID(id string) bool {
	if id == "" || len(id) > 128 || wire.Scrubbed(id) != id {
		return false
	}
	for i := range len(id) {
		b := id[i]
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '-' && b != '_' && b != '.' && b != ':' {
			return false
		}
	}
	return true
}

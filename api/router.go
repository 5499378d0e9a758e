package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/api/governance"
	"github.com/sluice-data/sluice/api/management"
	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/policy"
)

// Paths below which the APIs are mounted. Iceberg clients add /v1 themselves.
const (
	CatalogPath      = "/api/catalog"
	TableCatalogPath = "/api/table/iceberg"
	GovernancePath   = "/api/governance/v1"
	ManagementPath   = "/api/management/v1"
	DataPath         = "/data/v1"
	KeysPath         = "/.well-known/jwks.json"
)

// The limits that a zero Limits means.
const (
	DefaultBodyBytes      = 16 << 20
	DefaultRequestTimeout = time.Minute
)

// maxAdminBody is the largest body of the governance and management APIs, in bytes: a classification of some thousand
// columns.
const maxAdminBody = 1 << 20

// Authenticator answers who a bearer token belongs to. A token that opens nothing is fault.Unauthenticated; where it is
// known all the same, the Caller names its principal and the token.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer string) (policy.Caller, error)
}

// Denials keeps what was refused, and what failed, for the audit.
type Denials interface {
	RecordDenial(ctx context.Context, caller policy.Caller, d access.Denial) error
	RecordFailure(ctx context.Context, caller policy.Caller, f access.Failure) error
}

// JWKS gives the public keys of access tokens as a JSON Web Key Set.
type JWKS interface {
	JWKS(ctx context.Context) ([]byte, error)
}

// Limits bound one request; zero fields mean the defaults.
type Limits struct {
	BodyBytes      int64         // as sent, and again after inflation
	RequestTimeout time.Duration // of the handler's context
	InFlight       int           // requests served at once, probes and those of the data plane aside; 0: no limit
	DataInFlight   int           // and those of the data plane; 0: no limit
	PerSecond      int           // requests of one principal; 0: no limit
}

// Deps is what the router needs. Log, Authenticator, Catalog and Governance are required.
type Deps struct {
	Log           *slog.Logger
	Metrics       prometheus.Registerer // nil: not measured
	Authenticator Authenticator
	Catalog       catalog.Deps
	Governance    governance.Deps           // Now is filled in when nil
	Management    management.Administration // nil: not served
	Data          data.Deps                 // without Rows: not served
	Denials       Denials                   // nil: refusals and failures are not recorded
	JWKS          JWKS                      // nil: not served
	Codec         http.Handler              // of workflows' payloads; nil: not served

	Health, Ready, MetricsPage http.Handler // nil: not served

	Limits         Limits
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed; none by default
	NewID          func() string  // request ids; random UUIDs when nil
}

// Router builds the handler of the whole HTTP surface.
func Router(d Deps) http.Handler {
	d = withDefaults(d)
	gin.SetMode(gin.ReleaseMode) // gin knows no mode per engine; without it, it prints to standard output
	e := gin.New()
	e.UseEscapedPath, e.UnescapePathValues = true, false // wire.DecodePath decodes, once
	e.RedirectTrailingSlash, e.RedirectFixedPath = false, false
	e.HandleMethodNotAllowed = true
	trust(e, d.TrustedProxies)

	observe := newObserver(d.Log, d.Metrics, d.NewID)
	e.Use(observe.request, recoverPanics(d.Log), compressAnswers(), answerErrors(d.Log), recordAnswers(d.Denials, d.Log, d.Catalog.NamespaceSeparator), secureHeaders,
		limitInFlight(d.Limits.InFlight, d.Limits.DataInFlight), limitHead, unlessStreamed(limitBody(d.Limits.BodyBytes)), unlessStreamed(inflateBody(d.Limits.BodyBytes)), limitTime(d.Limits.RequestTimeout), wire.CheckQuery)
	e.NoRoute(noRoute)
	e.NoMethod(noMethod)

	rate := limitRate(d.Limits.PerSecond, time.Now)
	known := then(authenticate(d.Authenticator), rate, receive)
	iceberg := catalog.New(d.Catalog)
	for _, path := range []string{CatalogPath, TableCatalogPath} {
		iceberg.Mount(e.Group(path, refuseDoubledVersion), known)
	}
	governance.New(d.Governance).Mount(e.Group(GovernancePath, limitBody(maxAdminBody)), known)
	if d.Management != nil {
		management.New(d.Management).Mount(e.Group(ManagementPath, limitBody(maxAdminBody)), known)
	}
	if d.Data.Rows != nil {
		streaming := then(authenticate(d.Authenticator), rate, limitBody(d.Data.RequestBytes), inflateBody(d.Data.RequestBytes))
		data.New(d.Data).Mount(e.Group(DataPath), then(limitBody(maxAdminBody), known), streaming)
	}
	if d.JWKS != nil {
		e.GET(KeysPath, serveKeys(d.JWKS))
		e.HEAD(KeysPath, serveKeys(d.JWKS))
	}
	if d.Codec != nil {
		e.POST(CodecPath+"/*codec", serveCodec(d.Codec, known))
		e.OPTIONS(CodecPath+"/*codec", serveCodec(d.Codec, known))
	}
	for path, h := range map[string]http.Handler{"/": Index(), "/healthz": d.Health, "/readyz": d.Ready, "/metrics": d.MetricsPage} {
		if h != nil {
			e.GET(path, gin.WrapH(h))
			e.HEAD(path, gin.WrapH(h))
		}
	}
	return e
}

func withDefaults(d Deps) Deps {
	if d.Limits.BodyBytes <= 0 {
		d.Limits.BodyBytes = DefaultBodyBytes
	}
	if d.Limits.RequestTimeout <= 0 {
		d.Limits.RequestTimeout = DefaultRequestTimeout
	}
	if d.NewID == nil {
		d.NewID = uuid.NewString
	}
	if d.Governance.Now == nil {
		d.Governance.Now = time.Now
	}
	return d
}

func trust(e *gin.Engine, proxies []netip.Prefix) {
	list := make([]string, 0, len(proxies))
	for _, p := range proxies {
		list = append(list, p.String())
	}
	// A netip.Prefix always parses again, so there is no error to expect.
	_ = e.SetTrustedProxies(list)
}

func noRoute(c *gin.Context) {
	if doubledVersion(c.Request.URL.Path) {
		wire.Fail(c, errDoubledVersion(c.Request.URL.Path))
		return
	}
	wire.Fail(c, &answer{
		status: http.StatusNotFound, kind: "NoSuchRouteException",
		message: "There is no such route. The Iceberg catalog is at " + CatalogPath + "/v1, governance at " + GovernancePath + ", management at " + ManagementPath + ", the data plane at " + DataPath + ".",
	})
}

func noMethod(c *gin.Context) {
	wire.Fail(c, &answer{
		status: http.StatusMethodNotAllowed, kind: "MethodNotAllowedException",
		message: "This route does not take " + c.Request.Method + ". It takes " + c.Writer.Header().Get("Allow") + ".",
	})
}

// refuseDoubledVersion keeps /v1/v1/... from being read as the catalog v1: it is a client whose URI ends in /v1.
func refuseDoubledVersion(c *gin.Context) {
	if c.Param("prefix") == "v1" {
		wire.Fail(c, errDoubledVersion(c.Request.URL.Path))
	}
}

func doubledVersion(path string) bool {
	return strings.HasPrefix(path, CatalogPath+"/v1/v1/") || strings.HasPrefix(path, TableCatalogPath+"/v1/v1/")
}

func errDoubledVersion(path string) *answer {
	base, _, _ := strings.Cut(path, "/v1/v1")
	return &answer{
		status: http.StatusNotFound, kind: "NoSuchRouteException",
		message: "The path has /v1/v1: clients add /v1 themselves. Set the catalog URI to end in " + base + ", without /v1.",
	}
}

package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func TestAuthentication(t *testing.T) {
	s := newSite(t)
	for name, tt := range map[string]struct {
		header string
		status int
		says   string
	}{
		"missing":       {"", 401, "Authorization: Bearer"},
		"other scheme":  {"Basic Zm9vOmJhcg==", 401, "Authorization: Bearer"},
		"no token":      {"Bearer", 401, "Authorization: Bearer"},
		"blank token":   {"Bearer   ", 401, "Authorization: Bearer"},
		"unknown":       {"Bearer nobody", 401, "not known"},
		"expired":       {"Bearer expired", 401, "expired"},
		"good":          {"Bearer good", 200, ""},
		"lower case":    {"bearer good", 200, ""},
		"several blank": {"BEARER   good ", 200, ""},
	} {
		for _, path := range []string{"/api/catalog/v1/config", iceberg + "/namespaces", "/api/governance/v1/whoami"} {
			t.Run(name+path, func(t *testing.T) {
				r := s.request(http.MethodGet, path, nil)
				r.Header.Set("Authorization", tt.header)
				if tt.header == "" {
					r.Header.Del("Authorization")
				}
				got := s.send(r)
				require.Equal(t, tt.status, got.StatusCode)
				if tt.status == 200 {
					return
				}
				kind, message := got.failure(t)
				require.Equal(t, "NotAuthorizedException", kind)
				require.Contains(t, message, tt.says)
				require.True(t, strings.HasPrefix(got.Header.Get("WWW-Authenticate"), "Bearer"))
			})
		}
	}
}

func TestCallerCarriesWhereTheRequestCameFrom(t *testing.T) {
	s := newSite(t)
	s.do("GET", iceberg+"/namespaces", "", "X-Request-ID", "req-1", "X-Client-Version", "Apache Iceberg 1.12.0", "X-Forwarded-For", "9.9.9.9")
	require.Equal(t, policy.Origin{RequestID: "req-1", Address: "127.0.0.1", Client: "Apache Iceberg 1.12.0"}, s.caller.Origin)

	s = newSite(t, func(d *api.Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	s.do("GET", iceberg+"/namespaces", "", "X-Forwarded-For", "9.9.9.9", "User-Agent", "DuckDB/1.5")
	require.Equal(t, "9.9.9.9", s.caller.Origin.Address)
	require.Equal(t, "DuckDB/1.5", s.caller.Origin.Client)
}

func TestRequestIDs(t *testing.T) {
	s := newSite(t, func(d *api.Deps) { d.NewID = func() string { return "made" } })
	for sent, want := range map[string]string{
		"abc-1.2:3_4": "abc-1.2:3_4", "": "made", "with blank": "made", `quote"`: "made", strings.Repeat("x", 129): "made",
		"slc_" + strings.Repeat("A", 43): "made", "req:eyJ" + strings.Repeat("b", 43): "made", "slc_orders-load-7": "slc_orders-load-7",
	} {
		require.Equal(t, want, s.do("GET", "/nowhere", "", "X-Request-ID", sent).Header.Get("X-Request-ID"))
	}
}

func TestLogHasNoSecrets(t *testing.T) {
	s := newSite(t)
	s.do("GET", iceberg+"/namespaces?parent=QUERYSECRET", "", "Authorization", "Bearer good")
	s.do("GET", iceberg+"/namespaces", "", "Authorization", "Bearer HEADERSECRET")
	s.do("POST", "/api/catalog/v1/oauth/tokens", "grant_type=client_credentials&client_secret=FORMSECRET",
		"Content-Type", "application/x-www-form-urlencoded")
	s.stop()
	log := s.log.String()
	for _, secret := range []string{"QUERYSECRET", "HEADERSECRET", "FORMSECRET", "eyJ.1"} {
		require.NotContains(t, log, secret)
	}
	require.Contains(t, log, `"principal":"etl"`)
	require.Contains(t, log, `"status":401`)
}

func TestBodyLimit(t *testing.T) {
	s := newSite(t)
	big := bytes.Repeat([]byte(" "), 50<<20)
	t.Run("announced", func(t *testing.T) {
		r := s.send(s.request("POST", iceberg+"/namespaces", bytes.NewReader(big)))
		kind, message := r.failure(t)
		require.Equal(t, 413, r.StatusCode)
		require.Equal(t, "RequestTooLargeException", kind)
		require.Contains(t, message, "16777216 bytes")
	})
	t.Run("not announced", func(t *testing.T) {
		r := s.send(s.request("POST", iceberg+"/namespaces", io.MultiReader(bytes.NewReader(big)))) // chunked
		_, message := r.failure(t)
		require.Equal(t, 413, r.StatusCode)
		require.Contains(t, message, "16777216 bytes")
	})
	t.Run("inflating", func(t *testing.T) {
		r := s.send(s.request("POST", iceberg+"/namespaces", bytes.NewReader(gzipped(t, big)), "Content-Encoding", "gzip"))
		_, message := r.failure(t)
		require.Equal(t, 413, r.StatusCode)
		require.Contains(t, message, "16777216 bytes")
	})
	t.Run("token endpoint", func(t *testing.T) {
		r := s.send(s.request("POST", "/api/catalog/v1/oauth/tokens", io.MultiReader(bytes.NewReader(big)),
			"Content-Type", "application/x-www-form-urlencoded"))
		require.Equal(t, 413, r.StatusCode)
		require.Equal(t, "invalid_request", r.json(t)["error"])
	})
}

func TestBodyShorterThanAnnounced(t *testing.T) {
	s := newSite(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST %s/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Length: 100\r\n\r\n{\"namespace\":", iceberg)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, 400, answer.StatusCode)
}

func TestCompressedRequests(t *testing.T) {
	s := newSite(t)
	body := []byte(`{"namespace":["zipped"]}`)
	require.Equal(t, 200, s.send(s.request("POST", iceberg+"/namespaces", bytes.NewReader(gzipped(t, body)), "Content-Encoding", "gzip")).StatusCode)
	require.Equal(t, []string{"zipped"}, s.levels)

	require.Equal(t, 400, s.do("POST", iceberg+"/namespaces", string(body), "Content-Encoding", "gzip").StatusCode, "not gzip at all")
	r := s.do("POST", iceberg+"/namespaces", string(body), "Content-Encoding", "br")
	_, message := r.failure(t)
	require.Equal(t, 415, r.StatusCode)
	require.Contains(t, message, "gzip")
}

func TestCompressedAnswers(t *testing.T) {
	s, doc := siteWithOrders(t, 50)
	long := s.do("GET", ordersPath, "", "Accept-Encoding", "br;q=1.0, gzip;q=0.8")
	require.Equal(t, "gzip", long.Header.Get("Content-Encoding"))
	require.Less(t, len(long.body), len(doc)/3)
	plain := s.do("GET", ordersPath, "", "Accept-Encoding", "identity")
	require.Equal(t, string(plain.body), string(gunzipped(t, long.body)))
	require.Equal(t, plain.Header.Get("ETag"), long.Header.Get("ETag"))
	require.Equal(t, "Accept-Encoding", long.Header.Get("Vary"))
	require.NotEmpty(t, plain.Header.Get("Content-Length"))

	for name, r := range map[string]reply{
		"short":               s.do("GET", iceberg+"/namespaces", "", "Accept-Encoding", "gzip"),
		"refused, others not": s.do("GET", ordersPath, "", "Accept-Encoding", "gzip;q=0, *"),
		"refused":             s.do("GET", ordersPath, "", "Accept-Encoding", "gzip;q=0, identity"),
		"none":                s.do("GET", ordersPath+"x", "", "Accept-Encoding", "gzip"),
	} {
		require.Empty(t, r.Header.Get("Content-Encoding"), name)
		require.NotEmpty(t, r.body, name)
	}
	head := s.do("HEAD", ordersPath, "", "Accept-Encoding", "gzip")
	require.Equal(t, 204, head.StatusCode)
	again := s.do("GET", ordersPath, "", "Accept-Encoding", "gzip", "If-None-Match", long.Header.Get("ETag"))
	require.Equal(t, 304, again.StatusCode)
	require.Empty(t, again.body)
	require.Empty(t, again.Header.Get("Content-Encoding"))
}

func TestAnswerCutShortByAPanicIsNotTakenForWhole(t *testing.T) {
	s := newSite(t, func(d *api.Deps) {
		d.MetricsPage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 100_000))
			panic("half way")
		})
	})
	for _, encoding := range []string{"gzip", "identity"} {
		answer, err := http.DefaultTransport.RoundTrip(s.request("GET", "/metrics", nil, "Accept-Encoding", encoding))
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			answer.Body.Close()
		}
		require.Error(t, err, encoding)
	}
}

func TestAnswersOfWrappedHandlersAreCompressedOnce(t *testing.T) {
	s := newSite(t)
	s.do("GET", iceberg+"/namespaces", "")
	s.stop()
	s2 := newSite(t, func(d *api.Deps) { d.MetricsPage = promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}) })
	r := s2.do("GET", "/metrics", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
	require.Contains(t, string(gunzipped(t, r.body)), "sluice_http_request_duration_seconds")
}

func TestRequestMetricsAreByRouteTemplate(t *testing.T) {
	s := newSite(t, func(d *api.Deps) { d.MetricsPage = nil })
	s.do("GET", iceberg+"/namespaces/secret_name", "")
	s.do("GET", "/wp-admin", "")
	s.do("BREW", "/coffee", "")
	s.stop()
	families, err := s.registry.Gather()
	require.NoError(t, err)
	text := fmt.Sprint(families)
	require.Contains(t, text, "/api/catalog/v1/:prefix/namespaces/:namespace")
	require.Contains(t, text, "unmatched")
	for _, raw := range []string{"secret_name", "wp-admin", "BREW"} {
		require.NotContains(t, text, raw)
	}
}

func TestTwoRoutersShareOneRegistry(t *testing.T) {
	s := newSite(t)
	other := newSite(t, func(d *api.Deps) { d.Metrics = s.registry })
	other.do("GET", iceberg+"/namespaces", "")
	other.stop()
	families, err := s.registry.Gather()
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(families), "namespaces")
}

func TestBrowsersAreHeldBack(t *testing.T) {
	h := newSite(t).do("GET", iceberg+"/namespaces", "").Header
	require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
	require.Equal(t, "DENY", h.Get("X-Frame-Options"))
	require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "no-store", h.Get("Cache-Control"))
}

// slow is a use case that takes until its context ends.
type slow struct{ *useCases }

func (slow) ListTables(ctx context.Context, _ policy.Caller, _ models.Catalog, _ []string, _ core.Page) (core.ListPage[models.TableIdent], error) {
	<-ctx.Done()
	return core.ListPage[models.TableIdent]{}, fmt.Errorf("list: %w", ctx.Err())
}

func TestRequestsEndAtTheTimeLimit(t *testing.T) {
	s := newSite(t, func(d *api.Deps) {
		d.Limits.RequestTimeout = 20 * time.Millisecond
		d.Catalog.Tables = slow{newUseCases()}
	})
	r := s.do("GET", iceberg+"/namespaces/a/tables", "")
	kind, _ := r.failure(t)
	require.Equal(t, 503, r.StatusCode)
	require.Equal(t, "ServiceUnavailableException", kind)
	require.Empty(t, r.Header.Get("Retry-After"), "nobody knows whether something was done")
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func gunzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return out
}

package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/governance"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// site is the real router on a real port, over fake use cases.
type site struct {
	*useCases
	admin    *adminCases
	t        *testing.T
	url      string
	log      *bytes.Buffer // read it after stop
	stop     func()
	registry *prometheus.Registry
}

func deps(u *useCases, log io.Writer) api.Deps {
	return api.Deps{
		Log:           slog.New(slog.NewJSONHandler(log, nil)),
		Authenticator: u,
		Catalog:       catalog.Deps{Resolver: u, Namespaces: u, Tables: u, Views: u, Commits: u, OAuth: u, Readable: u, Scans: u, Metrics: u, Storage: u},
		Governance:    governance.Deps{Tokens: u, Policies: u, Tables: u, Records: u, Metrics: u, Drops: u, Now: func() time.Time { return now }},
		Health:        api.Health(),
		Ready:         api.Ready(),
	}
}

func newSite(t *testing.T, change ...func(*api.Deps)) *site {
	t.Helper()
	s := &site{useCases: newUseCases(), admin: &adminCases{}, t: t, log: &bytes.Buffer{}, registry: prometheus.NewRegistry()}
	d := deps(s.useCases, s.log)
	d.Metrics, d.Management, d.Governance.Explainer = s.registry, s.admin, s.admin
	for _, f := range change {
		f(&d)
	}
	server := httptest.NewServer(api.Router(d))
	t.Cleanup(server.Close)
	s.url, s.stop = server.URL, server.Close
	return s
}

// reply is an answer with its body read.
type reply struct {
	*http.Response
	body []byte
}

func (r reply) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(r.body, &v), "body: %s", r.body)
	return v
}

// failure is the parts of an error answer, which must have the Iceberg model and nothing else.
func (r reply) failure(t *testing.T) (kind, message string) {
	t.Helper()
	v := r.json(t)
	require.Len(t, v, 1)
	e, ok := v["error"].(map[string]any)
	require.True(t, ok, "body: %s", r.body)
	require.InDelta(t, r.StatusCode, e["code"], 0)
	require.NotEmpty(t, e["message"])
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	return fmt.Sprint(e["type"]), fmt.Sprint(e["message"])
}

func (s *site) request(method, path string, body io.Reader, header ...string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, body)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer good")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func (s *site) send(r *http.Request) reply {
	s.t.Helper()
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return reply{answer, body}
}

func (s *site) do(method, path, body string, header ...string) reply {
	s.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	return s.send(s.request(method, path, r, header...))
}

const iceberg = "/api/catalog/v1/main"

// pathName encodes a name as the specification asks.
func pathName(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// document makes table metadata with that many snapshots in a line; main names the last one. It has a field and a
// number that only survive when nobody decodes them.
func document(snapshots int) []byte {
	var b strings.Builder
	b.WriteString(`{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t","last-sequence-number":`)
	fmt.Fprint(&b, snapshots)
	b.WriteString(`,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,` +
		`"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}],` +
		`"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,` +
		`"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{},` +
		`"x-future": {"big":9007199254740993, "one": 1.0}`)
	if snapshots > 0 {
		fmt.Fprintf(&b, `,"current-snapshot-id":%d,"refs":{"main":{"snapshot-id":%d,"type":"branch"}}`, snapshots, snapshots)
	}
	b.WriteString(`,"snapshots":[`)
	for i := 1; i <= snapshots; i++ {
		if i > 1 {
			fmt.Fprintf(&b, `,{"parent-snapshot-id":%d,`, i-1)
		} else {
			b.WriteString("{")
		}
		fmt.Fprintf(&b, `"snapshot-id":%d,"sequence-number":%d,"timestamp-ms":%d,"manifest-list":"s3://b/t/metadata/snap-%d-1-8f2c.avro",`+
			`"summary":{"operation":"append","added-data-files":"1","added-records":"1000","added-files-size":"10240",`+
			`"total-records":"%d","engine-name":"spark","engine-version":"4.1.3"},"schema-id":0}`, i, i, 1690000000000+i, i, i*1000)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

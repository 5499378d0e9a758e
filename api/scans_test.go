package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const tablePath = iceberg + "/namespaces/db/tables/t"

func siteWithTable(t *testing.T) *site {
	s := newSite(t)
	s.namespaces[models.KeyOf([]string{"db"})] = nil
	s.addTable(t, models.TableIdent{Namespace: []string{"db"}, Name: "t"}, "s3://b/t/metadata/1.json", document(1))
	return s
}

func TestPlansAreAskedForAndAnswered(t *testing.T) {
	s := siteWithTable(t)
	r := s.do(http.MethodPost, tablePath+"/plan", `{"snapshot-id":9007199254740993,"select":["id"],"filter":{"type":"eq","term":"id","value":1},
		"case-sensitive":false,"use-snapshot-schema":true,"stats-fields":["id"],"min-rows-requested":5}`)
	require.Equal(t, http.StatusOK, r.StatusCode, "%s", r.body)
	assert.JSONEq(t, `{"status":"completed","plan-id":"p1","plan-tasks":["t1"],"file-scan-tasks":[{"data-file":{"spec-id":0,"content":"data",
		"file-path":"s3://b/t/1.parquet","file-format":"parquet","partition":null,"file-size-in-bytes":0,"record-count":0}}]}`, string(r.body))
	asked := s.asked.scan
	assert.EqualValues(t, 9007199254740993, *asked.SnapshotID)
	assert.JSONEq(t, `{"type":"eq","term":"id","value":1}`, string(asked.Filter))
	assert.Equal(t, []string{"id"}, asked.StatsFields)
	assert.EqualValues(t, 5, asked.MinRows)
	assert.True(t, asked.IgnoreCase)
	assert.True(t, asked.UseSnapshotSchema)

	require.Equal(t, http.StatusOK, s.do(http.MethodPost, tablePath+"/plan", `{}`).StatusCode)
	assert.False(t, s.asked.scan.IgnoreCase, "names count by case unless said")

	r = s.do(http.MethodGet, tablePath+"/plan/p1", "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.Equal(t, "completed", r.json(t)["status"])
	assert.NotContains(t, r.json(t), "plan-id")
	assert.Equal(t, http.StatusNoContent, s.do(http.MethodDelete, tablePath+"/plan/p1", "").StatusCode)

	r = s.do(http.MethodPost, tablePath+"/tasks", `{"plan-task":"t1"}`)
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.JSONEq(t, `{"plan-tasks":[],"file-scan-tasks":[]}`, string(r.body))
}

func TestPlansThatCannotBeAnswered(t *testing.T) {
	s := siteWithTable(t)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		kind               string
	}{
		"no plan":               {http.MethodGet, "/plan/other", "", 404, "NoSuchPlanIdException"},
		"no plan to cancel":     {http.MethodDelete, "/plan/other", "", 404, "NoSuchPlanIdException"},
		"no plan task":          {http.MethodPost, "/tasks", `{"plan-task":"other"}`, 404, "NoSuchPlanTaskException"},
		"plan task missing":     {http.MethodPost, "/tasks", `{}`, 400, "BadRequestException"},
		"snapshot is text":      {http.MethodPost, "/plan", `{"snapshot-id":"1"}`, 400, "BadRequestException"},
		"snapshot is beyond":    {http.MethodPost, "/plan", `{"snapshot-id":99999999999999999999}`, 400, "BadRequestException"},
		"select is no list":     {http.MethodPost, "/plan", `{"select":"id"}`, 400, "BadRequestException"},
		"no JSON":               {http.MethodPost, "/plan", `{`, 400, "BadRequestException"},
		"report is no JSON":     {http.MethodPost, "/metrics", `{"report-type":`, 400, "BadRequestException"},
		"report without a type": {http.MethodPost, "/metrics", `{}`, 400, "BadRequestException"},
		"sign without a URI":    {http.MethodPost, "/sign", `{"region":"r","method":"GET","headers":{}}`, 400, "BadRequestException"},
	} {
		r := s.do(c.method, tablePath+c.path, c.body)
		kind, _ := r.failure(t)
		assert.Equal(t, c.status, r.StatusCode, name)
		assert.Equal(t, c.kind, kind, name)
	}
	for _, path := range []string{"/plan/p1", "/credentials"} {
		s.fail = fault.About(fault.NotFound, fault.Table, "Table does not exist: db.t")
		kind, _ := s.do(http.MethodGet, tablePath+path, "").failure(t)
		assert.Equal(t, "NoSuchTableException", kind, path)
	}
}

func TestMetricsOfAnyKindAreTaken(t *testing.T) {
	s := siteWithTable(t)
	r := s.do(http.MethodPost, tablePath+"/metrics", `{"report-type":"compaction-report","table-name":"db.t","snapshot-id":7,"future":{"x":[1.0]}}`)
	require.Equal(t, http.StatusNoContent, r.StatusCode, "%s", r.body)
	assert.EqualValues(t, "compaction-report", s.asked.report.Type)
	assert.EqualValues(t, 7, *s.asked.report.SnapshotID)
	assert.JSONEq(t, `{"x":[1.0]}`, string(s.asked.report.Members["future"]))

	s.rows = 5
	r = s.do(http.MethodGet, "/api/governance/v1/metrics-reports?table=main.db.t&type=scan-report&limit=2&after=9", "")
	require.Equal(t, http.StatusOK, r.StatusCode, "%s", r.body)
	assert.Equal(t, "main.db.t", s.ref)
	assert.Equal(t, models.MetricsReportFilter{Type: models.ScanReport, Before: 9, Limit: 2}, s.asked.reports)
	page := r.json(t)
	assert.Equal(t, "99", page["next"])
	first := page["items"].([]any)[0].(map[string]any)
	assert.Equal(t, map[string]any{"report-type": "scan-report"}, first["report"])
}

func TestThereAreNoFunctions(t *testing.T) {
	s := siteWithTable(t)
	r := s.do(http.MethodGet, iceberg+"/namespaces/db/functions", "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.JSONEq(t, `{"identifiers":[]}`, string(r.body))
	for path, want := range map[string]string{
		"/namespaces/db/functions/f":    "NoSuchFunctionException",
		"/namespaces/other/functions":   "NoSuchNamespaceException",
		"/namespaces/other/functions/f": "NoSuchNamespaceException",
	} {
		r := s.do(http.MethodGet, iceberg+path, "")
		kind, _ := r.failure(t)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, path)
		assert.Equal(t, want, kind, path)
	}
}

func TestCredentialsAndSignatures(t *testing.T) {
	s := siteWithTable(t)
	r := s.do(http.MethodGet, tablePath+"/credentials?planId=p1", "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.JSONEq(t, `{"storage-credentials":[]}`, string(r.body))
	assert.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	s.asked.keys = []core.StorageCredential{{Prefix: "s3://b/t", Config: map[string]string{"s3.access-key-id": "k"}}}
	r = s.do(http.MethodGet, tablePath+"/credentials", "")
	assert.JSONEq(t, `{"storage-credentials":[{"prefix":"s3://b/t","config":{"s3.access-key-id":"k"}}]}`, string(r.body))

	body := `{"region":"r","uri":"https://s3/b/t/1","method":"GET","headers":{"Host":["s3"]},"provider":"s3"}`
	r = s.do(http.MethodPost, tablePath+"/sign", body)
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.JSONEq(t, `{"uri":"https://s3/b/t/1?signed","headers":{"Host":["s3"]}}`, string(r.body))
	assert.Equal(t, "private", r.Header.Get("Cache-Control"))
	assert.Equal(t, "t", s.asked.signFor.Name)

	r = s.do(http.MethodPost, "/api/catalog/v1/aws/s3/sign", body)
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.Nil(t, s.asked.signFor)
	s.fail = fault.New(fault.Unsupported, "Catalog main does not sign.")
	for _, path := range []string{tablePath + "/sign", "/api/catalog/v1/aws/s3/sign"} {
		r = s.do(http.MethodPost, path, body)
		kind, _ := r.failure(t)
		assert.Equal(t, http.StatusNotAcceptable, r.StatusCode)
		assert.Equal(t, "UnsupportedOperationException", kind)
	}
	r = s.do(http.MethodPost, "/api/catalog/v1/aws/s3/sign", body, "Authorization", "Bearer bad")
	assert.Equal(t, http.StatusUnauthorized, r.StatusCode)
}

// TestTheWayToFiles is what a client is told of how to reach a table's files: the ways in its own order, and paths that are
// good below whatever URI it has the catalog by.
func TestTheWayToFiles(t *testing.T) {
	const header = "X-Iceberg-Access-Delegation"
	s := siteWithTable(t)
	s.asked.able = true
	r := s.do(http.MethodGet, tablePath, "", header, " Remote-Signing, vended-credentials,later")
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.Equal(t, []core.Delegation{core.Signing, core.Vending}, s.asked.ways)
	assert.Equal(t, "v1/main/namespaces/db/tables/t/sign", s.asked.routes.Sign)
	assert.Equal(t, "v1/main/namespaces/db/tables/t/credentials", s.asked.routes.Credentials)
	assert.Empty(t, s.asked.routes.URI)
	v := r.json(t)
	assert.Equal(t, map[string]any{"way": "remote-signing"}, v["config"])
	assert.Equal(t, map[string]any{}, v["remote-signing-config"])
	assert.NotContains(t, v, "storage-credentials")
	assert.Equal(t, "private, no-cache", r.Header.Get("Cache-Control"))

	r = s.do(http.MethodGet, tablePath, "", header, "vended-credentials")
	assert.Len(t, r.json(t)["storage-credentials"], 1)
	assert.NotContains(t, r.json(t), "remote-signing-config")
	assert.Equal(t, "no-store", r.Header.Get("Cache-Control"))

	r = s.do(http.MethodGet, tablePath, "", header, "")
	assert.Equal(t, map[string]any{}, r.json(t)["config"])

	body := `{"region":"r","uri":"https://s3/b/t/1","method":"PUT","headers":{},"provider":"s3"}`
	r = s.do(http.MethodPost, tablePath+"/sign", body)
	assert.Equal(t, "no-store", r.Header.Get("Cache-Control"), "a write is signed each time")
	s.do(http.MethodPost, "/api/catalog/v1/my%20cat+1/aws/s3/sign", body)
	assert.Equal(t, "my cat+1", s.asked.signIn)
	s.do(http.MethodPost, "/api/catalog/v1/aws/s3/sign", body)
	assert.Empty(t, s.asked.signIn)
}

// TestPathsOfOddNames are encoded once, with the separator that the installation offers, below the address that it has.
func TestPathsOfOddNames(t *testing.T) {
	s := newSite(t, func(d *api.Deps) {
		d.Catalog.NamespaceSeparator, d.Catalog.PublicURL = "~", "https://lake.example/base/"
	})
	s.asked.able = true
	ident := models.TableIdent{Namespace: []string{"a b", "c/d"}, Name: "t%1"}
	s.addTable(t, ident, "s3://b/m.json", document(0))
	for _, mount := range []string{"/api/catalog", "/api/table/iceberg"} {
		path := "v1/my%20cat%2B1/namespaces/a%20b%7Ec%2Fd/tables/t%251"
		r := s.do(http.MethodGet, mount+"/"+path, "", "X-Iceberg-Access-Delegation", "remote-signing")
		require.Equal(t, http.StatusOK, r.StatusCode, "body: %s", r.body)
		assert.Equal(t, core.StorageRoutes{URI: "https://lake.example/base" + mount, Sign: path + "/sign", Credentials: path + "/credentials"}, s.asked.routes)
		require.Equal(t, http.StatusOK, s.do(http.MethodGet, mount+"/"+s.asked.routes.Credentials, "").StatusCode)
		assert.Equal(t, ident, s.ident, "the path leads back to the table")
	}
}

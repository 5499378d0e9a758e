package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

const (
	viewsPath    = iceberg + "/namespaces/sales/views"
	viewLocation = "s3://b/v/metadata/00000-x.metadata.json"

	// viewDocument has a field and a number that only survive when nobody decodes them.
	viewDocument = `{"view-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","format-version":1,"location":"s3://b/v",
 "schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],
 "current-version-id":1,"versions":[{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{},
 "default-namespace":["sales"],"representations":[{"type":"sql","sql":"SELECT id FROM orders","dialect":"spark"}]}],
 "version-log":[{"timestamp-ms":1700000000000,"version-id":1}],"properties":{"a":"b"},"x-future":{"big":9007199254740993}}`

	versionBody = `{"version-id":1,"schema-id":-1,"timestamp-ms":1,"summary":{},"default-namespace":["sales"],` +
		`"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}`
	schemaBody = `{"type":"struct","fields":[{"id":1,"name":"id","required":false,"type":"long"}]}`
)

func siteWithView(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.addView(t, models.TableIdent{Namespace: []string{"sales"}, Name: "top"}, viewLocation, []byte(viewDocument))
	return s
}

func TestViewAnswersHaveTheDocumentsOwnBytes(t *testing.T) {
	s := siteWithView(t)
	want := fmt.Sprintf(`{"metadata-location":%q,"metadata":%s,"config":{}}`, viewLocation, viewDocument)
	for name, r := range map[string]reply{
		"load":    s.do("GET", viewsPath+"/top", ""),
		"create":  s.do("POST", viewsPath, `{"name":"top","schema":`+schemaBody+`,"view-version":`+versionBody+`,"properties":{}}`),
		"replace": s.do("POST", viewsPath+"/top", `{"updates":[{"action":"set-current-view-version","view-version-id":1}]}`),
		"register": s.do("POST", iceberg+"/namespaces/sales/register-view",
			`{"name":"top","metadata-location":"s3://b/v/metadata/1.json"}`),
	} {
		require.Equal(t, http.StatusOK, r.StatusCode, "%s: %s", name, r.body)
		require.Equal(t, want, string(r.body), name)
		require.Empty(t, r.Header.Get("ETag"), "views have no ETag: %s", name)
	}
}

func TestViewRequestsReachTheirUseCases(t *testing.T) {
	s := siteWithView(t)
	s.do("POST", viewsPath, `{"name":"top","location":"s3://b/w","schema":`+schemaBody+`,"view-version":`+versionBody+`,"properties":{"k":"v"}}`)
	require.Equal(t, []string{"sales"}, s.createdView.Namespace)
	require.Equal(t, "top", s.createdView.Name)
	require.Equal(t, "s3://b/w", s.createdView.Location)
	require.JSONEq(t, schemaBody, string(s.createdView.Schema))
	require.JSONEq(t, versionBody, string(s.createdView.Version))
	require.Equal(t, map[string]string{"k": "v"}, s.createdView.Properties)

	s.do("POST", viewsPath+"/top", `{"identifier":{"namespace":["sales"],"name":"top"},
		"requirements":[{"type":"assert-view-uuid","uuid":"u"}],
		"updates":[{"action":"add-view-version","view-version":`+versionBody+`},{"action":"set-current-view-version","view-version-id":-1}]}`)
	require.Equal(t, "sales.top", s.replaced.View.String())
	require.Len(t, s.replaced.Requirements, 1)
	require.Equal(t, metadata.ActionAddViewVersion, s.replaced.Updates[0].Action)
	require.Equal(t, metadata.ActionSetCurrentViewVersion, s.replaced.Updates[1].Action)

	r := s.do("DELETE", iceberg+"/namespaces/a%1Fb/views/my%20view", "")
	require.Equal(t, http.StatusNoContent, r.StatusCode)
	require.Equal(t, models.TableIdent{Namespace: []string{"a", "b"}, Name: "my view"}, s.viewIdent)

	r = s.do("POST", iceberg+"/views/rename", `{"source":{"namespace":["sales"],"name":"top"},"destination":{"namespace":["x"],"name":"y"}}`)
	require.Equal(t, http.StatusNoContent, r.StatusCode)
	require.Equal(t, "sales.top", s.ident.String())
	require.Equal(t, "x.y", s.to.String())
}

func TestViewExistence(t *testing.T) {
	s := siteWithView(t)
	require.Equal(t, http.StatusNoContent, s.do("HEAD", viewsPath+"/top", "").StatusCode)
	require.Equal(t, http.StatusNotFound, s.do("HEAD", viewsPath+"/other", "").StatusCode)
	kind, message := s.do("GET", viewsPath+"/other", "").failure(t)
	require.Equal(t, "NoSuchViewException", kind)
	require.Equal(t, "View does not exist: sales.other", message)
}

func TestViewsAreListedByPages(t *testing.T) {
	s := siteWithView(t)
	for _, name := range []string{"a", "b"} {
		s.addView(t, models.TableIdent{Namespace: []string{"sales"}, Name: name}, viewLocation, []byte(viewDocument))
	}
	all := s.do("GET", viewsPath, "").json(t)
	require.Len(t, all["identifiers"], 3)
	require.NotContains(t, all, "next-page-token")
	first := s.do("GET", viewsPath+"?pageToken=&pageSize=2", "").json(t)
	require.Len(t, first["identifiers"], 2)
	rest := s.do("GET", fmt.Sprintf("%s?pageToken=%s&pageSize=2", viewsPath, first["next-page-token"]), "").json(t)
	require.Equal(t, []any{map[string]any{"namespace": []any{"sales"}, "name": "top"}}, rest["identifiers"])
	require.NotContains(t, rest, "next-page-token")
	require.JSONEq(t, `{"identifiers":[]}`, string(s.do("GET", iceberg+"/namespaces/empty/views", "").body))
}

func TestViewRequestsThatAreWrong(t *testing.T) {
	s := siteWithView(t)
	for name, tt := range map[string]struct{ path, body, says string }{
		"no name":                 {viewsPath, `{"schema":{},"view-version":{}}`, `"name"`},
		"no version":              {viewsPath, `{"name":"v","schema":{}}`, `"view-version"`},
		"no updates":              {viewsPath + "/top", `{"requirements":[]}`, `"updates"`},
		"a table's update":        {viewsPath + "/top", `{"updates":[{"action":"set-default-spec","spec-id":0}]}`, "unknown action set-default-spec"},
		"a table's requirement":   {viewsPath + "/top", `{"requirements":[{"type":"assert-create"}],"updates":[]}`, "unknown type assert-create"},
		"another view's commit":   {viewsPath + "/top", `{"identifier":{"namespace":["sales"],"name":"x"},"updates":[]}`, "sales.x"},
		"a bad identifier":        {viewsPath + "/top", `{"identifier":{"namespace":[],"name":"x"},"updates":[]}`, "identifier"},
		"rename to nowhere":       {iceberg + "/views/rename", `{"source":{"namespace":["a"],"name":"b"}}`, `"destination"`},
		"register without a file": {iceberg + "/namespaces/sales/register-view", `{"name":"v"}`, `"metadata-location"`},
	} {
		r := s.do("POST", tt.path, tt.body)
		kind, message := r.failure(t)
		require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
		require.Equal(t, "BadRequestException", kind, name)
		require.Contains(t, message, tt.says, name)
	}
}

func TestTwoQueriesForOneDialectAreAnIllegalArgument(t *testing.T) {
	s := siteWithView(t)
	s.fail = fault.About(fault.Invalid, fault.Argument, "Invalid view version: Cannot add multiple queries for dialect trino")
	r := s.do("POST", viewsPath, `{"name":"v","schema":`+schemaBody+`,"view-version":`+versionBody+`}`)
	kind, message := r.failure(t)
	require.Equal(t, http.StatusBadRequest, r.StatusCode)
	require.Equal(t, "IllegalArgumentException", kind)
	require.Equal(t, "Invalid view version: Cannot add multiple queries for dialect trino", message)
}

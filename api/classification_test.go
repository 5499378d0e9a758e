package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestDefaultClassifications(t *testing.T) {
	s := newSite(t)
	for path, want := range map[string]string{
		"/namespaces/main%1Fa.b/default-classification": `{"ref":"main\u001fa.b","level":"confidential","inherited":true}`,
		"/catalogs/main/default-classification":         `{"ref":"main","level":"confidential","inherited":false}`,
	} {
		require.JSONEq(t, want, string(s.do("GET", governancePath+path, "").body), path)
	}
	for path, ref := range map[string]string{
		"/namespaces/main.a.b/default-classification": "main.a.b", "/catalogs/main/default-classification": "main",
	} {
		s.govern.Level = ""
		r := s.do("PUT", governancePath+path, `{"level":"restricted"}`)
		require.Equal(t, 200, r.StatusCode, path)
		require.Equal(t, "restricted", r.json(t)["level"])
		require.Equal(t, ref, s.ref)
		require.Equal(t, models.Restricted, s.govern.Level)
	}
	for path, body := range map[string]string{
		"/namespaces/main/default-classification":     `{"level":"restricted"}`, // names a catalog
		"/catalogs/main.a/default-classification":     `{"level":"restricted"}`, // names a namespace
		"/catalogs/main/default-classification":       `{"level":"secret"}`,
		"/namespaces/main.a.c/default-classification": `{}`,
		"/namespaces/main.a.d/default-classification": `{"level":null}`,
		"/namespaces/main.a.e/default-classification": `{"level":""}`,
		"/namespaces/main.a.f/default-classification": `{"level":"public","policy":"open_full"}`,
	} {
		s.govern.Level = "untouched"
		require.Equal(t, 400, s.do("PUT", governancePath+path, body).StatusCode, "%s %s", path, body)
		require.Equal(t, models.Classification("untouched"), s.govern.Level)
	}
}

func TestRowFilters(t *testing.T) {
	s := newSite(t)
	require.JSONEq(t, `{"items":[]}`, string(s.do("GET", governancePath+"/tables/main.a.t/row-filters", "").body))
	s.state.Table.RowFilters.V = []models.RowFilter{{Role: "eu", Filter: "TRUE", Expression: []byte("true")}, {Role: "us", Filter: "FALSE", Expression: []byte("false")}}
	require.JSONEq(t, `{"items":[{"role":"eu","filter":"TRUE","expression":true},{"role":"us","filter":"FALSE","expression":false}]}`,
		string(s.do("GET", governancePath+"/tables/main.a.t/row-filters", "").body))

	r := s.do("PUT", governancePath+"/tables/main.a.t/row-filters/eu%2Fwest", `{"filter":"region = 'EU'"}`)
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"role":"eu/west","filter":"region = 'EU'","expression":false}`, string(r.body))
	require.Equal(t, [2]string{"main.a.t", "eu/west"}, [2]string{s.ref, s.role})
	require.Equal(t, "region = 'EU'", *s.filter)
	for _, body := range []string{`{}`, `{"filter":""}`, `{"filter":null}`, `{"filter":1}`, `{"filter":"TRUE","role":"eu"}`, `"TRUE"`, ``} {
		s.role = ""
		require.Equal(t, 400, s.do("PUT", governancePath+"/tables/main.a.t/row-filters/eu", body).StatusCode, body)
		require.Empty(t, s.role)
	}
	require.Equal(t, 204, s.do("DELETE", governancePath+"/tables/main.a.t/row-filters/eu", "").StatusCode)
	require.Nil(t, s.filter)
	s.fail = fault.New(fault.NotFound, "Role eu has no row filter on table main.a.t.")
	require.Equal(t, 404, s.do("DELETE", governancePath+"/tables/main.a.t/row-filters/eu", "").StatusCode)
}

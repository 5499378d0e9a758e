package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func TestNamesInPathsAreDecodedOnce(t *testing.T) {
	names := []string{
		"t", "a/b", "/some/table", "a.b", "100%", "%25", "%2F", "a b", "a+b", "a&b=c?d#e;f", "größe", "表", "🦆", "a:b@c$d", "..", "~'()*!",
	}
	s := newSite(t)
	for _, name := range names {
		for _, mount := range []string{"/api/catalog", "/api/table/iceberg"} {
			path := mount + "/v1/main/namespaces/" + pathName(name) + "%1F" + pathName("x"+name) + "/tables/" + pathName(name)
			s.do(http.MethodDelete, path, "")
			require.Equal(t, models.TableIdent{Namespace: []string{name, "x" + name}, Name: name}, s.ident, path)
			s.ident = models.TableIdent{}
		}
	}
}

func TestPlusInPathsFollowsTheClient(t *testing.T) {
	const java = "Apache Iceberg 1.11.0 (commit abc)"
	for name, tt := range map[string]struct{ client, sent, means string }{
		"Java form-encodes a space":         {java, "a+b", "a b"},
		"Java's plus":                       {java, "a%2Bb", "a+b"},
		"newer Java's space":                {java, "a%20b", "a b"},
		"Go and Rust leave a plus as it is": {"0.14.1", "a+b", "a+b"},
		"beside another escape":             {"", "a%2Fb+c", "a/b+c"},
		"Python's plus":                     {"", "a%2Bb", "a+b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.do(http.MethodDelete, iceberg+"/namespaces/n+s/tables/"+tt.sent, "", "X-Client-Version", tt.client)
			require.Equal(t, tt.means, s.ident.Name)
		})
	}
}

func TestBrokenNamesAreRefused(t *testing.T) {
	s := newSite(t)
	for name, tt := range map[string]struct{ path, says string }{
		"not UTF-8":           {iceberg + "/namespaces/%ff/tables/t", "UTF-8"},
		"table not UTF-8":     {iceberg + "/namespaces/a/tables/%c3%28", "UTF-8"},
		"empty level":         {iceberg + "/namespaces/a%1F%1Fb", "Level 2"},
		"empty last level":    {iceberg + "/namespaces/a%1F", "Level 2"},
		"parent's empty part": {iceberg + "/namespaces?parent=a%1F%1Fb", "Level 2"},
		"broken query":        {iceberg + "/namespaces?parent=%zz", "query string"},
		"query not UTF-8":     {iceberg + "/namespaces?parent=%ff", "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(http.MethodGet, tt.path, "")
			kind, message := r.failure(t)
			require.Equal(t, 400, r.StatusCode)
			require.Equal(t, "BadRequestException", kind)
			require.Contains(t, message, tt.says)
		})
	}
}

func TestNestedNamespaceOverPathAndParent(t *testing.T) {
	s := newSite(t)
	levels := []string{"a.b", "c d", "e/f"}
	require.Equal(t, 200, s.do("POST", iceberg+"/namespaces", `{"namespace":["a.b","c d","e/f"]}`).StatusCode)
	require.Equal(t, levels, s.levels)
	path := iceberg + "/namespaces/a.b%1Fc%20d%1Fe%2Ff"
	require.JSONEq(t, `{"namespace":["a.b","c d","e/f"],"properties":{}}`, string(s.do("GET", path, "").body))
	r := s.do("GET", iceberg+"/namespaces?parent=a.b%1Fc+d", "")
	require.JSONEq(t, `{"namespaces":[["a.b","c d","e/f"]]}`, string(r.body))
	require.Equal(t, 204, s.do("DELETE", path, "").StatusCode)
	require.Equal(t, levels, s.levels)
}

func TestPrefixIsACatalogsName(t *testing.T) {
	s := newSite(t)
	config := s.do("GET", "/api/catalog/v1/config?warehouse="+pathName("my cat+1"), "").json(t)
	overrides, _ := config["overrides"].(map[string]any)
	prefix, _ := overrides["prefix"].(string)
	require.Equal(t, "my%20cat%2B1", prefix)
	require.Equal(t, 200, s.do("GET", "/api/catalog/v1/"+prefix+"/namespaces", "").StatusCode)
	require.Equal(t, 200, s.do("GET", "/api/catalog/v1/"+prefix+"/namespaces", "", "X-Client-Version", "Apache Iceberg 1.11.0").StatusCode)

	r := s.do("GET", "/api/catalog/v1/nowhere/namespaces", "")
	kind, _ := r.failure(t)
	require.Equal(t, 404, r.StatusCode)
	require.Equal(t, "NoSuchWarehouseException", kind)
}

func TestCatalogsNamedLikeRoutes(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"config", "oauth", "tables", "transactions"} {
		s.catalogs[name] = models.Catalog{ID: name, Name: name}
		s.levels = nil
		require.Equal(t, 200, s.do("POST", "/api/catalog/v1/"+name+"/namespaces", `{"namespace":["a"]}`).StatusCode, name)
		s.do("DELETE", "/api/catalog/v1/"+name+"/namespaces/b/tables/c", "")
		require.Equal(t, "b.c", s.ident.String(), name)
	}
}

func TestWithoutPrefixTheTokensCatalogIsMeant(t *testing.T) {
	s := newSite(t)
	require.Equal(t, 200, s.do("POST", "/api/catalog/v1/namespaces", `{"namespace":["a"]}`).StatusCode)
	require.Equal(t, 200, s.do("GET", "/api/catalog/v1/namespaces/a", "").StatusCode)
	require.Equal(t, 404, s.do("GET", "/api/catalog/v1/namespaces/a/tables/t", "").StatusCode)
}

func TestRefsInGovernancePathsAreDecodedOnce(t *testing.T) {
	s := newSite(t)
	for _, ref := range []string{"main.a.t", "main.a b.größe", "main.a/b.100%", "9c12d441-03fe-4693-9a96-a0705ddf69c1"} {
		require.Equal(t, 200, s.do("GET", "/api/governance/v1/tables/"+pathName(ref), "").StatusCode)
		require.Equal(t, ref, s.ref)
	}
}

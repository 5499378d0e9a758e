package facade

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// TestCaseF1NamespaceSeparator: %1F works raw and through a proxy, and where a proxy refuses it another can be offered.
func TestCaseF1NamespaceSeparator(t *testing.T) {
	l := newLake(t)
	usual := l.serve(t)
	dotted := l.serve(t, func(s *setup) { s.api.Catalog.NamespaceSeparator = "." })
	usual.want(t, 200, usual.post(t, "/namespaces", `{"namespace":["a"]}`))
	usual.want(t, 200, usual.post(t, "/namespaces", `{"namespace":["a","b"]}`))
	usual.want(t, 200, usual.post(t, "/namespaces/a%1Fb/tables", createBody("t")))

	config, err := dotted.sendTo(t.Context(), "GET", dotted.url+mount+"/v1/config?warehouse=main", "")
	require.NoError(t, err)
	require.Contains(t, string(config.body), `"namespace-separator":"%2E"`)
	config, err = usual.sendTo(t.Context(), "GET", usual.url+mount+"/v1/config?warehouse=main", "")
	require.NoError(t, err)
	require.NotContains(t, string(config.body), "namespace-separator")

	for _, path := range []string{"/namespaces/a%1Fb", "/namespaces/a.b", "/namespaces/a%2Eb", "/namespaces/a%2eb/tables/t", "/namespaces/a%1fb/tables/t"} {
		dotted.want(t, 200, dotted.get(t, path))
	}
	for _, parent := range []string{"a", "a.", "%2E", "a%1F"} {
		r := dotted.get(t, "/namespaces?parent="+parent)
		if parent == "a" {
			require.JSONEq(t, `{"namespaces":[["a","b"]]}`, string(dotted.want(t, 200, r).body))
		} else {
			dotted.want(t, 400, r)
		}
	}
	dotted.want(t, 200, dotted.post(t, "/namespaces", `{"namespace":["a","b","c"]}`))
	require.JSONEq(t, `{"namespaces":[["a","b","c"]]}`, string(dotted.get(t, "/namespaces?parent=a.b").body))
	require.JSONEq(t, `{"namespaces":[["a","b","c"]]}`, string(dotted.get(t, "/namespaces?parent=a%1Fb").body))
	usual.want(t, 404, usual.get(t, "/namespaces/a.b"))

	r := dotted.want(t, 400, dotted.post(t, "/namespaces", `{"namespace":["a","x.y"]}`))
	require.Contains(t, string(r.body), `x.y`, "the refusal names the level")
	usual.want(t, 200, usual.post(t, "/namespaces", `{"namespace":["a","x.y"]}`))
	dotted.want(t, 200, dotted.get(t, "/namespaces/a%1Fx.y"))

	target, err := url.Parse(usual.url)
	require.NoError(t, err)
	front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	t.Cleanup(front.Close)
	for _, path := range []string{"/namespaces/a%1Fb/tables/t", "/namespaces/a%1Fb", "/namespaces?parent=a%1Fb"} {
		r, err := usual.sendTo(t.Context(), "GET", front.URL+prefix+path, "")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, r.StatusCode, "%s: %s", path, r.body)
	}
}

func TestCaseF2NestedNamespaces(t *testing.T) {
	s := newSite(t)
	for _, levels := range []string{`["x"]`, `["x","y y"]`, `["x","y y","z%1Fü"]`} {
		s.want(t, 200, s.post(t, "/namespaces", `{"namespace":`+levels+`}`))
	}
	deep := "/namespaces/x%1Fy%20y%1Fz%251F%C3%BC"
	s.want(t, 200, s.get(t, deep))
	require.JSONEq(t, `{"namespaces":[["x","y y"]]}`, string(s.get(t, "/namespaces?parent=x").body))
	require.JSONEq(t, `{"namespaces":[["x","y y","z%1Fü"]]}`, string(s.get(t, "/namespaces?parent=x%1Fy%20y").body))
	require.JSONEq(t, `{"namespaces":[]}`, string(s.get(t, "/namespaces?parent="+strings.TrimPrefix(deep, "/namespaces/")).body))
	s.want(t, 404, s.get(t, "/namespaces?parent=x%251Fy"))
	s.want(t, 200, s.post(t, deep+"/tables", createBody("t")))
	s.want(t, 200, s.get(t, deep+"/tables/t"))
	s.want(t, 409, s.do(t, "DELETE", deep, ""))
	s.want(t, 409, s.do(t, "DELETE", "/namespaces/x", ""))
	s.want(t, 204, s.do(t, "DELETE", deep+"/tables/t", ""))
	for _, path := range []string{deep, "/namespaces/x%1Fy%20y", "/namespaces/x"} {
		s.want(t, 204, s.do(t, "DELETE", path, ""))
	}
}

func TestCaseF3DottedLevelIsOneLevel(t *testing.T) {
	s := newSite(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["a.b"]}`))
	require.JSONEq(t, `{"namespaces":[["a.b"],["db"]]}`, string(s.get(t, "/namespaces").body))
	s.want(t, 200, s.get(t, "/namespaces/a.b"))
	s.want(t, 404, s.get(t, "/namespaces/a"))
	s.want(t, 404, s.get(t, "/namespaces/a%1Fb"))
	s.want(t, 200, s.post(t, "/namespaces/a.b/tables", createBody("t.u")))
	s.want(t, 200, s.get(t, "/namespaces/a.b/tables/t.u"))
	s.want(t, 404, s.get(t, "/namespaces/a.b/tables/t"))
}

func TestCaseF5SlashesInNames(t *testing.T) {
	s := newSite(t)
	const name = "/some/table"
	s.create(t, name)
	for _, path := range []string{"%2Fsome%2Ftable", "%2fsome%2ftable"} {
		s.want(t, 200, s.get(t, tablePath(path)))
		s.want(t, 204, s.do(t, "HEAD", tablePath(path), ""))
	}
	s.want(t, 404, s.get(t, tablePath("some%2Ftable")))
	s.want(t, 404, s.get(t, tablePath("/some/table")))
	c, err := s.writer.Append(s.table(t, "%2Fsome%2Ftable"), 1, 1)
	require.NoError(t, err)
	s.want(t, 200, s.post(t, tablePath("%2Fsome%2Ftable"), string(c.Body())))
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["a/b"]}`))
	s.want(t, 200, s.get(t, "/namespaces/a%2Fb"))
	s.want(t, 204, s.do(t, "DELETE", tablePath("%2Fsome%2Ftable"), ""))
}

// seed makes tables in db without their files, as fast as the store takes them.
func (s *site) seed(t testing.TB, names ...string) {
	t.Helper()
	cat, err := s.db.CatalogByName(t.Context(), "main")
	require.NoError(t, err)
	path, err := s.db.NamespacePath(t.Context(), cat.ID, "db")
	require.NoError(t, err)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 32)
	for _, name := range names {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			id := uuid.NewString()
			assert.NoError(t, s.db.CreateTable(t.Context(), models.Table{
				ID: id, CatalogID: cat.ID, NamespaceID: path[0].ID, Name: name, UUID: id, Version: 1, FormatVersion: 2,
				Location: s.warehouse + "/db/" + id, MetadataLocation: s.warehouse + "/db/" + id + "/metadata/0.metadata.json",
				WritePolicy: models.OpenFull, Classification: models.Internal,
			}, catalog.Effects{}))
		})
	}
	wg.Wait()
}

type listing struct {
	Identifiers []models.TableIdent `json:"identifiers"`
	Next        *string             `json:"next-page-token"`
}

func (s *site) list(t testing.TB, query string) listing {
	t.Helper()
	var l listing
	s.want(t, 200, s.get(t, "/namespaces/db/tables"+query)).into(t, &l)
	return l
}

func TestCaseG1PagesOnlyWhenAsked(t *testing.T) {
	s := newSite(t)
	names := make([]string, 1203)
	for i := range names {
		names[i] = fmt.Sprintf("t%04d", i)
	}
	s.seed(t, names...)
	for _, query := range []string{"", "?pageSize=10"} {
		all := s.list(t, query)
		require.Len(t, all.Identifiers, 1203)
		require.Nil(t, all.Next)
	}
	var whole []string
	for token := ""; ; {
		page := s.list(t, "?pageSize=401&pageToken="+token)
		for _, ident := range page.Identifiers {
			whole = append(whole, ident.Name)
		}
		if page.Next == nil {
			break
		}
		require.Len(t, page.Identifiers, 401)
		token = *page.Next
	}
	require.Equal(t, names, whole, "and the last full page is known to be the last")
}

func TestCaseG4PageBounds(t *testing.T) {
	s := newSite(t)
	s.seed(t, "a", "b", "c")
	require.Len(t, s.list(t, "?pageToken=&pageSize=999999").Identifiers, 3)
	require.Len(t, s.list(t, "?pageToken=").Identifiers, 3)
	require.Nil(t, s.list(t, "?pageToken=&pageSize=3").Next)
	for _, bad := range []string{"0", "-1", "x", "1.5", "99999999999999999999"} {
		s.want(t, 400, s.get(t, "/namespaces/db/tables?pageToken=&pageSize="+bad))
	}
	s.want(t, 400, s.get(t, "/namespaces/db/tables?pageToken=made-up"))
	for _, path := range []string{"/namespaces", "/namespaces/db/views"} {
		s.want(t, 200, s.get(t, path+"?pageToken=&pageSize=10"))
	}
}

// TestCaseG2PagingWhileTablesComeAndGo pages through 1,003 tables by 7 while others are created and dropped.
func TestCaseG2PagingWhileTablesComeAndGo(t *testing.T) {
	s := newSite(t)
	stay := make([]string, 1003)
	for i := range stay {
		stay[i] = fmt.Sprintf("t%04d", i)
	}
	s.seed(t, stay...)
	var stop atomic.Bool
	var churn sync.WaitGroup
	for w := range 3 {
		churn.Go(func() {
			for i := 0; !stop.Load(); i++ {
				name := fmt.Sprintf("t%04d-%d", (i*97+w*331)%1003, w) // between those that stay
				s.seed(t, name)
				_, err := s.send(t.Context(), "DELETE", tablePath(name), "")
				assert.NoError(t, err)
			}
		})
	}
	seen := map[string]int{}
	for token := ""; ; {
		page := s.list(t, "?pageSize=7&pageToken="+token)
		for _, ident := range page.Identifiers {
			seen[ident.Name]++
		}
		if page.Next == nil {
			break
		}
		token = *page.Next
	}
	stop.Store(true)
	churn.Wait()
	for name, n := range seen {
		require.Equal(t, 1, n, "%s is on two pages", name)
	}
	for _, name := range stay {
		require.Contains(t, seen, name)
	}
}

// TestPagesOfWhatACallerSees: hidden tables neither shorten pages nor end the listing early.
func TestPagesOfWhatACallerSees(t *testing.T) {
	s := newSite(t)
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("t%03d", i))
	}
	s.seed(t, names...)
	cat, err := s.db.CatalogByName(t.Context(), "main")
	require.NoError(t, err)
	path, err := s.db.NamespacePath(t.Context(), cat.ID, "db")
	require.NoError(t, err)
	rows, err := s.db.ListTables(t.Context(), path[0].ID, catalog.Page{})
	require.NoError(t, err)
	grants := []policy.Grant{{ObjectID: path[0].ID, Within: []string{cat.ID}, Privilege: models.NamespaceList}}
	var want []string
	for i, row := range rows {
		if i%37 == 0 || i == 299 {
			grants = append(grants, policy.Grant{ObjectID: row.ID, Within: []string{cat.ID, path[0].ID}, Privilege: models.TableList})
			want = append(want, row.Name)
		}
	}
	caller := policy.Caller{Principal: "reader", Held: policy.NewHeld(nil, grants)}
	var got []string
	for page := (catalog.Page{Limit: 4}); ; {
		list, err := s.core.ListTables(t.Context(), caller, cat, []string{"db"}, page)
		require.NoError(t, err)
		for _, ident := range list.Items {
			got = append(got, ident.Name)
		}
		if list.Next == "" {
			break
		}
		require.Len(t, list.Items, 4)
		page.After = list.Next
	}
	require.Equal(t, want, got)
}

func TestCaseH2NamespacesHaveALocation(t *testing.T) {
	s := newSite(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["own"],"properties":{"location":"`+s.warehouse+`/elsewhere"}}`))
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["own","nested"]}`))
	for path, location := range map[string]string{"db": "/db", "own": "/elsewhere", "own%1Fnested": "/"} {
		r := s.want(t, 200, s.get(t, "/namespaces/"+path))
		require.True(t, bytes.Contains(r.body, []byte(`"location":"`+s.warehouse+location)), "%s: %s", path, r.body)
	}
}

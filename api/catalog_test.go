package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

var orders = models.TableIdent{Namespace: []string{"sales"}, Name: "orders"}

const (
	ordersPath     = iceberg + "/namespaces/sales/tables/orders"
	ordersLocation = "s3://b/t/metadata/00001-x.metadata.json"
)

func siteWithOrders(t *testing.T, snapshots int) (*site, []byte) {
	t.Helper()
	s, doc := newSite(t), document(snapshots)
	s.addTable(t, orders, ordersLocation, doc)
	return s, doc
}

func TestConfigNamesExactlyTheRoutesThatAreThere(t *testing.T) {
	s := newSite(t)
	var config struct {
		Defaults, Overrides map[string]string
		Endpoints           []string
	}
	require.NoError(t, json.Unmarshal(s.do("GET", "/api/catalog/v1/config?warehouse=main", "").body, &config))
	require.Equal(t, map[string]string{"prefix": "main"}, config.Overrides)
	require.NotNil(t, config.Defaults)

	engine, ok := api.Router(deps(newUseCases(), s.log)).(*gin.Engine)
	require.True(t, ok)
	for _, mount := range []string{"/api/catalog", "/api/table/iceberg"} {
		var mounted []string
		for _, r := range engine.Routes() {
			if path, ok := strings.CutPrefix(r.Path, mount+"/v1/:prefix/"); ok {
				path = strings.NewReplacer(":namespace", "{namespace}", ":table", "{table}", ":view", "{view}", ":function", "{function}", ":plan-id", "{plan-id}").Replace(path)
				if strings.HasSuffix(path, "/sign") {
					continue // served, and not offered while no store signs
				}
				mounted = append(mounted, r.Method+" /v1/{prefix}/"+path)
			}
		}
		slices.Sort(mounted)
		require.Equal(t, mounted, slices.Sorted(slices.Values(config.Endpoints)), mount)
	}
	require.Contains(t, config.Endpoints, "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}")
}

func TestConfigOfAnUnknownWarehouse(t *testing.T) {
	r := newSite(t).do("GET", "/api/catalog/v1/config?warehouse=nope", "")
	kind, _ := r.failure(t)
	require.Equal(t, 404, r.StatusCode)
	require.Equal(t, "NoSuchWarehouseException", kind)
}

func TestLoadedMetadataIsTheDocumentByteForByte(t *testing.T) {
	s, doc := siteWithOrders(t, 2)
	r := s.do("GET", ordersPath, "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, fmt.Sprintf(`{"metadata-location":%q,"metadata":%s,"config":{}}`, ordersLocation, doc), string(r.body))
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
}

func TestETagFlow(t *testing.T) {
	s, _ := siteWithOrders(t, 3)
	all, refs := s.do("GET", ordersPath, ""), s.do("GET", ordersPath+"?snapshots=refs", "")
	require.Equal(t, all.Header.Get("ETag"), s.do("GET", ordersPath+"?snapshots=all", "").Header.Get("ETag"))
	require.NotEqual(t, all.Header.Get("ETag"), refs.Header.Get("ETag"), "refs and all are different answers")
	require.Contains(t, string(refs.body), `"snapshot-id":3,"sequence-number"`)
	require.NotContains(t, string(refs.body), `"snapshot-id":2,"sequence-number"`)

	tag := all.Header.Get("ETag")
	for name, sent := range map[string]string{
		"as given": tag, "strong": strings.TrimPrefix(tag, "W/"), "bare": strings.Trim(strings.TrimPrefix(tag, "W/"), `"`),
		"one of several": `"other", ` + tag, "any": "*",
	} {
		r := s.do("GET", ordersPath, "", "If-None-Match", sent)
		require.Equal(t, 304, r.StatusCode, name)
		require.Empty(t, r.body)
		require.Equal(t, tag, r.Header.Get("ETag"))
	}
	require.Equal(t, 200, s.do("GET", ordersPath+"?snapshots=refs", "", "If-None-Match", tag).StatusCode)

	s.addTable(t, orders, "s3://b/t/metadata/00002-y.metadata.json", document(4))
	r := s.do("GET", ordersPath, "", "If-None-Match", tag)
	require.Equal(t, 200, r.StatusCode, "the table has changed")
	require.NotEqual(t, tag, r.Header.Get("ETag"))
}

func TestEveryMutationAnswersTheETagThatALoadHas(t *testing.T) {
	s, doc := siteWithOrders(t, 1)
	tag := s.do("GET", ordersPath, "").Header.Get("ETag")
	commit := s.do("POST", ordersPath, `{"requirements":[],"updates":[]}`)
	require.Equal(t, fmt.Sprintf(`{"metadata-location":%q,"metadata":%s}`, ordersLocation, doc), string(commit.body))
	create := s.do("POST", iceberg+"/namespaces/sales/tables", `{"name":"orders","schema":{"type":"struct","fields":[]}}`)
	register := s.do("POST", iceberg+"/namespaces/sales/register", `{"name":"orders","metadata-location":"s3://b/m.json","overwrite":true}`)
	for _, r := range []reply{commit, create, register} {
		require.Equal(t, 200, r.StatusCode)
		require.Equal(t, tag, r.Header.Get("ETag"))
	}
	require.True(t, s.register.Overwrite)
	require.Equal(t, "s3://b/m.json", s.register.MetadataLocation)
}

func TestStagedCreateHasNoLocationAndNoETag(t *testing.T) {
	s := newSite(t)
	s.addTable(t, orders, "", document(0))
	r := s.do("POST", iceberg+"/namespaces/sales/tables", `{"name":"orders","stage-create":true,"location":"s3://b/t",
		"schema":{"type":"struct","fields":[]},"partition-spec":{"fields":[]},"write-order":null,"properties":{"k":"v"},"x-later":1}`)
	require.Equal(t, 200, r.StatusCode)
	require.Empty(t, r.Header.Get("ETag"))
	v := r.json(t)
	require.NotContains(t, v, "metadata-location")
	require.Contains(t, v, "metadata")
	require.True(t, s.created.Stage)
	require.Equal(t, "s3://b/t", s.created.Location)
	require.JSONEq(t, `{"fields":[]}`, string(s.created.PartitionSpec))
	require.Nil(t, s.created.WriteOrder, "null is absent")
	require.Equal(t, map[string]string{"k": "v"}, s.created.Properties)
}

func TestExistence(t *testing.T) {
	s, _ := siteWithOrders(t, 0)
	s.namespaces["sales"] = nil
	require.Equal(t, 204, s.do("HEAD", ordersPath, "").StatusCode)
	require.Equal(t, 204, s.do("HEAD", iceberg+"/namespaces/sales", "").StatusCode)
	for _, path := range []string{iceberg + "/namespaces/sales/tables/other", iceberg + "/namespaces/other"} {
		r := s.do("HEAD", path, "")
		require.Equal(t, 404, r.StatusCode)
		require.Empty(t, r.body)
	}
}

func TestDropReadsPurgeAsClientsSpellIt(t *testing.T) {
	s := newSite(t)
	for query, want := range map[string]bool{
		"": false, "?purgeRequested=true": true, "?purgeRequested=True": true, "?purgeRequested=false": false, "?purgeRequested=False": false,
	} {
		require.Equal(t, 204, s.do("DELETE", ordersPath+query, "").StatusCode)
		require.Equal(t, want, s.purge, query)
	}
	r := s.do("DELETE", ordersPath+"?purgeRequested=maybe", "")
	_, message := r.failure(t)
	require.Equal(t, 400, r.StatusCode)
	require.Contains(t, message, "purgeRequested")
}

func TestRename(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", iceberg+"/tables/rename", `{"source":{"namespace":["a","b"],"name":"t"},"destination":{"namespace":["c"],"name":"u"}}`)
	require.Equal(t, 204, r.StatusCode)
	require.Equal(t, "a.b.t", s.ident.String())
	require.Equal(t, "c.u", s.to.String())
}

func TestCommitIsDecodedWithItsNumbersIntact(t *testing.T) {
	s, _ := siteWithOrders(t, 1)
	r := s.do("POST", ordersPath, `{"identifier":{"namespace":["sales"],"name":"orders"},
		"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":9007199254740993}],
		"updates":[{"action":"set-properties","updates":{"k":"v"},"future":9007199254740993}]}`)
	require.Equal(t, 200, r.StatusCode, "%s", r.body)
	require.Len(t, s.commits, 1)
	require.Equal(t, orders, s.commits[0].Table)
	require.Equal(t, "assert-ref-snapshot-id", s.commits[0].Requirements[0].Type())
	require.Equal(t, "set-properties", s.commits[0].Updates[0].Action)
	require.Contains(t, string(s.commits[0].Updates[0].Raw), "9007199254740993")
	require.Equal(t, "etl", s.caller.Principal)
}

func TestTransaction(t *testing.T) {
	s := newSite(t)
	one := `{"identifier":{"namespace":["a"],"name":"t1"},"requirements":[],"updates":[]}`
	two := `{"identifier":{"namespace":["a"],"name":"t2"},"requirements":[],"updates":[{"action":"remove-properties","removals":["k"]}]}`
	r := s.do("POST", iceberg+"/transactions/commit", `{"table-changes":[`+one+`,`+two+`]}`)
	require.Equal(t, 204, r.StatusCode)
	require.Empty(t, r.body)
	require.Len(t, s.commits, 2)
	require.Equal(t, "a.t2", s.commits[1].Table.String())

	s.fail = fault.New(fault.UnknownState, "It is not known whether the transaction was applied.")
	kind, _ := s.do("POST", iceberg+"/transactions/commit", `{"table-changes":[`+one+`]}`).failure(t)
	require.Equal(t, "CommitStateUnknownException", kind)
}

func TestWrongBodiesNameTheField(t *testing.T) {
	s := newSite(t)
	const namespaces, tables, rename = iceberg + "/namespaces", iceberg + "/namespaces/a/tables", iceberg + "/tables/rename"
	const table, transaction = tables + "/t", iceberg + "/transactions/commit"
	for name, tt := range map[string]struct{ path, body, says string }{
		"empty":                    {namespaces, "", "body is empty"},
		"malformed":                {namespaces, `{"namespace":["a"]`, "not valid JSON"},
		"data after":               {namespaces, `{"namespace":["a"]} x`, "not valid JSON"},
		"array":                    {namespaces, `[]`, "not an array"},
		"null":                     {namespaces, `null`, "not null"},
		"not UTF-8":                {namespaces, "{\"namespace\":[\"\xff\"]}", "UTF-8"},
		"namespace missing":        {namespaces, `{}`, `"namespace" is required`},
		"namespace null":           {namespaces, `{"namespace":null}`, `"namespace" is required`},
		"namespace a string":       {namespaces, `{"namespace":"a.b"}`, `"namespace" must be a list of strings, not a string`},
		"level a number":           {namespaces, `{"namespace":["a",1]}`, `"namespace" must be a list of strings`},
		"no level":                 {namespaces, `{"namespace":[]}`, "at least one level"},
		"empty level":              {namespaces, `{"namespace":["a",""]}`, "Level 2"},
		"separator in level":       {namespaces, `{"namespace":["a\u001fb"]}`, "unit separator"},
		"key of another case":      {namespaces, `{"Namespace":["a"]}`, `"namespace" is required`},
		"property a number":        {namespaces, `{"namespace":["a"],"properties":{"k":1}}`, `"properties.k" must be a string, not a number`},
		"property null":            {namespaces, `{"namespace":["a"],"properties":{"k":null}}`, `"properties.k" must be a string, not null`},
		"removals an object":       {namespaces + "/a/properties", `{"removals":{}}`, `"removals" must be a list of strings, not an object`},
		"name missing":             {tables, `{"schema":{}}`, `"name" is required`},
		"name empty":               {tables, `{"name":"","schema":{}}`, `"name" must not be empty`},
		"schema missing":           {tables, `{"name":"t"}`, `"schema" is required`},
		"schema a string":          {tables, `{"name":"t","schema":"s"}`, `"schema" must be an object, not a string`},
		"stage-create a string":    {tables, `{"name":"t","schema":{},"stage-create":"yes"}`, `"stage-create" must be true or false, not a string`},
		"register without file":    {iceberg + "/namespaces/a/register", `{"name":"t"}`, `"metadata-location" is required`},
		"requirements missing":     {table, `{"updates":[]}`, `"requirements" is required`},
		"updates an object":        {table, `{"requirements":[],"updates":{}}`, `"updates" must be a list, not an object`},
		"unknown update":           {table, `{"requirements":[],"updates":[{"action":"fly"}]}`, "fly"},
		"unknown requirement":      {table, `{"requirements":[{"type":"assert-mood"}],"updates":[]}`, "assert-mood"},
		"update not an object":     {table, `{"requirements":[],"updates":["x"]}`, ""},
		"another table":            {table, `{"identifier":{"namespace":["a"],"name":"u"},"requirements":[],"updates":[]}`, "names a.u but the path names a.t"},
		"destination missing":      {rename, `{"source":{"namespace":["a"],"name":"t"}}`, `"destination" is required`},
		"source without a name":    {rename, `{"source":{"namespace":["a"]},"destination":{"namespace":["a"],"name":"t"}}`, `"source.name" is required`},
		"changes missing":          {transaction, `{}`, `"table-changes" is required`},
		"no changes":               {transaction, `{"table-changes":[]}`, `"table-changes" must hold`},
		"change not an object":     {transaction, `{"table-changes":[7]}`, `"table-changes[0]" must be an object, not a number`},
		"change without its table": {transaction, `{"table-changes":[{"requirements":[],"updates":[]}]}`, `"table-changes[0].identifier" is required`},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(http.MethodPost, tt.path, tt.body)
			kind, message := r.failure(t)
			require.Equal(t, 400, r.StatusCode, message)
			require.Equal(t, "BadRequestException", kind)
			require.Contains(t, message, tt.says)
		})
	}
}

func TestNamespaceProperties(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", iceberg+"/namespaces/a/properties", `{"updates":{"k":"v"},"removals":["gone"]}`)
	require.JSONEq(t, `{"updated":[],"removed":[],"missing":["gone"]}`, string(r.body))
	require.Equal(t, map[string]string{"k": "v"}, s.props.Updates)
}

func TestPagingOnlyWhenAsked(t *testing.T) {
	s, doc := newSite(t), document(0)
	const total = 103
	for i := range total {
		s.addTable(t, models.TableIdent{Namespace: []string{"a"}, Name: fmt.Sprintf("t/%03d ü", i)}, "s3://b/m", doc)
	}
	whole := s.do("GET", iceberg+"/namespaces/a/tables?pageSize=5", "").json(t)
	require.Len(t, whole["identifiers"], total, "no pageToken, no pages")
	require.NotContains(t, whole, "next-page-token")

	seen, token := map[string]bool{}, ""
	for range total {
		page := s.do("GET", iceberg+"/namespaces/a/tables?pageSize=7&pageToken="+token, "").json(t)
		items, _ := page["identifiers"].([]any)
		require.LessOrEqual(t, len(items), 7)
		for _, item := range items {
			name := fmt.Sprint(item.(map[string]any)["name"])
			require.False(t, seen[name], name)
			seen[name] = true
		}
		if token, _ = page["next-page-token"].(string); token == "" {
			break
		}
		require.NotContains(t, token, "t/0", "tokens are opaque")
	}
	require.Len(t, seen, total)
}

func TestPagingParametersAreChecked(t *testing.T) {
	s := newSite(t)
	for _, query := range []string{"pageToken=nonsense!", "pageToken=YWJj", "pageToken=&pageSize=0", "pageToken=&pageSize=-1", "pageToken=&pageSize=x"} {
		require.Equal(t, 400, s.do("GET", iceberg+"/namespaces?"+query, "").StatusCode, query)
	}
	require.Equal(t, 200, s.do("GET", iceberg+"/namespaces?pageToken=&parent=", "").StatusCode)
	require.Nil(t, s.levels, "an empty parent is none")
	require.Equal(t, 1000, s.page.Limit)
	require.JSONEq(t, `{"namespaces":[]}`, string(s.do("GET", iceberg+"/namespaces", "").body))
	require.Equal(t, 400, s.do("GET", ordersPath+"?snapshots=some", "").StatusCode)
}

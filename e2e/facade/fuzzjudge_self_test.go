package facade

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJudge: what TestFacadeUnderFuzz relies on finds each kind of wrong answer, and nothing in right ones.
func TestJudge(t *testing.T) {
	const missing = `{"error":{"message":"Table does not exist: a.b","type":"NoSuchTableException","code":404}}`
	const list = `{"identifiers":[{"namespace":["a"],"name":"b"}],"next-page-token":null}`
	table := `{"metadata-location":"file:///m.json","metadata":{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"file:///t",` +
		`"last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]}],` +
		`"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}]},"config":{}}`
	view := `{"metadata-location":"file:///m.json","metadata":{"view-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","format-version":1,"location":"file:///v","current-version-id":1,` +
		`"schemas":[{"type":"struct","schema-id":0,"fields":[]}],"versions":[{"version-id":1,"timestamp-ms":1,"schema-id":0,"summary":{},"default-namespace":["a"],` +
		`"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}],"version-log":[{"version-id":1,"timestamp-ms":1}]}}`
	oauth := `{"error":"invalid_grant","error_description":"The token is not known here."}`
	plan := `{"status":"completed","plan-id":"p","plan-tasks":[],"file-scan-tasks":[{"data-file":{"content":"data","file-path":"f","file-format":"parquet","spec-id":0,"file-size-in-bytes":1,"record-count":1}}]}`
	cases := map[string]struct {
		op     string
		status int
		body   string
		header []string // in pairs; an empty value takes one away
		finds  string   // "" for a right answer
	}{
		"a refusal":                      {loadTableOp, 404, missing, nil, ""},
		"a list":                         {listTablesOp, 200, list, nil, ""},
		"a table":                        {loadTableOp, 200, table, nil, ""},
		"a view":                         {loadViewOp, 200, view, nil, ""},
		"a plan":                         {planOp, 200, plan, nil, ""},
		"nothing":                        {"DELETE" + atTable, 204, "", nil, ""},
		"an OAuth refusal":               {tokenOp, 400, oauth, []string{"Cache-Control", "no-store"}, ""},
		"busy":                           {loadTableOp, 503, strings.NewReplacer("NoSuchTable", "SlowDown", "404", "503").Replace(missing), []string{"Retry-After", "1"}, ""},
		"an internal error":              {loadTableOp, 500, missing, nil, "status 500"},
		"not implemented":                {loadTableOp, 501, missing, nil, "status 501"},
		"a bad gateway":                  {loadTableOp, 502, missing, nil, "status 502"},
		"busy without a time":            {loadTableOp, 503, missing, nil, "without Retry-After"},
		"an odd status":                  {loadTableOp, 201, table, nil, "none of the protocol's"},
		"no request id":                  {loadTableOp, 404, missing, []string{"X-Request-ID", ""}, "no X-Request-ID"},
		"plain text":                     {loadTableOp, 404, "404 page not found", []string{"Content-Type", "text/plain"}, "Content-Type"},
		"no body":                        {loadTableOp, 404, "", nil, "no JSON object"},
		"a list for a refusal":           {loadTableOp, 404, "[]", nil, "no JSON object"},
		"two documents":                  {loadTableOp, 404, missing + "{}", nil, "something follows"},
		"an error without its wrapper":   {loadTableOp, 404, `{"message":"Table does not exist","type":"NoSuchTableException","code":404}`, nil, `"error" is nothing`},
		"more than the error":            {loadTableOp, 404, strings.Replace(missing, "{", `{"path":"/x",`, 1), nil, `has "path"`},
		"another code":                   {loadTableOp, 404, strings.Replace(missing, "404", "400", 1), nil, "error.code is 400"},
		"a code in quotes":               {loadTableOp, 404, strings.Replace(missing, "404", `"404"`, 1), nil, "not number"},
		"an unknown type":                {loadTableOp, 404, strings.Replace(missing, "NoSuchTable", "Strange", 1), nil, "does not go with 404"},
		"a type of another status":       {loadTableOp, 409, strings.Replace(missing, "404", "409", 1), nil, "does not go with 409"},
		"an empty message":               {loadTableOp, 404, strings.Replace(missing, "Table does not exist: a.b", "", 1), nil, "says nothing"},
		"a message of the inside":        {loadTableOp, 404, strings.Replace(missing, "a.b", "sql: SQLSTATE 23505", 1), nil, "tells of the inside"},
		"a stack":                        {loadTableOp, 404, strings.Replace(missing, "a.b", "at tables.go:17", 1), nil, "tells of the inside"},
		"unauthorized without challenge": {loadTableOp, 401, strings.NewReplacer("NoSuchTableException", "NotAuthorizedException", "404", "401").Replace(missing), nil, "WWW-Authenticate"},
		"a method without alternatives":  {"", 405, strings.NewReplacer("NoSuchTableException", "MethodNotAllowedException", "404", "405").Replace(missing), nil, "405 without Allow"},
		"Iceberg's error for OAuth's":    {tokenOp, 404, missing, []string{"Cache-Control", "no-store"}, `"error" is object`},
		"an OAuth error to be kept":      {tokenOp, 400, oauth, nil, "may be cached"},
		"an OAuth error of its own":      {tokenOp, 400, strings.Replace(oauth, "invalid_grant", "nope", 1), []string{"Cache-Control", "no-store"}, "does not go with 400"},
		"an answer for nothing":          {"DELETE" + atTable, 200, `{}`, nil, "status 200, not 204"},
		"nothing for an answer":          {loadTableOp, 204, "", nil, "status 204, not 200"},
		"204 with a body":                {"DELETE" + atTable, 204, "{}", nil, "204 with a body"},
		"304 unasked":                    {loadTableOp, 304, "", []string{"ETag", `"x"`}, "nobody asked for"},
		"no list":                        {listTablesOp, 200, `{}`, nil, `"identifiers" is nothing`},
		"a null list":                    {listTablesOp, 200, `{"identifiers":null}`, nil, `"identifiers" is nothing`},
		"an identifier of strings":       {listTablesOp, 200, strings.Replace(list, `["a"]`, `"a"`, 1), nil, `"namespace" is string`},
		"an identifier with more":        {listTablesOp, 200, strings.Replace(list, `"name"`, `"id":1,"name"`, 1), nil, `has "id"`},
		"a table without metadata":       {loadTableOp, 200, `{"metadata-location":"file:///m"}`, nil, `"metadata" is nothing`},
		"a table without a schema":       {loadTableOp, 200, strings.Replace(table, `"current-schema-id":0`, `"current-schema-id":7`, 1), nil, "iceberg-go cannot read"},
		"a table without a location":     {loadTableOp, 200, strings.Replace(table, `"location"`, `"place"`, 1), nil, `"location" is nothing`},
		"a table without an ETag":        {loadTableOp, 200, table, []string{"ETag", ""}, "without an ETag"},
		"a commit without its file":      {commitTableOp, 200, strings.Replace(table, `"metadata-location":"file:///m.json",`, "", 1), nil, `"metadata-location" is nothing`},
		"a view of a broken version":     {loadViewOp, 200, strings.Replace(view, `"summary":{}`, `"summary":5`, 1), nil, "iceberg-go cannot read"},
		"a plan that goes on":            {planOp, 200, strings.Replace(plan, "completed", "cancelled", 1), nil, "status cancelled"},
		"a task without a file":          {planOp, 200, strings.Replace(plan, `"data-file"`, `"file"`, 1), nil, `"data-file" is nothing`},
		"an unknown operation":           {"GET /v1/{prefix}/new", 200, `{}`, nil, "nobody said"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			method, _, _ := strings.Cut(c.op, " ")
			found := strings.Join(judge(answered{op: c.op, method: method, token: c.op == tokenOp, status: c.status, header: headers(c.header), body: []byte(c.body)}), "; ")
			if c.finds == "" {
				require.Empty(t, found)
			} else {
				require.Contains(t, found, c.finds)
			}
		})
	}
}

func headers(changes []string) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("X-Request-ID", "r")
	h.Set("ETag", `W/"x"`)
	for i := 0; i < len(changes); i += 2 {
		if h.Del(changes[i]); changes[i+1] != "" {
			h.Set(changes[i], changes[i+1])
		}
	}
	return h
}

// TestCompare: a catalog that holds something else than the answers said is told apart.
func TestCompare(t *testing.T) {
	now := newShadow()
	now.namespaces["a"], now.tables[key("a", "t")], now.views[key("a", "v")] = true, "u", "u"
	right := holdings{[]string{"a"}, []string{key("a", "t")}, []string{key("a", "v")}}
	require.Empty(t, compare(now, right))
	for finds, h := range map[string]holdings{
		"is gone":           {right.namespaces, nil, right.views},
		"no answer said so": {right.namespaces, right.tables, append([]string{key("a", "w")}, right.views...)},
		"is listed twice":   {[]string{"a", "a"}, right.tables, right.views},
	} {
		require.Contains(t, strings.Join(compare(now, h), "; "), finds)
	}
}

// TestShadow: what requests did is noted, so that a change that was not made, or made twice, is seen.
func TestShadow(t *testing.T) {
	now := newShadow()
	do := func(op string, params map[string]string, body, answer string) {
		sent, answered := tree([]byte(body)), tree([]byte(answer))
		object, _ := answered.(map[string]any)
		require.True(t, now.note(&shot{op: op, params: params, body: sent}, object, ""))
	}
	in := map[string]string{"namespace": "a\x1fb"}
	do(createNamespaceOp, nil, `{"namespace":["a","b"]}`, `{}`)
	do(createTableOp, in, `{"name":"t"}`, `{"metadata":{"table-uuid":"1"}}`)
	do(createTableOp, in, `{"name":"staged","stage-create":true}`, `{"metadata":{"table-uuid":"2"}}`)
	do(createViewOp, in, `{"name":"v"}`, `{"metadata":{"view-uuid":"3"}}`)
	do(renameTableOp, nil, `{"source":{"namespace":["a","b"],"name":"t"},"destination":{"namespace":["a","b"],"name":"s"}}`, ``)
	require.Equal(t, map[string]bool{"a\x1fb": true}, now.namespaces)
	require.Equal(t, map[string]string{key("a\x1fb", "s"): "1"}, now.tables)
	require.Equal(t, map[string]string{key("a\x1fb", "v"): "3"}, now.views)
	do("DELETE"+atView, map[string]string{"namespace": "a\x1fb", "view": "v"}, ``, ``)
	do(unregisterOp, map[string]string{"namespace": "a\x1fb", "table": "s"}, `{}`, `{"metadata-location":"m"}`)
	do("DELETE"+atNamespace, in, ``, ``)
	require.Empty(t, now.views)
	require.Empty(t, now.tables)
	require.Empty(t, now.namespaces)
	require.Equal(t, []string{"m"}, now.freed)
}

package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Readers of JSON differ in which of two members of one name they take, so that what was judged might not be what was
// meant.
func TestFieldsAreGivenOnce(t *testing.T) {
	const tables, governance = iceberg + "/namespaces/a/tables", "/api/governance/v1"
	const props = `{"action":"set-properties","updates":{}}`
	for name, c := range map[string]struct{ method, path, body, field string }{
		"updates of a commit": {
			"POST", tables + "/t", `{"requirements":[],"updates":[],"updates":[` + props + `]}`, `"updates"`,
		},
		"escaped differently": {
			"POST", tables + "/t", `{"requirements":[],"updates":[],"\u0075pdates":[` + props + `]}`, `"updates"`,
		},
		"behind braces in strings": {
			"POST", tables + "/t", `{"x":"}:{\"","requirements":[],"y":{"a":{"b":1},"c":2},"requirements":[],"updates":[]}`, `"requirements"`,
		},
		"of a transaction":          {"POST", iceberg + "/transactions/commit", `{"table-changes":[],"table-changes":[]}`, `"table-changes"`},
		"within a transaction":      {"POST", iceberg + "/transactions/commit", `{"table-changes":[{"identifier":{"namespace":["a"],"name":"t"},"requirements":[],"updates":[],"updates":[]}]}`, `"table-changes[0].updates"`},
		"within an identifier":      {"POST", tables + "/t", `{"identifier":{"namespace":["a"],"name":"t","name":"u"},"requirements":[],"updates":[]}`, `"identifier.name"`},
		"schema of a create":        {"POST", tables, `{"name":"t","schema":{},"schema":{"type":"struct"}}`, `"schema"`},
		"properties of a create":    {"POST", tables, `{"name":"t","schema":{},"properties":{"k":"1","k":"2"}}`, `"properties.k"`},
		"a namespace":               {"POST", iceberg + "/namespaces", `{"namespace":["x"],"namespace":["y"]}`, `"namespace"`},
		"canWrite of a token":       {"POST", governance + "/tokens", `{"canWrite":false,"canWrite":true}`, `"canWrite"`},
		"columns of classification": {"PUT", governance + "/tables/main.a.t/classification", `{"columns":{"id":{},"id":{"mask":"null"}}}`, `"columns.id"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			r := s.do(c.method, c.path, c.body)
			_, message := r.failure(t)
			require.Equal(t, 400, r.StatusCode, message)
			require.Contains(t, message, c.field)
			require.Contains(t, message, "more than once")
		})
	}
}

func TestBodiesAreAsSmallAsTheirUse(t *testing.T) {
	s := newSite(t)
	form := "grant_type=client_credentials&client_secret="
	// What is left of the body the server reads to its end, so that the client is there to read the answer.
	for n, want := range map[int]int{60 << 10: 200, 65 << 10: 413, 200 << 10: 413} {
		r := s.do("POST", "/api/catalog/v1/oauth/tokens", form+strings.Repeat("x", n), "Content-Type", "application/x-www-form-urlencoded")
		require.Equal(t, want, r.StatusCode, n)
	}
	body := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, path := range []string{"/api/governance/v1/tokens", "/api/management/v1/principals"} {
		r := s.send(s.request("POST", path, io.MultiReader(strings.NewReader(body)))) // chunked
		require.Equal(t, 413, r.StatusCode)
	}

	conn := dial(t, strings.TrimPrefix(s.url, "http://"))
	fmt.Fprintf(conn, "POST /api/governance/v1/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Length: %d\r\n\r\n", 2<<20)
	announced, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, announced.Body.Close())
	require.Equal(t, 413, announced.StatusCode)
}

func TestTagsAreShortAndPrintable(t *testing.T) {
	s := newSite(t)
	const path = "/api/governance/v1/tables/main.a.t/classification"
	for tag, want := range map[string]int{
		"e-mail": 200, strings.Repeat("ü", 256): 200, strings.Repeat("x", 257): 400, `a\u0000b`: 400, `a\nb`: 400,
	} {
		r := s.do("PUT", path, `{"columns":{"c":{"tag":"`+tag+`"}}}`)
		require.Equal(t, want, r.StatusCode, tag)
		if want == 400 {
			_, message := r.failure(t)
			require.Contains(t, message, `"columns.c.tag"`)
		}
	}
}

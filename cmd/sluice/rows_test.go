package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering is a server that answers everything alike, and the environment that commands call it with.
func answering(t *testing.T, status int, answer string) map[string]string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return map[string]string{"SLUICE_URI": s.URL, "SLUICE_TOKEN": "t0ken"}
}

// rowsFile is a file of rows to write.
func rowsFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(`{"id":1}`+"\n"), 0o600))
	return path
}

func TestIdentityValues(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]struct {
		name  string
		value any
	}{
		"id=42":           {"id", "42"},
		"address.zip=011": {"address.zip", "011"},
		"key=YWJj==":      {"key", "YWJj=="}, // a value may have =
		"note=":           {"note", ""},
		"id=null":         {"id", nil},
		"active=true":     {"active", true},
		"active=false":    {"active", false},
	} {
		name, value, err := identityValue(arg)
		require.NoError(t, err, arg)
		assert.Equal(t, want.name, name, arg)
		assert.Equal(t, want.value, value, arg)
	}
	for _, arg := range []string{"id", "=42", ""} {
		_, _, err := identityValue(arg)
		assert.ErrorContains(t, err, "is not COLUMN=VALUE")
	}
}

func TestMediaOfRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, format, want string }{
		{"a.json", "", jsonRows}, {"a.NDJSON", "", ndjsonRows}, {"a.jsonl", "", ndjsonRows}, {"a.arrow", "", arrowRows}, {"a.b.arrows", "", arrowRows},
		{"-", "ndjson", ndjsonRows}, {"a.json", "arrow", arrowRows}, {"a.txt", "json", jsonRows},
	} {
		media, err := mediaOf(c.file, c.format)
		require.NoError(t, err)
		assert.Equal(t, c.want, media, "%+v", c)
	}
	for _, c := range []struct{ file, format, want string }{
		{"a.txt", "", "what a.txt holds does not show in its name"},
		{"-", "", "say what standard input holds with --format"},
		{"a.json", "csv", `the format "csv" is none of json, ndjson and arrow`},
	} {
		_, err := mediaOf(c.file, c.format)
		assert.ErrorContains(t, err, c.want, "%+v", c)
	}
}

func TestRowsAreQueriedInATable(t *testing.T) {
	t.Parallel()
	const query = "POST /data/v1/tables/main.a.b/query"
	r, env := record(t, map[string]string{
		query: `{"rows":[{"id":"1","a.b":{"c":"x"}},{"id":"9007199254740993","a.b":null}],"schema":{"fields":[{"name":"id"},{"name":"a.b"}]},"snapshot-id":"5","next-page-token":"more"}`,
	})
	code, out, errOut := command(env, "rows", "query", "main.a.b", "--columns", "id,a.b", "--where", "id > 0", "--as-of", "2026-01-31T08:00:00Z")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "id                a.b\n1                 {\"c\":\"x\"}\n9007199254740993  -\n", out)
	assert.Equal(t, "There is more: give --limit, or -o json for all rows.\n", errOut, "fifty rows are not to be taken for all")
	code, _, _ = command(env, "rows", "query", "main.a.b", "--limit", "2", "--snapshot-id", "5")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, []string{
		query + ` {"as-of":"2026-01-31T08:00:00Z","page-size":50,"select":["id","a.b"],"where":"id \u003e 0"}`,
		query + ` {"page-size":2,"snapshot-id":"5"}`,
	}, r.asked)
	for _, limit := range []string{"-3", "0"} {
		code, _, errOut = command(env, "rows", "query", "main.a.b", "--limit", limit)
		assert.Equal(t, exitUsage, code)
		assertOneSentence(t, errOut, "from 1 on")
	}
	assert.Len(t, r.asked, 2)
}

func TestRowsAreQueriedAsLines(t *testing.T) {
	t.Parallel()
	const query = "POST /data/v1/tables/main.a.b/query"
	r, env := record(t, map[string]string{query: "{\"id\":\"1\"}\n{\"id\":\"2\"}\n"})
	code, out, errOut := command(env, "rows", "query", "main.a.b", "-o", "json")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "{\"id\":\"1\"}\n{\"id\":\"2\"}\n", out)
	code, _, _ = command(env, "rows", "query", "main.a.b", "-o", "json", "--limit", "7")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, []string{query + " {}", query + ` {"limit":7}`}, r.asked, "without a limit a file gets all rows")
}

func TestRowsAreWritten(t *testing.T) {
	t.Parallel()
	const write = "POST /data/v1/tables/main.a.b/write"
	const answer = `{"audit-id":"a-1","snapshot-id":"7","rows":1,"updated":1,"superseded":0,"quarantined":0,"level":"internal","levels":{"internal":1},"tags":{}}`
	r, env := record(t, map[string]string{write + "?mode=append": answer, write + "?label=internal&mode=upsert&on-violation=quarantine": answer})
	file := rowsFile(t, "a.ndjson")
	code, out, errOut := command(env, "rows", "write", "main.a.b", file)
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `(?m)^audit-id +a-1\nsnapshot-id +7\nrows +1\nupdated +1$`, out)
	code, _, errOut = command(env, "rows", "write", "main.a.b", file, "--mode", "upsert", "--label", "internal", "--on-violation", "quarantine")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, []string{write + `?mode=append {"id":1}`, write + `?label=internal&mode=upsert&on-violation=quarantine {"id":1}`}, r.asked)
	code, _, errOut = command(env, "rows", "write", "main.a.b", filepath.Join(t.TempDir(), "none.json"))
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "no such file")
	arrow := filepath.Join(t.TempDir(), "a.arrow")
	require.NoError(t, os.WriteFile(arrow, []byte("ARROW1\x00\x00"), 0o600))
	code, _, errOut = command(env, "rows", "write", "main.a.b", arrow)
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "is an Arrow IPC file")
	assert.Len(t, r.asked, 2)
}

func TestRefusalsTellWhatIsWrongWithRows(t *testing.T) {
	t.Parallel()
	env := answering(t, http.StatusBadRequest, `{"error":{"message":"2 rows cannot be written, and so nothing was: row 2: id: is no whole number","type":"BadRequestException","code":400},
		"errors":[{"row":2,"field":"id","message":"is no whole number"},{"row":3,"message":"is malformed JSON"}]}`)
	file := rowsFile(t, "a.ndjson")
	code, _, errOut := command(env, "rows", "write", "main.a.b", file)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "sluice: 2 rows cannot be written, and so nothing was. (HTTP 400)\n  row 2, id: is no whole number\n  row 3: is malformed JSON\n", errOut)

	code, _, errOut = command(env, "rows", "write", "main.a.b", file, "-o", "json")
	assert.Equal(t, exitFailed, code)
	assert.JSONEq(t, `{"error":{"message":"2 rows cannot be written, and so nothing was.","type":"BadRequestException","httpStatus":400,
		"errors":[{"row":2,"field":"id","message":"is no whole number"},{"row":3,"message":"is malformed JSON"}]}}`, errOut)
}

// TestAWriteInDoubtNamesItsKey: the key was made by the command, and is the one way to learn what became of the rows.
func TestAWriteInDoubtNamesItsKey(t *testing.T) {
	t.Parallel()
	const key = "0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d"
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cut.Close)
	failed := answering(t, http.StatusServiceUnavailable, `{"error":{"message":"The outcome is not known.","type":"CommitStateUnknownException","code":503}}`)
	for _, env := range []map[string]string{{"SLUICE_URI": cut.URL, "SLUICE_TOKEN": "t"}, failed} {
		code, _, errOut := command(env, "rows", "write", "main.a.b", rowsFile(t, "a.ndjson"), "--idempotency-key", key)
		assert.Equal(t, exitFailed, code)
		assertOneSentence(t, errOut, "told by the same command with --idempotency-key "+key)
	}
	for _, env := range []map[string]string{{"SLUICE_URI": "http://127.0.0.1:1", "SLUICE_TOKEN": "t"}, answering(t, http.StatusForbidden, `{"error":{"message":"No."}}`)} {
		_, _, errOut := command(env, "rows", "write", "main.a.b", rowsFile(t, "a.ndjson"))
		assert.NotContains(t, errOut, "idempotency-key", "nothing can have landed")
	}
}

func TestTheAuditOfRowsIsListed(t *testing.T) {
	t.Parallel()
	const writes, rows, find = "GET /data/v1/tables/main.a.b/writes?limit=50&principal=etl", "GET /data/v1/writes/a-1/rows?limit=50", "POST /data/v1/tables/main.a.b/row-audit"
	const write = `{"audit-id":"a-1","mode":"upsert","principal":"etl","rows":1,"updated":1,"quarantined":0,"level":"internal","snapshot-id":"7","committed-at":"2026-11-30T12:00:00Z"}`
	r, env := record(t, map[string]string{
		writes: `{"items":[` + write + `],"next":"a-1"}`,
		rows:   `{"items":[{"hash":"b65d","level":"internal","tags":["email"],"updated":true}]}`,
		find:   `{"hash":"b65d","items":[{"row":{"hash":"b65d"},"write":` + write + `}]}`,
	})
	code, out, errOut := command(env, "rows", "writes", "main.a.b", "--principal", "etl")
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `(?m)^2026-11-30T12:00:00Z +a-1 +upsert +etl +1 +1 +0 +internal +7$`, out)
	assert.Contains(t, errOut, "--after a-1")
	code, out, errOut = command(env, "rows", "audit", "a-1")
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `(?m)^b65d +internal +email +yes$`, out)
	code, out, errOut = command(env, "rows", "find", "main.a.b", "id=42", "zone=null")
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `(?m)^2026-11-30T12:00:00Z +a-1 `, out)
	code, out, _ = command(env, "rows", "find", "main.a.b", "id=42", "zone=null", "-o", "json")
	assert.Equal(t, exitOK, code)
	var found struct{ Hash string }
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	assert.Equal(t, "b65d", found.Hash, "what the audit knows the row by")
	const asked = find + ` {"identity":{"id":"42","zone":null}}`
	assert.Equal(t, []string{writes, rows, asked, asked}, r.asked)
}

func TestRowsProfileSaysWhenItIsOfSomeRows(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{
		"GET /data/v1/tables/main.a.b/profile": `{"rows":1000,"sampled":true,"columns":[{"name":"id","type":"long","level":"internal","nulls":0,"distinct":7,"min":"1","max":"77"}]}`,
	})
	code, out, errOut := command(env, "rows", "profile", "main.a.b")
	assert.Equal(t, exitOK, code)
	assert.Regexp(t, `(?m)^id +long +internal +- +- +0 +7 +1 +77$`, out)
	assert.Contains(t, errOut, "figures of 1000 of them")
}

func TestClassifyingLeavesWhatIsNotSaid(t *testing.T) {
	t.Parallel()
	const put = "PUT /governance/v1/tables/main.a.b/classification"
	r, env := record(t, map[string]string{put: `{"ref":"main.a.b"}`})
	for _, args := range [][]string{
		{}, {"--column", "email=confidential:email"}, {"--identity-columns", "id,zone"}, {"--column", "", "--identity-columns", ""},
	} {
		code, _, errOut := command(env, append([]string{"tables", "classify", "main.a.b", "internal"}, args...)...)
		assert.Equal(t, exitOK, code, errOut)
	}
	assert.Equal(t, []string{
		put + ` {"level":"internal"}`,
		put + ` {"level":"internal","columns":{"email":{"sensitivity":"confidential","tag":"email"}}}`,
		put + ` {"level":"internal","identityColumns":["id","zone"]}`,
		put + ` {"level":"internal","identityColumns":[],"columns":{}}`,
	}, r.asked)
}

func TestNoCommandIsThereTwice(t *testing.T) {
	t.Parallel()
	_, out, _ := command(nil, "--help")
	_, list, _ := strings.Cut(out, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	seen := map[string]bool{}
	for _, line := range strings.Split(list, "\n") {
		name := strings.Fields(line)[0]
		assert.False(t, seen[name], "%s is listed twice", name)
		seen[name] = true
	}
	assert.True(t, seen["rows"])
}

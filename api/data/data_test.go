package data_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/models"
)

func TestWriteThenQuery(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", write+"?mode=append&label=internal", strings.NewReader(`[{"id":"1","note":"a"},{"id":2,"note":null}]`), "Content-Type", "application/json; charset=utf-8")
	require.Equal(t, 200, r.StatusCode, string(r.body))
	wrote := r.json(t)
	assert.InDelta(t, 2, wrote["rows"], 0)
	require.NotEmpty(t, wrote["snapshot-id"])

	r = s.query(`{"where":"id = 2"}`)
	require.Equal(t, 200, r.StatusCode, string(r.body))
	assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
	assert.Equal(t, wrote["snapshot-id"], r.Header.Get("Sluice-Snapshot-Id"))
	assert.Equal(t, wrote["snapshot-id"], r.json(t)["snapshot-id"])
	assert.Equal(t, "2", r.Header.Get("Sluice-Rows"))
	assert.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	assert.Equal(t, []any{map[string]any{"id": "2", "note": nil}}, r.json(t)["rows"])

	r = s.query(`{"limit":1,"select":["id"]}`, "Accept", ndjson)
	assert.Equal(t, "{\"id\":\"1\"}\n", string(r.body))
	r = s.query(`{"page-size":1}`, "Accept", ndjson)
	require.NotEmpty(t, r.Header.Get("Sluice-Next-Page-Token"))
	r = s.query(fmt.Sprintf(`{"page-size":1,"page-token":%q}`, r.Header.Get("Sluice-Next-Page-Token")), "Accept", arrows)
	require.Equal(t, 200, r.StatusCode, string(r.body))
	assert.Empty(t, r.Header.Get("Sluice-Next-Page-Token"))
	stream, err := ipc.NewReader(bytes.NewReader(r.body))
	require.NoError(t, err)
	require.True(t, stream.Next())
	assert.Equal(t, "2", stream.RecordBatch().Column(0).ValueStr(0))
	require.False(t, stream.Next())
	require.NoError(t, stream.Err())
}

// What a write did not need is null, here as in the list of writes.
func TestAWriteWithoutRowsHasNoSnapshot(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", write, strings.NewReader(`[]`), "Content-Type", "application/json")
	require.Equal(t, 200, r.StatusCode, string(r.body))
	got := r.json(t)
	for _, name := range []string{"audit-id", "snapshot-id", "updated"} {
		require.Contains(t, got, name)
		assert.Nil(t, got[name], name)
	}
	assert.InDelta(t, 0, got["rows"], 0)
}

func TestWhatIsAcceptedAndSent(t *testing.T) {
	s := newSite(t)
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "application/*;q=0.5, " + arrows: arrows, ndjson + ";q=0.1, " + arrows + ";q=0.9": arrows,
		"text/html, " + ndjson: ndjson, "application/json;q=0, */*": "application/json",
	} {
		r := s.query(`{}`, "Accept", accept)
		require.Equal(t, 200, r.StatusCode, accept)
		assert.Equal(t, want, r.Header.Get("Content-Type"), accept)
	}
	r := s.query(`{}`, "Accept", "text/csv")
	assert.Contains(t, r.message(t, 406, "UnsupportedOperationException"), ndjson)
	require.Equal(t, 200, s.do("POST", write, strings.NewReader("[]"), "Content-Type", "").StatusCode, "JSON where nothing is said")
	for _, sent := range []string{"text/csv", "application/x-www-form-urlencoded"} {
		r = s.do("POST", write, strings.NewReader("[]"), "Content-Type", sent)
		assert.Contains(t, r.message(t, 415, "UnsupportedMediaTypeException"), arrows)
	}
	for body, says := range map[string]string{
		`{"selct":["id"]}`: `"selct" is unknown`, `{"limit":0}`: `"limit" must be at least 1`, `{"page-size":-1}`: "at least 1", `{"snapshot-id":"x"}`: "must be the id",
		`{"as-of":"yesterday"}`: "RFC 3339", `[]`: "JSON object", `{"select":[1]}`: "list of strings", `{"filter":7}`: "", `{"select":["id"],"select":["x"]}`: "more than once",
	} {
		assert.Contains(t, s.query(body).message(t, 400, "BadRequestException"), says, body)
	}
	r = s.do("POST", query+"?limit=5", strings.NewReader("{}"))
	assert.Contains(t, r.message(t, 400, "BadRequestException"), "no query parameters")
	r = s.do("GET", "/data/v1/nothing", nil)
	assert.Contains(t, r.message(t, 404, "NoSuchRouteException"), "/data/v1")
}

func TestWhoIsLetIn(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		who, path string
		status    int
	}{{"nobody", query, 401}, {"nobody", write, 401}, {"eve", query, 404}, {"eve", write, 404}, {"ana", query, 200}, {"ana", write, 403}} {
		r := s.do("POST", tt.path, strings.NewReader("{}"), "Authorization", "Bearer "+tt.who, "Content-Type", "application/json")
		assert.Equal(t, tt.status, r.StatusCode, "%s %s %s", tt.who, tt.path, r.body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(t, s.denied)
	assert.Equal(t, "main", s.denied[len(s.denied)-1].Catalog)
	assert.Equal(t, "sales.people", s.denied[len(s.denied)-1].Table)
}

func TestRowsThatAreWrongAreTold(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", write, strings.NewReader("{\"id\":\"1\"}\n{\"id\":\"x\"}\n{\"note\":\"a\"}\n"), "Content-Type", ndjson)
	r.message(t, 400, "BadRequestException")
	errs, ok := r.json(t)["errors"].([]any)
	require.True(t, ok, string(r.body))
	require.Len(t, errs, 2)
	first, _ := errs[0].(map[string]any)
	assert.InDelta(t, 2, first["row"], 0)
	assert.Equal(t, "id", first["field"])
	assert.NotEmpty(t, first["message"])
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.failures, 1, "a write that failed is in the audit")
}

func TestQueriesThatFailAreNoFailuresToChangeSomething(t *testing.T) {
	s := newSite(t)
	require.Equal(t, 400, s.query(`{"where":"x ="}`).StatusCode)
	require.Equal(t, 400, s.do("POST", "/data/v1/tables/main.sales.people/row-audit", strings.NewReader(`{"identity":{"x":1}}`)).StatusCode)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Empty(t, s.failures)
}

func TestBodiesOfWritesHaveALimitOfTheirOwn(t *testing.T) {
	s := newSite(t, change{
		api:  func(d *api.Deps) { d.Limits.BodyBytes = 1 << 10 },
		data: func(d *dataplane.Deps) { d.Limits.RequestBytes = 100 << 10 },
	})
	s.fill(500)
	big := strings.Repeat(`{"id":"1","note":"`+strings.Repeat("x", 1000)+"\"}\n", 150)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := io.WriteString(z, big)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Less(t, zipped.Len(), 10<<10)
	for name, send := range map[string]reply{
		"announced": s.do("POST", write, strings.NewReader(big), "Content-Type", ndjson),
		"chunked":   s.do("POST", write, io.MultiReader(strings.NewReader(big)), "Content-Type", ndjson),
		"inflating": s.do("POST", write, &zipped, "Content-Type", ndjson, "Content-Encoding", "gzip"),
	} {
		assert.Contains(t, send.message(t, 413, "RequestTooLargeException"), "102400 bytes", name)
	}
	require.Equal(t, 413, s.query(`{"where":"`+strings.Repeat("x", 2<<10)+`"}`).StatusCode, "other bodies are as small as ever")
	count := s.do("POST", write, strings.NewReader("{\"id\":1}\n"), "Content-Type", ndjson, "Content-Encoding", "br")
	require.Equal(t, 415, count.StatusCode)
}

func TestAnswersThatBreakOffAreSeenToBeBroken(t *testing.T) {
	s := newSite(t, change{data: func(d *dataplane.Deps) { d.Limits.AnswerBytes = 150 << 10 }})
	s.fill(1000)
	s.fill(1000)
	for _, encoding := range []string{"identity", "gzip"} {
		r := s.query(`{}`, "Accept", ndjson, "Accept-Encoding", encoding)
		require.Equal(t, 200, r.StatusCode)
		require.Error(t, r.err, "the connection is cut")
		text := r.body
		if encoding == "gzip" {
			require.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
			z, err := gzip.NewReader(bytes.NewReader(r.body))
			require.NoError(t, err)
			text, err = io.ReadAll(z)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		var last struct {
			Error struct {
				Message, Type string
				Code          int
			}
		}
		require.NoError(t, json.Unmarshal(lines[len(lines)-1], &last))
		assert.Contains(t, last.Error.Message, "153600 bytes")
		assert.Equal(t, 500, last.Error.Code)
		for _, line := range lines[:len(lines)-1] {
			require.True(t, json.Valid(line), "rows before it are whole")
		}
	}
	r := s.query(`{}`, "Accept", arrows, "Accept-Encoding", "gzip")
	require.Error(t, r.err)
	assert.Empty(t, r.Header.Get("Content-Encoding"), "streams for programs are not compressed")
	assert.Equal(t, "no-store, no-transform", r.Header.Get("Cache-Control"), "nor by what is between")
	stream, err := ipc.NewReader(bytes.NewReader(r.body))
	if err == nil {
		for stream.Next() { //nolint:revive // to its end
		}
		err = stream.Err()
	}
	require.Error(t, err, "there is no end-of-stream marker")
}

func TestAnErrorBeforeAnythingWasSentIsARefusal(t *testing.T) {
	s := newSite(t, change{data: func(d *dataplane.Deps) { d.Limits.AnswerBytes = 10 << 10 }})
	s.fill(1000)
	for _, accept := range []string{ndjson, arrows, "application/json"} {
		r := s.query(`{}`, "Accept", accept)
		assert.Contains(t, r.message(t, 413, "RequestTooLargeException"), "10240 bytes")
		assert.Empty(t, r.Header.Get("Sluice-Snapshot-Id"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
	}
}

func TestAStalledReaderIsCutOff(t *testing.T) {
	s := newSite(t, change{
		data: func(d *dataplane.Deps) { d.Limits.Concurrency = 1 },
		pace: api.Pace{Write: 300 * time.Millisecond},
	})
	s.fill(150_000) // more than sockets hold
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nAccept: %s\r\nContent-Length: 2\r\n\r\n{}", query, ndjson)
	require.NoError(t, err)
	head, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, head, "200")
	r := s.query(`{"limit":1}`)
	assert.Contains(t, r.message(t, 429, "SlowDownException"), "at a time")
	assert.Equal(t, "1", r.Header.Get("Retry-After"))
	require.Eventually(t, func() bool { return s.query(`{"limit":1}`).StatusCode == 200 }, 20*time.Second, 50*time.Millisecond,
		"whoever does not read loses the turn")
}

func TestPreviewAndProfile(t *testing.T) {
	s := newSite(t)
	s.fill(3)
	r := s.do("GET", "/data/v1/tables/main.sales.people/preview?limit=2", nil)
	require.Equal(t, 200, r.StatusCode)
	assert.Len(t, r.json(t)["rows"], 2)
	assert.Len(t, r.json(t)["columns"], 2)
	r = s.do("GET", "/data/v1/tables/main.sales.people/profile", nil)
	require.Equal(t, 200, r.StatusCode)
	assert.InDelta(t, 3, r.json(t)["rows"], 0)
	r = s.do("GET", "/data/v1/tables/main.sales.people/preview?limit=0", nil)
	r.message(t, 400, "BadRequestException")
}

func TestTheAuditOfWrites(t *testing.T) {
	s := newSite(t)
	var ids []string
	for i := range 3 {
		r := s.do("POST", write, strings.NewReader(fmt.Sprintf(`[{"id":%d,"note":"x"},{"id":100,"note":"y"}]`, i)), "Content-Type", "application/json")
		require.Equal(t, 200, r.StatusCode, string(r.body))
		ids = append(ids, fmt.Sprint(r.json(t)["audit-id"]))
	}
	s.create("other", `{"id":1,"name":"id","type":"long","required":true}`)
	r := s.do("POST", "/data/v1/tables/main.sales.other/write", strings.NewReader(`[{"id":5}]`), "Content-Type", "application/json")
	require.Equal(t, 200, r.StatusCode, string(r.body))
	other := fmt.Sprint(r.json(t)["audit-id"])
	r = s.do("GET", "/data/v1/tables/main.sales.people/writes?limit=2", nil)
	items, _ := r.json(t)["items"].([]any)
	require.Len(t, items, 2)
	newest, _ := items[0].(map[string]any)
	assert.Equal(t, ids[2], newest["audit-id"])
	assert.Equal(t, "root", newest["principal"])
	r = s.do("GET", "/data/v1/tables/main.sales.people/writes?limit=2&after="+fmt.Sprint(r.json(t)["next"]), nil)
	assert.Len(t, r.json(t)["items"], 1)

	one := s.do("GET", "/data/v1/writes/"+ids[0], nil)
	require.Equal(t, 200, one.StatusCode)
	assert.Equal(t, []any{"id"}, one.json(t)["identity-columns"])
	page := s.do("GET", "/data/v1/writes/"+ids[0]+"/rows?limit=1", nil)
	require.Equal(t, 200, page.StatusCode)
	require.Len(t, page.json(t)["items"], 1)
	rest := s.do("GET", "/data/v1/writes/"+ids[0]+"/rows?limit=5&after="+fmt.Sprint(page.json(t)["next"]), nil)
	require.Len(t, rest.json(t)["items"], 1)
	require.Nil(t, rest.json(t)["next"])
	assert.NotEqual(t, page.json(t)["items"], rest.json(t)["items"])

	found := s.do("POST", "/data/v1/tables/main.sales.people/row-audit", strings.NewReader(`{"identity":{"id":"100"}}`))
	require.Equal(t, 200, found.StatusCode, string(found.body))
	assert.Len(t, found.json(t)["items"], 3)
	found = s.do("POST", "/data/v1/tables/main.sales.people/row-audit", strings.NewReader(`{"identity":{"id":1}}`))
	items, _ = found.json(t)["items"].([]any)
	require.Len(t, items, 1)
	landing, _ := items[0].(map[string]any)
	of, _ := landing["write"].(map[string]any)
	assert.Equal(t, ids[1], of["audit-id"])

	for path, status := range map[string]int{
		"/data/v1/writes/none": 404, "/data/v1/writes/" + ids[0]: 404, "/data/v1/tables/main.sales.people/writes": 404, "/data/v1/writes/" + ids[0] + "/rows": 404,
	} {
		assert.Equal(t, status, s.do("GET", path, nil, "Authorization", "Bearer eve").StatusCode, path)
	}
	require.NoError(t, s.core.DropTable(t.Context(), s.caller("root"), s.cat, models.TableIdent{Namespace: []string{"sales"}, Name: "other"}, false))
	gone := s.do("GET", "/data/v1/writes/"+other, nil)
	require.Equal(t, 200, gone.StatusCode, "the audit outlives its table")
	require.Equal(t, 404, s.do("GET", "/data/v1/writes/"+other, nil, "Authorization", "Bearer eve").StatusCode)
	r = s.do("GET", "/data/v1/writes/"+ids[0]+"/rows?after=1.x", nil)
	r.message(t, 400, "BadRequestException")
	_, err := s.core.SetGovernance(t.Context(), s.caller("root"), "main.sales.people", catalog.GovernanceInput{Columns: map[string]models.ColumnGovernance{"id": {Sensitivity: models.Restricted}}})
	require.NoError(t, err)
	r = s.do("POST", "/data/v1/tables/main.sales.people/row-audit", strings.NewReader(`{"identity":{"id":1}}`), "Authorization", "Bearer ana")
	assert.Contains(t, r.message(t, 403, "ForbiddenException"), "may not be asked for", "an identity that is masked cannot be probed")
}

func TestMethods(t *testing.T) {
	s := newSite(t)
	r := s.do(http.MethodGet, query, nil)
	r.message(t, 405, "MethodNotAllowedException")
}

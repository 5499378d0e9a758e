package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const governancePath = "/api/governance/v1"

func TestWhoami(t *testing.T) {
	s := newSite(t)
	require.JSONEq(t, `{"principal":"etl","tokenId":"t1","kind":"engine","catalog":"main","canWrite":true,"canGovern":false,
		"clearance":"internal","principalRoles":["writers"],"expiresAt":null}`, string(s.do("GET", governancePath+"/whoami", "").body))
	require.JSONEq(t, `{"principal":"root","tokenId":"t0","kind":"access","catalog":"","canWrite":true,"canGovern":true,
		"clearance":"restricted","principalRoles":[],"expiresAt":"2026-03-01T13:00:00Z"}`,
		string(s.do("GET", governancePath+"/whoami", "", "Authorization", "Bearer root").body))
}

func TestMintToken(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", governancePath+"/tokens", `{"principal":"job","catalog":"main","canWrite":true,"expiresIn":"24h"}`)
	require.Equal(t, 201, r.StatusCode)
	require.JSONEq(t, `{"id":"tok-1","token":"slc_abcdef","principal":"job","catalog":"main","canWrite":true,"canGovern":false,
		"expiresAt":"2026-03-02T12:00:00Z","hint":"slc_abc"}`, string(r.body))
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))

	r = s.do("POST", governancePath+"/tokens", `{}`)
	require.Equal(t, 201, r.StatusCode)
	require.Equal(t, "etl", r.json(t)["principal"], "the caller's own by default")
	require.Equal(t, "main", r.json(t)["catalog"])
	require.False(t, s.minted.CanWrite)
	require.False(t, s.minted.CanGovern)

	r = s.do("POST", governancePath+"/tokens", `{"principalRoles":["writers","readers"]}`)
	require.Equal(t, []any{"writers", "readers"}, r.json(t)["principalRoles"])
	require.Equal(t, []string{"writers", "readers"}, s.minted.Roles)
	r = s.do("POST", governancePath+"/tokens", `{"principalRoles":[]}`)
	require.Equal(t, 400, r.StatusCode, "a token of no role would hold nothing")

	r = s.do("POST", governancePath+"/tokens", `{"canWrite":true,"canGovern":true}`)
	require.Equal(t, true, r.json(t)["canGovern"])
	require.True(t, s.minted.CanGovern)
}

func TestMintTokenLifetimes(t *testing.T) {
	s := newSite(t)
	for sent, want := range map[string]time.Duration{
		`3600`: time.Hour, `"90m"`: 90 * time.Minute, `"24h"`: 24 * time.Hour, `"30d"`: 720 * time.Hour, `"2w"`: 336 * time.Hour, `1.5`: 1500 * time.Millisecond, `null`: 0,
	} {
		require.Equal(t, 201, s.do("POST", governancePath+"/tokens", `{"principal":"p","expiresIn":`+sent+`}`).StatusCode, sent)
		require.Equal(t, want, s.minted.ExpiresIn, sent)
	}
	for _, sent := range []string{`0`, `-5`, `"-1h"`, `"soon"`, `"5"`, `"1.5d"`, `"999999999d"`, `true`, `{}`, `[1]`, `1e300`} {
		r := s.do("POST", governancePath+"/tokens", `{"principal":"p","expiresIn":`+sent+`}`)
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, sent)
		require.Contains(t, message, "expiresIn")
	}
}

func TestListAndRevokeTokens(t *testing.T) {
	s := newSite(t)
	s.rows = 3
	r := s.do("GET", governancePath+"/tokens?limit=2&after=tok-x", "")
	require.Equal(t, "tok-x", s.ref)
	require.Len(t, r.json(t)["items"], 2)
	require.Equal(t, "tok-1", r.json(t)["next"])
	require.NotContains(t, string(r.body), "SECRETHASH")
	require.NotContains(t, s.do("GET", governancePath+"/tokens", "").json(t), "next")

	require.Equal(t, 204, s.do("DELETE", governancePath+"/tokens/tok-1", "").StatusCode)
	require.Equal(t, "tok-1", s.ref)
	s.fail = fault.About(fault.NotFound, fault.Token, "There is no token tok-9.")
	kind, _ := s.do("DELETE", governancePath+"/tokens/tok-9", "").failure(t)
	require.Equal(t, "NoSuchTokenException", kind)
}

func TestTableState(t *testing.T) {
	s := newSite(t)
	head, recorded, rows, oldest := int64(9007199254740993), int64(7), int64(42), now.Add(-90*time.Second)
	s.state = models.TableState{
		CatalogName: "main", NamespaceKey: models.KeyOf([]string{"sales", "eu"}), PendingCommits: 2, OldestPending: &oldest,
		Table: models.Table{
			ID: "id-1", UUID: "9c12d441-03fe-4693-9a96-a0705ddf69c1", Name: "orders", WritePolicy: models.OpenAppend,
			Classification: models.Restricted, IdentityColumns: models.JSON[[]string]{V: []string{"id"}},
			Columns:    models.JSON[map[string]models.ColumnGovernance]{V: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Confidential, Mask: "hash"}}},
			RowFilters: models.JSON[[]models.RowFilter]{V: []models.RowFilter{{Role: "eu", Filter: "x IS NULL", Expression: json.RawMessage(`{"type":"is-null","term":"x"}`)}}},
			Location:   "s3://b/t", MetadataLocation: "s3://b/t/m.json", FormatVersion: 2,
			CurrentSnapshotID: &head, RecordedSnapshotID: &recorded, RowCount: &rows, CreatedAt: now, UpdatedAt: now,
		},
	}
	s.column = map[string]models.Classification{"id": models.Restricted, "email": models.Confidential}
	r := s.do("GET", governancePath+"/tables/main.sales.eu.orders", "")
	require.JSONEq(t, `{"uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","ref":"main.sales.eu.orders","catalog":"main","namespace":["sales","eu"],
		"name":"orders","writePolicy":"open_append","classification":"restricted","identityColumns":["id"],
		"columns":{"email":{"sensitivity":"confidential","mask":"hash"}},"columnLevels":{"id":"restricted","email":"confidential"},
		"rowFilters":[{"role":"eu","filter":"x IS NULL","expression":{"type":"is-null","term":"x"}}],"rowCount":42,"currentSnapshotId":"9007199254740993",
		"recordedSnapshotId":"7","pendingCommits":2,"duplicateCommits":"audit","protected":false,"lagSeconds":90,"location":"s3://b/t","formatVersion":2,
		"metadataLocation":"s3://b/t/m.json","createdAt":"2026-03-01T12:00:00Z","updatedAt":"2026-03-01T12:00:00Z"}`, string(r.body))

	list := s.do("GET", governancePath+"/tables?catalog=main&after=id-0&limit=1", "").json(t)
	require.Len(t, list["items"], 1)
	require.Equal(t, "id-9", list["next"])
	require.Equal(t, "main", s.ref)
	require.Equal(t, models.TableFilter{After: "id-0", Limit: 1}, s.states)
}

func TestTableWithoutAnythingYet(t *testing.T) {
	s := newSite(t)
	v := s.do("GET", governancePath+"/tables/main.a.t", "").json(t)
	require.Nil(t, v["currentSnapshotId"])
	require.Nil(t, v["rowCount"])
	require.Equal(t, []any{}, v["identityColumns"])
	require.Equal(t, map[string]any{}, v["columns"])
	require.Equal(t, []any{}, v["rowFilters"])
	require.NotContains(t, v, "columnLevels")
	require.InDelta(t, 0, v["lagSeconds"], 0)
}

func TestWritePolicies(t *testing.T) {
	s := newSite(t)
	for path, ref := range map[string]string{
		"/tables/main.a.t/write-policy":               "main.a.t",
		"/namespaces/main.a.b/default-write-policy":   "main.a.b",
		"/catalogs/main/default-write-policy":         "main",
		"/catalogs/my%20cat+1/default-write-policy":   "my cat+1",
		"/namespaces/main.a%2Fb/default-write-policy": "main.a/b",
	} {
		s.policy = ""
		require.Equal(t, 200, s.do("PUT", governancePath+path, `{"policy":"open_append"}`).StatusCode, path)
		require.Equal(t, ref, s.ref)
		require.Equal(t, models.OpenAppend, s.policy)
	}
	for path, want := range map[string]string{
		"/namespaces/main%1Fa.b/default-write-policy": `{"ref":"main\u001fa.b","policy":"open_append","inherited":true}`,
		"/catalogs/main/default-write-policy":         `{"ref":"main","policy":"open_append","inherited":false}`,
	} {
		require.JSONEq(t, want, string(s.do("GET", governancePath+path, "").body), path)
	}
	for _, path := range []string{"/namespaces/main/default-write-policy", "/catalogs/main.a/default-write-policy", "/catalogs/main%1Fa/default-write-policy"} {
		require.Equal(t, 400, s.do("GET", governancePath+path, "").StatusCode, path)
	}
	require.Equal(t, 200, s.do("PUT", governancePath+"/namespaces/main%1Fa.b/default-write-policy", `{"policy":"open_full"}`).StatusCode)
	require.Equal(t, "main\x1fa.b", s.ref)
	for path, body := range map[string]string{
		"/tables/main.a.t/write-policy":             `{"policy":"wide_open"}`,
		"/tables/main.a.u/write-policy":             `{"Policy":"open_append"}`,
		"/namespaces/main/default-write-policy":     `{"policy":"open_append"}`,
		"/catalogs/main.sales/default-write-policy": `{"policy":"open_append"}`,
	} {
		r := s.do("PUT", governancePath+path, body)
		r.failure(t)
		require.Equal(t, 400, r.StatusCode, path)
	}
}

func TestClassification(t *testing.T) {
	s := newSite(t)
	const path = governancePath + "/tables/main.a.t/classification"
	r := s.do("PUT", path, `{"level":"restricted","identityColumns":["id"],"columns":{"email":{"sensitivity":"confidential","tag":"email","mask":"partial"}}}`)
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, models.Restricted, s.govern.Level)
	require.Equal(t, []string{"id"}, s.govern.IdentityColumns)
	require.Equal(t, models.ColumnGovernance{Sensitivity: models.Confidential, Tag: "email", Mask: "partial"}, s.govern.Columns["email"])

	s.do("PUT", path, `{"level":"public"}`)
	require.Nil(t, s.govern.Columns, "what is not named stays")
	require.Nil(t, s.govern.IdentityColumns)
	s.do("PUT", path, `{"identityColumns":[],"columns":{}}`)
	require.NotNil(t, s.govern.Columns, "what is named empty is emptied")
	require.NotNil(t, s.govern.IdentityColumns)

	for body, says := range map[string]string{
		`{"level":"secret"}`: `"level"`,
		`{}`:                 "changes nothing",
		`{"level":"public","identityColums":["id"]}`:  `"identityColums" is unknown`,
		`{"columns":{"email":{"mask":"blur"}}}`:       `"columns.email.mask"`,
		`{"columns":{"email":{"sensitivity":"top"}}}`: `"columns.email.sensitivity"`,
		`{"columns":{"email":"confidential"}}`:        `"columns.email" must be an object`,
		`{"columns":{"email":{"masking":"hash"}}}`:    `"columns.email.masking" is unknown`,
	} {
		r := s.do("PUT", path, body)
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode)
		require.Contains(t, message, says)
	}
}

func TestReconcile(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", governancePath+"/tables/main.a.t/reconcile", "")
	require.Equal(t, 202, r.StatusCode)
	require.JSONEq(t, `{"workflowId":"reconcile/u/1"}`, string(r.body))
}

func TestCommits(t *testing.T) {
	s := newSite(t)
	s.rows = 5
	r := s.do("GET", governancePath+"/commits?table=main.a.t&limit=2&after=101", "")
	require.Equal(t, "main.a.t", s.ref)
	require.Equal(t, models.CommitFilter{Before: 101, Limit: 2}, s.ledger)
	require.Equal(t, "99", r.json(t)["next"])
	require.Contains(t, string(r.body), `"snapshotId":"9007199254740993"`)
	require.Contains(t, string(r.body), `"kind":"external"`)
	require.Contains(t, string(r.body), `"ref":"main.a.t","catalog":"main","table":"a.t"`)
	require.Contains(t, string(r.body), `"writerId":"w1","job":"j1","unit":"checkpoint/7"`)
	require.Contains(t, string(r.body), `"removedRows":4,"removedFiles":null,"removedBytes":null,"deleteFiles":null`)
	require.Contains(t, string(r.body), `"partitions":[{"partition":"day=1","removedRows":4}]`)
}

func TestUnknownQueryParametersAreRefused(t *testing.T) {
	s := newSite(t)
	for path, says := range map[string]string{
		"/audit?tabel=main.a.t":         `"tabel" is unknown. This route takes type, table, principal, catalog, since, limit, after`,
		"/audit?type=a&type=b":          "more than once",
		"/commits?catalog=main":         `"catalog" is unknown`,
		"/tables?table=main.a.t":        `"table" is unknown`,
		"/tokens?Limit=1":               `"Limit" is unknown`,
		"/tables/main.a.t?snapshots=1":  "takes no query parameters",
		"/dropped-tables?status=purged": `"status" is unknown`,
	} {
		r := s.do("GET", governancePath+path, "")
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, path)
		require.Contains(t, message, says, path)
	}
}

func TestMistypedEventsAreNamed(t *testing.T) {
	s := newSite(t)
	for typed, says := range map[string]string{
		"table.commit_deny": "table.commit_denied",
		"token.mint":        "Near to it: token.minted",
		"denied":            "Near to it: table.commit_denied, request.denied",
		"xyzzy-plugh":       "Those there are: catalog.created, ",
	} {
		r := s.do("GET", governancePath+"/audit?type="+typed, "")
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, typed)
		require.Contains(t, message, says)
	}
}

func TestAuditFilters(t *testing.T) {
	s := newSite(t)
	s.rows = 1
	r := s.do("GET", governancePath+"/audit?type=token.minted&principal=etl&since=2026-03-01T00:00:00%2B01:00&after=51&limit=1000&table=main.a.b.t", "")
	require.Equal(t, 200, r.StatusCode)
	want := models.AuditFilter{Type: "token.minted", Principal: "etl", Catalog: "main", Table: "a.b.t", Before: 51, Limit: 1000}
	require.True(t, s.audit.Since.Equal(time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC)))
	s.audit.Since = time.Time{}
	require.Equal(t, want, s.audit)
	require.Contains(t, string(r.body), `"type":"token.minted"`)
	require.Contains(t, string(r.body), `"ref":"main.a"`)
	for age, at := range map[string]time.Time{"24h": now.Add(-24 * time.Hour), "7d": now.AddDate(0, 0, -7), "1w": now.AddDate(0, 0, -7)} {
		require.Equal(t, 200, s.do("GET", governancePath+"/audit?since="+age, "").StatusCode)
		require.True(t, s.audit.Since.Equal(at), age)
	}

	s.do("GET", governancePath+"/audit?catalog=main&table=9C12D441-03fe-4693-9a96-a0705ddf69c1", "")
	require.Equal(t, models.AuditFilter{TableUUID: "9c12d441-03fe-4693-9a96-a0705ddf69c1", Catalog: "main", Limit: 100}, s.audit)

	for _, query := range []string{"limit=1001", "limit=0", "limit=x", "after=x", "since=yesterday", "since=-24h", "catalog=b&table=a.b.c"} {
		r := s.do(http.MethodGet, governancePath+"/audit?"+query, "")
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, query)
		require.True(t, strings.HasPrefix(message, "The parameter"), message)
	}
	for _, ref := range []string{"t", "sales.orders", ".a.t", "main.a."} {
		r := s.do(http.MethodGet, governancePath+"/audit?table="+ref, "")
		_, message := r.failure(t)
		require.Equal(t, 400, r.StatusCode, ref)
		require.Equal(t, `"`+ref+`" names no table. Write catalog.namespace.table, such as main.sales.orders, or the table's UUID.`, message)
	}
}

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEmptyListsSaySo(t *testing.T) {
	t.Parallel()
	env, _ := fakeServer(t, map[string]string{
		"GET /audit?limit=50": `{"items":[]}`, "GET /dropped-tables?limit=50": `{"items":[]}`, "GET /tables?catalog=main&limit=50": `{"items":[]}`,
	})
	for says, args := range map[string][]string{
		"No events.\n": {"audit", "list"}, "No dropped tables.\n": {"tables", "dropped"}, "No tables.\n": {"tables", "list", "--catalog", "main"},
	} {
		code, out, errOut := command(env, args...)
		assert.Equal(t, exitOK, code)
		assert.Empty(t, out)
		assert.Equal(t, says, errOut)
		_, out, errOut = command(env, append(args, "-o", "json")...)
		assert.JSONEq(t, `{"items":[]}`, out)
		assert.Empty(t, errOut)
	}
}

func TestJSONKeepsTheServersOrderAndErrors(t *testing.T) {
	t.Parallel()
	env, _ := fakeServer(t, map[string]string{
		"GET /tables/main.a.t": `{"zeta":1,"ref":"main.a.t","alpha":{"y":9007199254740993,"b":"<&>"}}`,
		"GET /tokens?limit=50": `{"items":[{"z":1.0,"a":2}]}`,
	})
	_, out, _ := command(env, "tables", "get", "main.a.t", "-o", "json")
	assert.Equal(t, "{\n  \"zeta\": 1,\n  \"ref\": \"main.a.t\",\n  \"alpha\": {\n    \"y\": 9007199254740993,\n    \"b\": \"<&>\"\n  }\n}\n", out)
	_, out, _ = command(env, "tokens", "list", "-o", "json")
	assert.Less(t, strings.Index(out, `"z": 1.0`), strings.Index(out, `"a": 2`))

	for want, args := range map[string][]string{
		`{"error":{"message":"You may not. Ask for AUDIT_READ.","type":"ForbiddenException","httpStatus":403}}`:     {"audit", "list", "-o", "json"},
		`{"error":{"message":"unknown flag: --frobnicate","type":"UsageError"}}`:                                    {"audit", "list", "--frobnicate", "-o", "json"},
		`{"error":{"message":"TABLE is missing; the form is: sluice reconcile TABLE [flags]","type":"UsageError"}}`: {"reconcile", "--output=json"},
	} {
		_, out, errOut := command(env, args...)
		assert.Empty(t, out)
		assert.JSONEq(t, want, errOut)
	}
}

func TestTablesSayWhatCommandsTake(t *testing.T) {
	t.Parallel()
	const at = `"at":"2026-01-01T00:00:00Z","principal":"root","allowed":true`
	env, _ := fakeServer(t, map[string]string{
		"GET /commits?limit=50": `{"items":[{"ref":"main.sales.orders","catalog":"main","table":"sales.orders"}]}`,
		"GET /audit?catalog=main&limit=50": `{"items":[
			{` + at + `,"type":"table.write_policy_changed","ref":"main.sales.orders","details":{"from":"governed_only","to":"open_append"}},
			{` + at + `,"type":"default_write_policy.changed","ref":"main.sales","details":{"from":null,"to":"open_full"}},
			{` + at + `,"type":"table.classification_changed","ref":"main.sales.orders","details":{"from":{"level":"internal"},"to":{"level":"restricted"}}},
			{` + at + `,"type":"table.external_commit_reconciled","ref":"main.sales.orders","details":{"operation":"append","rows":3,"rowCountBefore":0,"rowCountAfter":3,"findings":[]}},
			{` + at + `,"type":"catalog.created","ref":"main","details":{}},
			{` + at + `,"type":"grant.added","ref":"main.sales","details":{"catalogRole":"ingest","privilege":"TABLE_WRITE_DATA","scope":"namespace","object":"main.sales"}},
			{` + at + `,"type":"principal_role.assigned","details":{"principal":"etl","role":"writers"}},
			{` + at + `,"type":"principal.updated","details":{"principal":"etl","clearance":{"from":"internal","to":"restricted"},"disabled":{"from":false,"to":true}}},
			{` + at + `,"type":"table.commit_denied","ref":"main.sales.orders","reason":"No.","details":{}}]}`,
		"GET /tables/main.a.t": `{"ref":"main.a.t","identityColumns":["id","tenant"],"columns":{
			"name":{"sensitivity":"internal"},"email":{"sensitivity":"restricted","tag":"email","mask":"partial"},"key":{"sensitivity":"public","mask":"hash"}}}`,
	})
	_, out, errOut := command(env, "commits", "list")
	assert.Contains(t, out, "main.sales.orders", errOut)
	_, out, errOut = command(env, "audit", "list", "--catalog", "main")
	for _, want := range []string{
		"governed_only → open_append", "main.sales ", "inherited → open_full", "internal → restricted", "append of 3 rows: 0 → 3", "main  ", "No.",
		"catalog role ingest TABLE_WRITE_DATA on main.sales", "principal etl role writers", "principal etl, clearance internal → restricted, disabled no → yes",
	} {
		assert.Contains(t, out, want, errOut)
	}
	_, out, errOut = command(env, "tables", "get", "main.a.t")
	assert.Contains(t, out, "id,tenant", errOut)
	assert.Contains(t, out, "email=restricted:email:partial, key=public::hash, name=internal")
}

func TestMintingIsSentInFull(t *testing.T) {
	t.Parallel()
	var sent map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		_, _ = w.Write([]byte(`{"id":"1"}`))
	}))
	t.Cleanup(s.Close)
	code, _, errOut := command(nil, "tokens", "mint", "--expires-in", "30d", "--uri", s.URL, "--token", "t")
	require.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "720h0m0s", sent["expiresIn"])
	assert.Equal(t, true, sent["canWrite"])
	assert.NotContains(t, sent, "canGovern", "it is asked for, never given")

	sent = nil
	code, _, errOut = command(nil, "tokens", "mint", "--can-govern", "--uri", s.URL, "--token", "t")
	require.Equal(t, exitOK, code, errOut)
	assert.Equal(t, true, sent["canGovern"])
}

func TestAuditDetailsOfTokensKeysAndWriters(t *testing.T) {
	t.Parallel()
	for kind, tt := range map[string]struct {
		details map[string]any
		want    string
	}{
		"token.revoked":       {map[string]any{"tokenId": "t1", "name": "nightly"}, "token t1 nightly"},
		"signing_key.created": {map[string]any{"key": "k1", "retiresAt": "2026-12-30T00:00:00Z"}, "key k1, signs until 2026-12-30T00:00:00Z"},
		"signing_key.revoked": {map[string]any{"kept": "k2"}, "all but key k2"},
		"token.minted":        {map[string]any{"for": "etl"}, "etl"},
		"writer.declared":     {map[string]any{"writerKind": "expected", "writerPrincipal": "etl", "every": "25h0m0s"}, "expected writer of etl, every 25h0m0s"},
		"writer.retired":      {map[string]any{"writerKind": "flink", "writerPrincipal": "etl", "note": "moved"}, "flink writer of etl: moved"},
	} {
		assert.Equal(t, tt.want, auditDetail(map[string]any{"type": kind, "details": tt.details}), kind)
	}
}

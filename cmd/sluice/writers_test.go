package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWritersAreShown(t *testing.T) {
	t.Parallel()
	const asked = "GET /governance/v1/writers?limit=50&state=late&table=main.sales.orders"
	r, env := record(t, map[string]string{asked: `{"items":[
		{"id":"w1","ref":"main.sales.orders","kind":"flink","principal":"etl","key":"op","state":"late","lastCommitAt":"2026-03-01T11:00:00Z",
		 "cadence":{"learned":{"median":"1m0s","spread":"1s"},"every":null},"dueAt":"2026-03-01T11:05:00Z"},
		{"id":"w2","ref":"main.sales.orders","kind":"expected","principal":"nightly","key":"","state":"late","lastCommitAt":null,
		 "cadence":{"learned":null,"every":"25h0m0s"},"dueAt":"2026-03-01T11:05:00Z"}]}`})
	code, out, errOut := command(env, "writers", "list", "--table", "main.sales.orders", "--state", "late")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, []string{asked}, r.asked)
	assert.Regexp(t, `w1 +main\.sales\.orders +flink +etl +op +late +2026-03-01T11:00:00Z +about 1m0s +2026-03-01T11:05:00Z`, out)
	assert.Regexp(t, `w2 +main\.sales\.orders +expected +nightly +- +late +- +25h0m0s`, out)
}

func TestAWriterIsShownInWords(t *testing.T) {
	t.Parallel()
	_, env := record(t, map[string]string{"GET /governance/v1/writers/w1": `{"id":"w1","watermark":{"checkpoint":412},
		"cadence":{"learned":{"median":"1m0s","spread":"1.2s"},"every":null},"credential":{"mode":"vended","tokenId":"t1","tokenExpiresAt":null,"tokenGone":false}}`,
		"GET /governance/v1/writers/w2": `{"id":"w2","watermark":null,"cadence":{"learned":null,"every":null}}`})
	code, out, errOut := command(env, "writers", "show", "w1")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "id          w1\ncadence     learned median 1m0s, learned spread 1.2s\nwatermark   checkpoint 412\n"+
		"credential  mode vended, tokenGone no, tokenId t1\n", out)
	_, out, _ = command(env, "writers", "show", "w2")
	assert.Equal(t, "id         w2\ncadence    -\nwatermark  -\n", out)
}

func TestWritersAreChanged(t *testing.T) {
	t.Parallel()
	r, env := record(t, nil)
	for _, args := range [][]string{
		{"writers", "show", "w1"},
		{"writers", "declare", "main.sales.orders", "etl", "--every", "25h"},
		{"writers", "set", "w1", "--every", "10m"},
		{"writers", "set", "w1", "--learned"},
		{"writers", "retire", "w1", "--note", "moved"},
	} {
		code, _, errOut := command(env, args...)
		assert.Equal(t, exitOK, code, errOut)
	}
	assert.Equal(t, []string{
		`GET /governance/v1/writers/w1`,
		`POST /governance/v1/writers {"every":"25h","principal":"etl","table":"main.sales.orders"}`,
		`PUT /governance/v1/writers/w1 {"every":"10m"}`,
		`PUT /governance/v1/writers/w1 {"every":null}`,
		`POST /governance/v1/writers/w1/retire {"note":"moved"}`,
	}, r.asked)
}

func TestWrongCadencesAreRefusedBeforeAnybodyIsAsked(t *testing.T) {
	t.Parallel()
	r, env := record(t, nil)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no length":    {[]string{"writers", "declare", "main.a.b", "etl"}, "--every"},
		"no principal": {[]string{"writers", "declare", "main.a.b"}, "PRINCIPAL"},
		"a word":       {[]string{"writers", "set", "w1", "--every", "soon"}, "25h"},
		"nothing set":  {[]string{"writers", "set", "w1"}, "--every"},
		"both":         {[]string{"writers", "set", "w1", "--every", "1h", "--learned"}, "contradict"},
		"no mode":      {[]string{"policy", "duplicate-commits"}, "TABLE"},
	} {
		code, _, errOut := command(env, tt.args...)
		assert.Equal(t, exitUsage, code, name)
		assertOneSentence(t, errOut, tt.want)
	}
	assert.Empty(t, r.asked)
}

func TestDuplicateCommitsAreShownAndSet(t *testing.T) {
	t.Parallel()
	const shown, set = "GET /governance/v1/tables/main.a.b", "PUT /governance/v1/tables/main.a.b/duplicate-commits"
	r, env := record(t, map[string]string{
		shown: `{"ref":"main.a.b","duplicateCommits":"audit"}`, set: `{"ref":"main.a.b","duplicateCommits":"reject"}`,
	})
	code, out, errOut := command(env, "policy", "duplicate-commits", "main.a.b")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "audit\n", out)
	code, out, errOut = command(env, "policy", "duplicate-commits", "main.a.b", "reject")
	assert.Equal(t, exitOK, code, errOut)
	assert.Equal(t, "main.a.b: reject\n", out)
	assert.Equal(t, []string{shown, set + ` {"mode":"reject"}`}, r.asked)
}

func TestACheckThatFindsSomethingMissingCounts(t *testing.T) {
	t.Parallel()
	const asked = "GET /governance/v1/tables/main.a.b/check"
	const broken = `{"ok":false,"ref":"main.a.b","metadata":"there","lastGoodSnapshotId":"12","remedy":"Roll back to 12.","snapshots":[` +
		`{"id":"13","committedAt":"2026-03-01T11:00:00Z","onMain":true,"state":"missing","manifestList":"s3://b/l13"},` +
		`{"id":"12","committedAt":"2026-03-01T10:00:00Z","onMain":true,"state":"there","manifestList":"s3://b/l12"}]}`
	_, env := record(t, map[string]string{asked: broken})
	code, out, errOut := command(env, "tables", "check", "main.a.b")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, errOut, "it is said already")
	assert.Regexp(t, `last good snapshot +12\n`, out)
	assert.Regexp(t, `13 +2026-03-01T11:00:00Z +yes +missing +s3://b/l13`, out)
	assert.Contains(t, out, "Roll back to 12.")
	code, out, _ = command(env, "tables", "check", "main.a.b", "-o", "json")
	assert.Equal(t, exitFailed, code)
	assert.JSONEq(t, broken, out)

	_, env = record(t, map[string]string{asked: `{"ok":true,"ref":"main.a.b","metadata":"there","lastGoodSnapshotId":null,"snapshots":[]}`})
	code, out, errOut = command(env, "tables", "check", "main.a.b")
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `last good snapshot +-\n`, out)
}

func TestFindingsOfAWriterSayWhatToDo(t *testing.T) {
	t.Parallel()
	const asked = "GET /governance/v1/findings?limit=50&open=true&writer=w1"
	_, env := record(t, map[string]string{asked: `{"items":[{"id":"f1","kind":"stalled_writer","severity":"high","ref":"main.a.b","subject":"flink writer op of etl",
		"lastSeenAt":"2026-03-01T11:00:00Z","evidence":{"state":"late","remedy":"See whether the job runs."},"resolvedAt":null}]}`})
	code, out, errOut := command(env, "findings", "list", "--writer", "w1")
	assert.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `f1 +2026-03-01T11:00:00Z +stalled_writer +high +main\.a\.b +flink writer op of etl +See whether the job runs\.`, out)
}

func TestWhatAFindingSaysOfTwoCommits(t *testing.T) {
	t.Parallel()
	for want, evidence := range map[string]map[string]any{
		"checkpoint/5 is in snapshot 7 already":         {"earlierSnapshot": "7", "unit": "checkpoint/5", "earlierUnit": "checkpoint/5", "remedy": "r"},
		"checkpoint/3 after checkpoint/5 of snapshot 7": {"earlierSnapshot": "7", "unit": "checkpoint/3", "earlierUnit": "checkpoint/5"},
		"compare with snapshot 7":                       {"earlierSnapshot": "7", "lostColumns": []any{"city"}},
	} {
		assert.Equal(t, want, findingDetail(map[string]any{"evidence": evidence}))
	}
}

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// sealedFolder is a data folder as serve leaves it, with ten sealed audit events, and their checkpoint as it is kept outside.
func sealedFolder(t *testing.T) (folder, checkpoint string) {
	t.Helper()
	folder = t.TempDir()
	st, err := store.Open(t.Context(), store.Config{URL: filepath.Join(folder, databaseName)})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	require.NoError(t, store.Migrate(t.Context(), st))
	for range 10 {
		require.NoError(t, st.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditTokenMinted, Principal: "root", Allowed: true}))
	}
	r, err := keyring.ReadOrCreate(filepath.Join(folder, encryptionName))
	require.NoError(t, err)
	sealer, err := audit.NewSealer(st, audit.NewKeys(st, auditVault(r), time.Now, nil), audit.SealerOptions{})
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	sealer.Run(over)
	rows, err := st.AuditCheckpoints(t.Context())
	require.NoError(t, err)
	keys, err := st.AuditKeys(t.Context())
	require.NoError(t, err)
	line, err := json.Marshal(audit.Exportable(rows[0], keys[0]))
	require.NoError(t, err)
	return folder, string(line)
}

func tamper(t *testing.T, folder string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(folder, databaseName))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, statement := range append([]string{"DROP TRIGGER audit_events_update", "DROP TRIGGER audit_events_delete"}, statements...) {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
}

func TestAuditVerifyOfAFolder(t *testing.T) {
	t.Parallel()
	folder, checkpoint := sealedFolder(t)
	code, out, errOut := command(nil, "audit", "verify", "--data", folder)
	require.Equal(t, exitOK, code, errOut)
	require.Contains(t, out, "good         yes")
	require.Contains(t, out, "events       10")
	code, out, errOut = command(nil, "audit", "verify", "--data", folder, "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	var report audit.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.True(t, report.Good)
	require.EqualValues(t, 10, report.SignedSeq)
	require.Empty(t, report.Notes, "the key of the folder proves the signatures")

	file := filepath.Join(t.TempDir(), "checkpoints.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(checkpoint+"\n"), 0o600))
	code, _, errOut = command(nil, "audit", "verify", "--data", folder, "--from-checkpoint-file", file)
	require.Equal(t, exitOK, code, errOut)

	tamper(t, folder, "UPDATE audit_events SET principal = 'noot' WHERE seq = 4")
	code, out, errOut = command(nil, "audit", "verify", "--data", folder)
	require.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "the audit is not what was sealed")
	require.Regexp(t, `(?m)^edited +4 +4 +[0-9a-f-]{36} +the row is not what was sealed`, out)
	code, out, _ = command(nil, "audit", "verify", "--data", folder, "-o", "json")
	require.Equal(t, exitFailed, code)
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.False(t, report.Good)
	require.EqualValues(t, 4, report.Problems[0].Seq)
}

func TestAuditVerifyAgainstWhatWasKeptOutside(t *testing.T) {
	t.Parallel()
	folder, checkpoint := sealedFolder(t)
	file := filepath.Join(t.TempDir(), "checkpoints.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(checkpoint), 0o600))
	var kept audit.Checkpoint
	require.NoError(t, json.Unmarshal([]byte(checkpoint), &kept))
	tamper(t, folder, "DELETE FROM audit_checkpoints", "DELETE FROM audit_events WHERE seq > 8",
		"UPDATE audit_states SET seq = 8, hash = (SELECT hash FROM audit_events WHERE seq = 8)")
	code, out, _ := command(nil, "audit", "verify", "--data", folder)
	require.Equal(t, exitOK, code, "the folder alone cannot know")
	require.Contains(t, out, "no checkpoint stands for any of the 8 events")
	code, out, _ = command(nil, "audit", "verify", "--data", folder, "--from-checkpoint-file", file, "--public-key", kept.PublicKey)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "the end is cut off")

	for name, args := range map[string][]string{
		"no key":      {"--public-key", "AAAA"},
		"no file":     {"--from-checkpoint-file", file + ".none"},
		"another one": {"--from-checkpoint-file", filepath.Join(folder, encryptionName)},
	} {
		code, _, errOut := command(nil, append([]string{"audit", "verify", "--data", folder}, args...)...)
		require.Equal(t, exitUsage, code, "%s: %s", name, errOut)
	}
}

func TestAuditVerifyMakesNothing(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent")
	code, _, errOut := command(nil, "audit", "verify", "--data", absent)
	require.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "--data")
	require.NoDirExists(t, absent)
}

func TestAuditCheckpointsAreWrittenForKeeping(t *testing.T) {
	t.Parallel()
	env, _ := fakeServer(t, map[string]string{
		"GET /audit/checkpoints?limit=1000":         `{"items":[{"id":"2","seq":9,"keyId":"k"}],"next":"2"}`,
		"GET /audit/checkpoints?after=2&limit=1000": `{"items":[{"id":"1","seq":4,"keyId":"k"}]}`,
		"GET /audit/checkpoints?limit=50":           `{"items":[{"id":"2","seq":9,"at":"2026-03-01T12:00:00Z","keyId":"k"}]}`,
	})
	code, out, errOut := command(env, "audit", "checkpoints", "--lines")
	require.Equal(t, exitOK, code, errOut)
	require.Equal(t, "{\"id\":\"2\",\"seq\":9,\"keyId\":\"k\"}\n{\"id\":\"1\",\"seq\":4,\"keyId\":\"k\"}\n", out)
	code, out, errOut = command(env, "audit", "checkpoints")
	require.Equal(t, exitOK, code, errOut)
	require.Contains(t, out, "2026-03-01T12:00:00Z  9")
}

// streaming is a server that sends events in parts: each connection gets the next part and is cut off, the last is refused.
func streaming(t *testing.T, parts ...string) (env map[string]string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, strings.TrimPrefix(r.URL.RequestURI(), governancePath)+" after "+r.Header.Get("Last-Event-ID"))
		assert.Equal(t, "Bearer t0ken", r.Header.Get("Authorization"))
		if n := len(requests); n <= len(parts) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, "retry: 1\n\n"+parts[n-1])
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":{"message":"You may no longer.","type":"ForbiddenException","code":403}}`))
	}))
	t.Cleanup(s.Close)
	return map[string]string{"SLUICE_URI": s.URL, "SLUICE_TOKEN": "t0ken"}, func() []string { return requests }
}

const (
	tailedFirst  = "id: 7\nevent: token.minted\ndata: {\"id\":\"3\",\"type\":\"token.minted\",\"at\":\"2026-03-01T12:00:00Z\",\"principal\":\"root\",\"allowed\":true,\ndata: \"details\":{\"name\":\"etl\"}}\n\n: beat\nid: 9\n\n"
	tailedSecond = "id: 12\nevent: request.denied\ndata: {\"id\":\"4\",\"type\":\"request.denied\",\"at\":\"2026-03-01T12:00:01Z\",\"principal\":\"etl\",\"allowed\":false,\"reason\":\"No\\u001b[2J.\"}\n\nid: 13\ndata: {\"cut"
)

func TestAuditTailGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	env, asked := streaming(t, tailedFirst, tailedSecond)
	code, out, errOut := command(env, "audit", "tail", "--type", "token.*", "--principal", "root")
	require.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "You may no longer. (HTTP 403)")
	require.Equal(t, []string{
		"/events?principal=root&type=token.%2A after ", "/events?principal=root&type=token.%2A after 9", "/events?principal=root&type=token.%2A after 12",
	}, asked(), "a half event is asked for again")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3, out)
	require.True(t, strings.HasPrefix(lines[0], "AT  "))
	require.Regexp(t, `^2026-03-01T12:00:00Z +token.minted +yes +root .*etl$`, lines[1])
	require.Regexp(t, `^2026-03-01T12:00:01Z +request.denied +no +etl .*No \[2J\.$`, lines[2])

	env, _ = streaming(t, tailedSecond)
	_, out, _ = command(env, "audit", "tail", "-o", "json")
	require.Equal(t, 1, strings.Count(out, "\n"), "one object a line: %s", out)
	require.True(t, json.Valid([]byte(strings.TrimSpace(out))))
}

func TestAuditTailOfNobody(t *testing.T) {
	t.Parallel()
	code, _, errOut := command(nil, "audit", "tail", "--uri", "http://127.0.0.1:1", "--token", "t")
	require.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "no answer from http://127.0.0.1:1")
}

package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/temporalx"
)

func startTemporalServer(t *testing.T, folder string, port int) *temporalx.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := temporalx.StartServer(ctx, temporalx.ServerOptions{
		DataDir: folder, FrontendPort: port, UIPort: temporalx.NoUI, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// startServer starts api or worker and gives the base of its address once it is ready.
func startServer(t *testing.T, env map[string]string, name, ready string) (*program, string) {
	t.Helper()
	p := startProgram(t, func(cmd *exec.Cmd) {
		for key, value := range env {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
	}, name)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		for line := range strings.Lines(p.errOut.String()) {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == ready {
				return p, "http://" + entry.Address
			}
		}
		if !p.running() || time.Now().After(deadline) {
			t.Fatalf("%s did not become ready\n%s", name, p.errOut.String())
		}
	}
}

func TestAPIAndWorkerOnPostgresAndTemporal(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	temporalFolder := t.TempDir()
	temporal := startTemporalServer(t, temporalFolder, 0)
	env := map[string]string{
		"SLUICE_DATABASE_URL":     database,
		"SLUICE_TEMPORAL_ADDRESS": temporal.Address(),
		"SLUICE_WAREHOUSE":        "file://" + t.TempDir(),
		"SLUICE_LISTEN":           "127.0.0.1:0",
	}
	withoutKeys := maps.Clone(env)
	env["SLUICE_ENCRYPTION_KEYS"] = keyring.Generate()
	for _, server := range []string{"api", "worker"} {
		code, _, errOut := command(env, server)
		assert.Equal(t, exitFailed, code, server)
		assertOneSentence(t, errOut, "sluice migrate")
	}
	code, _, errOut := command(env, "migrate")
	require.Equal(t, exitOK, code, errOut)
	code, out, errOut := command(env, "root", "create", "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	var root rootCredentials
	require.NoError(t, json.Unmarshal([]byte(out), &root))

	code, _, errOut = command(withoutKeys, "api")
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "sluice encryption-keys generate")
	api, uri := startServer(t, env, "api", "the API is ready")
	worker, probes := startServer(t, env, "worker", "the worker is ready")
	for _, address := range []string{uri, probes} {
		status, body := get(t, address+"/readyz", "")
		assert.Equal(t, http.StatusOK, status, body)
		status, body = get(t, address+"/metrics", "")
		assert.Equal(t, http.StatusOK, status)
		assert.Contains(t, body, "sluice_build_info")
	}
	status, body := get(t, probes+"/", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "sluice worker")
	nowhere := maps.Clone(env)
	nowhere["SLUICE_TEMPORAL_NAMESPACE"] = "nowhere"
	_, found := diagnose(t, nowhere)
	assert.Contains(t, found["temporal"].Detail, "only the namespace nowhere is missing")
	code, found = diagnose(t, env)
	assert.Equal(t, exitOK, code, found)
	for _, check := range []string{"database", "database clock", "warehouse", "temporal", "temporal clock"} {
		assert.Equal(t, wellOutcome, found[check].Result, "%s: %v", check, found[check])
	}

	client := maps.Clone(env)
	client["SLUICE_URI"], client["SLUICE_TOKEN"] = uri, root.Token
	engine, err := newDemoEngine(t.Context(), uri+"/api/catalog", "main", root.Token)
	require.NoError(t, err)
	require.NoError(t, engine.createTable(t.Context()))
	code, _, errOut = command(client, "policy", "set", "main.demo.events", "open_append")
	require.Equal(t, exitOK, code, errOut)
	_, err = engine.appendRows(t.Context(), 10)
	require.NoError(t, err)
	awaitGoverned(t, client, 1)

	// Temporal away: commits go on, and are governed once it is back.
	_, port, err := net.SplitHostPort(temporal.Address())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	temporal.Stop()
	_, err = engine.appendRows(t.Context(), 10)
	require.NoError(t, err, "a commit needed Temporal")
	status, body = get(t, uri+"/readyz", "")
	assert.Equal(t, http.StatusOK, status, body)
	startTemporalServer(t, temporalFolder, number)
	awaitGoverned(t, client, 2)

	for _, p := range []*program{api, worker} {
		p.signal(syscall.SIGTERM)
	}
	assert.Equal(t, exitOK, api.exit(10*time.Second), api.errOut.String())
	assert.Equal(t, exitOK, worker.exit(10*time.Second), worker.errOut.String())
	assert.NotContains(t, api.errOut.String()+worker.errOut.String(), root.Token)
}

// awaitGoverned waits until so many commits of the demo's table have their audit event.
func awaitGoverned(t *testing.T, env map[string]string, commits int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		code, out, errOut := command(env, "audit", "list", "--type", "table.external_commit_reconciled", "--table", "main.demo.events", "-o", "json")
		require.Equal(t, exitOK, code, errOut)
		var events page
		require.NoError(t, json.Unmarshal([]byte(out), &events))
		if len(events.Items) == commits {
			return
		}
		require.Less(t, len(events.Items), commits, out)
		require.True(t, time.Now().Before(deadline), "the commit was not governed in time: %s", out)
	}
}

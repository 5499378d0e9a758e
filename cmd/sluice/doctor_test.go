package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func diagnose(t *testing.T, env map[string]string, args ...string) (int, map[string]finding) {
	t.Helper()
	code, out, errOut := command(env, append([]string{"doctor", "-o", "json"}, args...)...)
	var rows []finding
	require.NoError(t, json.Unmarshal([]byte(out), &rows), "%s %s", out, errOut)
	found := map[string]finding{}
	for _, row := range rows {
		found[row.Check] = row
		if row.Result != wellOutcome {
			assert.NotEmpty(t, row.Remedy, "%s says no remedy", row.Check)
		}
	}
	return code, found
}

func freePorts() []string {
	return []string{"--listen", "127.0.0.1:0", "--temporal-port", "0", "--ui-port", "0"}
}

func TestDoctorOnARunningAndAStoppedServe(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	p, _ := startServe(t, folder)
	code, found := diagnose(t, nil, "--data", folder)
	assert.Equal(t, exitOK, code, found)
	for _, check := range []string{"data folder", "disk space", "database", "warehouse", "catalogs", "ready", "temporal", "temporal clock"} {
		assert.Equal(t, wellOutcome, found[check].Result, "%s: %v", check, found[check])
	}
	p.stopServe()

	code, found = diagnose(t, nil, append(freePorts(), "--data", folder)...)
	assert.Equal(t, exitOK, code, found)
	assert.Equal(t, wellOutcome, found["ports"].Result)

	require.NoError(t, os.WriteFile(filepath.Join(folder, databaseName), []byte("no database at all, and long enough to be read as one"), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "warehouse")))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "warehouse"), nil, 0o600))
	code, found = diagnose(t, nil, append(freePorts(), "--data", folder)...)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, failOutcome, found["database"].Result)
	assert.Equal(t, failOutcome, found["warehouse"].Result)
}

func TestDoctorOnNothing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	folder := filepath.Join(t.TempDir(), "absent")
	code, found := diagnose(t, nil, "--data", folder, "--listen", l.Addr().String(), "--temporal-port", "0", "--ui-port", "0")
	assert.Equal(t, exitFailed, code)
	assert.Len(t, found, 2, "what is not there is said once")
	for _, check := range []string{"data folder", "ports"} {
		assert.Equal(t, failOutcome, found[check].Result, check)
	}
	assert.NoDirExists(t, folder, "doctor made the folder that it missed")
}

// A wrong file of issuers is said before anything starts, and by doctor.
func TestAWrongFileOfIssuers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "issuers.yaml")
	require.NoError(t, os.WriteFile(file, []byte("issuers:\n  - url: nonsense\n    audience: sluice\n"), 0o600))
	folder := filepath.Join(t.TempDir(), "data")
	code, _, errOut := command(nil, append(freePorts(), "serve", "--data", folder, "--oidc-file", file)...)
	assert.NotEqual(t, exitOK, code)
	assertOneSentence(t, errOut, file+", line ")
	assert.NoDirExists(t, folder, "serve began to start")
	code, found := diagnose(t, nil, append(freePorts(), "--data", folder, "--oidc-file", file)...)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, failOutcome, found["issuers"].Result)
	assert.Contains(t, found["issuers"].Detail, "line ")

	require.NoError(t, os.WriteFile(file, []byte("issuers:\n  - issuer: https://idp.example\n    audiences: [sluice]\n"), 0o600))
	_, found = diagnose(t, nil, append(freePorts(), "--data", folder, "--oidc-file", file)...)
	assert.Equal(t, wellOutcome, found["issuers"].Result, found["issuers"].Detail)
}

func TestDoctorOnExternalPartsThatAreDown(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"SLUICE_DATABASE_URL":     "postgres://sluice:hunter2@127.0.0.1:1/sluice?connect_timeout=2",
		"SLUICE_TEMPORAL_ADDRESS": "127.0.0.1:1",
		"SLUICE_WAREHOUSE":        "file://" + filepath.Join(t.TempDir(), "absent"),
	}
	code, found := diagnose(t, env)
	assert.Equal(t, 1, strings.Count(found["database"].Detail, "connection refused"), found["database"].Detail)
	assert.NoDirExists(t, strings.TrimPrefix(env["SLUICE_WAREHOUSE"], "file://"), "doctor made the warehouse that it missed")
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, failOutcome, found["database"].Result)
	assert.Equal(t, failOutcome, found["temporal"].Result)
	assert.Equal(t, failOutcome, found["warehouse"].Result)
	for _, f := range found {
		assert.NotContains(t, f.Detail+f.Remedy, "hunter2")
	}
}

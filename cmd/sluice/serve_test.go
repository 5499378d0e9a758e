package main

import (
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServeIsReadyStopsAndKeepsItsState(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	first, b := startServe(t, folder)

	// The file for scripts is a contract: exactly these keys, for the owner alone.
	raw := readJSON(t, filepath.Join(folder, bootstrapName))
	assert.ElementsMatch(t, []string{
		"catalogUri", "managementUri", "governanceUri", "dataUri", "consoleUri", "temporalAddress", "temporalUiUri",
		"s3Endpoint", "catalog", "principal", "clientId", "clientSecret", "token",
	}, slices.Collect(maps.Keys(raw)))
	for key, value := range raw {
		assert.NotEmpty(t, value, key)
	}
	assert.Equal(t, "main", b.Catalog)
	assert.Equal(t, "root", b.Principal)
	for _, name := range []string{bootstrapName, credentialsName} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	info, err := os.Stat(folder)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	base := strings.TrimSuffix(b.GovernanceURI, governancePath)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200} {
		code, body := get(t, base+path, "")
		assert.Equal(t, want, code, "%s: %s", path, body)
	}
	code, _ := get(t, b.TemporalUIURI, "")
	assert.Equal(t, http.StatusOK, code)
	code, body := get(t, b.CatalogURI+"/v1/config?warehouse=main", b.Token)
	assert.Equal(t, http.StatusOK, code, body)
	assert.NotEmpty(t, accessToken(t, b))
	assert.Contains(t, first.out.String(), b.ClientSecret, "the first start shows the credentials")

	refuseSecondServe(t, folder)
	code, body = get(t, base+"/readyz", "")
	assert.Equal(t, http.StatusOK, code, "the refused second serve did harm: %s", body)

	exit, out, errOut := command(nil, "policy", "set-default", "main", "open_append", "--data", folder)
	require.Equal(t, exitOK, exit, errOut)
	assert.Contains(t, out, "open_append")
	code, body = get(t, base+"/", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, `"catalog":"/api/catalog"`)
	first.stopServe()
	assert.NoFileExists(t, filepath.Join(folder, bootstrapName), "its addresses are nobody's now")
	assert.NoFileExists(t, filepath.Join(folder, databaseName+"-wal"))
	assert.NoFileExists(t, filepath.Join(folder, databaseName+"-shm"))
	assert.True(t, strings.HasSuffix(strings.TrimSpace(first.errOut.String()), `"msg":"stopped"}`), first.errOut.String())
	assert.NotContains(t, first.errOut.String(), "Started Worker")
	assert.NotContains(t, first.errOut.String(), "GetHistory page size")

	second, again := startServe(t, folder)
	assert.Equal(t, b.rootCredentials, again.rootCredentials)
	assert.NotContains(t, second.out.String(), b.ClientSecret, "credentials are shown once")
	assert.Contains(t, second.out.String(), filepath.Join(folder, credentialsName), "where they are is said at every start")
	assert.NotEmpty(t, accessToken(t, again))
	exit, out, errOut = command(nil, "audit", "list", "--data", folder, "--type", "default_write_policy.changed", "-o", "json")
	require.Equal(t, exitOK, exit, errOut)
	assert.Contains(t, out, "default_write_policy.changed")
	second.stopServe()
}

func accessToken(t *testing.T, b bootstrapFile) string {
	t.Helper()
	resp, err := http.PostForm(b.CatalogURI+"/v1/oauth/tokens", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {b.ClientID}, "client_secret": {b.ClientSecret}, "scope": {"PRINCIPAL_ROLE:ALL"},
	})
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	return answer.AccessToken
}

func refuseSecondServe(t *testing.T, folder string) {
	t.Helper()
	before := readJSON(t, filepath.Join(folder, bootstrapName))
	p := startProgram(t, nil, serveArgs(folder)...)
	assert.Equal(t, exitFailed, p.exit(10*time.Second))
	assertOneSentence(t, p.errOut.String(), "in use by another sluice")
	assert.Equal(t, before, readJSON(t, filepath.Join(folder, bootstrapName)))
}

func assertOneSentence(t *testing.T, errOut string, want string) {
	t.Helper()
	assert.Contains(t, errOut, want)
	assert.Equal(t, 1, strings.Count(strings.TrimSpace(errOut), "\n")+1, "more than a sentence: %s", errOut)
	assert.True(t, strings.HasPrefix(errOut, "sluice: "), errOut)
}

func TestServeRefusesATakenPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // after the subtests
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	for name, args := range map[string][]string{
		"HTTP":        {"--listen", l.Addr().String()},
		"Temporal":    {"--temporal-port", port},
		"Temporal UI": {"--ui-port", port},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "data")
			p := startProgram(t, nil, serveArgs(folder, args...)...)
			assert.Equal(t, exitFailed, p.exit(20*time.Second))
			assertOneSentence(t, p.errOut.String(), "taken by another process")
			assert.Contains(t, p.errOut.String(), port)
			assert.NoFileExists(t, filepath.Join(folder, credentialsName), "credentials were made that nobody is shown")
			assert.NoFileExists(t, filepath.Join(folder, databaseName))
		})
	}
}

func TestServeRefusesANewerFolder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ content, want string }{
		"newer":   {`{"format": 99, "createdBy": "v9.9.9"}`, "newer sluice"},
		"damaged": {`{"format":`, "does not say which format"},
		"empty":   {``, "does not say which format"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, versionName), []byte(tt.content), 0o600))
			p := startProgram(t, nil, serveArgs(folder)...)
			assert.Equal(t, exitFailed, p.exit(10*time.Second))
			assertOneSentence(t, p.errOut.String(), tt.want)
			assert.NoFileExists(t, filepath.Join(folder, databaseName), "a refused folder was changed")
		})
	}
}

func TestServeRefusesAFolderItCannotWrite(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	folder := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(folder, 0o500))
	var as func(*exec.Cmd)
	if os.Geteuid() == 0 { // root may write anywhere: be somebody else
		require.NoError(t, os.Chown(folder, nobody, nobody))
		for dir := folder; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			if dir != folder {
				require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // the other user must get there
			}
		}
		program := filepath.Join(t.TempDir(), "sluice")
		if err := os.Link(os.Args[0], program); err != nil {
			t.Skip("the program cannot be put where another user may run it")
		}
		for dir := filepath.Dir(program); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // the other user must get there
		}
		as = func(cmd *exec.Cmd) {
			cmd.Path = program
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	}
	p := startProgram(t, as, serveArgs(folder)...)
	assert.Equal(t, exitFailed, p.exit(10*time.Second))
	assertOneSentence(t, p.errOut.String(), "cannot be used (permission denied)")
}

func TestServeRefusesAFileAsFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, _, errOut := command(nil, serveArgs(filepath.Join(file, "data"))...)
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "not a directory")
}

func TestSecondSignalEndsServeAtOnce(t *testing.T) {
	t.Parallel()
	p, _ := startServe(t, filepath.Join(t.TempDir(), "data"))
	p.signal(syscall.SIGINT)
	for range 20 { // on a busy machine the first may still be on its way to who waits for it
		time.Sleep(50 * time.Millisecond)
		if !p.running() {
			break
		}
		_ = p.cmd.Process.Signal(syscall.SIGINT)
	}
	p.exit(time.Second)
}

func TestAMovedFolderIsSaid(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "data")
	p, _ := startServe(t, old, "--s3-gateway-port", "-1")
	p.stopServe()
	moved := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(old, moved))
	p, _ = startServe(t, moved)
	assert.Contains(t, p.out.String(), "catalog main lies in file://"+old+"/warehouse")
	assert.Contains(t, p.out.String(), "move the data folder back to "+old)
	assert.Contains(t, p.errOut.String(), `"level":"WARN","msg":"catalog main lies in`)
	code, found := diagnose(t, nil, "--data", moved)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, failOutcome, found["catalogs"].Result)
	assert.Contains(t, found["catalogs"].Remedy, old)
	p.stopServe()
}

// The default warehouse goes with the folder: its tables are named by the bucket.
func TestAMovedFolderWorks(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "data")
	p, b := startServe(t, old)
	catalogs := func(b bootstrapFile) string { return b.CatalogURI + "/v1/" + b.Catalog + "/namespaces" }
	code, body := send(t, http.MethodPost, catalogs(b), b.Token, `{"namespace":["ns"]}`)
	require.Equal(t, http.StatusOK, code, body)
	table := `{"name":"t","schema":{"type":"struct","fields":[{"id":1,"name":"id","required":false,"type":"long"}]}}`
	code, body = send(t, http.MethodPost, catalogs(b)+"/ns/tables", b.Token, table)
	require.Equal(t, http.StatusOK, code, body)
	p.stopServe()
	moved := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(old, moved))
	p, b = startServe(t, moved)
	assert.NotContains(t, p.out.String(), "cannot be used")
	code, body = get(t, catalogs(b)+"/ns/tables/t", b.Token)
	assert.Equal(t, http.StatusOK, code, body)
	code, out, errOut := command(nil, "storage", "validate", "main", "--data", moved)
	assert.Equal(t, exitOK, code, "%s\n%s", out, errOut)
	p.stopServe()
}

// Engines were told the S3 endpoint's address, so it stays unless somebody else has the port by then.
func TestTheS3PortIsKept(t *testing.T) { // alone, so that no other test of ours takes the port meanwhile
	folder := filepath.Join(t.TempDir(), "data")
	p, first := startServe(t, folder)
	p.stopServe()
	p, again := startServe(t, folder)
	assert.Equal(t, first.S3Endpoint, again.S3Endpoint)
	p.stopServe()
	taken, err := net.Listen("tcp", strings.TrimPrefix(first.S3Endpoint, "http://"))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	p, other := startServe(t, folder)
	assert.NotEqual(t, first.S3Endpoint, other.S3Endpoint)
	p.stopServe()
}

func TestResetRemovesWhatAKilledServeLeft(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	p, _ := startServe(t, folder)
	require.NoError(t, p.cmd.Process.Kill())
	<-p.ended
	require.FileExists(t, filepath.Join(folder, bootstrapName))
	code, _, errOut := command(nil, "root", "reset-credentials", "--data", folder)
	require.Equal(t, exitOK, code, errOut)
	assert.NoFileExists(t, filepath.Join(folder, bootstrapName))
}

func TestLostCredentialsAreSaidAndReset(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	p, b := startServe(t, folder)
	code, _, errOut := command(nil, "root", "reset-credentials", "--data", folder)
	assert.Equal(t, exitFailed, code, "credentials were reset under a running serve")
	assertOneSentence(t, errOut, "in use by another sluice")
	p.stopServe()

	require.NoError(t, os.Remove(filepath.Join(folder, credentialsName)))
	p, lost := startServe(t, folder)
	assert.Contains(t, p.out.String(), "sluice root reset-credentials")
	assert.Equal(t, b.ClientID, lost.ClientID)
	assert.Empty(t, lost.ClientSecret)
	code, body := getWhoami(t, lost)
	assert.Equal(t, http.StatusOK, code, body)
	p.stopServe()

	code, out, errOut := command(nil, "root", "reset-credentials", "--data", folder, "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	var fresh rootCredentials
	require.NoError(t, json.Unmarshal([]byte(out), &fresh))
	p, again := startServe(t, folder)
	assert.Equal(t, fresh, again.rootCredentials)
	assert.NotEmpty(t, accessToken(t, again))
	old := again
	old.Token = b.Token
	code, _ = getWhoami(t, old)
	assert.Equal(t, http.StatusUnauthorized, code, "the old token still works")
	old.rootCredentials = b.rootCredentials
	assert.Empty(t, accessToken(t, old), "the old secret still works")
	p.stopServe()
}

func getWhoami(t *testing.T, b bootstrapFile) (int, string) {
	t.Helper()
	return get(t, b.GovernanceURI+"/whoami", b.Token)
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/fault"
)

func TestExitCodesAndSentences(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent")
	for name, tt := range map[string]struct {
		args []string
		env  map[string]string
		code int
		want string
	}{
		"no command":           {args: []string{}, code: exitOK},
		"unknown command":      {args: []string{"frobnicate"}, code: exitUsage, want: "unknown command"},
		"unknown subcommand":   {args: []string{"tokens", "frobnicate"}, code: exitUsage, want: "sluice tokens --help"},
		"unknown flag":         {args: []string{"serve", "--frobnicate"}, code: exitUsage, want: "unknown flag"},
		"secret as a flag":     {args: []string{"api", "--s3-secret-key", "x"}, code: exitUsage, want: "unknown flag"},
		"flag of another mode": {args: []string{"serve", "--temporal-address", "x:1"}, code: exitUsage, want: "unknown flag"},
		"missing argument":     {args: []string{"reconcile"}, code: exitUsage, want: "sluice reconcile TABLE"},
		"too many arguments":   {args: []string{"serve", "here"}, code: exitUsage, want: `"here" is one argument too many`},
		"no argument":          {args: []string{"policy", "set"}, code: exitUsage, want: "TABLE and POLICY are missing; the form is: sluice policy set TABLE POLICY"},
		"mistyped command":     {args: []string{"token", "list", "--limit", "3"}, code: exitUsage, want: "did you mean `sluice tokens`?"},
		"mistyped subcommand":  {args: []string{"tables", "lst"}, code: exitUsage, want: "or `sluice tables list`?"},
		"wrong lifetime":       {args: []string{"tokens", "mint", "--expires-in", "-1h"}, code: exitUsage, want: "positive"},
		"no token":             {args: []string{"tables", "list", "--uri", "http://127.0.0.1:1", "--data", absent}, code: exitFailed, want: "give --token"},
		"wrong form first":     {args: []string{"tables", "list", "--uri", "127.0.0.1:8181", "--data", absent}, code: exitUsage, want: "not an address"},
		"address with a query": {args: []string{"tables", "list", "--uri", "http://h/?a=b", "--token", "t"}, code: exitUsage, want: "not an address"},
		"catalog v1":           {args: []string{"serve", "--catalog", "v1"}, code: exitUsage, want: "choose another name"},
		"wrong policy":         {args: []string{"policy", "set", "main.a.b", "open"}, code: exitUsage, want: "governed_only, open_append, open_full"},
		"wrong level":          {args: []string{"tables", "classify", "main.a.b", "secret"}, code: exitUsage, want: "public, internal, confidential, restricted"},
		"wrong column":         {args: []string{"tables", "classify", "main.a.b", "public", "--column", "email"}, code: exitUsage, want: "NAME=SENSITIVITY"},
		"wrong mask":           {args: []string{"tables", "classify", "main.a.b", "public", "--column", "email=public:x:y"}, code: exitUsage, want: "redact"},
		"wrong output":         {args: []string{"version", "-o", "xml"}, code: exitUsage, want: "neither table nor json"},
		"wrong time":           {args: []string{"audit", "list", "--since", "yesterday"}, code: exitUsage, want: "24h"},
		"wrong setting":        {args: []string{"serve", "--listen", "8181"}, code: exitUsage, want: "host:port"},
		"wrong environment":    {args: []string{"version"}, env: map[string]string{"SLUICE_UI_PORT": "x"}, code: exitUsage, want: "SLUICE_UI_PORT"},
		"no serve":             {args: []string{"tokens", "list", "--data", absent}, code: exitFailed, want: "sluice serve"},
		"nobody answers":       {args: []string{"tables", "list", "--uri", "http://127.0.0.1:1", "--token", "t"}, code: exitFailed, want: "no answer from http://127.0.0.1:1"},
		"no address":           {args: []string{"tables", "list", "--uri", "127.0.0.1:8181", "--token", "t"}, code: exitUsage, want: "not an address"},
		"migrate nothing":      {args: []string{"migrate"}, code: exitUsage, want: "SLUICE_DATABASE_URL"},
		"api on nothing":       {args: []string{"api"}, code: exitUsage, want: "SLUICE_DATABASE_URL"},
		"worker on nothing":    {args: []string{"worker"}, code: exitUsage, want: "SLUICE_DATABASE_URL"},
		"api without storage": {
			args: []string{"api"}, env: map[string]string{"SLUICE_DATABASE_URL": "postgres://h/d"}, code: exitUsage, want: "SLUICE_WAREHOUSE",
		},
		"reset of nothing": {args: []string{"root", "reset-credentials", "--data", absent}, code: exitFailed, want: "--data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := command(tt.env, tt.args...)
			assert.Equal(t, tt.code, code, out+errOut)
			if tt.want != "" {
				assertOneSentence(t, errOut, tt.want)
			}
			assert.NoDirExists(t, absent)
		})
	}
}

func TestServersRefuseAnOlderSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{
		"SLUICE_DATABASE_URL": "sqlite://" + filepath.Join(dir, "old.db"),
		"SLUICE_WAREHOUSE":    "file://" + filepath.Join(dir, "warehouse"),
		"SLUICE_LISTEN":       "127.0.0.1:0",
	}
	for _, server := range []string{"api", "worker"} {
		code, _, errOut := command(env, server)
		assert.Equal(t, exitFailed, code, server)
		assertOneSentence(t, errOut, "sluice migrate")
	}
	code, out, errOut := command(env, "migrate")
	require.Equal(t, exitOK, code, errOut)
	assert.Contains(t, out, "The schema is at version")
	code, out, errOut = command(env, "migrate", "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	assert.Regexp(t, `^\{\n  "version": \d+\n\}\n$`, out)
	code, out, errOut = command(env, "root", "create", "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	var root rootCredentials
	require.NoError(t, json.Unmarshal([]byte(out), &root))
	assert.NotEmpty(t, root.ClientSecret)
	assert.NotEmpty(t, root.Token)
	code, _, errOut = command(env, "root", "create")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, errOut, "exists already")
	code, _, errOut = command(env, "root", "create", "--if-missing")
	assert.Equal(t, exitOK, code, errOut)
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	c := &cli{cfg: config.Default()}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		assert.NotEmpty(t, cmd.Short, cmd.CommandPath())
		assert.False(t, strings.HasSuffix(cmd.Short, "."), cmd.CommandPath())
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(c.root())
}

// TestConfigAndFlagsTellOfEverySetting keeps what users read and what the program takes the same.
func TestConfigAndFlagsTellOfEverySetting(t *testing.T) {
	t.Parallel()
	code, out, errOut := command(map[string]string{"SLUICE_S3_SECRET_KEY": "hunter2", "SLUICE_S3_ACCESS_KEY": "AKIA0XAMPLE"}, "config", "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	assert.NotContains(t, out, "hunter2")
	assert.NotContains(t, out, "AKIA0XAMPLE")
	var rows []map[string]string
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	shown := map[string]map[string]string{}
	for _, row := range rows {
		shown[row["name"]] = row
	}
	root := (&cli{cfg: config.Default()}).root()
	serve, _, err := root.Find([]string{"serve"})
	require.NoError(t, err)
	api, _, err := root.Find([]string{"api"})
	require.NoError(t, err)
	worker, _, err := root.Find([]string{"worker"})
	require.NoError(t, err)
	for _, s := range config.Default().Settings() {
		assert.Equal(t, s.Env(), shown[s.Name]["env"], s.Name)
		assert.Equal(t, s.Usage, shown[s.Name]["usage"], s.Name)
		has := func(cmd *cobra.Command) bool {
			return cmd.Flags().Lookup(s.Name) != nil || root.PersistentFlags().Lookup(s.Name) != nil
		}
		assert.Equal(t, !s.Secret && s.Scope != config.External, has(serve), "serve --%s", s.Name)
		assert.Equal(t, !s.Secret && s.Matters(config.External, config.Serving), has(api), "api --%s", s.Name)
		assert.Equal(t, !s.Secret && s.Matters(config.External, config.Governing), has(worker), "worker --%s", s.Name)
	}
	assert.Equal(t, "environment", shown["s3-access-key"]["source"])
	assert.Equal(t, "default", shown["listen"]["source"])
}

func TestHelpTellsOfACommandsOwnSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ has, lacks []string }{
		"serve":  {has: []string{"--data", "--ui-port", "--rate-limit", "--sweep-interval", "--catalog"}, lacks: []string{"--temporal-address"}},
		"api":    {has: []string{"--temporal-address", "--rate-limit"}, lacks: []string{"--data ", "--ui-port", "--sweep-interval", "--dispatch-poll", "--catalog"}},
		"worker": {has: []string{"--temporal-address", "--dispatch-poll"}, lacks: []string{"--data ", "--rate-limit", "--trusted-proxies", "--body-limit"}},
	} {
		_, out, _ := command(nil, name, "--help")
		for _, flag := range tt.has {
			assert.Contains(t, out, flag, name)
		}
		for _, flag := range tt.lacks {
			assert.NotContains(t, out, flag, name)
		}
	}
	_, out, _ := command(nil, "config", "--help")
	assert.Contains(t, out, "PGPASSWORD")
	_, out, _ = command(nil, "tokens", "revoke", "--help")
	assert.Contains(t, out, "not the token itself")
}

func TestVersionIsSaidBothWays(t *testing.T) {
	t.Parallel()
	_, short, _ := command(nil, "--version")
	_, long, _ := command(nil, "version")
	assert.Equal(t, long, short)
	assert.True(t, strings.HasPrefix(long, "sluice "), long)
}

// fakeServer records what a command asks and answers what it is told.
func fakeServer(t *testing.T, answers map[string]string) (env map[string]string, asked func() []string) {
	t.Helper()
	var requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer t0ken", r.Header.Get("Authorization"))
		what := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), governancePath)
		requests = append(requests, what)
		answer, ok := answers[what]
		if !ok {
			w.WriteHeader(http.StatusForbidden)
			answer = `{"error":{"message":"You may not. Ask for AUDIT_READ.","type":"ForbiddenException","code":403}}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return map[string]string{"SLUICE_URI": s.URL, "SLUICE_TOKEN": "t0ken"}, func() []string { return requests }
}

func TestListsWalkPages(t *testing.T) {
	t.Parallel()
	env, asked := fakeServer(t, map[string]string{
		"GET /commits?limit=2&table=main.a.b":         `{"items":[{"snapshotId":"9007199254740993","rowCountAfter":9007199254740993},{"snapshotId":"2"}],"next":"7"}`,
		"GET /commits?after=7&limit=2&table=main.a.b": `{"items":[{"snapshotId":"3"}]}`,
	})
	code, out, errOut := command(env, "commits", "list", "--table", "main.a.b", "--limit", "2")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, 2, strings.Count(out, "9007199254740993"), "numbers beyond 2^53 change: %s", out)
	assert.Contains(t, errOut, "--after 7")
	code, out, errOut = command(env, "commits", "list", "--table", "main.a.b", "--limit", "2", "--all", "-o", "json")
	assert.Equal(t, exitOK, code, errOut)
	assert.Empty(t, errOut)
	var all page
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	assert.Len(t, all.Items, 3)
	assert.Len(t, asked(), 3)
}

func TestRefusalsAreTheServersWords(t *testing.T) {
	t.Parallel()
	env, _ := fakeServer(t, nil)
	code, out, errOut := command(env, "audit", "list")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assertOneSentence(t, errOut, "You may not. Ask for AUDIT_READ. (HTTP 403)")
}

func TestNamesAreEscapedAndAnswersCannotDriveTheTerminal(t *testing.T) {
	t.Parallel()
	env, _ := fakeServer(t, map[string]string{
		"GET /tables/main.a%2Fb.c%3Fd": `{"ref":"main.a/b.c?d","writePolicy":"open_full","location":"x\u001b[2Jy"}`,
	})
	code, out, errOut := command(env, "tables", "get", "main.a/b.c?d")
	assert.Equal(t, exitOK, code, errOut)
	assert.NotContains(t, out, "\x1b")
	assert.True(t, strings.HasPrefix(out, "ref "), out)
}

func TestTokenOfOneServerIsNotSentToAnother(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := newBootstrapFile("http://127.0.0.1:1")
	file.Token = "t0ken"
	serving, err := openDataFolder(folder)
	require.NoError(t, err)
	t.Cleanup(serving.release)
	require.NoError(t, writeJSONFile(filepath.Join(folder, bootstrapName), file))
	for _, uri := range []string{"http://192.0.2.1:1", "http://127.0.0.1:2", "https://127.0.0.1:1", "http://127.0.0.1:1/elsewhere"} {
		code, _, errOut := command(nil, "tables", "list", "--data", folder, "--uri", uri)
		assert.Equal(t, exitUsage, code)
		assertOneSentence(t, errOut, "give --token too")
	}
	for _, uri := range []string{"http://localhost:1", "http://[::1]:1/", "http://127.0.0.1:1/api/catalog", "http://127.0.0.1:1/api/governance/v1/"} {
		code, _, errOut := command(nil, "tables", "list", "--data", folder, "--uri", uri)
		assert.Equal(t, exitFailed, code, uri)
		assertOneSentence(t, errOut, "no answer from")
	}
}

// TestTokenIsNotSentAfterAKill: after kill -9 of serve its bootstrap.json is left, and anybody may have its port.
func TestTokenIsNotSentAfterAKill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	asked := false
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(thief.Close)
	file := newBootstrapFile(thief.URL)
	file.Token = "t0ken"
	require.NoError(t, os.WriteFile(filepath.Join(folder, lockName), nil, 0o600))
	require.NoError(t, writeJSONFile(filepath.Join(folder, bootstrapName), file))
	for _, args := range [][]string{{"whoami"}, {"tables", "list", "--uri", thief.URL}} {
		code, _, errOut := command(nil, append(args, "--data", folder)...)
		assert.Equal(t, exitFailed, code)
		assertOneSentence(t, errOut, "no `sluice serve` runs on "+folder)
	}
	assert.False(t, asked, "root's token was sent to whoever has the port")
}

func TestAddressesOfOneServer(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"http://h:1": "http://h:1", "http://h:1/": "http://h:1", "http://h:1/api/catalog": "http://h:1", "http://h/api/catalog/v1/": "http://h",
		"https://h/sluice/api/governance/v1": "https://h/sluice", "http://h:1/api/table/iceberg": "http://h:1",
	} {
		got, err := governanceBase(uri)
		require.NoError(t, err, uri)
		assert.Equal(t, want+governancePath, got)
	}
	assert.True(t, sameServer("http://LOCALHOST", "http://127.0.0.2:80"))
	assert.False(t, sameServer("http://localhost:80", "https://localhost:80"))
	assert.False(t, sameServer("http://h", "http://127.0.0.1"))
}

func TestAdviceCanBeRunAsPrinted(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/tmp/go-build3871/b001/exe/sluice", "/root/.cache/go-build/ab/" + strings.Repeat("0f", 32) + "-d/sluice",
		"/var/cache/x/0f/" + strings.Repeat("0f", 32) + "-d/sluice",
	} {
		assert.True(t, isPassing(path), path)
	}
	for _, path := range []string{"/usr/local/bin/sluice", "/home/me/go-builds/sluice", "/home/me/sluice/bin/sluice"} {
		assert.False(t, isPassing(path), path)
	}
	assert.Equal(t, "/tmp/a-b", shellWord("/tmp/a-b"))
	assert.Equal(t, `'/tmp/it'\''s mine'`, shellWord("/tmp/it's mine"))
}

func TestSinceTakesTimesAndAges(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"": "", "24h": "2026-01-30T12:00:00Z", "7d": "2026-01-24T12:00:00Z", "2026-01-01T01:00:00+01:00": "2026-01-01T00:00:00Z",
	} {
		got, err := sinceTime(text, now)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestJSONFilesAreReplacedWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644)) //nolint:gosec // the mode is what is tested
	require.NoError(t, writeJSONFile(path, map[string]int{"a": 1}))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "a temporary file was left behind")
}

func TestSentenceIsTheMostSpecificOne(t *testing.T) {
	t.Parallel()
	disk := fault.Wrap(errors.New("ENOSPC\nat line 3"), fault.Unavailable, "The disk is full: free space.")
	schema := fault.Wrap(fmt.Errorf("migrate: %w", disk), fault.Unavailable, "The schema could not be migrated.")
	for want, err := range map[string]error{
		"plain":    errors.New("plain"),
		"Do this.": usageError{fault.New(fault.Invalid, "Do this.")},
		"The disk is full: free space. (ENOSPC at line 3)": schema,
	} {
		assert.Equal(t, want, sentence(err))
	}
}

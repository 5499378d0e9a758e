package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateConnections = flag.Bool("update", false, "rewrite testdata/connect")

const connectURI = "http://127.0.0.1:8181"

// TestConnectionsAsPrinted holds every engine and mode to testdata/connect, with a token and with OAuth.
func TestConnectionsAsPrinted(t *testing.T) {
	t.Parallel()
	for _, engine := range connectEngines() {
		modes, _ := modesOf(engine)
		for _, mode := range modes {
			for auth, flags := range map[string][]string{"token": nil, "oauth": {"--oauth"}} {
				name := engine + "-" + mode + "-" + auth
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					args := append([]string{"connect", engine, "--mode", mode, "--uri", connectURI, "--data", t.TempDir()}, flags...)
					code, out, errOut := command(map[string]string{"SLUICE_TOKEN": "t0ken", "SLUICE_CLIENT_ID": "id", "SLUICE_CLIENT_SECRET": "s3cret"}, args...)
					require.Equal(t, exitOK, code, errOut)
					assert.NotContains(t, out, "t0ken")
					assert.NotContains(t, out, "s3cret")
					golden := filepath.Join("testdata", "connect", name+".golden")
					if *updateConnections {
						require.NoError(t, os.WriteFile(golden, []byte(out), 0o600))
					}
					want, err := os.ReadFile(golden) //nolint:gosec // one of the test's own files
					require.NoError(t, err)
					assert.Equal(t, string(want), out)
				})
			}
		}
	}
}

// TestShellFillsInTheVariables runs what is printed for engines that get a file by a shell.
func TestShellFillsInTheVariables(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for engine, want := range map[string]struct{ file, program, text, catalog string }{
		engineSpark:  {"sluice-spark.conf", "spark-sql", "\nspark.sql.catalog.lake.credential=the$id:the'secret\n", "warehouse=a$b`c`'d\n"},
		engineFlink:  {"sluice-flink.sql", "sql-client.sh", "\n  'credential' = 'the$id:the'secret',\n", "'warehouse' = 'a$b`c`''d',\n"},
		engineDuckDB: {"sluice-duckdb.sql", "duckdb", "\n  CLIENT_ID 'the$id',\n", "ATTACH 'a$b`c`''d' AS lake"},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			code, out, errOut := command(nil, "connect", engine, "--oauth", "--client-id-env", "ID", "--client-secret-env", "SECRET",
				"--uri", connectURI, "--catalog", "a$b`c`'d", "--data", folder)
			require.Equal(t, exitOK, code, errOut)
			program := filepath.Join(folder, want.program)
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >started\n"), 0o700)) //nolint:gosec // a program must be executable
			run := func(env ...string) error {
				cmd := exec.Command(shell, "-c", out) //nolint:gosec // what the command printed is what is tested
				cmd.Dir, cmd.Env = folder, append(env, "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
				return cmd.Run()
			}
			require.Error(t, run("ID=x"), "a variable that is not set is no empty secret")
			require.NoFileExists(t, filepath.Join(folder, "started"))
			require.NoError(t, run("ID=the$id", "SECRET=the'secret"))
			started, err := os.ReadFile(filepath.Join(folder, "started")) //nolint:gosec // in the test's folder
			require.NoError(t, err)
			assert.Contains(t, string(started), want.file)
			written, err := os.ReadFile(filepath.Join(folder, want.file)) //nolint:gosec // in the test's folder
			require.NoError(t, err)
			assert.Contains(t, string(written), want.text)
			assert.Contains(t, string(written), want.catalog)
			info, err := os.Stat(filepath.Join(folder, want.file))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds a secret")
		})
	}
}

func TestConnectionShowsSecretsOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SLUICE_TOKEN": "t0ken", "JOB_TOKEN": "j0b", "SLUICE_CLIENT_ID": "id", "SLUICE_CLIENT_SECRET": "s3cret"}
	base := []string{"connect", "kafka-connect", "--uri", connectURI, "--data", t.TempDir(), "-o", "json"}
	show := func(env map[string]string, more ...string) connection {
		t.Helper()
		code, out, errOut := command(env, append(append([]string{}, base...), more...)...)
		require.Equal(t, exitOK, code, errOut)
		var got connection
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		return got
	}
	named := show(env, "--token-env", "JOB_TOKEN")
	assert.Equal(t, "${env:JOB_TOKEN}", named.Properties["iceberg.catalog.token"])
	assert.Equal(t, []string{"JOB_TOKEN"}, named.Variables)
	assert.Equal(t, connectURI+"/api/catalog", named.URI)
	assert.Equal(t, "main", named.Catalog)

	shown := show(env, "--token-env", "JOB_TOKEN", "--show-secrets")
	assert.Equal(t, "j0b", shown.Properties["iceberg.catalog.token"])
	assert.Empty(t, shown.Variables)
	assert.Contains(t, shown.Text, "This text holds secrets.")
	assert.Equal(t, "t0ken", show(env, "--token-env", "UNSET", "--show-secrets").Properties["iceberg.catalog.token"], "what the command itself authenticates with")
	assert.Equal(t, "id:s3cret", show(env, "--oauth", "--show-secrets").Properties["iceberg.catalog.credential"])

	code, _, errOut := command(map[string]string{"SLUICE_TOKEN": "t0ken"}, append(base[:6:6], "--oauth", "--show-secrets")...)
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "set SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET")
}

func TestConnectionsOfARunningServe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lock, err := openDataFolder(folder)
	require.NoError(t, err)
	t.Cleanup(lock.release)
	r, env := record(t, map[string]string{
		"GET /catalogs/lakes": `{"name":"lakes","storageConfigInfo":{"storageType":"S3","endpoint":"http://127.0.0.1:9000","region":"eu-1","pathStyleAccess":true}}`,
	})
	file := newBootstrapFile(env["SLUICE_URI"])
	file.Catalog, file.rootCredentials = "lakes", rootCredentials{ClientID: "root-id", ClientSecret: "root-s3cret", Token: "t0ken"}
	require.NoError(t, writeJSONFile(filepath.Join(folder, bootstrapName), file))

	code, out, errOut := command(nil, "connect", "pyiceberg", "--data", folder)
	require.Equal(t, exitOK, code, errOut)
	assert.Contains(t, out, `"uri": "`+env["SLUICE_URI"]+`/api/catalog"`)
	assert.Contains(t, out, `"warehouse": "lakes"`)
	assert.Empty(t, r.asked, "nothing need be asked for that")

	code, out, errOut = command(nil, "connect", "trino", "--data", folder, "--oauth", "--show-secrets")
	require.Equal(t, exitOK, code, errOut)
	for _, want := range []string{"s3.endpoint=http://127.0.0.1:9000", "s3.region=eu-1", "s3.path-style-access=true", "oauth2.credential=root-id:root-s3cret"} {
		assert.Contains(t, out, "\n"+map[bool]string{true: "iceberg.rest-catalog.", false: ""}[strings.HasPrefix(want, "oauth2")]+want+"\n")
	}

	file.Catalog, file.S3Endpoint = "main", "http://127.0.0.1:7777"
	require.NoError(t, writeJSONFile(filepath.Join(folder, bootstrapName), file))
	code, out, errOut = command(nil, "connect", "trino", "--data", folder)
	require.Equal(t, exitOK, code, errOut)
	assert.Contains(t, out, "s3.endpoint=http://127.0.0.1:7777\ns3.region=us-east-1\ns3.path-style-access=true\n")
	assert.NotContains(t, out, "add:")

	code, out, errOut = command(nil, "connect", "spark", "--data", folder, "--uri", "http://127.0.0.1:1")
	require.Equal(t, exitOK, code, errOut)
	assert.Contains(t, out, "lake.warehouse=main", "the catalog of another server is not known")
}

func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"connect":                                              "ENGINE is missing",
		"connect impala":                                       "none of spark, flink",
		"connect spark --mode magic":                           "none of vended-credentials",
		"connect duckdb --mode remote-signing":                 "duckdb has no remote-signing: choose --mode vended-credentials or none",
		"connect trino --mode remote-signing":                  "choose --mode vended-credentials or none",
		"connect spark --token-env A;B":                        "not the name of an environment variable",
		"connect spark --client-secret-env=":                   "is empty",
		"connect spark --uri 127.0.0.1:8181":                   "not an address",
		"connect spark --show-secrets --token= --uri http://h": "no token for http://h",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			code, _, errOut := command(nil, append(strings.Fields(line), "--data", filepath.Join(t.TempDir(), "absent"))...)
			assert.NotEqual(t, exitOK, code)
			assertOneSentence(t, errOut, want)
		})
	}
	code, _, errOut := command(nil, "connect", "spark", "--data", filepath.Join(t.TempDir(), "absent"))
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "start `sluice serve`, name its folder with --data, or give --uri")
}

// TestVersionsAreThoseThatAreTested: what is printed names the versions that e2e/engines runs.
func TestVersionsAreThoseThatAreTested(t *testing.T) {
	t.Parallel()
	artifact := regexp.MustCompile(`<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)</version>`)
	tested := func(file string) map[string]string {
		data, err := os.ReadFile(filepath.Join("..", "..", "e2e", filepath.FromSlash(file))) //nolint:gosec // in the repository
		require.NoError(t, err)
		found := map[string]string{}
		for _, m := range artifact.FindAllStringSubmatch(string(data), -1) {
			found[m[1]] = m[2]
		}
		return found
	}
	text := func(engine string) string {
		w := connectWish{engine: engine, mode: modeVended, tokenEnv: "T"}
		got, err := w.text()
		require.NoError(t, err)
		return got
	}
	spark := tested("engines/spark/pom.xml")
	for _, jar := range []string{"iceberg-spark-runtime-4.1_2.13", "iceberg-aws-bundle"} {
		require.NotEmpty(t, spark[jar], jar)
		assert.Contains(t, text(engineSpark), "org.apache.iceberg:"+jar+":"+spark[jar])
	}
	flink := tested("engines/flink/pom.xml")
	for _, jar := range []string{"iceberg-flink-runtime-1.20", "iceberg-aws-bundle", "hadoop-client-api", "hadoop-client-runtime"} {
		require.NotEmpty(t, flink[jar], jar)
		assert.Contains(t, text(engineFlink), jar+"-"+flink[jar]+".jar")
	}
	assert.Contains(t, text(engineKafkaConnect), "Iceberg sink "+tested("engines/connect/pom-sink.xml")["iceberg-kafka-connect"])
	pinned, err := os.ReadFile(filepath.Join("..", "..", "e2e", "pyiceberg", "requirements.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(pinned), "pyiceberg"+regexp.MustCompile(`==[0-9.]+`).FindString(text(enginePyIceberg))+"\n")
}

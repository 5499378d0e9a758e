package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDemoShowsTheMainJobAndCleansUp(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out, errOut output
	started := time.Now()
	code := run(context.Background(), []string{"demo"}, func(string) (string, bool) { return "", false }, &out, &errOut)
	assert.Equal(t, exitOK, code, errOut.String())
	assert.Less(t, time.Since(started), time.Minute)
	for _, want := range []string{
		"governed_only, so that is refused", "ForbiddenException", "taken at once",
		"table.external_commit_reconciled", `"rowCountAfter": 1000`, "The table has 1000 rows", "--keep",
	} {
		assert.Contains(t, out.String(), want)
	}
	assert.NotContains(t, out.String(), "http://127.0.0.1", "links are of no use when nobody answers them")
	assert.Empty(t, errOut.String())
	left, err := os.ReadDir(tmp)
	assert.NoError(t, err)
	assert.Empty(t, left, "the demo left something behind")
}

func TestDemoForScripts(t *testing.T) {
	t.Parallel()
	code, out, errOut := command(nil, "demo", "-o", "json")
	require.Equal(t, exitOK, code, errOut)
	var report demoReport
	require.NoError(t, json.Unmarshal([]byte(out), &report), out)
	assert.Equal(t, "main.demo.events", report.Table)
	assert.Contains(t, report.Refusal, "governed_only")
	assert.Equal(t, "1000", report.RowCount.String())
	assert.NotEmpty(t, report.SnapshotID)
	assert.Contains(t, string(report.Event), "table.external_commit_reconciled")
	assert.Nil(t, report.Links)
}

// TestDemoIntoAClosedPipeCleansUp is `sluice demo | head -1`.
func TestDemoIntoAClosedPipeCleansUp(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	p := startProgram(t, func(cmd *exec.Cmd) {
		cmd.Stdout = write
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	}, "demo", "--keep")
	require.NoError(t, write.Close())
	_, err = read.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, read.Close())
	assert.Equal(t, exitFailed, p.exit(time.Minute))
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left, "the demo left something behind")
}

func TestDemoKeptRunningPrintsLinks(t *testing.T) {
	t.Parallel()
	p := startProgram(t, nil, "demo", "--keep")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.out.String(), "The whole audit"); time.Sleep(20 * time.Millisecond) {
		if !p.running() || time.Now().After(deadline) {
			t.Fatalf("no links\n%s\n%s", p.out.String(), p.errOut.String())
		}
	}
	link := regexp.MustCompile(`The workflow +(http\S+)`).FindStringSubmatch(p.out.String())
	require.NotNil(t, link, p.out.String())
	assert.Contains(t, link[1], "/workflows/reconcile%2F")
	code, _ := get(t, link[1], "")
	assert.Equal(t, http.StatusOK, code)
	p.stopServe()
}

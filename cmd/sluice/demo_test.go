package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
		"table.external_commit_reconciled", `"rowCountAfter": 1000`, "The table has 1000 rows", "/workflows/reconcile%2F",
	} {
		assert.Contains(t, out.String(), want)
	}
	assert.Empty(t, errOut.String())
	left, err := os.ReadDir(tmp)
	assert.NoError(t, err)
	assert.Empty(t, left, "the demo left something behind")
}

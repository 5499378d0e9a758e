package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call sends a request of the catalog and gives the status.
func call(t *testing.T, b bootstrapFile, method, path, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.CatalogURI+"/v1/main"+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+b.Token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}

// What people do about dropped tables with the command line, against a running serve that purges at once.
func TestDropsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, b := startServe(t, folder, "--drop-grace-period", "0s", "--sweep-interval", "1s")
	sluice := func(args ...string) string {
		code, out, errOut := command(nil, append(args, "--data", folder)...)
		require.Equal(t, exitOK, code, errOut)
		return out
	}
	const table = `{"name":"orders","schema":{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"}]}}`
	require.Equal(t, 200, call(t, b, "POST", "/namespaces", `{"namespace":["sales"]}`))
	require.Equal(t, 200, call(t, b, "POST", "/namespaces/sales/tables", table))

	assert.Regexp(t, `protected\s+yes`, sluice("tables", "protect", "main.sales.orders"))
	require.Equal(t, 403, call(t, b, "DELETE", "/namespaces/sales/tables/orders?purgeRequested=true", ""))
	assert.Regexp(t, `protected\s+no`, sluice("tables", "unprotect", "main.sales.orders"))
	require.Equal(t, 204, call(t, b, "DELETE", "/namespaces/sales/tables/orders", ""))
	require.Equal(t, 404, call(t, b, "GET", "/namespaces/sales/tables/orders", ""))

	dropped := func(state string) []struct{ ID, Ref, State string } {
		var page struct {
			Items []struct{ ID, Ref, State string }
		}
		require.NoError(t, json.Unmarshal([]byte(sluice("tables", "dropped", "--catalog", "main", "--state", state, "-o", "json")), &page))
		return page.Items
	}
	records := dropped("dropped")
	require.Len(t, records, 1)
	assert.Equal(t, "main.sales.orders", records[0].Ref)
	assert.Contains(t, sluice("tables", "undrop", records[0].ID, "--name", "sales.back"), "main.sales.back")
	require.Equal(t, 200, call(t, b, "GET", "/namespaces/sales/tables/back", ""))

	require.Equal(t, 204, call(t, b, "DELETE", "/namespaces/sales/tables/back?purgeRequested=true", ""))
	require.Eventually(t, func() bool { return len(dropped("purged")) == 1 }, time.Minute, 100*time.Millisecond, "the scheduled sweep purges it")
	assert.Contains(t, sluice("audit", "list", "--type", "table.purged", "-o", "json"), `"files"`)
	code, _, errOut := command(nil, "tables", "undrop", dropped("purged")[0].ID, "--data", folder)
	assert.Equal(t, exitFailed, code)
	assertOneSentence(t, errOut, "purged")

	require.Equal(t, 200, call(t, b, "POST", "/namespaces/sales/tables", table))
	require.Equal(t, 204, call(t, b, "DELETE", "/namespaces/sales/tables/orders", ""))
	id := dropped("dropped")[0].ID
	code, _, errOut = command(nil, "tables", "forget", id, "--data", folder)
	assert.Equal(t, exitUsage, code)
	assertOneSentence(t, errOut, "--yes")
	assert.Contains(t, sluice("tables", "forget", id, "--yes"), "forgotten")
	require.Len(t, dropped("forgotten"), 1)
}

package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
)

// TestWorkflowPayloadsAreForAdministrators: they hold what every catalog's workflows were given.
func TestWorkflowPayloadsAreForAdministrators(t *testing.T) {
	s := newSite(t, func(d *api.Deps) {
		d.Codec = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Method + " " + r.URL.Path)) })
	})
	const path = "/api/temporal/codec/decode"
	r := s.do("POST", path, "{}", "Authorization", "Bearer admin")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "POST /decode", string(r.body))
	require.Equal(t, 200, s.do("OPTIONS", path, "", "Authorization", "").StatusCode, "browsers ask without the token")

	for token, status := range map[string]int{"": 401, "Bearer expired": 401, "Bearer good": 403, "Bearer admin of main": 403, "Bearer first": 403} {
		r := s.do("POST", path, "{}", "Authorization", token)
		r.failure(t)
		require.Equal(t, status, r.StatusCode, token)
	}
}

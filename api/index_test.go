package api_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
)

func TestTheAddressAloneTellsWhereToGo(t *testing.T) {
	s := newSite(t)
	r := s.do("GET", "/", "", "Authorization", "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "/api/catalog", r.json(t)["catalog"])
	require.Equal(t, "/api/governance/v1", r.json(t)["governance"])
	require.Equal(t, "/api/management/v1", r.json(t)["management"])
	require.Equal(t, "/data/v1", r.json(t)["data"])
	require.Equal(t, "/.well-known/jwks.json", r.json(t)["keys"])
	require.Contains(t, r.json(t)["documentation"], "/docs")

	w := httptest.NewRecorder()
	api.ProbesIndex("sluice worker").ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	require.JSONEq(t, `{"service":"sluice worker","health":"/healthz","ready":"/readyz","metrics":"/metrics",
		"documentation":"https://github.com/sluice-data/sluice/tree/main/docs"}`, w.Body.String())
}

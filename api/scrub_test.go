package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestPastedSecretsAreNotLogged(t *testing.T) {
	engine, access, client := "slc_"+strings.Repeat("E-_4", 10)+"abc", "eyJ"+strings.Repeat("A", 43), strings.Repeat("c", 43)
	s := newSite(t)
	s.fail = fault.Wrap(fmt.Errorf("driver said: Authorization: Bearer %s", client), fault.Invalid, "There is no %s.", engine)
	for _, path := range []string{
		"/api/governance/v1/tokens/" + engine,
		"/api/governance/v1/tokens/" + access + "%20",
		"/api/governance/v1/tokens/" + strings.ReplaceAll(engine, "_", "%5F"),
		"/api/governance/v1/tokens/" + client,
		"/api/governance/v1/tokens/Bearer%20" + client,
		"/api/governance/v1/tables/main.a." + engine,
		iceberg + "/namespaces/a/tables/" + access,
		"/nowhere/Bearer+" + client,
	} {
		s.do("DELETE", path, "", "X-Request-ID", engine)
		s.do("GET", path, "", "X-Request-ID", access)
	}
	s.fail = fault.Wrap(fmt.Errorf("driver said: bearer: %s", client), fault.Internal, "It broke.")
	s.do("GET", ordersPath, "")
	s.do("DELETE", "/api/governance/v1/tokens/816be61b-a808-4d2a-8bba-1a8f2544150d", "")
	s.stop()
	log := s.log.String()
	for _, secret := range []string{engine, engine[10:], access, access[10:], client} {
		require.NotContains(t, log, secret)
	}
	require.Contains(t, log, `/api/governance/v1/tokens/[redacted]`)
	require.Contains(t, log, `/api/governance/v1/tokens/816be61b-a808-4d2a-8bba-1a8f2544150d`, "an id is no secret")
	require.Contains(t, log, "There is no [redacted]")
}

func TestLongNamesDoNotMakeLongAnswersOrLogs(t *testing.T) {
	s := newSite(t)
	s.fail = fault.New(fault.Forbidden, "Principal etl may not touch %s.", strings.Repeat("ü", 1<<20))
	r := s.do("GET", ordersPath, "")
	_, message := r.failure(t)
	require.Less(t, len(message), 5000)
	require.Contains(t, message, "may not touch üü")
	s.stop()
	require.Less(t, s.log.Len(), 20_000)
}

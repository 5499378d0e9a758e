package facade

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// TestRequestLimits: what is too large to be meant is refused with a sentence, and has no effect.
func TestRequestLimits(t *testing.T) {
	s := newSite(t, func(s *setup) { s.api.Limits.BodyBytes = 4 << 20 })
	s.create(t, "a")
	events := s.audit(t, "")
	update := `{"action":"set-properties","updates":{"a":"b"}}`
	cases := map[string]struct {
		path, body string
		header     []string
		status     int
		kind       string
	}{
		"a URL":                   {"/namespaces/" + strings.Repeat("x", 200<<10), `{}`, nil, 414, "RequestURITooLongException"},
		"headers":                 {"/namespaces", `{"namespace":["x"]}`, []string{"X-Note", strings.Repeat("x", 70<<10)}, 431, "RequestHeadersTooLargeException"},
		"a body":                  {"/namespaces", `{"namespace":["x"],"properties":{"k":"` + strings.Repeat("x", 5<<20) + `"}}`, nil, 413, "RequestTooLargeException"},
		"nesting":                 {tablePath("a"), `{"requirements":[],"updates":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`, nil, 400, "BadRequestException"},
		"updates of a commit":     {tablePath("a"), `{"requirements":[],"updates":[` + strings.Repeat(update+",", 10000) + update + `]}`, nil, 400, "BadRequestException"},
		"tables of a transaction": {"/transactions/commit", `{"table-changes":[` + strings.Repeat(`{},`, 1000) + `{}]}`, nil, 400, "BadRequestException"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := s.want(t, c.status, s.post(t, c.path, c.body, c.header...))
			require.Equal(t, c.kind, r.kind())
			require.Regexp(t, `[0-9]{3,}`, string(r.body), "the refusal names the limit")
		})
	}
	require.Equal(t, events, s.audit(t, "")-s.audit(t, models.AuditRequestFailed), "nothing happened but the failures")
	t.Run("brackets in strings are no nesting", func(t *testing.T) {
		value, err := json.Marshal(strings.Repeat(`[{"\`, 2000))
		require.NoError(t, err)
		s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["brackets"],"properties":{"k":`+string(value)+`}}`))
	})
}

func TestRatesAreOfOnePrincipal(t *testing.T) {
	s := newLake(t).serve(t, func(s *setup) { s.api.Limits.PerSecond = 5 })
	refused := 0
	for range 30 {
		switch r := s.get(t, "/namespaces"); r.StatusCode {
		case 429:
			refused++
			require.Equal(t, "SlowDownException", r.kind())
			require.Equal(t, "1", r.Header.Get("Retry-After"))
		default:
			s.want(t, 200, r)
		}
	}
	require.Positive(t, refused)
	r, err := s.sendTo(t.Context(), "GET", s.url+"/healthz", "")
	require.NoError(t, err)
	require.Equal(t, 200, r.StatusCode)
	free := s.serve(t)
	for range 30 {
		free.want(t, 200, free.get(t, "/namespaces"))
	}
}

package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

// TestFailuresAreRecordedOnce says which answers to a request that would have changed something are failures for the audit.
func TestFailuresAreRecordedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		fail   error
		status int
		kind   string // "": not recorded as a failure
		reason string
	}{
		"lost race":              {fault.New(fault.Conflict, "Refresh and retry."), 409, "CommitFailedException", "Refresh and retry."},
		"wrong request":          {fault.New(fault.Invalid, "No."), 400, "BadRequestException", "No."},
		"really absent":          {fault.About(fault.NotFound, fault.Table, "Table does not exist: a.t"), 404, "NoSuchTableException", "Table does not exist: a.t"},
		"unavailable":            {fault.New(fault.Unavailable, "Try again."), 503, "SlowDownException", "Try again."},
		"in doubt":               {fault.Wrap(errors.New("disk"), fault.UnknownState, "Who knows."), 500, "CommitStateUnknownException", "Who knows."},
		"server's fault":         {errors.New("disk on 10.0.0.1"), 500, "InternalServerError", "An internal error occurred. Report the request id to the operators."},
		"a token in the message": {fault.New(fault.Invalid, "slc_%s is no name.", strings.Repeat("A", 43)), 400, "BadRequestException", "[redacted] is no name."},
		"forbidden":              {fault.New(fault.Forbidden, "etl lacks TABLE_DROP."), 403, "", ""},
		"concealed":              {fault.Conceal(fault.Table, "lacks TABLE_LIST", "Gone."), 404, "", ""},
		"in the audit already":   {&fault.Error{Code: fault.Forbidden, Message: "No.", Audited: true}, 403, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, kept := auditedSite(t)
			s.fail = tt.fail
			r := s.do("DELETE", iceberg+"/namespaces/a%1Fb/tables/t%201?purgeRequested=true", "", "X-Request-ID", "req-7")
			require.Equal(t, tt.status, r.StatusCode)
			if tt.kind == "" {
				require.Empty(t, kept.failed)
				return
			}
			require.Empty(t, kept.kept, "it is no refusal")
			require.Equal(t, []access.Failure{{Error: tt.kind, Denial: access.Denial{
				Method: "DELETE", Route: "/api/catalog/v1/:prefix/namespaces/:namespace/tables/:table", Path: iceberg + "/namespaces/a%1Fb/tables/t%201",
				Status: tt.status, Reason: tt.reason, Catalog: "main", Namespace: "a.b", Table: "a.b.t 1",
			}}}, kept.failed)
			require.Equal(t, "etl", kept.callers[0].Principal)
			require.Equal(t, "req-7", kept.callers[0].Origin.RequestID)
		})
	}
}

// Reads fail unseen, also those that are asked by POST; so does who was not let in, and what is no route.
func TestWhatIsNoFailureForTheAudit(t *testing.T) {
	s, kept := auditedSite(t)
	s.fail = fault.New(fault.Invalid, "No.")
	for _, request := range []string{
		"GET " + iceberg + "/namespaces", "HEAD " + iceberg + "/namespaces/a", "POST " + iceberg + "/namespaces/a/tables/t/plan",
		"POST " + iceberg + "/namespaces/a/tables/t/tasks", "POST " + iceberg + "/namespaces/a/tables/t/sign",
		"POST " + iceberg + "/namespaces/a/tables/t/metrics", "POST /api/catalog/v1/oauth/tokens", "POST /api/catalog/v1/nothing/of/the/kind",
		"PATCH " + iceberg + "/namespaces/a", "POST /api/governance/v1/catalogs/main/storage/validate",
	} {
		method, path, _ := strings.Cut(request, " ")
		require.GreaterOrEqual(t, s.do(method, path, "{}").StatusCode, 400, request)
		require.Empty(t, kept.failed, request)
	}
	s.do("DELETE", iceberg+"/namespaces/a", "", "Authorization", "Bearer nobody")
	s.do("DELETE", iceberg+"/namespaces/a", "", "Authorization", "Bearer expired")
	require.Empty(t, kept.failed)
	s.do("DELETE", iceberg+"/namespaces/a", "")
	require.Len(t, kept.failed, 1, "and what is one is recorded here too")
}

// What a request was refused for before its handler ran counts too: its body, its path, its query.
func TestFailuresBeforeTheHandler(t *testing.T) {
	s, kept := auditedSite(t)
	require.Equal(t, 400, s.do("POST", iceberg+"/namespaces", "{").StatusCode)
	require.Equal(t, 400, s.do("DELETE", iceberg+"/namespaces/%FF", "").StatusCode)
	require.Len(t, kept.failed, 2)
}

// A handler that panics has failed too.
func TestPanicsAreFailures(t *testing.T) {
	s, kept := auditedSite(t)
	s.beforeDrop = func(context.Context) { panic("nil map") }
	require.Equal(t, 500, s.do("DELETE", iceberg+"/namespaces/a/tables/t", "").StatusCode)
	require.Len(t, kept.failed, 1)
	require.Equal(t, "InternalServerError", kept.failed[0].Error)
	require.NotContains(t, kept.failed[0].Reason, "nil map")
}

// An audit that cannot be written to changes no answer.
func TestFailuresThatCannotBeRecorded(t *testing.T) {
	kept := &denials{fail: fmt.Errorf("the database is gone")}
	s := newSite(t, func(d *api.Deps) { d.Denials = kept })
	s.fail = fault.New(fault.Conflict, "Refresh and retry.")
	r := s.do("DELETE", iceberg+"/namespaces/a", "")
	require.Equal(t, 409, r.StatusCode)
	require.Contains(t, string(r.body), "Refresh and retry.")
	require.Len(t, kept.failed, 1)
}

package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/api"
	"github.com/sluice-data/sluice/internal/fault"
)

func TestEveryFaultHasItsAnswer(t *testing.T) {
	cause := errors.New("pq: secret detail")
	about := func(code fault.Code, subject fault.Subject) error { return fault.About(code, subject, "Do this.") }
	for name, tt := range map[string]struct {
		err    error
		status int
		kind   string
		retry  string
	}{
		"invalid":             {fault.New(fault.Invalid, "Do this."), 400, "BadRequestException", ""},
		"illegal argument":    {about(fault.Invalid, fault.Argument), 400, "IllegalArgumentException", ""},
		"unauthenticated":     {fault.New(fault.Unauthenticated, "Do this."), 401, "NotAuthorizedException", ""},
		"forbidden":           {fault.New(fault.Forbidden, "Do this."), 403, "ForbiddenException", ""},
		"no catalog":          {about(fault.NotFound, fault.Catalog), 404, "NoSuchWarehouseException", ""},
		"no namespace":        {about(fault.NotFound, fault.Namespace), 404, "NoSuchNamespaceException", ""},
		"no table":            {about(fault.NotFound, fault.Table), 404, "NoSuchTableException", ""},
		"no view":             {about(fault.NotFound, fault.View), 404, "NoSuchViewException", ""},
		"no file":             {about(fault.NotFound, fault.File), 404, "NotFoundException", ""},
		"no principal":        {about(fault.NotFound, fault.Principal), 404, "NoSuchPrincipalException", ""},
		"no role":             {about(fault.NotFound, fault.Role), 404, "NoSuchRoleException", ""},
		"no grant":            {about(fault.NotFound, fault.GrantRow), 404, "NoSuchGrantException", ""},
		"catalog not empty":   {about(fault.NotEmpty, fault.Catalog), 409, "WarehouseNotEmptyException", ""},
		"no token":            {about(fault.NotFound, fault.Token), 404, "NoSuchTokenException", ""},
		"not found":           {fault.New(fault.NotFound, "Do this."), 404, "NotFoundException", ""},
		"unsupported":         {fault.New(fault.Unsupported, "Do this."), 406, "UnsupportedOperationException", ""},
		"table exists":        {about(fault.AlreadyExists, fault.Table), 409, "AlreadyExistsException", ""},
		"conflict":            {fault.New(fault.Conflict, "Do this."), 409, "CommitFailedException", ""},
		"not empty":           {fault.New(fault.NotEmpty, "Do this."), 409, "NamespaceNotEmptyException", ""},
		"too large":           {fault.New(fault.TooLarge, "Do this."), 413, "RequestTooLargeException", ""},
		"unprocessable":       {fault.New(fault.Unprocessable, "Do this."), 422, "UnprocessableEntityException", ""},
		"unavailable":         {fault.Wrap(cause, fault.Unavailable, "Do this."), 503, "SlowDownException", "1"},
		"unknown state":       {fault.Wrap(cause, fault.UnknownState, "Do this."), 500, "CommitStateUnknownException", ""},
		"doubt when cut off":  {fault.Wrap(context.Canceled, fault.UnknownState, "Do this."), 500, "CommitStateUnknownException", ""},
		"doubt when too late": {fault.Wrap(context.DeadlineExceeded, fault.UnknownState, "Do this."), 500, "CommitStateUnknownException", ""},
		"internal":            {fault.Wrap(cause, fault.Internal, "Do this."), 500, "InternalServerError", ""},
		"not ours":            {fmt.Errorf("query: %w", cause), 500, "InternalServerError", ""},
		"cancelled":           {fmt.Errorf("query: %w", context.Canceled), 499, "RequestCancelledException", ""},
		"too late":            {fmt.Errorf("query: %w", context.DeadlineExceeded), 503, "ServiceUnavailableException", ""},
		"wrapped":             {fmt.Errorf("commit: %w", fault.New(fault.Conflict, "Do this.")), 409, "CommitFailedException", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.fail = tt.err
			r := s.do(http.MethodPost, iceberg+"/namespaces/a/tables/t", `{"requirements":[],"updates":[]}`)
			kind, message := r.failure(t)
			require.Equal(t, tt.status, r.StatusCode)
			require.Equal(t, tt.kind, kind)
			require.Equal(t, tt.retry, r.Header.Get("Retry-After"))
			require.NotContains(t, message, "secret detail", "the cause is private")
		})
	}
}

func TestServerFaultsAreLoggedWithTheirCause(t *testing.T) {
	s := newSite(t)
	s.fail = errors.New("disk on fire")
	r := s.do(http.MethodGet, iceberg+"/namespaces/a/tables/t", "", "X-Request-ID", "req-7")
	require.Equal(t, 500, r.StatusCode)
	s.stop()
	require.Contains(t, s.log.String(), "disk on fire")
	require.Contains(t, s.log.String(), `"requestId":"req-7"`)
}

func TestRoutesThatAreNotThere(t *testing.T) {
	s := newSite(t)
	for name, tt := range map[string]struct {
		method, path string
		status       int
		says         string
	}{
		"unknown":                {"GET", "/api/catalog/v2/config", 404, "no such route"},
		"doubled config":         {"GET", "/api/catalog/v1/v1/config", 404, "/v1/v1"},
		"doubled tokens":         {"POST", "/api/catalog/v1/v1/oauth/tokens", 404, "/v1/v1"},
		"doubled namespaces":     {"GET", "/api/catalog/v1/v1/namespaces", 404, "end in /api/catalog, without /v1"},
		"doubled on the second":  {"GET", "/api/table/iceberg/v1/v1/namespaces/a/tables/b", 404, "end in /api/table/iceberg, without /v1"},
		"method":                 {"PUT", iceberg + "/namespaces", 405, "does not take PUT"},
		"method of governance":   {"DELETE", "/api/governance/v1/tables/a.b.c", 405, "GET"},
		"namespace without name": {"GET", iceberg + "/namespaces/", 404, "no such route"},
		"table without name":     {"GET", iceberg + "/namespaces/a/tables/", 404, "no such route"},
		"slash unencoded":        {"GET", iceberg + "/namespaces/a/tables//some/table", 404, "no such route"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(tt.method, tt.path, "")
			_, message := r.failure(t)
			require.Equal(t, tt.status, r.StatusCode)
			require.Contains(t, message, tt.says)
		})
	}
	allow := s.do("PUT", iceberg+"/namespaces", "").Header.Get("Allow")
	require.ElementsMatch(t, []string{"GET", "POST"}, strings.Split(allow, ", "))
}

func TestPanicIsA500ThatLeavesTheServerUp(t *testing.T) {
	s := newSite(t)
	s.panic = "nil map of secrets"
	r := s.do(http.MethodGet, iceberg+"/namespaces/a/tables/t", "", "Accept-Encoding", "gzip")
	kind, message := r.failure(t)
	require.Equal(t, 500, r.StatusCode)
	require.Equal(t, "InternalServerError", kind)
	require.NotContains(t, message, "secrets")
	require.Equal(t, 200, s.do(http.MethodGet, iceberg+"/namespaces", "").StatusCode)
	s.stop()
	require.Contains(t, s.log.String(), "nil map of secrets")
	require.Contains(t, s.log.String(), "goroutine", "the stack is logged")
}

func TestReadiness(t *testing.T) {
	broken := errors.New("dial tcp 10.0.0.7: refused")
	s := newSite(t, func(d *api.Deps) {
		d.Ready = api.Ready(
			api.Check{Name: "database", Run: func(context.Context) error { return nil }},
			api.Check{Name: "temporal", Run: func(context.Context) error { return broken }})
	})
	require.Equal(t, 200, s.do("GET", "/healthz", "").StatusCode)
	r := s.do("GET", "/readyz", "")
	require.Equal(t, 503, r.StatusCode)
	require.JSONEq(t, `{"status":"not ready","checks":{"database":"ok","temporal":"failing"}}`, string(r.body))
}

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
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func auditedSite(t *testing.T) (*site, *denials) {
	t.Helper()
	kept := &denials{}
	return newSite(t, func(d *api.Deps) { d.Denials = kept }), kept
}

// TestRefusalsAreRecordedOnce says which answers are refusals for the audit, and with which reason.
func TestRefusalsAreRecordedOnce(t *testing.T) {
	said := &fault.Error{Code: fault.Forbidden, Message: "Commit to a.t was refused.", Audited: true}
	for name, tt := range map[string]struct {
		fail   error
		status int
		reason string // "": not recorded
	}{
		"forbidden":              {fault.New(fault.Forbidden, "etl lacks TABLE_DROP."), 403, "etl lacks TABLE_DROP."},
		"wrapped":                {fmt.Errorf("drop: %w", fault.New(fault.Forbidden, "etl lacks TABLE_DROP.")), 403, "etl lacks TABLE_DROP."},
		"concealed":              {fault.Conceal(fault.Table, "etl lacks TABLE_LIST on a.t", "Table does not exist: a.t"), 404, "etl lacks TABLE_LIST on a.t"},
		"concealed underneath":   {fault.Wrap(fault.Conceal(fault.Table, "lacks TABLE_LIST", "Gone."), fault.NotFound, "Gone."), 404, "lacks TABLE_LIST"},
		"in the audit already":   {said, 403, ""},
		"audited underneath":     {fault.Wrap(said, fault.Forbidden, "Refused."), 403, ""},
		"really absent":          {fault.About(fault.NotFound, fault.Table, "Table does not exist: a.t"), 404, ""},
		"wrong request":          {fault.New(fault.Invalid, "No."), 400, ""},
		"conflict":               {fault.New(fault.Conflict, "No."), 409, ""},
		"server's fault":         {errors.New("disk"), 500, ""},
		"a token in the message": {fault.New(fault.Forbidden, "slc_%s may not.", strings.Repeat("A", 43)), 403, "[redacted] may not."},
	} {
		t.Run(name, func(t *testing.T) {
			s, kept := auditedSite(t)
			s.fail = tt.fail
			r := s.do("DELETE", iceberg+"/namespaces/a%1Fb/tables/t%201?purgeRequested=true", "", "X-Request-ID", "req-7")
			require.Equal(t, tt.status, r.StatusCode)
			if tt.reason == "" {
				require.Empty(t, kept.kept)
				return
			}
			require.Equal(t, []access.Denial{{
				Method: "DELETE", Route: "/api/catalog/v1/:prefix/namespaces/:namespace/tables/:table", Path: iceberg + "/namespaces/a%1Fb/tables/t%201",
				Status: tt.status, Reason: tt.reason, Catalog: "main", Namespace: "a.b", Table: "a.b.t 1",
			}}, kept.kept)
			require.Equal(t, "etl", kept.callers[0].Principal)
			require.Equal(t, "req-7", kept.callers[0].Origin.RequestID)
		})
	}
}

func TestRefusedTokensAreRecordedWhenTheyAreKnown(t *testing.T) {
	s, kept := auditedSite(t)
	s.do("GET", iceberg+"/namespaces/a/tables/t", "", "Authorization", "Bearer expired")
	require.Len(t, kept.kept, 1)
	require.Equal(t, 401, kept.kept[0].Status)
	require.Equal(t, "The token has expired.", kept.kept[0].Reason)
	require.Equal(t, "main", kept.kept[0].Catalog, "as the path says")
	require.Equal(t, "t8", kept.callers[0].TokenID)
	require.False(t, kept.callers[0].CanGovern, "only who it was")

	s.do("GET", iceberg+"/namespaces", "", "Authorization", "Bearer nobody")
	s.do("GET", iceberg+"/namespaces", "", "Authorization", "")
	require.Len(t, kept.kept, 1, "strangers do not fill the audit")
}

func TestWhatRefusalsAreAbout(t *testing.T) {
	s, kept := auditedSite(t)
	s.fail = fault.New(fault.Forbidden, "No.")
	s.admin.fail = s.fail
	for path, want := range map[string][3]string{
		"GET /api/governance/v1/tables/main.a.b.t":                           {"main", "a.b", "a.b.t"},
		"GET /api/governance/v1/tables/main%1Fa%1Ft":                         {"main", "a", "a.t"},
		"GET /api/governance/v1/tables/9c12d441-03fe-4693-9a96-a0705ddf69c1": {},
		"PUT /api/governance/v1/namespaces/main.a.b/default-write-policy":    {"main", "a.b", ""},
		"PUT /api/governance/v1/catalogs/main/default-write-policy":          {"main", "", ""},
		"GET /api/governance/v1/audit":                                       {},
		"GET /api/management/v1/catalogs/lake/catalog-roles/r":               {"lake", "", ""},
		"GET /api/management/v1/principals":                                  {},
		"DELETE /api/table/iceberg/v1/my%20cat+1/namespaces/a/views/v":       {"my cat+1", "a", "a.v"},
		"DELETE /api/catalog/v1/namespaces/a/tables/t":                       {"main", "a", "a.t"},
	} {
		kept.kept = nil
		method, url, _ := strings.Cut(path, " ")
		r := s.do(method, url, `{"policy":"open_append"}`)
		require.Equal(t, 403, r.StatusCode, "%s: %s", path, r.body)
		require.Len(t, kept.kept, 1, path)
		require.Equal(t, want, [3]string{kept.kept[0].Catalog, kept.kept[0].Namespace, kept.kept[0].Table}, path)
	}
}

// TestPastedSecretsAreNotRecorded: the audit is for ever.
func TestPastedSecretsAreNotRecorded(t *testing.T) {
	s, kept := auditedSite(t)
	s.fail = fault.New(fault.Forbidden, "No.")
	s.admin.fail = s.fail
	secret := "slc_" + strings.Repeat("A", 43)
	for _, path := range []string{
		"/api/management/v1/catalogs/" + secret,
		"/api/management/v1/catalogs/main/catalog-roles/" + secret,
		iceberg + "/namespaces/" + secret + "%1Fb/tables/" + secret,
		iceberg + "/namespaces/a/views/" + secret,
		"/api/governance/v1/tables/main.a." + secret,
		"/api/governance/v1/tables/" + strings.ReplaceAll(secret, "_", "%5F") + ".a.t",
	} {
		kept.kept, kept.callers = nil, nil
		r := s.do("DELETE", path, "", "User-Agent", "curl "+secret, "X-Client-Version", "Bearer "+secret)
		if r.StatusCode == 405 {
			r = s.do("GET", path, "", "User-Agent", "curl "+secret)
		}
		require.Equal(t, 403, r.StatusCode, path)
		require.Len(t, kept.kept, 1, path)
		require.NotContains(t, fmt.Sprint(kept.kept, kept.callers[0].Origin), secret[4:], path)
	}
}

func TestNamesWithTheOtherSeparator(t *testing.T) {
	kept := &denials{}
	s := newSite(t, func(d *api.Deps) { d.Denials, d.Catalog.NamespaceSeparator = kept, "~" })
	s.fail = fault.New(fault.Forbidden, "No.")
	s.do("DELETE", iceberg+"/namespaces/a~b/tables/t", "")
	require.Equal(t, "a.b.t", kept.kept[0].Table)
}

func TestRefusalsThatCannotBeRecordedStand(t *testing.T) {
	s, kept := auditedSite(t)
	kept.fail = errors.New("disk full")
	s.fail = fault.New(fault.Forbidden, "No.")
	require.Equal(t, 403, s.do("DELETE", iceberg+"/namespaces/a/tables/t", "").StatusCode)
	s.stop()
	require.Contains(t, s.log.String(), "a refusal is not in the audit")
	require.Contains(t, s.log.String(), "disk full")
}

// TestRefusalsAreRecordedWhenTheClientIsGone: hanging up is no way around the audit.
func TestRefusalsAreRecordedWhenTheClientIsGone(t *testing.T) {
	s, kept := auditedSite(t)
	s.fail = fault.New(fault.Forbidden, "No.")
	asked := make(chan struct{})
	s.beforeDrop = func(ctx context.Context) {
		close(asked)
		<-ctx.Done()
	}
	ctx, hangUp := context.WithCancel(t.Context())
	go func() { <-asked; hangUp() }()
	request := s.request("DELETE", iceberg+"/namespaces/a/tables/t", nil).WithContext(ctx)
	_, err := http.DefaultTransport.RoundTrip(request)
	require.ErrorIs(t, err, context.Canceled)
	s.stop()
	require.Len(t, kept.kept, 1)
}

func TestFirstCredentialsAreGoodForTheirRotationAlone(t *testing.T) {
	s, kept := auditedSite(t)
	s.admin.principals = []models.Principal{{Name: "new one"}}
	first := []string{"Authorization", "Bearer first"}
	for _, path := range []string{
		"GET /api/catalog/v1/config", "GET /api/governance/v1/whoami", "GET /api/management/v1/principals/new%20one", "GET /api/management/v1/catalogs",
		"POST /api/management/v1/principals/new%20one/reset", "POST /api/management/v1/principals/root/rotate", "DELETE " + iceberg + "/namespaces/a/tables/t",
	} {
		method, url, _ := strings.Cut(path, " ")
		r := s.do(method, url, "", first...)
		kind, message := r.failure(t)
		require.Equal(t, 403, r.StatusCode, path)
		require.Equal(t, "ForbiddenException", kind)
		require.Contains(t, message, "rotate them first")
		require.Contains(t, message, "`sluice principals rotate-credentials`")
		require.Contains(t, message, "/api/management/v1/principals/new%20one/rotate")
	}
	require.Len(t, kept.kept, 7)
	require.Empty(t, s.admin.calls)

	r := s.do("POST", managementPath+"/principals/new%20one/rotate", "", first...)
	require.Equal(t, 200, r.StatusCode, "%s", r.body)
	require.Equal(t, []string{"RotateCredentials(new one)"}, s.admin.calls)
}

type keySet struct{ fail error }

func (k keySet) JWKS(context.Context) ([]byte, error) {
	return []byte(`{"keys":[{"kid":"k1"}]}`), k.fail
}

func TestKeysOfAccessTokens(t *testing.T) {
	s := newSite(t, func(d *api.Deps) { d.JWKS = keySet{} })
	r := s.do("GET", "/.well-known/jwks.json", "", "Authorization", "")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"keys":[{"kid":"k1"}]}`, string(r.body))
	require.Equal(t, "public, max-age=300", r.Header.Get("Cache-Control"))
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))

	s = newSite(t, func(d *api.Deps) { d.JWKS = keySet{fault.New(fault.Unavailable, "Try again.")} })
	r = s.do("GET", "/.well-known/jwks.json", "")
	require.Equal(t, 503, r.StatusCode)
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
}

func TestTokensAreNotLogged(t *testing.T) {
	s := newSite(t)
	const jwt = "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJwMSIsImp0aSI6IjIifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
	s.do("GET", iceberg+"/namespaces/"+jwt, "", "X-Request-ID", jwt)
	s.do("DELETE", governancePath+"/tokens/"+jwt, "")
	s.stop()
	require.NotContains(t, s.log.String(), "c2lnbmF0dXJl")
	require.Contains(t, s.log.String(), "[redacted]")
}

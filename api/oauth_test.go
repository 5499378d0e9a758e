package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

const tokens = "/api/catalog/v1/oauth/tokens"

func (s *site) grantFor(form url.Values, header ...string) reply {
	s.t.Helper()
	header = append([]string{"Authorization", "", "Content-Type", "application/x-www-form-urlencoded"}, header...)
	return s.do(http.MethodPost, tokens, form.Encode(), header...)
}

func TestClientCredentials(t *testing.T) {
	s := newSite(t)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"id"}, "client_secret": {"s+e/c=r"}, "scope": {"PRINCIPAL_ROLE:ALL"}}
	r := s.grantFor(form)
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"access_token":"eyJ.1","token_type":"bearer","expires_in":3600,"scope":"PRINCIPAL_ROLE:ALL",
		"issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`, string(r.body))
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	require.Equal(t, access.GrantRequest{GrantType: "client_credentials", ClientID: "id", ClientSecret: "s+e/c=r", Scope: "PRINCIPAL_ROLE:ALL", Origin: s.grant.Origin}, s.grant)
	require.Equal(t, r.Header.Get("X-Request-ID"), s.grant.Origin.RequestID)
	require.Equal(t, "127.0.0.1", s.grant.Origin.Address)
}

func TestCredentialsInTheBasicHeader(t *testing.T) {
	s := newSite(t)
	r := s.request("POST", tokens, nil)
	r.SetBasicAuth("the%20id", "100%")
	s.grantFor(url.Values{"grant_type": {"client_credentials"}}, "Authorization", r.Header.Get("Authorization"))
	require.Equal(t, "the id", s.grant.ClientID, "form-encoded, as RFC 6749 asks")
	require.Equal(t, "100%", s.grant.ClientSecret, "not encoded, as clients do")
	for sent, secret := range map[string]string{"a+b/c=d": "a+b/c=d", "a%2Bb%2Fc": "a+b/c"} {
		r.SetBasicAuth("id", sent)
		s.grantFor(url.Values{"grant_type": {"client_credentials"}}, "Authorization", r.Header.Get("Authorization"))
		require.Equal(t, secret, s.grant.ClientSecret)
	}
}

func TestTokenExchangeIgnoresTheBearerOfTheRequest(t *testing.T) {
	s := newSite(t)
	r := s.grantFor(url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {"old"},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
	}, "Authorization", "Bearer expired")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "old", s.grant.SubjectToken)
	require.Empty(t, s.grant.ClientID)
}

// TestTokenExchangeAsJavaClientsSendIt: with the client's credentials in the header when the token has expired, and with
// members that mean nothing here.
func TestTokenExchangeAsJavaClientsSendIt(t *testing.T) {
	s := newSite(t)
	r := s.request("POST", tokens, nil)
	r.SetBasicAuth("id", "secret")
	got := s.grantFor(url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "scope": {"PRINCIPAL_ROLE:writers"},
		"subject_token": {"old"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"actor_token": {"who"}, "actor_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "audience": {"x"}, "resource": {"y"},
	}, "Authorization", r.Header.Get("Authorization"))
	require.Equal(t, 200, got.StatusCode)
	require.Equal(t, "PRINCIPAL_ROLE:writers", got.json(t)["scope"])
	require.Equal(t, access.GrantRequest{
		GrantType: "urn:ietf:params:oauth:grant-type:token-exchange", ClientID: "id", ClientSecret: "secret", SubjectToken: "old",
		SubjectTokenType: "urn:ietf:params:oauth:token-type:access_token", Scope: "PRINCIPAL_ROLE:writers", Origin: s.grant.Origin,
	}, s.grant)
}

func TestOAuthRefusalsHaveTheBodyOfRFC6749(t *testing.T) {
	ok := url.Values{"grant_type": {"client_credentials"}}
	for name, tt := range map[string]struct {
		form   url.Values
		header []string
		fail   error
		status int
		code   string
	}{
		"wrong secret":    {ok, nil, &access.OAuthError{Code: "invalid_client", Description: "No.", Status: 401}, 401, "invalid_client"},
		"scope":           {ok, nil, &access.OAuthError{Code: "invalid_scope", Description: "No.", Status: 400}, 400, "invalid_scope"},
		"no grant type":   {url.Values{}, nil, nil, 400, "invalid_request"},
		"twice":           {url.Values{"grant_type": {"a", "b"}}, nil, nil, 400, "invalid_request"},
		"JSON":            {ok, []string{"Content-Type", "application/json"}, nil, 400, "invalid_request"},
		"store is down":   {ok, nil, fault.New(fault.Unavailable, "Try again."), 503, "temporarily_unavailable"},
		"not for clients": {ok, nil, fault.New(fault.Internal, "An error."), 500, "server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.fail = tt.fail
			r := s.grantFor(tt.form, tt.header...)
			require.Equal(t, tt.status, r.StatusCode)
			v := r.json(t)
			require.Equal(t, tt.code, v["error"])
			require.NotEmpty(t, v["error_description"])
			if tt.status == 401 {
				require.NotEmpty(t, r.Header.Get("WWW-Authenticate"))
			}
		})
	}
}

func TestCredentialsInTheQueryAreNotRead(t *testing.T) {
	s := newSite(t)
	r := s.do("POST", tokens+"?grant_type=client_credentials&client_id=a", "x=1", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 400, r.StatusCode)
}

// TestTokenRequestsRefusedBeforeTheEndpoint: they have the endpoint's body all the same, not the catalog's.
func TestTokenRequestsRefusedBeforeTheEndpoint(t *testing.T) {
	s := newSite(t)
	form := url.Values{"grant_type": {"client_credentials"}}.Encode()
	for status, r := range map[int]reply{
		400: s.do("POST", tokens+"?a=%zz", form, "Content-Type", "application/x-www-form-urlencoded"),
		415: s.do("POST", tokens, form, "Content-Encoding", "br"),
		431: s.do("POST", tokens, form, "X-Long", strings.Repeat("x", 70<<10)),
	} {
		require.Equal(t, status, r.StatusCode)
		v := r.json(t)
		require.Equal(t, "invalid_request", v["error"])
		require.NotEmpty(t, v["error_description"])
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	}
}

package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func TestRootHoldsEverythingButStewardship(t *testing.T) {
	d := newDesk(t)
	root, _ := d.login(t)
	cat, err := d.store.CatalogByName(context.Background(), "main")
	must(t, err)
	at := policy.Path{CatalogID: cat.ID}
	for _, p := range []models.Privilege{models.TableWriteData, models.TableDrop, models.NamespaceCreate, models.CatalogManageAccess, models.AuditRead} {
		if !root.Has(p, at) {
			t.Errorf("root lacks %s", p)
		}
	}
	if root.Has(models.TableGovern, at) {
		t.Error("root holds TABLE_GOVERN, which is granted by name alone")
	}
	if root.EngineToken || root.ReadOnly {
		t.Errorf("an access token came out as %+v", root)
	}
}

func TestEngineToken(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	token, secret := d.mint(t, access.MintInput{Catalog: "main", Name: "job", ExpiresIn: time.Hour})
	if !strings.HasPrefix(secret, "slc_") || strings.Contains(token.Hash, secret) || token.Hash == secret {
		t.Fatalf("the secret is %q, stored as %q", secret, token.Hash)
	}
	caller, err := d.auth.Authenticate(ctx, secret)
	must(t, err)
	if !caller.EngineToken || !caller.ReadOnly || caller.CatalogID == "" || caller.Principal != models.RootPrincipal {
		t.Fatalf("the caller is %+v", caller)
	}
	used, err := d.store.TokenByID(ctx, token.ID)
	must(t, err)
	if used.LastUsedAt == nil || !used.LastUsedAt.Equal(d.now) {
		t.Errorf("the last use is %v, want %v", used.LastUsedAt, d.now)
	}
	d.now = d.now.Add(time.Hour)
	_, err = d.auth.Authenticate(ctx, secret)
	wantCode(t, err, fault.Unauthenticated, "expired")
}

func TestRevokedAtOnce(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	token, secret := d.mint(t, access.MintInput{CanWrite: true})
	root, _ := d.login(t)
	must(t, d.tokens.RevokeToken(ctx, root, token.ID))
	_, err := d.auth.Authenticate(ctx, secret)
	wantCode(t, err, fault.Unauthenticated, "revoked")
	must(t, d.tokens.RevokeToken(ctx, root, token.ID))
	events, err := d.store.AuditEvents(ctx, models.AuditFilter{Type: models.AuditTokenRevoked, Limit: 10})
	must(t, err)
	if len(events) != 1 {
		t.Errorf("revoking twice made %d events", len(events))
	}
}

func TestUnknownBearers(t *testing.T) {
	d := newDesk(t)
	for _, bearer := range []string{"", "x", "slc_" + strings.Repeat("A", 43), d.creds.ClientSecret, access.HashSecret("x")} {
		_, err := d.auth.Authenticate(context.Background(), bearer)
		wantCode(t, err, fault.Unauthenticated, "")
	}
}

func TestTokensOnlyNarrow(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	_, secret := d.mint(t, access.MintInput{Catalog: "main", CanWrite: true, CanGovern: true, ExpiresIn: time.Hour})
	caller, err := d.auth.Authenticate(ctx, secret)
	must(t, err)
	child, _, err := d.tokens.MintToken(ctx, caller, access.MintInput{ExpiresIn: 48 * time.Hour})
	must(t, err)
	if child.CatalogID == nil || *child.CatalogID != caller.CatalogID {
		t.Error("a token bound to a catalog minted one that is not")
	}
	if child.ExpiresAt == nil || child.ExpiresAt.After(*caller.ExpiresAt) {
		t.Errorf("the child expires at %v, after its parent", child.ExpiresAt)
	}
	_, _, err = d.tokens.MintToken(ctx, caller, access.MintInput{Catalog: "other"})
	wantCode(t, err, fault.NotFound, "")
	_, _, err = d.tokens.MintToken(ctx, caller, access.MintInput{ExpiresIn: -1})
	wantCode(t, err, fault.Invalid, "")
	other := policy.Caller{PrincipalID: "p2", Principal: "p2", CanGovern: true, Held: policy.NewHeld(nil, nil)}
	_, _, err = d.tokens.MintToken(ctx, other, access.MintInput{Principal: "root"})
	wantCode(t, err, fault.Forbidden, "SERVICE_MANAGE_ACCESS")
}

func TestListTokens(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	for range 5 {
		d.mint(t, access.MintInput{Catalog: "main"})
	}
	root, _ := d.login(t)
	seen := map[string]bool{}
	after := ""
	for {
		page, err := d.tokens.ListTokens(ctx, root, after, 2)
		must(t, err)
		for _, v := range page {
			if seen[v.ID] || v.Principal != "root" || v.Catalog != "main" {
				t.Fatalf("listed %+v", v)
			}
			seen[v.ID], after = true, v.ID
		}
		if len(page) < 2 {
			break
		}
	}
	if len(seen) != 5 {
		t.Errorf("listed %d tokens, want the 5 engine tokens and no access token", len(seen))
	}
	stranger := policy.Caller{PrincipalID: "p2", Held: policy.NewHeld(nil, nil)}
	counted := &countingStore{Store: d.store}
	page, err := access.NewTokens(counted, d.clock).ListTokens(ctx, stranger, "", 1)
	must(t, err)
	if len(page) != 0 || counted.lists != 1 {
		t.Errorf("a stranger sees %d tokens, by %d queries: want none, by one", len(page), counted.lists)
	}
}

// countingStore counts the queries of lists of tokens.
type countingStore struct {
	access.Store
	lists int
}

func (s *countingStore) ListTokens(ctx context.Context, after string, limit int) ([]models.Token, error) {
	s.lists++
	return s.Store.ListTokens(ctx, after, limit)
}

func TestTokenEndpoint(t *testing.T) {
	d := newDesk(t)
	_, access1 := d.login(t)
	_, engine := d.mint(t, access.MintInput{CanWrite: true})
	const exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	cases := []struct {
		name string
		in   access.GrantRequest
		code string
	}{
		{"wrong secret", access.GrantRequest{GrantType: "client_credentials", ClientID: d.creds.ClientID, ClientSecret: "x"}, "invalid_client"},
		{"wrong id", access.GrantRequest{GrantType: "client_credentials", ClientID: "x", ClientSecret: d.creds.ClientSecret}, "invalid_client"},
		{"no secret", access.GrantRequest{GrantType: "client_credentials", ClientID: d.creds.ClientID}, "invalid_client"},
		{"no grant type", access.GrantRequest{}, "invalid_request"},
		{"password grant", access.GrantRequest{GrantType: "password"}, "unsupported_grant_type"},
		{"odd scope", access.GrantRequest{GrantType: "client_credentials", ClientID: d.creds.ClientID, ClientSecret: d.creds.ClientSecret, Scope: "all"}, "invalid_scope"},
		{"exchange of nothing", access.GrantRequest{GrantType: exchange}, "invalid_request"},
		{"exchange of junk", access.GrantRequest{GrantType: exchange, SubjectToken: "junk"}, "invalid_grant"},
		{"PyIceberg's default scope", access.GrantRequest{GrantType: "client_credentials", ClientID: d.creds.ClientID, ClientSecret: d.creds.ClientSecret, Scope: "catalog"}, ""},
		{"exchange of an access token", access.GrantRequest{GrantType: exchange, SubjectToken: access1}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			grant, err := d.oauth.IssueAccessToken(context.Background(), c.in)
			refusal, _ := errors.AsType[*access.OAuthError](err)
			switch {
			case c.code == "" && (err != nil || grant.ExpiresIn != time.Hour || grant.AccessToken == ""):
				t.Fatalf("%+v, %v", grant, err)
			case c.code != "" && (refusal == nil || refusal.Code != c.code):
				t.Fatalf("the refusal is %v, want %s", err, c.code)
			}
		})
	}
	grant, err := d.oauth.IssueAccessToken(context.Background(), access.GrantRequest{GrantType: exchange, SubjectToken: engine})
	must(t, err)
	caller, err := d.auth.Authenticate(context.Background(), grant.AccessToken)
	must(t, err)
	if !caller.EngineToken {
		t.Error("exchanging an engine token made one whose commits are not external")
	}
}

func TestExpiredAccessTokensArePruned(t *testing.T) {
	d := newDesk(t)
	_, old := d.login(t)
	d.now = d.now.Add(2 * time.Hour)
	d.login(t)
	_, err := d.store.TokenByID(context.Background(), claimsOf(t, old)["jti"].(string))
	wantCode(t, err, fault.NotFound, "")
}

// A grant taken away counts on the next request, although grants are kept in memory between requests.
func TestGrantsCountAtOnce(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	_, secret := d.mint(t, access.MintInput{CanWrite: true})
	cat, err := d.store.CatalogByName(ctx, "main")
	must(t, err)
	holds := func() bool {
		caller, err := d.auth.Authenticate(ctx, secret)
		must(t, err)
		return caller.Has(models.TableWriteData, policy.Path{CatalogID: cat.ID})
	}
	for range 2 { // the second time from memory
		if !holds() {
			t.Fatal("root cannot write")
		}
	}
	must(t, d.exec(`DELETE FROM grants WHERE privilege = 'CATALOG_MANAGE_CONTENT'`))
	if holds() {
		t.Fatal("a revoked grant still counts")
	}
	must(t, d.exec(`UPDATE principals SET disabled = 1`))
	_, err = d.auth.Authenticate(ctx, secret)
	wantCode(t, err, fault.Unauthenticated, "disabled")
}

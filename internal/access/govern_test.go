package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// as mints a token and gives who comes with it.
func (d *desk) as(t *testing.T, in access.MintInput) policy.Caller {
	t.Helper()
	_, secret := d.mint(t, in)
	caller, err := d.auth.Authenticate(context.Background(), secret)
	must(t, err)
	return caller
}

func (d *desk) audited(t *testing.T, typ models.AuditType) int {
	t.Helper()
	events, err := d.store.AuditEvents(context.Background(), models.AuditFilter{Type: typ, Limit: 100})
	must(t, err)
	return len(events)
}

// Root's principal may do everything here: what keeps these tokens from tokens is how they were minted.
func TestOnlyTokensThatGovernMintAndRevoke(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	victim, _ := d.mint(t, access.MintInput{CanWrite: true})
	cases := map[string]struct {
		caller policy.Caller
		says   string // "" where it may
	}{
		"a reader":             {d.as(t, access.MintInput{}), "read-only"},
		"a job's writer":       {d.as(t, access.MintInput{CanWrite: true}), "canGovern"},
		"a governor":           {d.as(t, access.MintInput{CanWrite: true, CanGovern: true}), ""},
		"the principal itself": {func() policy.Caller { c, _ := d.login(t); return c }(), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			minted, revoked := d.audited(t, models.AuditTokenMinted), d.audited(t, models.AuditTokenRevoked)
			_, _, err := d.tokens.MintToken(ctx, c.caller, access.MintInput{})
			if c.says == "" {
				must(t, err)
				return
			}
			wantCode(t, err, fault.Forbidden, c.says)
			wantCode(t, d.tokens.RevokeToken(ctx, c.caller, victim.ID), fault.Forbidden, c.says)
			wantCode(t, d.tokens.RevokeToken(ctx, c.caller, c.caller.TokenID), fault.Forbidden, c.says)
			if d.audited(t, models.AuditTokenMinted) != minted || d.audited(t, models.AuditTokenRevoked) != revoked {
				t.Error("a refused request left a token or ended one")
			}
			if _, err := d.tokens.ListTokens(ctx, c.caller, "", 10); err != nil {
				t.Errorf("reading is refused too: %v", err)
			}
		})
	}
	must(t, d.tokens.RevokeToken(ctx, cases["a governor"].caller, victim.ID))
}

func TestMintedTokensGovernOnlyWhereAsked(t *testing.T) {
	d := newDesk(t)
	for _, in := range []access.MintInput{{}, {CanWrite: true}} {
		if d.as(t, in).CanGovern {
			t.Errorf("%+v governs", in)
		}
	}
	caller, bearer := d.login(t)
	if !caller.CanGovern {
		t.Error("the principal's own credentials do not govern")
	}
	grant, err := d.oauth.IssueAccessToken(context.Background(), access.GrantRequest{
		GrantType: "urn:ietf:params:oauth:grant-type:token-exchange", SubjectToken: bearer})
	must(t, err)
	renewed, err := d.auth.Authenticate(context.Background(), grant.AccessToken)
	must(t, err)
	if !renewed.CanGovern {
		t.Error("refreshing an access token took governing away")
	}
	_, _, err = d.tokens.MintToken(context.Background(), caller, access.MintInput{CanGovern: true})
	wantCode(t, err, fault.Invalid, "canWrite")
}

func TestCatalogTokensReachNoOthers(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	other := models.Catalog{ID: uuid.NewString(), Name: "other", BaseLocation: "file:///other", Version: 1, CreatedAt: d.now, UpdatedAt: d.now}
	must(t, d.store.CreateCatalog(ctx, other, nil, models.AuditEvent{Type: models.AuditCatalogCreated}))
	bound := d.as(t, access.MintInput{Catalog: "main", CanWrite: true, CanGovern: true})
	same, _ := d.mint(t, access.MintInput{Catalog: "main"})
	elsewhere, _ := d.mint(t, access.MintInput{Catalog: "other"})
	everywhere, _ := d.mint(t, access.MintInput{})
	absent := uuid.NewString()
	for _, id := range []string{elsewhere.ID, everywhere.ID, absent} {
		err := d.tokens.RevokeToken(ctx, bound, id)
		wantCode(t, err, fault.NotFound, "The token does not exist.")
		if refusal, _ := errors.AsType[*fault.Error](err); id != absent && refusal.Denied == "" {
			t.Error("the audit is not told that the token is there")
		}
	}
	_, _, err := d.tokens.MintToken(ctx, bound, access.MintInput{Catalog: "other"})
	wantCode(t, err, fault.NotFound, "other")
	// Another principal may have stewardship, and a clearance, that the token does not come with.
	d.newPrincipal(t, "steward")
	for _, name := range []string{"steward", "nobody"} {
		_, _, err = d.tokens.MintToken(ctx, bound, access.MintInput{Principal: name, Catalog: "main"})
		wantCode(t, err, fault.Forbidden, "bound to one catalog")
	}
	_, _, err = d.tokens.MintToken(ctx, bound, access.MintInput{Principal: "root", Catalog: "main"})
	must(t, err)
	list, err := d.tokens.ListTokens(ctx, bound, "", 100)
	must(t, err)
	for _, token := range list {
		if token.Catalog != "main" {
			t.Errorf("it sees a token of %q", token.Catalog)
		}
	}
	if len(list) != 3 {
		t.Errorf("it sees %d tokens, want its own, the one that it minted and the other of its catalog", len(list))
	}
	must(t, d.tokens.RevokeToken(ctx, bound, same.ID))
}

func TestTokenNames(t *testing.T) {
	d := newDesk(t)
	root, _ := d.login(t)
	for name, ok := range map[string]bool{
		"":                              true,
		"nightly load, Zürich 東京":       true,
		strings.Repeat("ü", 256):        true,
		strings.Repeat("x", 257):        false,
		strings.Repeat("x", 15_000_000): false,
		"a\x00b":                        false,
		"a\nb":                          false,
		"a\x1b[31mb":                    false,
		"\xff":                          false,
		"\u202eevil":                    false,
	} {
		_, _, err := d.tokens.MintToken(context.Background(), root, access.MintInput{Name: name})
		if ok {
			must(t, err)
			continue
		}
		wantCode(t, err, fault.Invalid, "name of a token")
	}
}

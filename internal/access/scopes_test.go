package access_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// cast is a principal with a role that reads and one that writes, and a role that it does not have.
type cast struct {
	*desk
	job                  person
	reads, writes, drops models.PrincipalRole
}

func newCast(t testing.TB) cast {
	t.Helper()
	d := newDesk(t)
	c := cast{
		desk: d, reads: d.newRole(t, "readers", models.TableReadData), writes: d.newRole(t, "writers", models.NamespaceCreate),
		drops: d.newRole(t, "droppers", models.TableDrop),
	}
	c.job = d.newPrincipal(t, "job", c.reads, c.writes)
	return c
}

// holding tells what of the three a bearer holds, each by a letter.
func (c cast) holding(t testing.TB, bearer string) string {
	t.Helper()
	caller := c.caller(t, bearer)
	held := ""
	for _, right := range []struct {
		letter string
		p      models.Privilege
	}{{"r", models.TableReadData}, {"w", models.NamespaceCreate}, {"d", models.TableDrop}} {
		if c.holds(caller, right.p) {
			held += right.letter
		}
	}
	return held
}

func TestScopes(t *testing.T) {
	c := newCast(t)
	cases := map[string]struct {
		held, answered string
		refused        bool
	}{
		"":                       {held: "rw", answered: "PRINCIPAL_ROLE:ALL"},
		"catalog":                {held: "rw", answered: "PRINCIPAL_ROLE:ALL"},
		"PRINCIPAL_ROLE:ALL":     {held: "rw", answered: "PRINCIPAL_ROLE:ALL"},
		"PRINCIPAL_ROLE:readers": {held: "r", answered: "PRINCIPAL_ROLE:readers"},
		"PRINCIPAL_ROLE:writers PRINCIPAL_ROLE:readers":        {held: "rw", answered: "PRINCIPAL_ROLE:readers PRINCIPAL_ROLE:writers"},
		"PRINCIPAL_ROLE:writers PRINCIPAL_ROLE:writers":        {held: "w", answered: "PRINCIPAL_ROLE:writers"},
		"catalog PRINCIPAL_ROLE:writers":                       {held: "w", answered: "PRINCIPAL_ROLE:writers"},
		"PRINCIPAL_ROLE:ALL PRINCIPAL_ROLE:readers":            {held: "rw", answered: "PRINCIPAL_ROLE:ALL"},
		"PRINCIPAL_ROLE:droppers":                              {refused: true},
		"PRINCIPAL_ROLE:readers PRINCIPAL_ROLE:droppers":       {refused: true},
		"PRINCIPAL_ROLE:nobody":                                {refused: true},
		"PRINCIPAL_ROLE:service_admin":                         {refused: true},
		"PRINCIPAL_ROLE:READERS":                               {refused: true},
		"PRINCIPAL_ROLE:":                                      {refused: true},
		"openid":                                               {refused: true},
		"principal_role:ALL":                                   {refused: true},
		"PRINCIPAL_ROLE:readers' OR '1'='1":                    {refused: true},
		"PRINCIPAL_ROLE:" + strings.Repeat("x", 5000) + "\x00": {refused: true},
	}
	for scope, want := range cases {
		t.Run(scope[:min(len(scope), 60)], func(t *testing.T) {
			grant, err := c.ask(c.job.creds, scope)
			if want.refused {
				wantOAuth(t, err, "invalid_scope", 400)
				return
			}
			must(t, err)
			if grant.Scope != want.answered || claimsOf(t, grant.AccessToken)["scope"] != want.answered {
				t.Errorf("the scope is %q, in the token %q", grant.Scope, claimsOf(t, grant.AccessToken)["scope"])
			}
			if held := c.holding(t, grant.AccessToken); held != want.held {
				t.Errorf("it holds %q, want %q", held, want.held)
			}
		})
	}
}

// A token holds at any time what is both its own and its principal's then.
func TestScopesFollowThePrincipal(t *testing.T) {
	c := newCast(t)
	narrow, wide := c.bearer(t, c.job.creds, "PRINCIPAL_ROLE:readers"), c.bearer(t, c.job.creds, "")
	c.assign(t, c.job.Principal, c.drops)
	if held := c.holding(t, narrow) + " " + c.holding(t, wide); held != "r rwd" {
		t.Errorf("after a role was given they hold %q", held)
	}
	_, err := c.store.RevokePrincipalRole(context.Background(), memberOf(c.job.Principal, c.reads), anEvent(models.AuditPrincipalRoleRevoked))
	must(t, err)
	if held := c.holding(t, narrow) + " " + c.holding(t, wide); held != " wd" {
		t.Errorf("after a role was taken they hold %q", held)
	}
	again, err := c.exchanged(narrow, "")
	must(t, err)
	if held := c.holding(t, again.AccessToken); held != "" {
		t.Errorf("the refreshed token of a role that is gone holds %q", held)
	}
}

// A token that is narrowed to service_admin administers, one of the same principal that is not does not.
func TestServiceAdminIsARoleLikeOthers(t *testing.T) {
	d := newDesk(t)
	d.assign(t, mustPrincipal(t, d, models.RootPrincipal), d.newRole(t, "readers", models.TableReadData))
	for scope, admin := range map[string]bool{"PRINCIPAL_ROLE:readers": false, "PRINCIPAL_ROLE:service_admin": true, "": true} {
		caller := d.caller(t, d.bearer(t, d.creds, scope))
		if got := d.holds(caller, models.ServiceManageAccess); got != admin {
			t.Errorf("with the scope %q administering is %t", scope, got)
		}
	}
}

func mustPrincipal(t testing.TB, d *desk, name string) models.Principal {
	t.Helper()
	p, err := d.store.PrincipalByName(context.Background(), name)
	must(t, err)
	return p
}

func (p process) exchanged(bearer, scope string) (access.AccessGrant, error) {
	return p.oauth.IssueAccessToken(context.Background(), access.GrantRequest{GrantType: byExchange, SubjectToken: bearer, Scope: scope})
}

func wantOAuth(t testing.TB, err error, code string, status int) {
	t.Helper()
	refusal, ok := errors.AsType[*access.OAuthError](err)
	if !ok || refusal.Code != code || refusal.Status != status || refusal.Description == "" {
		t.Fatalf("the refusal is %#v (%v), want %s, %d", refusal, err, code, status)
	}
}

func TestExchangeNeverWidens(t *testing.T) {
	c := newCast(t)
	wide, narrow := c.bearer(t, c.job.creds, ""), c.bearer(t, c.job.creds, "PRINCIPAL_ROLE:readers")
	cases := []struct {
		name, bearer, scope, held string
		refused                   bool
	}{
		{"as it is", wide, "", "rw", false},
		{"narrower", wide, "PRINCIPAL_ROLE:writers", "w", false},
		{"beyond the principal", wide, "PRINCIPAL_ROLE:droppers", "", true},
		{"narrowed stays narrow", narrow, "", "r", false},
		{"also when all is asked for", narrow, "PRINCIPAL_ROLE:ALL", "r", false},
		{"also by the clients' default", narrow, "catalog", "r", false},
		{"its own role", narrow, "PRINCIPAL_ROLE:readers", "r", false},
		{"another role of its principal", narrow, "PRINCIPAL_ROLE:writers", "", true},
		{"both", narrow, "PRINCIPAL_ROLE:readers PRINCIPAL_ROLE:writers", "", true},
	}
	for _, e := range cases {
		t.Run(e.name, func(t *testing.T) {
			grant, err := c.exchanged(e.bearer, e.scope)
			if e.refused {
				wantOAuth(t, err, "invalid_scope", 400)
				return
			}
			must(t, err)
			if held := c.holding(t, grant.AccessToken); held != e.held {
				t.Errorf("it holds %q, want %q", held, e.held)
			}
		})
	}
}

// Iceberg's Java client refreshes an expired token by an exchange with its credentials.
func TestExpiredTokensAreRefreshedByCredentials(t *testing.T) {
	c := newCast(t)
	other := c.newPrincipal(t, "other")
	narrow := c.bearer(t, c.job.creds, "PRINCIPAL_ROLE:readers")
	revoked := c.bearer(t, c.job.creds, "")
	root, _ := c.login(t)
	must(t, c.tokens.RevokeToken(context.Background(), root, claimsOf(t, revoked)["jti"].(string)))
	_, engine, err := c.tokens.MintToken(context.Background(), root, access.MintInput{Principal: "job", ExpiresIn: time.Minute})
	must(t, err)
	refresh := func(bearer string, creds access.Credentials) (access.AccessGrant, error) {
		return c.oauth.IssueAccessToken(context.Background(), access.GrantRequest{
			GrantType: byExchange, SubjectToken: bearer, ClientID: creds.ClientID, ClientSecret: creds.ClientSecret, Scope: "catalog"})
	}
	grant, err := refresh(narrow, c.job.creds)
	must(t, err)
	if c.holding(t, grant.AccessToken) != "r" {
		t.Error("refreshing a live token with credentials widened it")
	}
	c.now = c.now.Add(time.Hour + time.Second)
	_, err = c.exchanged(narrow, "")
	wantOAuth(t, err, "invalid_grant", 400)
	grant, err = refresh(narrow, c.job.creds)
	must(t, err)
	if c.holding(t, grant.AccessToken) != "r" {
		t.Error("refreshing an expired token with credentials widened it")
	}
	_, err = refresh(narrow, other.creds)
	wantOAuth(t, err, "invalid_grant", 400)
	_, err = refresh(narrow, access.Credentials{ClientID: c.job.creds.ClientID, ClientSecret: "wrong"})
	wantOAuth(t, err, "invalid_client", 401)
	_, err = refresh(revoked, c.job.creds)
	wantOAuth(t, err, "invalid_grant", 400)
	_, err = refresh(engine, c.job.creds)
	wantOAuth(t, err, "invalid_grant", 400)
	// Its row is removed some time after it expired, and when the signing keys are revoked nothing is known of it: the
	// credentials alone count.
	c.now = c.now.Add(time.Hour)
	c.bearer(t, c.job.creds, "")
	grant, err = refresh(narrow, c.job.creds)
	must(t, err)
	c.caller(t, grant.AccessToken)
	_, err = c.keys.Rotate(context.Background(), root, true)
	must(t, err)
	grant, err = refresh(grant.AccessToken, c.job.creds)
	must(t, err)
	c.caller(t, grant.AccessToken)
}

func TestExchangeOfADisabledPrincipal(t *testing.T) {
	c := newCast(t)
	bearer := c.bearer(t, c.job.creds, "")
	c.job.Disabled = true
	must(t, c.store.UpdatePrincipal(context.Background(), c.job.Principal, anEvent(models.AuditPrincipalUpdated)))
	_, err := c.exchanged(bearer, "")
	wantOAuth(t, err, "invalid_client", 401)
	denied := c.events(t, models.AuditRequestDenied)
	if len(denied) != 1 || denied[0].Principal != "job" || !strings.Contains(denied[0].Reason, "disabled") {
		t.Errorf("the audit has %+v", denied)
	}
}

func TestExchangeOfAnEngineToken(t *testing.T) {
	c := newCast(t)
	_, secret := c.mint(t, access.MintInput{Principal: "job", Roles: []string{"readers"}, ExpiresIn: time.Hour})
	grant, err := c.exchanged(secret, "catalog")
	must(t, err)
	if grant.AccessToken != secret || grant.ExpiresIn != time.Hour || grant.Scope != "PRINCIPAL_ROLE:readers" {
		t.Errorf("it was answered with %+v", grant)
	}
	_, err = c.exchanged(secret, "PRINCIPAL_ROLE:readers")
	wantOAuth(t, err, "invalid_scope", 400)
}

func TestMintedRoles(t *testing.T) {
	c := newCast(t)
	ctx := context.Background()
	all, narrowed := c.caller(t, c.bearer(t, c.job.creds, "")), c.caller(t, c.bearer(t, c.job.creds, "PRINCIPAL_ROLE:readers"))
	root, _ := c.login(t)
	cases := map[string]struct {
		by   string
		in   access.MintInput
		held string
		code fault.Code
		says string
	}{
		"all":                             {"itself", access.MintInput{}, "rw", "", ""},
		"one":                             {"itself", access.MintInput{Roles: []string{"writers"}}, "w", "", ""},
		"two":                             {"itself", access.MintInput{Roles: []string{"writers", "readers", "readers"}}, "rw", "", ""},
		"none":                            {"itself", access.MintInput{Roles: []string{}}, "", fault.Invalid, "empty"},
		"one that it does not have":       {"itself", access.MintInput{Roles: []string{"droppers"}}, "", fault.Invalid, "droppers"},
		"one that there is not":           {"itself", access.MintInput{Roles: []string{"x"}}, "", fault.Invalid, "does not have"},
		"narrowed, all":                   {"narrowed", access.MintInput{}, "r", "", ""},
		"narrowed, its own":               {"narrowed", access.MintInput{Roles: []string{"readers"}}, "r", "", ""},
		"narrowed, another":               {"narrowed", access.MintInput{Roles: []string{"writers"}}, "", fault.Forbidden, "writers"},
		"an administrator, one":           {"root", access.MintInput{Principal: "job", Roles: []string{"writers"}}, "w", "", ""},
		"an administrator, one of root's": {"root", access.MintInput{Principal: "job", Roles: []string{"service_admin"}}, "", fault.Invalid, "service_admin"},
	}
	for name, m := range cases {
		t.Run(name, func(t *testing.T) {
			c.now = c.now.Add(time.Second) // the newest is listed first
			by := all
			switch m.by {
			case "narrowed":
				by = narrowed
			case "root":
				by = root
			}
			token, secret, err := c.tokens.MintToken(ctx, by, m.in)
			if m.code != "" {
				wantCode(t, err, m.code, m.says)
				return
			}
			must(t, err)
			if held := c.holding(t, secret); held != m.held {
				t.Errorf("it holds %q, want %q", held, m.held)
			}
			views, err := c.tokens.ListTokens(ctx, root, "", 1)
			must(t, err)
			narrow := m.in.Roles != nil || m.by == "narrowed"
			if views[0].ID != token.ID || (views[0].Roles != nil) != narrow {
				t.Errorf("it is listed as %+v", views[0])
			}
			if len(m.in.Roles) == 1 && !slices.Equal(views[0].Roles, m.in.Roles) {
				t.Errorf("its roles are listed as %v", views[0].Roles)
			}
		})
	}
}

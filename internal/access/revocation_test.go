package access_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Everything that ends a right ends it on the very next request of another process, which has all of it in memory.
func TestAnotherProcessSeesEveryEnd(t *testing.T) {
	ctx := context.Background()
	cases := map[string]struct {
		end  func(t *testing.T, d *desk, p person, role models.PrincipalRole, bearer string)
		says string // "": it is let in and holds nothing
	}{
		"the role is taken from the principal": {end: func(t *testing.T, d *desk, p person, role models.PrincipalRole, _ string) {
			_, err := d.store.RevokePrincipalRole(ctx, memberOf(p.Principal, role), anEvent(models.AuditPrincipalRoleRevoked))
			must(t, err)
		}},
		"the role is deleted": {end: func(t *testing.T, d *desk, _ person, role models.PrincipalRole, _ string) {
			must(t, d.store.DeletePrincipalRole(ctx, role.ID, anEvent(models.AuditPrincipalRoleDeleted)))
		}},
		"the catalog role is taken from the role": {end: func(t *testing.T, d *desk, _ person, role models.PrincipalRole, _ string) {
			held, err := d.store.CatalogRoleByName(ctx, d.catalog.ID, role.Name)
			must(t, err)
			_, err = d.store.RevokeCatalogRole(ctx, models.CatalogRoleMember{PrincipalRoleID: role.ID, CatalogRoleID: held.ID}, anEvent(models.AuditCatalogRoleRevoked))
			must(t, err)
		}},
		"the catalog role is deleted": {end: func(t *testing.T, d *desk, _ person, role models.PrincipalRole, _ string) {
			held, err := d.store.CatalogRoleByName(ctx, d.catalog.ID, role.Name)
			must(t, err)
			must(t, d.store.DeleteCatalogRole(ctx, held.ID, anEvent(models.AuditCatalogRoleDeleted)))
		}},
		"the grant is revoked": {end: func(t *testing.T, d *desk, _ person, _ models.PrincipalRole, _ string) {
			must(t, d.exec(`DELETE FROM grants WHERE privilege = 'TABLE_WRITE_DATA'`))
		}},
		"the principal is disabled": {says: "disabled", end: func(t *testing.T, d *desk, p person, _ models.PrincipalRole, _ string) {
			p.Disabled = true
			must(t, d.store.UpdatePrincipal(ctx, p.Principal, anEvent(models.AuditPrincipalUpdated)))
		}},
		"the principal is deleted": {says: "no longer exists", end: func(t *testing.T, d *desk, p person, _ models.PrincipalRole, _ string) {
			must(t, d.store.DeletePrincipal(ctx, p.ID, anEvent(models.AuditPrincipalDeleted)))
		}},
		"its credentials are reset": {says: "revoked", end: func(t *testing.T, d *desk, p person, _ models.PrincipalRole, _ string) {
			p.SecretHash = access.HashSecret("another")
			must(t, d.store.ResetSecret(ctx, p.Principal, anEvent(models.AuditPrincipalSecretReset)))
		}},
		"the token is revoked": {says: "revoked", end: func(t *testing.T, d *desk, _ person, _ models.PrincipalRole, bearer string) {
			root, _ := d.login(t)
			must(t, d.tokens.RevokeToken(ctx, root, claimsOf(t, bearer)["jti"].(string)))
		}},
		"the signing keys are revoked": {says: "not in use", end: func(t *testing.T, d *desk, _ person, _ models.PrincipalRole, _ string) {
			_, err := d.keys.Rotate(ctx, policy.Caller{Principal: "operator"}, true)
			must(t, err)
		}},
	}
	for database, url := range databases() {
		for name, c := range cases {
			t.Run(database+"/"+name, func(t *testing.T) {
				d := newDeskAt(t, url(t))
				role := d.newRole(t, "writers", models.TableWriteData)
				p := d.newPrincipal(t, "job", role)
				bearer := d.bearer(t, p.creds, "")
				other := d.another(t)
				for range 2 { // the second time from memory
					if !d.holds(other.caller(t, bearer), models.TableWriteData) {
						t.Fatal("it holds nothing to begin with")
					}
				}
				c.end(t, d, p, role, bearer)
				if c.says != "" {
					other.refused(t, bearer, c.says)
					return
				}
				if d.holds(other.caller(t, bearer), models.TableWriteData) {
					t.Error("the right outlived its end")
				}
			})
		}
	}
}

func TestAnotherProcessSeesEngineTokensEnd(t *testing.T) {
	d := newDesk(t)
	token, secret := d.mint(t, access.MintInput{CanWrite: true})
	other := d.another(t)
	other.caller(t, secret)
	root, _ := d.login(t)
	must(t, d.tokens.RevokeToken(context.Background(), root, token.ID))
	other.refused(t, secret, "revoked")
}

// What is given counts at once too.
func TestAnotherProcessSeesWhatIsGiven(t *testing.T) {
	d := newDesk(t)
	p := d.newPrincipal(t, "job")
	bearer := d.bearer(t, p.creds, "")
	other := d.another(t)
	if d.holds(other.caller(t, bearer), models.TableWriteData) {
		t.Fatal("it holds before it is given")
	}
	d.assign(t, p.Principal, d.newRole(t, "writers", models.TableWriteData))
	if !d.holds(other.caller(t, bearer), models.TableWriteData) {
		t.Error("what was given does not count")
	}
}

// A client that refreshes tokens of two minutes for ten minutes is never refused.
func TestLoopingClient(t *testing.T) {
	d := newDesk(t)
	short := lifetimes
	short.TokenLifetime = 2 * time.Minute
	p := d.processOver(t, d.open(t), d.ring, short)
	other := d.processOver(t, d.open(t), d.ring, short)
	grant, err := p.ask(d.creds, "")
	must(t, err)
	refreshAt := d.now.Add(grant.ExpiresIn - 10*time.Second)
	first := grant.AccessToken
	for range 1200 {
		d.now = d.now.Add(501 * time.Millisecond)
		if d.now.After(refreshAt) {
			grant, err = p.oauth.IssueAccessToken(context.Background(), access.GrantRequest{GrantType: byExchange, SubjectToken: grant.AccessToken})
			must(t, err)
			refreshAt = d.now.Add(grant.ExpiresIn - 10*time.Second)
		}
		p.caller(t, grant.AccessToken)
		other.caller(t, grant.AccessToken)
	}
	other.refused(t, first, "expired")
	caller, err := p.auth.Authenticate(context.Background(), first)
	if err == nil || caller.Principal != models.RootPrincipal || caller.TokenID == "" {
		t.Errorf("an expired token came with %+v, %v; want its principal and its id", caller, err)
	}
}

// expires_in is what a client may rely on: the token is good until then, and no second longer than a second.
func TestExpiry(t *testing.T) {
	d := newDesk(t)
	d.now = d.now.Add(678 * time.Millisecond)
	grant, err := d.ask(d.creds, "")
	must(t, err)
	start := d.now
	d.now = start.Add(grant.ExpiresIn - time.Millisecond)
	d.caller(t, grant.AccessToken)
	d.now = start.Add(grant.ExpiresIn + time.Second)
	d.refused(t, grant.AccessToken, "expired")
}

func TestLastUse(t *testing.T) {
	d := newDesk(t)
	token, secret := d.mint(t, access.MintInput{})
	used := func() time.Time {
		t.Helper()
		d.caller(t, secret)
		row, err := d.store.TokenByID(context.Background(), token.ID)
		must(t, err)
		return *row.LastUsedAt
	}
	first := used()
	d.now = d.now.Add(30 * time.Second)
	if again := used(); !again.Equal(first) {
		t.Errorf("a use of the same minute was written at %v", again)
	}
	d.now = d.now.Add(time.Minute)
	if later := used(); !later.Equal(d.now.Truncate(time.Minute)) {
		t.Errorf("the last use is %v, want the minute of %v", later, d.now)
	}
}

func TestDisabledAndDeletedAreSaid(t *testing.T) {
	d := newDesk(t)
	p := d.newPrincipal(t, "job")
	bearer := d.bearer(t, p.creds, "")
	d.caller(t, bearer)
	p.Disabled = true
	must(t, d.store.UpdatePrincipal(context.Background(), p.Principal, anEvent(models.AuditPrincipalUpdated)))
	d.refused(t, bearer, "disabled")
	caller, _ := d.auth.Authenticate(context.Background(), bearer)
	if caller.Principal != "job" || caller.TokenID != claimsOf(t, bearer)["jti"] {
		t.Errorf("the refused caller is %+v", caller)
	}
	if _, err := d.ask(p.creds, ""); err == nil {
		t.Error("a disabled principal logged in")
	}
}

func TestClearanceAndRotation(t *testing.T) {
	d := newDesk(t)
	root, _ := d.login(t)
	if root.Clearance != models.Restricted {
		t.Errorf("root's clearance is %q", root.Clearance)
	}
	p := d.newPrincipal(t, "job", d.newRole(t, "writers", models.TableWriteData))
	bearer := d.bearer(t, p.creds, "")
	if c := d.caller(t, bearer); c.MustRotate || c.Clearance != models.Internal {
		t.Errorf("the caller is %+v", c)
	}
	p.RotationRequired = true
	must(t, d.store.UpdatePrincipal(context.Background(), p.Principal, anEvent(models.AuditPrincipalUpdated)))
	if !d.caller(t, bearer).MustRotate || !d.caller(t, d.bearer(t, p.creds, "")).MustRotate {
		t.Error("credentials that must be rotated opened more")
	}
	_, secret := d.mint(t, access.MintInput{Principal: "job"})
	if d.caller(t, secret).MustRotate {
		t.Error("an engine token has no credentials to rotate")
	}
}

func TestSecretOverlap(t *testing.T) {
	d := newDesk(t)
	p := d.newPrincipal(t, "job")
	old, until := p.creds, d.now.Add(time.Hour)
	fresh := access.Credentials{ClientID: old.ClientID, ClientSecret: access.NewClientSecret()}
	p.PreviousSecretHash, p.PreviousSecretUntil = p.SecretHash, &until
	p.SecretHash = access.HashSecret(fresh.ClientSecret)
	must(t, d.store.UpdatePrincipal(context.Background(), p.Principal, anEvent(models.AuditPrincipalSecretRotated)))
	d.bearer(t, old, "")
	d.bearer(t, fresh, "")
	d.now = until
	if _, err := d.ask(old, ""); err == nil {
		t.Error("the secret before is good beyond the overlap")
	}
	d.bearer(t, fresh, "")
	empty := access.Credentials{ClientID: d.newPrincipal(t, "other").creds.ClientID}
	if _, err := d.ask(empty, ""); err == nil {
		t.Error("no secret is good where there is no previous one")
	}
}

// Under load from many sides, no request that begins after a role was taken has what it gave.
func TestRevocationUnderLoad(t *testing.T) {
	d := newDesk(t)
	role := d.newRole(t, "writers", models.TableWriteData)
	people := make([]person, 4)
	bearers := make([]string, len(people))
	for i := range people {
		people[i] = d.newPrincipal(t, fmt.Sprint("job-", i), role)
		bearers[i] = d.bearer(t, people[i].creds, "")
	}
	other := d.another(t)
	var turns [4]atomic.Int64 // even where the role is taken and not about to be given back; 0 at first
	var stop atomic.Bool
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for n := worker; !stop.Load(); n++ {
				i := n % len(people)
				before := turns[i].Load()
				caller, err := other.auth.Authenticate(context.Background(), bearers[i])
				if err != nil {
					t.Error(err)
					return
				}
				if before > 0 && before%2 == 0 && before == turns[i].Load() && d.holds(caller, models.TableWriteData) {
					t.Error("a request began after the role was taken and had it")
					return
				}
			}
		})
	}
	for n := range 80 {
		i := n % len(people)
		turns[i].Add(1)
		d.assign(t, people[i].Principal, role)
		if !d.holds(other.caller(t, bearers[i]), models.TableWriteData) {
			t.Error("what was given does not count")
		}
		_, err := d.store.RevokePrincipalRole(context.Background(), memberOf(people[i].Principal, role), anEvent(models.AuditPrincipalRoleRevoked))
		must(t, err)
		turns[i].Add(1)
	}
	stop.Store(true)
	wait.Wait()
}

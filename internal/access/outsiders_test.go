package access_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// idp knows tokens by heart: what an issuer's token maps to is tested here, how one is verified is in oidc.
type idp map[string]access.External

func (i idp) Identify(_ context.Context, bearer string) (access.External, bool, error) {
	ext, ok := i[bearer]
	if ext.Issuer == "down" {
		return access.External{}, true, fault.New(fault.Unavailable, "The issuer does not answer.")
	}
	if ext.Issuer == "expired" {
		return ext, true, fault.New(fault.Unauthenticated, "The token has expired.")
	}
	return ext, ok, nil
}

// of makes a token of an issuer.
func (i idp) of(ext access.External) string {
	if ext.Issuer == "" {
		ext.Issuer = "https://idp.example"
	}
	claims := fmt.Sprintf(`{"iss":%q,"n":%d}`, ext.Issuer, len(i))
	bearer := "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	i[bearer] = ext
	return bearer
}

func newOutsideDesk(t testing.TB) (*desk, idp, cast) {
	t.Helper()
	c := newCast(t)
	known := idp{}
	c.issuers = known
	c.process = c.processOver(t, c.store, c.ring, lifetimes)
	return c.desk, known, c
}

func TestOutsiders(t *testing.T) {
	d, known, c := newOutsideDesk(t)
	ctx := context.Background()
	federated := models.PrincipalRole{ID: "f", Name: "federated", Federated: true, Version: 1}
	must(t, d.store.CreatePrincipalRole(ctx, federated, anEvent(models.AuditPrincipalRoleCreated)))
	dropping, err := d.store.CatalogRoleByName(ctx, d.catalog.ID, "droppers")
	must(t, err)
	_, err = d.store.AssignCatalogRole(ctx, models.CatalogRoleMember{PrincipalRoleID: "f", CatalogRoleID: dropping.ID}, anEvent(models.AuditCatalogRoleAssigned))
	must(t, err)
	soon := d.now.Add(time.Hour)
	cases := map[string]struct {
		ext  access.External
		held string
		says string // of a refusal
	}{
		"nothing said of roles":            {access.External{Principal: "job"}, "rw", ""},
		"no roles":                         {access.External{Principal: "job", Roles: []string{}}, "", ""},
		"one that is assigned":             {access.External{Principal: "job", Roles: []string{"readers"}}, "r", ""},
		"one that is federated":            {access.External{Principal: "job", Roles: []string{"federated"}}, "d", ""},
		"both, and others":                 {access.External{Principal: "job", Roles: []string{"writers", "federated", "x", "writers"}}, "wd", ""},
		"one that is neither":              {access.External{Principal: "job", Roles: []string{"droppers", "service_admin"}}, "", ""},
		"no such principal":                {access.External{Principal: "nobody"}, "", "no principal \"nobody\""},
		"one that may be made":             {access.External{Principal: "new", CreatePrincipal: true, Roles: []string{"federated", "readers"}}, "d", ""},
		"a name that cannot be":            {access.External{Principal: " system$x", CreatePrincipal: true}, "", "cannot be one"},
		"the platform's own name":          {access.External{Principal: "sluice", CreatePrincipal: true}, "", "cannot be one"},
		"a name that no URL has":           {access.External{Principal: "..", CreatePrincipal: true}, "", "cannot be one"},
		"a name with a line feed":          {access.External{Principal: "a\nb", CreatePrincipal: true}, "", "cannot be one"},
		"a name that is too long":          {access.External{Principal: strings.Repeat("x", 257), CreatePrincipal: true}, "", "cannot be one"},
		"expired":                          {access.External{Principal: "job", ExpiresAt: d.now}, "", "expired"},
		"one there is, which may be made":  {access.External{Principal: "job", CreatePrincipal: true}, "rw", ""},
		"two of an issuer with other ones": {access.External{Issuer: "https://other.example", Principal: "job", Roles: []string{"writers"}}, "w", ""},
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			if o.ext.ExpiresAt.IsZero() {
				o.ext.ExpiresAt = soon
			}
			bearer := known.of(o.ext)
			for range 2 {
				if o.says != "" {
					d.refused(t, bearer, o.says)
					continue
				}
				if held := c.holding(t, bearer); held != o.held {
					t.Fatalf("it holds %q, want %q", held, o.held)
				}
			}
			if o.says != "" {
				return
			}
			caller := d.caller(t, bearer)
			if caller.Principal != o.ext.Principal || caller.CanGovern || caller.EngineToken || caller.ReadOnly || caller.Clearance != models.Internal ||
				!caller.ExpiresAt.Equal(soon) || !strings.HasPrefix(caller.TokenID, "oidc:") || strings.Contains(bearer, caller.TokenID[5:]) {
				t.Errorf("the caller is %+v", caller)
			}
		})
	}
}

func TestOutsidersEndAtOnce(t *testing.T) {
	d, known, c := newOutsideDesk(t)
	ctx := context.Background()
	bearer := known.of(access.External{Principal: "job", Govern: true, ExpiresAt: d.now.Add(time.Hour)})
	if !d.caller(t, bearer).CanGovern || c.holding(t, bearer) != "rw" {
		t.Fatal("it does not govern")
	}
	_, err := d.store.RevokePrincipalRole(ctx, memberOf(c.job.Principal, c.writes), anEvent(models.AuditPrincipalRoleRevoked))
	must(t, err)
	if held := c.holding(t, bearer); held != "r" {
		t.Errorf("it holds %q", held)
	}
	c.job.Disabled = true
	must(t, d.store.UpdatePrincipal(ctx, c.job.Principal, anEvent(models.AuditPrincipalUpdated)))
	d.refused(t, bearer, "disabled")
	must(t, d.store.DeletePrincipal(ctx, c.job.ID, anEvent(models.AuditPrincipalDeleted)))
	d.refused(t, bearer, "no principal")
}

func TestOutsidersAreMadeOnce(t *testing.T) {
	d, known, _ := newOutsideDesk(t)
	bearer := known.of(access.External{Principal: "new", Subject: "s-1", CreatePrincipal: true, ExpiresAt: d.now.Add(time.Hour)})
	processes := []process{d.process, d.another(t), d.another(t)}
	var wait sync.WaitGroup
	callers := make([]policy.Caller, 12)
	for i := range callers {
		wait.Go(func() {
			var err error
			if callers[i], err = processes[i%3].auth.Authenticate(context.Background(), bearer); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	made := mustPrincipal(t, d, "new")
	for _, caller := range callers {
		if caller.PrincipalID != made.ID {
			t.Errorf("one came as %+v", caller)
		}
	}
	if made.ClientID != "" || made.SecretHash != "" || made.Clearance != models.Internal {
		t.Errorf("it was made as %+v", made)
	}
	if _, err := d.ask(access.Credentials{}, ""); err == nil {
		t.Error("no credentials opened a principal that has none")
	}
	var events []models.AuditEvent
	for _, e := range d.events(t, models.AuditPrincipalCreated) {
		if e.Principal == "new" {
			events = append(events, e)
		}
	}
	if len(events) != 1 || events[0].Details.V["issuer"] != "https://idp.example" || events[0].Details.V["subject"] != "s-1" {
		t.Errorf("the audit has %+v", events)
	}
}

func TestIssuersThatAreNotAccepted(t *testing.T) {
	d, known, _ := newOutsideDesk(t)
	down := known.of(access.External{Issuer: "down"})
	_, err := d.auth.Authenticate(context.Background(), down)
	wantCode(t, err, fault.Unavailable, "does not answer")
	bearer := known.of(access.External{Principal: "job", ExpiresAt: d.now.Add(time.Hour)})
	_, err = d.exchanged(bearer, "")
	wantOAuth(t, err, "invalid_grant", 400)
	delete(known, bearer)
	d.refused(t, bearer, "not accepted here")
	newDesk(t).refused(t, bearer, "not accepted here") // where none is configured
}

// Of a token that its issuer signed and that is no good any more, the audit is told whose it is.
func TestOutsidersOfWhomMoreIsKnown(t *testing.T) {
	d, known, _ := newOutsideDesk(t)
	bearer := known.of(access.External{Issuer: "expired", Principal: "job"})
	caller, err := d.auth.Authenticate(context.Background(), bearer)
	wantCode(t, err, fault.Unauthenticated, "expired")
	if caller.Principal != "job" || !strings.HasPrefix(caller.TokenID, "oidc:") || caller.Held != nil {
		t.Errorf("the caller is %+v", caller)
	}
}

// A token of an issuer that names roles mints no engine token with others.
func TestOutsidersMintNoWider(t *testing.T) {
	d, known, c := newOutsideDesk(t)
	caller := d.caller(t, known.of(access.External{Principal: "job", Roles: []string{"readers"}, Govern: true, ExpiresAt: d.now.Add(time.Hour)}))
	_, secret, err := d.tokens.MintToken(context.Background(), caller, access.MintInput{})
	must(t, err)
	if held := c.holding(t, secret); held != "r" {
		t.Errorf("it holds %q", held)
	}
	_, _, err = d.tokens.MintToken(context.Background(), caller, access.MintInput{Roles: []string{"writers"}})
	wantCode(t, err, fault.Forbidden, "writers")
}

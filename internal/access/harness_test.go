package access_test

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

const (
	byCredentials = "client_credentials"
	byExchange    = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// process is the access use cases of one process over a database.
type process struct {
	store  *store.Store
	keys   *access.TokenKeys
	auth   *access.Authenticator
	tokens *access.Tokens
	oauth  *access.OAuth
}

// desk is a process over a real database, with a clock that tests turn.
type desk struct {
	process
	creds   access.Credentials
	now     time.Time
	url     string
	ring    string // encryption keys
	issuers access.Issuers
	catalog models.Catalog
}

var lifetimes = access.KeySettings{Issuer: "sluice", TokenLifetime: time.Hour, KeyLifetime: 30 * 24 * time.Hour}

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func newDesk(t testing.TB) *desk {
	t.Helper()
	return newDeskAt(t, sqliteFile(t))
}

func sqliteFile(t testing.TB) string { return filepath.Join(t.TempDir(), "sluice.db") }

// databases are where a desk can stand.
func databases() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": sqliteFile, "postgres": pgtest.Database}
}

func newDeskAt(t testing.TB, url string) *desk {
	t.Helper()
	ctx := context.Background()
	d := &desk{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), url: url, ring: keyring.Generate()}
	db := d.open(t)
	must(t, store.Migrate(ctx, db))
	boot, creds := access.NewBootstrap("main", []string{"file:///wh"}, models.GovernedOnly, d.now)
	must(t, db.Bootstrap(ctx, boot))
	d.creds, d.catalog = creds, boot.Catalog
	d.process = d.processOver(t, db, d.ring, lifetimes)
	return d
}

func (d *desk) clock() time.Time { return d.now }

func (d *desk) open(t testing.TB) *store.Store {
	t.Helper()
	url := d.url
	if !strings.Contains(url, "://") {
		url += "?synchronous=normal"
	}
	db, err := store.Open(context.Background(), store.Config{URL: url, Now: d.clock})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d *desk) processOver(t testing.TB, db *store.Store, keys string, settings access.KeySettings) process {
	t.Helper()
	ring, err := keyring.Parse(keys)
	must(t, err)
	p := process{store: db}
	p.keys = access.NewTokenKeys(db, ring.For("signing-keys"), settings, d.clock, nil)
	p.auth = access.NewAuthenticator(db, p.keys, d.issuers, d.clock)
	p.tokens, p.oauth = access.NewTokens(db, d.clock), access.NewOAuth(db, p.auth, d.clock)
	return p
}

// another is another process of the same installation.
func (d *desk) another(t testing.TB) process {
	t.Helper()
	return d.processOver(t, d.open(t), d.ring, lifetimes)
}

// exec changes the database behind everyone's back.
func (d *desk) exec(statement string, args ...any) error {
	driver := "sqlite"
	if strings.Contains(d.url, "://") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, d.url)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // a test
	_, err = db.Exec(statement, args...)
	return err
}

// ask asks the token endpoint for a token by credentials.
func (p process) ask(creds access.Credentials, scope string) (access.AccessGrant, error) {
	return p.oauth.IssueAccessToken(context.Background(), access.GrantRequest{
		GrantType: byCredentials, ClientID: creds.ClientID, ClientSecret: creds.ClientSecret, Scope: scope,
	})
}

func (p process) bearer(t testing.TB, creds access.Credentials, scope string) string {
	t.Helper()
	grant, err := p.ask(creds, scope)
	must(t, err)
	return grant.AccessToken
}

func (p process) caller(t testing.TB, bearer string) policy.Caller {
	t.Helper()
	caller, err := p.auth.Authenticate(context.Background(), bearer)
	must(t, err)
	return caller
}

func (p process) refused(t testing.TB, bearer, says string) {
	t.Helper()
	caller, err := p.auth.Authenticate(context.Background(), bearer)
	wantCode(t, err, fault.Unauthenticated, says)
	if caller.PrincipalID != "" || caller.Held != nil || caller.CanGovern {
		t.Fatalf("a refused token came with %+v", caller)
	}
}

func (d *desk) login(t testing.TB) (policy.Caller, string) {
	t.Helper()
	bearer := d.bearer(t, d.creds, "PRINCIPAL_ROLE:ALL")
	return d.caller(t, bearer), bearer
}

func (d *desk) mint(t testing.TB, in access.MintInput) (models.Token, string) {
	t.Helper()
	root, _ := d.login(t)
	token, secret, err := d.tokens.MintToken(context.Background(), root, in)
	must(t, err)
	return token, secret
}

// person is a principal with its credentials.
type person struct {
	models.Principal
	creds access.Credentials
}

func (d *desk) newPrincipal(t testing.TB, name string, roles ...models.PrincipalRole) person {
	t.Helper()
	p := person{creds: access.Credentials{ClientID: access.NewClientID(), ClientSecret: access.NewClientSecret()}}
	p.Principal = models.Principal{
		ID: uuid.NewString(), Name: name, ClientID: p.creds.ClientID, SecretHash: access.HashSecret(p.creds.ClientSecret),
		Version: 1, CreatedAt: d.now, UpdatedAt: d.now,
	}
	must(t, d.store.CreatePrincipal(context.Background(), p.Principal, anEvent(models.AuditPrincipalCreated)))
	for _, r := range roles {
		d.assign(t, p.Principal, r)
	}
	return p
}

func (d *desk) assign(t testing.TB, p models.Principal, r models.PrincipalRole) {
	t.Helper()
	_, err := d.store.AssignPrincipalRole(context.Background(), memberOf(p, r), anEvent(models.AuditPrincipalRoleAssigned))
	must(t, err)
}

func memberOf(p models.Principal, r models.PrincipalRole) models.PrincipalRoleMember {
	return models.PrincipalRoleMember{PrincipalID: p.ID, PrincipalRoleID: r.ID}
}

// newRole makes a principal role that holds the privilege on the catalog, by a catalog role of the same name.
func (d *desk) newRole(t testing.TB, name string, privilege models.Privilege) models.PrincipalRole {
	t.Helper()
	ctx := context.Background()
	role := models.PrincipalRole{ID: uuid.NewString(), Name: name, Version: 1, CreatedAt: d.now, UpdatedAt: d.now}
	must(t, d.store.CreatePrincipalRole(ctx, role, anEvent(models.AuditPrincipalRoleCreated)))
	inCatalog := models.CatalogRole{ID: uuid.NewString(), CatalogID: d.catalog.ID, Name: name, Version: 1, CreatedAt: d.now, UpdatedAt: d.now}
	must(t, d.store.CreateCatalogRole(ctx, inCatalog, anEvent(models.AuditCatalogRoleCreated)))
	_, err := d.store.AssignCatalogRole(ctx, models.CatalogRoleMember{PrincipalRoleID: role.ID, CatalogRoleID: inCatalog.ID}, anEvent(models.AuditCatalogRoleAssigned))
	must(t, err)
	_, err = d.store.AddGrant(ctx, models.Grant{
		ID: uuid.NewString(), CatalogRoleID: inCatalog.ID, CatalogID: d.catalog.ID, Scope: models.OnCatalog,
		ObjectID: d.catalog.ID, Privilege: privilege, CreatedAt: d.now,
	}, anEvent(models.AuditGrantAdded))
	must(t, err)
	return role
}

// holds tells whether the caller holds the privilege on the catalog.
func (d *desk) holds(c policy.Caller, p models.Privilege) bool {
	return c.Has(p, policy.Path{CatalogID: d.catalog.ID})
}

func anEvent(typ models.AuditType) models.AuditEvent {
	return models.AuditEvent{EventID: uuid.NewString(), Type: typ, Allowed: true}
}

// claimsOf reads what a JWT says, unverified.
func claimsOf(t testing.TB, bearer string) map[string]any {
	t.Helper()
	parts := strings.Split(bearer, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", bearer)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	must(t, err)
	said := map[string]any{}
	must(t, json.Unmarshal(text, &said))
	return said
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code fault.Code, says string) {
	t.Helper()
	if fault.CodeOf(err) != code || !strings.Contains(fault.PublicMessage(err), says) {
		t.Fatalf("the error is %q (%v), want %q saying %q", fault.CodeOf(err), err, code, says)
	}
}

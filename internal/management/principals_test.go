package management_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// unsealed keeps signing keys as they are: what is at rest is not looked at here.
type unsealed struct{}

func (unsealed) Seal(plain, _ []byte) ([]byte, error)  { return plain, nil }
func (unsealed) Open(sealed, _ []byte) ([]byte, error) { return sealed, nil }

// gate logs in and lets in, as the server does.
type gate struct {
	auth  *access.Authenticator
	oauth *access.OAuth
}

func (d *desk) gate() gate {
	clock := func() time.Time { return d.now }
	settings := access.KeySettings{Issuer: "sluice", TokenLifetime: 2 * time.Hour, KeyLifetime: 24 * time.Hour}
	auth := access.NewAuthenticator(d.store, access.NewTokenKeys(d.store, unsealed{}, settings, clock, nil), nil, clock)
	return gate{auth, access.NewOAuth(d.store, auth, clock)}
}

// token gives an access token for credentials, "" when they are refused.
func (d *desk) token(g gate, c management.Credentials) string {
	d.t.Helper()
	grant, err := g.oauth.IssueAccessToken(d.t.Context(), access.GrantRequest{
		GrantType: "client_credentials", ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scope: "PRINCIPAL_ROLE:ALL",
	})
	if err != nil {
		return ""
	}
	return grant.AccessToken
}

func (d *desk) letsIn(g gate, token string) bool {
	_, err := g.auth.Authenticate(d.t.Context(), token)
	return err == nil
}

func TestCreatePrincipal(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	p, creds, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada", Properties: map[string]string{"team": "a"}})
	require.NoError(t, err)
	require.Equal(t, models.Internal, p.Clearance)
	require.Equal(t, creds.ClientID, p.ClientID)
	require.EqualValues(t, 1, p.Version)
	require.NotContains(t, p.SecretHash, creds.ClientSecret)
	require.NotEmpty(t, d.token(d.gate(), creds))
	_, _, err = d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada"})
	wantFault(t, err, fault.AlreadyExists, "ada")
	_, _, err = d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "eve", Clearance: "secret"})
	wantFault(t, err, fault.Invalid, "clearance")
	p, _, err = d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "eve", Clearance: models.Confidential})
	require.NoError(t, err)
	require.Equal(t, models.Confidential, p.Clearance)
	list, err := d.ListPrincipals(ctx, root)
	require.NoError(t, err)
	require.Equal(t, []string{"ada", "eve", "root"}, principalNames(list))
	noSecrets(t, d)
}

// noSecrets: what would let anybody in is in no event.
func noSecrets(t *testing.T, d *desk, secrets ...string) {
	t.Helper()
	list, err := d.store.Principals(t.Context())
	require.NoError(t, err)
	for _, p := range list {
		secrets = append(secrets, p.SecretHash, p.PreviousSecretHash)
	}
	for _, e := range d.events("") {
		text, err := e.Details.Value()
		require.NoError(t, err)
		for _, secret := range secrets {
			if secret != "" {
				require.NotContains(t, text, secret, "event %s", e.Type)
			}
		}
	}
}

func TestUpdatePrincipal(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	p, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada", Properties: map[string]string{"team": "a", "since": "2020"}})
	require.NoError(t, err)
	_, err = d.UpdatePrincipal(ctx, root, "ada", management.PrincipalChange{Version: 2})
	wantFault(t, err, fault.Conflict, "Failed to update principal ada: its version is 1, not 2: read it again")
	_, err = d.UpdatePrincipal(ctx, root, "ada", management.PrincipalChange{Version: 1, Clearance: "top"})
	wantFault(t, err, fault.Invalid, "clearance")
	no := false
	same, err := d.UpdatePrincipal(ctx, root, "ada", management.PrincipalChange{Version: 1, Properties: p.Properties.V, Clearance: models.Internal, Disabled: &no})
	require.NoError(t, err)
	require.EqualValues(t, 1, same.Version)
	require.Empty(t, d.events(models.AuditPrincipalUpdated))
	p, err = d.UpdatePrincipal(ctx, root, "ada", management.PrincipalChange{Version: 1, Properties: map[string]string{"team": "b"}, Clearance: models.Restricted})
	require.NoError(t, err)
	require.EqualValues(t, 2, p.Version)
	require.Equal(t, map[string]string{"team": "b"}, p.Properties.V)
	require.Equal(t, map[string]any{
		"principal": "ada", "propertiesSet": []any{"team"}, "propertiesRemoved": []any{"since"},
		"clearance": map[string]any{"from": "internal", "to": "restricted"},
	}, d.only(models.AuditPrincipalUpdated).Details.V)
}

func TestDisabledAndDeletedAtOnce(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	p, creds, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada"})
	require.NoError(t, err)
	g := d.gate()
	token := d.token(g, creds)
	require.True(t, d.letsIn(g, token))
	yes, no := true, false
	p, err = d.UpdatePrincipal(ctx, root, "ada", management.PrincipalChange{Version: p.Version, Disabled: &yes})
	require.NoError(t, err)
	require.False(t, d.letsIn(g, token))
	require.Empty(t, d.token(g, creds))
	_, err = d.UpdatePrincipal(ctx, root, "ada", management.PrincipalChange{Version: p.Version, Disabled: &no})
	require.NoError(t, err)
	require.True(t, d.letsIn(g, token))
	require.NoError(t, d.DeletePrincipal(ctx, root, "ada"))
	require.False(t, d.letsIn(g, token))
	require.Empty(t, d.token(g, creds))
	wantFault(t, d.DeletePrincipal(ctx, root, "ada"), fault.NotFound, "ada")
	require.Equal(t, "ada", d.only(models.AuditPrincipalDeleted).Details.V["principal"])
}

func TestRotationOverlaps(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	_, first, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada"})
	require.NoError(t, err)
	g := d.gate()
	token := d.token(g, first)
	p, second, err := d.RotateCredentials(ctx, d.as("ada"), "ada")
	require.NoError(t, err)
	require.Equal(t, first.ClientID, second.ClientID)
	require.NotEqual(t, first.ClientSecret, second.ClientSecret)
	require.EqualValues(t, 2, p.Version)
	require.NotEmpty(t, d.token(g, second))
	d.now = d.now.Add(overlap - time.Second)
	require.NotEmpty(t, d.token(g, first), "within the overlap")
	d.now = d.now.Add(time.Second)
	require.Empty(t, d.token(g, first), "after it")
	require.NotEmpty(t, d.token(g, second))
	require.True(t, d.letsIn(g, token), "rotating ends no token")

	_, third, err := d.RotateCredentials(ctx, d.as("ada"), "ada")
	require.NoError(t, err)
	_, fourth, err := d.RotateCredentials(ctx, d.as("ada"), "ada")
	require.NoError(t, err)
	require.Empty(t, d.token(g, second), "two rotations ago")
	require.NotEmpty(t, d.token(g, third))
	require.NotEmpty(t, d.token(g, fourth))
	events := d.events(models.AuditPrincipalSecretRotated)
	require.Len(t, events, 3)
	require.Equal(t, "ada", events[0].Principal)
	require.Equal(t, d.now.Add(overlap).Format(time.RFC3339), events[0].Details.V["previousUntil"])
	noSecrets(t, d, first.ClientSecret, second.ClientSecret, third.ClientSecret, fourth.ClientSecret)
}

// First credentials are known to whoever made the principal: once rotated, neither they nor their tokens open anything.
func TestFirstCredentials(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	p, first, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada", RotationRequired: true})
	require.NoError(t, err)
	require.True(t, p.RotationRequired)
	g := d.gate()
	token := d.token(g, first)
	caller, err := g.auth.Authenticate(ctx, token)
	require.NoError(t, err)
	require.True(t, caller.MustRotate)
	p, second, err := d.RotateCredentials(ctx, caller, "ada")
	require.NoError(t, err)
	require.False(t, p.RotationRequired)
	require.Empty(t, d.token(g, first))
	require.False(t, d.letsIn(g, token))
	caller, err = g.auth.Authenticate(ctx, d.token(g, second))
	require.NoError(t, err)
	require.False(t, caller.MustRotate)
	require.Equal(t, true, d.only(models.AuditPrincipalSecretRotated).Details.V["first"])
}

func TestWhoRotates(t *testing.T) {
	d := newDesk(t)
	ctx := t.Context()
	d.principal("ada")
	d.principal("job")
	change := func(f func(*policy.Caller)) policy.Caller {
		c := d.as("ada")
		f(&c)
		return c
	}
	for name, c := range map[string]struct {
		caller policy.Caller
		code   fault.Code
		says   string
	}{
		"itself":           {d.as("ada"), "", ""},
		"its issuer's":     {change(func(c *policy.Caller) { c.CanGovern = false }), fault.Forbidden, "may not change governance"},
		"its narrow token": {change(func(c *policy.Caller) { c.Roles = []string{"readers"} }), fault.Forbidden, "PRINCIPAL_ROLE:ALL"},
		"it without roles": {change(func(c *policy.Caller) { c.Roles = []string{} }), fault.Forbidden, "PRINCIPAL_ROLE:ALL"},
		"its reader":       {change(func(c *policy.Caller) { c.ReadOnly = true }), fault.Forbidden, "read-only"},
		"its job":          {change(func(c *policy.Caller) { c.EngineToken = true }), fault.Forbidden, "job"},
		"an administrator": {d.root(), fault.Forbidden, "Reset"},
		"somebody else":    {d.as("job"), fault.NotFound, "ada"},
	} {
		_, _, err := d.RotateCredentials(ctx, c.caller, "ada")
		if c.code == "" {
			require.NoError(t, err, name)
			continue
		}
		wantFault(t, err, c.code, c.says)
	}
	require.Len(t, d.events(models.AuditPrincipalSecretRotated), 1)
}

func TestResetCredentials(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	p, first, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada"})
	require.NoError(t, err)
	g := d.gate()
	_, second, err := d.RotateCredentials(ctx, d.as("ada"), "ada")
	require.NoError(t, err)
	token := d.token(g, second)
	_, third, err := d.ResetCredentials(ctx, root, "ada", management.Credentials{})
	require.NoError(t, err)
	require.Equal(t, p.ClientID, third.ClientID)
	require.NotEmpty(t, d.token(g, third))
	for _, c := range []management.Credentials{first, second} {
		require.Empty(t, d.token(g, c), "of before the reset")
	}
	require.False(t, d.letsIn(g, token), "a token of before the reset")

	chosen := management.Credentials{ClientID: "ada-1_X", ClientSecret: "0123456789abcdef0123456789ABCDEF"}
	_, got, err := d.ResetCredentials(ctx, root, "ada", chosen)
	require.NoError(t, err)
	require.Equal(t, chosen, got)
	require.NotEmpty(t, d.token(g, chosen))
	require.Len(t, d.events(models.AuditPrincipalSecretReset), 2)
	noSecrets(t, d, chosen.ClientSecret, third.ClientSecret)

	d.principal("eve")
	for says, c := range map[string]management.Credentials{
		"32":        {ClientSecret: "0123456789abcdef0123456789ABCDE"},
		"without":   {ClientSecret: "0123456789abcdef 123456789ABCDEF"},
		"ASCII":     {ClientSecret: "0123456789abcdefü123456789ABCDEF"},
		"letters":   {ClientID: "a b"},
		"64":        {ClientID: "0123456789012345678901234567890123456789012345678901234567890123x"},
		"another p": {ClientID: chosen.ClientID},
	} {
		_, _, err := d.ResetCredentials(ctx, root, "eve", c)
		code := fault.Invalid
		if c.ClientID == chosen.ClientID {
			code = fault.AlreadyExists
		}
		wantFault(t, err, code, says)
	}
	require.Len(t, d.events(models.AuditPrincipalSecretReset), 2)
}

func TestPrincipalRoles(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "ada"})
	require.NoError(t, err)
	r, err := d.CreatePrincipalRole(ctx, root, management.NewRole{Name: "writers"})
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Version)
	for range 2 {
		require.NoError(t, d.AssignPrincipalRole(ctx, root, "ada", "writers"))
	}
	require.Equal(t, map[string]any{"principal": "ada", "role": "writers"}, d.only(models.AuditPrincipalRoleAssigned).Details.V)
	roles, err := d.PrincipalRolesOf(ctx, d.as("ada"), "ada")
	require.NoError(t, err)
	require.Equal(t, []string{"writers"}, roleNames(roles))
	members, err := d.PrincipalsOf(ctx, root, "writers")
	require.NoError(t, err)
	require.Equal(t, []string{"ada"}, principalNames(members))
	require.NoError(t, d.RevokePrincipalRole(ctx, root, "ada", "writers"))
	wantFault(t, d.RevokePrincipalRole(ctx, root, "ada", "writers"), fault.NotFound, "ada does not have the principal role writers")
	require.Len(t, d.events(models.AuditPrincipalRoleRevoked), 1)
	wantFault(t, d.AssignPrincipalRole(ctx, root, "ada", "nothing"), fault.NotFound, "nothing")
	wantFault(t, d.AssignPrincipalRole(ctx, root, "nobody", "writers"), fault.NotFound, "nobody")

	_, err = d.CreatePrincipalRole(ctx, root, management.NewRole{Name: "outside", Federated: true})
	require.NoError(t, err)
	wantFault(t, d.AssignPrincipalRole(ctx, root, "ada", "outside"), fault.Invalid, "federated")

	_, err = d.UpdatePrincipalRole(ctx, root, "writers", management.RoleChange{Version: 3})
	wantFault(t, err, fault.Conflict, "its version is 1, not 3")
	r, err = d.UpdatePrincipalRole(ctx, root, "writers", management.RoleChange{Version: 1, Properties: map[string]string{"a": "b"}})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Version)
	r, err = d.UpdatePrincipalRole(ctx, root, "writers", management.RoleChange{Version: 2, Properties: map[string]string{"a": "b"}})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Version)
	require.Len(t, d.events(models.AuditPrincipalRoleUpdated), 1)
	require.NoError(t, d.DeletePrincipalRole(ctx, root, "writers"))
	wantFault(t, d.DeletePrincipalRole(ctx, root, "writers"), fault.NotFound, "writers")
	d.only(models.AuditPrincipalRoleDeleted)
	left, err := d.ListPrincipalRoles(ctx, root)
	require.NoError(t, err)
	require.Equal(t, []string{"outside", models.ServiceAdminRole}, roleNames(left))
}

func TestCatalogRoles(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	d.principal("ada")
	_, err := d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: "ingest"})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, d.AssignCatalogRole(ctx, root, "ada_role", "main", "ingest"))
	}
	assigned := d.events(models.AuditCatalogRoleAssigned)
	require.Len(t, assigned, 2, "that of the principal's own role and this one")
	require.Equal(t, map[string]any{"role": "ada_role", "catalogRole": "ingest"}, assigned[0].Details.V)
	require.Equal(t, "main", assigned[0].Catalog)
	has, err := d.CatalogRolesOf(ctx, root, "ada_role", "main")
	require.NoError(t, err)
	require.Equal(t, []string{"ada_in_main", "ingest"}, catalogRoleNames(has))
	with, err := d.PrincipalRolesWith(ctx, root, "main", "ingest")
	require.NoError(t, err)
	require.Equal(t, []string{"ada_role"}, roleNames(with))
	require.NoError(t, d.RevokeCatalogRole(ctx, root, "ada_role", "main", "ingest"))
	wantFault(t, d.RevokeCatalogRole(ctx, root, "ada_role", "main", "ingest"), fault.NotFound, "does not have")
	d.only(models.AuditCatalogRoleRevoked)

	_, err = d.UpdateCatalogRole(ctx, root, "main", "ingest", management.RoleChange{Version: 9})
	wantFault(t, err, fault.Conflict, "Failed to update catalog role ingest")
	r, err := d.UpdateCatalogRole(ctx, root, "main", "ingest", management.RoleChange{Version: 1, Properties: map[string]string{"a": "b"}})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Version)
	d.only(models.AuditCatalogRoleUpdated)
	wantFault(t, d.DeleteCatalogRole(ctx, root, "main", "nothing"), fault.NotFound, "nothing in catalog main")
	require.NoError(t, d.AssignCatalogRole(ctx, root, "ada_role", "main", "ingest"))
	require.NoError(t, d.AddGrant(ctx, root, "main", "ingest", onCatalog(models.TableDrop)))
	require.True(t, d.as("ada").Has(models.TableDrop, catalogPath(d)))
	require.NoError(t, d.DeleteCatalogRole(ctx, root, "main", "ingest"))
	require.False(t, d.as("ada").Has(models.TableDrop, catalogPath(d)), "the grants of a role go with it")
	d.only(models.AuditCatalogRoleDeleted)
}

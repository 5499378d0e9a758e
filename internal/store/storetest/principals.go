package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func principalCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a principal is read as it was written":                    principalIsKept,
		"names and client ids are one principal's":                 principalNames,
		"an update needs the version it was read at":               principalUpdate,
		"a reset ends every access token, and no engine token":     resetRevokes,
		"a replaced secret ends what was good before":              replaceSecret,
		"a deleted principal takes its tokens and roles with it":   principalGone,
		"principals are listed in order of names, bytewise":        principalList,
		"of two that change a principal at once, one has its way":  principalRace,
		"a long name is kept: its length is the use case's affair": principalLongName,
	}
}

func principalIsKept(t *testing.T, f *fixture) {
	p := newPrincipal("größe 日本 \U0001F680")
	until := time.Date(2026, 3, 4, 5, 6, 7, 8999, time.UTC)
	p.PreviousSecretHash, p.PreviousSecretUntil, p.RotationRequired, p.Disabled = "before", &until, true, true
	require.NoError(t, f.s.CreatePrincipal(t.Context(), p, event(models.AuditPrincipalCreated)))
	got, err := f.s.PrincipalByName(t.Context(), p.Name)
	require.NoError(t, err)
	assert.WithinRange(t, got.CreatedAt, f.started, f.started.Add(time.Minute))
	p.CreatedAt, p.UpdatedAt = got.CreatedAt, got.UpdatedAt
	p.PreviousSecretUntil, p.Clearance = ptr(until.Truncate(time.Microsecond)), models.Internal // where none is named
	assert.Equal(t, p, got)
	cleared := newPrincipal("auditor")
	cleared.Clearance = models.Confidential
	require.NoError(t, f.s.CreatePrincipal(t.Context(), cleared, event(models.AuditPrincipalCreated)))
	got, err = f.s.PrincipalByID(t.Context(), cleared.ID)
	require.NoError(t, err)
	assert.Equal(t, models.Confidential, got.Clearance)
	assert.Len(t, f.audit(t, models.AuditPrincipalCreated), 2)
}

func principalNames(t *testing.T, f *fixture) {
	first := f.principal(t, "ada")
	twin := newPrincipal("ada")
	twin.ClientID = "its own"
	create := func(p models.Principal) error {
		return f.s.CreatePrincipal(t.Context(), p, event(models.AuditPrincipalCreated))
	}
	err := create(twin)
	requireFault(t, err, fault.AlreadyExists, fault.Principal)
	assert.Contains(t, fault.PublicMessage(err), `"ada"`)
	twin.Name, twin.ClientID = "Ada", first.ClientID
	err = create(twin)
	requireFault(t, err, fault.AlreadyExists, fault.Principal)
	assert.Contains(t, fault.PublicMessage(err), first.ClientID)
	for _, bad := range []string{"nul\x00", "\xff"} {
		twin.Name, twin.ClientID = bad, ""
		requireFault(t, create(twin), fault.Invalid, fault.NoSubject)
		twin.Name, twin.ClientID = "fine", bad
		requireFault(t, create(twin), fault.Invalid, fault.NoSubject)
	}
	for _, name := range []string{"issued", "issued too"} { // principals of an issuer have no client id
		p := newPrincipal(name)
		p.ClientID = ""
		require.NoError(t, create(p))
	}
	second := f.principal(t, "bea")
	second.ClientID = first.ClientID
	requireFault(t, f.s.UpdatePrincipal(t.Context(), second, event(models.AuditPrincipalUpdated)), fault.AlreadyExists, fault.Principal)
	requireFault(t, f.s.ResetSecret(t.Context(), second, event(models.AuditPrincipalSecretReset)), fault.AlreadyExists, fault.Principal)
	assert.Len(t, f.audit(t, models.AuditPrincipalCreated), 4)
	assert.Empty(t, f.audit(t, models.AuditPrincipalUpdated))
}

func principalUpdate(t *testing.T, f *fixture) {
	p := f.principal(t, "ada")
	until := time.Now().UTC().Add(time.Hour).Truncate(time.Microsecond)
	next := p
	next.Name, next.ClientID, next.SecretHash, next.PreviousSecretHash, next.PreviousSecretUntil = "renamed", "c2", "h2", p.SecretHash, &until
	next.RotationRequired, next.Clearance, next.Disabled, next.Properties = true, models.Restricted, true, properties("x", "y")
	require.NoError(t, f.s.UpdatePrincipal(t.Context(), next, event(models.AuditPrincipalUpdated)))
	got, err := f.s.PrincipalByID(t.Context(), p.ID)
	require.NoError(t, err)
	assert.Equal(t, p.Version+1, got.Version)
	next.Name, next.Version, next.UpdatedAt = p.Name, got.Version, got.UpdatedAt // the name stays
	assert.Equal(t, next, got)
	assert.False(t, got.UpdatedAt.Before(p.UpdatedAt))
	for _, update := range []error{
		f.s.UpdatePrincipal(t.Context(), p, event(models.AuditPrincipalUpdated)),
		f.s.ResetSecret(t.Context(), p, event(models.AuditPrincipalUpdated)),
	} {
		requireFault(t, update, fault.Conflict, fault.Principal)
	}
	p.ID = uuid.NewString()
	p.ClientID = "c3"
	requireFault(t, f.s.UpdatePrincipal(t.Context(), p, event(models.AuditPrincipalUpdated)), fault.NotFound, fault.Principal)
	requireFault(t, f.s.ResetSecret(t.Context(), p, event(models.AuditPrincipalUpdated)), fault.NotFound, fault.Principal)
	assert.Len(t, f.audit(t, models.AuditPrincipalUpdated), 1)
}

// tokensOf mints an access token, one that was revoked long ago, and an engine token.
func (f *fixture) tokensOf(t *testing.T, principalID string) (login, old, engine models.Token) {
	t.Helper()
	mint := func(kind models.TokenKind) models.Token {
		token := f.newToken(t, kind)
		token.PrincipalID = principalID
		require.NoError(t, f.s.CreateToken(t.Context(), token, event(models.AuditTokenMinted)))
		return token
	}
	login, old, engine = mint(models.AccessToken), mint(models.AccessToken), mint(models.EngineToken)
	require.NoError(t, f.s.RevokeToken(t.Context(), old.ID, time.Unix(1, 0), event(models.AuditTokenRevoked)))
	return login, old, engine
}

func (f *fixture) requireLogin(t *testing.T, live bool, token models.Token) {
	t.Helper()
	got, err := f.s.TokenByID(t.Context(), token.ID)
	require.NoError(t, err)
	assert.Equal(t, live, got.RevokedAt == nil)
}

func resetRevokes(t *testing.T, f *fixture) {
	p, other := f.principal(t, "ada"), f.principal(t, "bea")
	login, old, engine := f.tokensOf(t, p.ID)
	others, _, _ := f.tokensOf(t, other.ID)
	p.SecretHash = "new"
	require.NoError(t, f.s.ResetSecret(t.Context(), p, event(models.AuditPrincipalSecretReset)))
	f.requireLogin(t, false, login)
	f.requireLogin(t, true, engine)
	f.requireLogin(t, true, others)
	got, err := f.s.TokenByID(t.Context(), old.ID)
	require.NoError(t, err)
	assert.Equal(t, time.Unix(1, 0).UTC(), *got.RevokedAt, "a revocation keeps its time")
	assert.Len(t, f.audit(t, models.AuditPrincipalSecretReset), 1)
}

func replaceSecret(t *testing.T, f *fixture) {
	p := f.principal(t, "ada")
	p.PreviousSecretHash, p.PreviousSecretUntil = "before", ptr(time.Now().Add(time.Hour))
	require.NoError(t, f.s.UpdatePrincipal(t.Context(), p, event(models.AuditPrincipalUpdated)))
	login, _, engine := f.tokensOf(t, p.ID)
	require.NoError(t, f.s.ReplaceSecret(t.Context(), p.ID, "new", event(models.AuditPrincipalSecretReset)))
	got, err := f.s.PrincipalByID(t.Context(), p.ID)
	require.NoError(t, err)
	assert.Equal(t, "new", got.SecretHash)
	assert.Empty(t, got.PreviousSecretHash)
	assert.Nil(t, got.PreviousSecretUntil)
	assert.Equal(t, p.Version+2, got.Version)
	f.requireLogin(t, false, login)
	f.requireLogin(t, true, engine)
	requireFault(t, f.s.ReplaceSecret(t.Context(), "nobody", "new", event(models.AuditPrincipalSecretReset)), fault.NotFound, fault.Principal)
	assert.Len(t, f.audit(t, models.AuditPrincipalSecretReset), 1)
}

func principalGone(t *testing.T, f *fixture) {
	p := f.principal(t, "ada")
	role := f.principalRole(t, "readers")
	f.assign(t, p, role)
	login, _, engine := f.tokensOf(t, p.ID)
	require.NoError(t, f.s.DeletePrincipal(t.Context(), p.ID, event(models.AuditPrincipalDeleted)))
	for _, token := range []models.Token{login, engine} {
		_, err := f.s.BearerByID(t.Context(), token.ID)
		requireFault(t, err, fault.NotFound, fault.Token)
	}
	members, err := f.s.PrincipalsWithRole(t.Context(), role.ID)
	require.NoError(t, err)
	assert.Empty(t, members)
	requireFault(t, f.s.DeletePrincipal(t.Context(), p.ID, event(models.AuditPrincipalDeleted)), fault.NotFound, fault.Principal)
	assert.Len(t, f.audit(t, models.AuditPrincipalDeleted), 1)
	assert.NotEqual(t, p.ID, f.principal(t, "ada").ID, "the name is free again")
}

func principalList(t *testing.T, f *fixture) {
	for _, name := range []string{"émile", "b", "B", "ada"} {
		f.principal(t, name)
	}
	list, err := f.s.Principals(t.Context())
	require.NoError(t, err)
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"B", "ada", "b", models.RootPrincipal, "émile"}, names)
}

func principalRace(t *testing.T, f *fixture) {
	p := f.principal(t, "ada")
	results := make([]error, 8)
	together(len(results), func(i int) {
		results[i] = f.s.UpdatePrincipal(t.Context(), p, event(models.AuditPrincipalUpdated))
	})
	won := 0
	for _, err := range results {
		if err == nil {
			won++
			continue
		}
		requireFault(t, err, fault.Conflict, fault.Principal)
	}
	assert.Equal(t, 1, won)
	assert.Len(t, f.audit(t, models.AuditPrincipalUpdated), 1)
}

func principalLongName(t *testing.T, f *fixture) {
	name := strings.Repeat("ä", 300)
	assert.Equal(t, name, f.principal(t, name).Name)
	assert.Equal(t, name, f.principalRole(t, name).Name)
	assert.Equal(t, name, f.catalogRole(t, name).Name)
}

package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func properties(pairs ...string) models.JSON[map[string]string] {
	out := models.JSON[map[string]string]{V: map[string]string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.V[pairs[i]] = pairs[i+1]
	}
	return out
}

func newPrincipal(name string) models.Principal {
	return models.Principal{
		ID: uuid.NewString(), Name: name, ClientID: "client-" + name, SecretHash: "hash-" + name, Properties: properties("team", "größe"), Version: 1,
	}
}

func (f *fixture) principal(t *testing.T, name string) models.Principal {
	t.Helper()
	require.NoError(t, f.s.CreatePrincipal(t.Context(), newPrincipal(name), event(models.AuditPrincipalCreated)))
	got, err := f.s.PrincipalByName(t.Context(), name)
	require.NoError(t, err)
	return got
}

func (f *fixture) principalRole(t *testing.T, name string) models.PrincipalRole {
	t.Helper()
	row := models.PrincipalRole{ID: uuid.NewString(), Name: name, Properties: properties("for", name), Version: 1}
	require.NoError(t, f.s.CreatePrincipalRole(t.Context(), row, event(models.AuditPrincipalRoleCreated)))
	got, err := f.s.PrincipalRoleByName(t.Context(), name)
	require.NoError(t, err)
	return got
}

func (f *fixture) catalogRole(t *testing.T, name string) models.CatalogRole {
	t.Helper()
	row := models.CatalogRole{ID: uuid.NewString(), CatalogID: f.cat.ID, Name: name, Properties: properties("for", name), Version: 1}
	require.NoError(t, f.s.CreateCatalogRole(t.Context(), row, event(models.AuditCatalogRoleCreated)))
	got, err := f.s.CatalogRoleByName(t.Context(), f.cat.ID, name)
	require.NoError(t, err)
	return got
}

func (f *fixture) assign(t *testing.T, p models.Principal, r models.PrincipalRole) {
	t.Helper()
	changed, err := f.s.AssignPrincipalRole(t.Context(),
		models.PrincipalRoleMember{PrincipalID: p.ID, PrincipalRoleID: r.ID}, event(models.AuditPrincipalRoleAssigned))
	require.NoError(t, err)
	require.True(t, changed)
}

func (f *fixture) give(t *testing.T, r models.PrincipalRole, c models.CatalogRole) {
	t.Helper()
	changed, err := f.s.AssignCatalogRole(t.Context(),
		models.CatalogRoleMember{PrincipalRoleID: r.ID, CatalogRoleID: c.ID}, event(models.AuditCatalogRoleAssigned))
	require.NoError(t, err)
	require.True(t, changed)
}

func (f *fixture) newGrant(r models.CatalogRole, scope models.GrantScope, objectID string, p models.Privilege) models.Grant {
	return models.Grant{ID: uuid.NewString(), CatalogRoleID: r.ID, CatalogID: f.cat.ID, Scope: scope, ObjectID: objectID, Privilege: p}
}

func (f *fixture) grant(t *testing.T, r models.CatalogRole, scope models.GrantScope, objectID string, p models.Privilege) models.Grant {
	t.Helper()
	row := f.newGrant(r, scope, objectID, p)
	added, err := f.s.AddGrant(t.Context(), row, event(models.AuditGrantAdded))
	require.NoError(t, err)
	require.True(t, added)
	return row
}

func (f *fixture) version(t *testing.T) int64 {
	t.Helper()
	v, err := f.s.AccessVersion(t.Context())
	require.NoError(t, err)
	return v
}

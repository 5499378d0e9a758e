package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (f *fixture) newToken(t *testing.T, kind models.TokenKind) models.Token {
	t.Helper()
	root, err := f.s.PrincipalByName(t.Context(), models.RootPrincipal)
	require.NoError(t, err)
	return models.Token{
		ID: uuid.NewString(), Kind: kind, Name: "nightly", Hash: uuid.NewString(), Hint: "slc_abc", PrincipalID: root.ID,
		CatalogID: &f.cat.ID, CanWrite: true, CanGovern: true, CreatedBy: "root", ExpiresAt: ptr(time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)),
	}
}

func (f *fixture) token(t *testing.T, kind models.TokenKind) models.Token {
	t.Helper()
	token := f.newToken(t, kind)
	require.NoError(t, f.s.CreateToken(t.Context(), token, event(models.AuditTokenMinted)))
	return token
}

// grantsOf gives what a principal holds by all its roles.
func (f *fixture) grantsOf(t *testing.T, principalID string) []policy.Grant {
	t.Helper()
	roles, err := f.s.RolesOfPrincipal(t.Context(), principalID)
	require.NoError(t, err)
	ids := make([]string, len(roles))
	for i, r := range roles {
		ids[i] = r.ID
	}
	grants, err := f.s.GrantsOfRoles(t.Context(), ids)
	require.NoError(t, err)
	return grants
}

func accessCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a fresh installation has a root with every right, once": func(t *testing.T, f *fixture) {
			root, err := f.s.PrincipalByClientID(t.Context(), "root-client")
			require.NoError(t, err)
			byID, err := f.s.PrincipalByID(t.Context(), root.ID)
			require.NoError(t, err)
			assert.Equal(t, root, byID)
			assert.Equal(t, models.Restricted, root.Clearance)
			assert.False(t, root.RotationRequired)
			roles, err := f.s.RolesOfPrincipal(t.Context(), root.ID)
			require.NoError(t, err)
			require.Len(t, roles, 1)
			assert.Equal(t, models.ServiceAdminRole, roles[0].Name)
			held := map[models.Privilege]string{}
			for _, g := range f.grantsOf(t, root.ID) {
				assert.Empty(t, g.Within)
				held[g.Privilege] = g.ObjectID
			}
			assert.Equal(t, map[models.Privilege]string{
				models.CatalogManageContent: f.cat.ID, models.CatalogManageAccess: f.cat.ID,
			}, held)
			err = f.s.Bootstrap(t.Context(), access.Bootstrap{
				Root:    models.Principal{ID: uuid.NewString(), Name: models.RootPrincipal},
				Catalog: models.Catalog{ID: uuid.NewString(), Name: "again"},
				Events:  []models.AuditEvent{event(models.AuditCatalogCreated)},
			})
			requireFault(t, err, fault.AlreadyExists, fault.Principal)
			_, err = f.s.CatalogByName(t.Context(), "again")
			requireFault(t, err, fault.NotFound, fault.Catalog)
			assert.Len(t, f.audit(t, models.AuditCatalogCreated), 1)
		},
		"absent principals are not found": func(t *testing.T, f *fixture) {
			_, err := f.s.PrincipalByName(t.Context(), "Root")
			requireFault(t, err, fault.NotFound, fault.Principal)
			for _, id := range []string{"", "nobody", "\x00", "\xff"} {
				_, err = f.s.PrincipalByID(t.Context(), id)
				requireFault(t, err, fault.NotFound, fault.Principal)
				_, err = f.s.PrincipalByClientID(t.Context(), id)
				requireFault(t, err, fault.NotFound, fault.Principal)
			}
			assert.Empty(t, f.grantsOf(t, "nobody"))
			grants, err := f.s.GrantsOfRoles(t.Context(), []string{"no role"})
			require.NoError(t, err)
			assert.Empty(t, grants)
		},
		"a token lives from minting to revocation": func(t *testing.T, f *fixture) {
			token := f.token(t, models.EngineToken)
			bearer, err := f.s.Bearer(t.Context(), token.Hash)
			require.NoError(t, err)
			token.CreatedAt = bearer.Token.CreatedAt
			assert.Equal(t, token, bearer.Token)
			assert.Equal(t, token.PrincipalID, bearer.Principal.ID)
			holder, err := f.s.PrincipalByID(t.Context(), token.PrincipalID)
			require.NoError(t, err)
			assert.Equal(t, holder, bearer.Principal)
			byID, err := f.s.BearerByID(t.Context(), token.ID)
			require.NoError(t, err)
			assert.Equal(t, bearer, byID)
			at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
			require.NoError(t, f.s.RevokeToken(t.Context(), token.ID, at, event(models.AuditTokenRevoked)))
			require.NoError(t, f.s.RevokeToken(t.Context(), token.ID, at.Add(time.Hour), event(models.AuditTokenRevoked)))
			got, err := f.s.TokenByID(t.Context(), token.ID)
			require.NoError(t, err)
			assert.Equal(t, at.Truncate(time.Microsecond), *got.RevokedAt)
			assert.Len(t, f.audit(t, models.AuditTokenRevoked), 1)
			requireFault(t, f.s.RevokeToken(t.Context(), "none", at, event(models.AuditTokenRevoked)), fault.NotFound, fault.Token)
			for _, none := range []string{"none", "", "\x00", "\xff"} {
				_, err = f.s.Bearer(t.Context(), none)
				requireFault(t, err, fault.NotFound, fault.Token)
				_, err = f.s.BearerByID(t.Context(), none)
				requireFault(t, err, fault.NotFound, fault.Token)
			}
		},
		"a token keeps the roles that it was asked for": func(t *testing.T, f *fixture) {
			for _, roles := range [][]string{nil, {}, {"one"}, {"one", "two"}} {
				token := f.newToken(t, models.AccessToken)
				token.Roles.V = roles
				require.NoError(t, f.s.CreateToken(t.Context(), token, event(models.AuditTokenMinted)))
				got, err := f.s.BearerByID(t.Context(), token.ID)
				require.NoError(t, err)
				assert.Equal(t, roles, got.Token.Roles.V, "none at all is another thing than all")
			}
		},
		"the last use is kept to the minute and never goes back": func(t *testing.T, f *fixture) {
			token := f.token(t, models.EngineToken)
			at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			require.NoError(t, f.s.TouchToken(t.Context(), token.ID, at))
			require.NoError(t, f.s.TouchToken(t.Context(), token.ID, at.Add(-time.Hour)))
			require.NoError(t, f.s.TouchToken(t.Context(), "none", at))
			got, err := f.s.TokenByID(t.Context(), token.ID)
			require.NoError(t, err)
			assert.Equal(t, at.Truncate(time.Minute), *got.LastUsedAt)
		},
		"engine tokens are listed, access tokens pruned": func(t *testing.T, f *fixture) {
			first := f.token(t, models.EngineToken)
			time.Sleep(time.Millisecond) // times are kept to the microsecond
			second := f.token(t, models.EngineToken)
			login := f.token(t, models.AccessToken)
			list, err := f.s.ListTokens(t.Context(), "", 0)
			require.NoError(t, err)
			require.Len(t, list, 2)
			assert.Equal(t, second.ID, list[0].ID, "the newest comes first")
			list, err = f.s.ListTokens(t.Context(), second.ID, 1)
			require.NoError(t, err)
			require.Len(t, list, 1)
			assert.Equal(t, first.ID, list[0].ID)
			for _, end := range []string{first.ID, "no such token", "\x00"} {
				list, err = f.s.ListTokens(t.Context(), end, 0)
				require.NoError(t, err)
				assert.Empty(t, list)
			}
			require.NoError(t, f.s.PruneAccessTokens(t.Context(), time.Now()))
			_, err = f.s.TokenByID(t.Context(), login.ID)
			require.NoError(t, err, "it has not expired")
			require.NoError(t, f.s.PruneAccessTokens(t.Context(), time.Now().Add(2*time.Hour)))
			_, err = f.s.TokenByID(t.Context(), login.ID)
			requireFault(t, err, fault.NotFound, fault.Token)
			_, err = f.s.TokenByID(t.Context(), first.ID)
			require.NoError(t, err)
		},
		"a token is issued to a principal as it was": func(t *testing.T, f *fixture) {
			p := f.principal(t, "ada")
			token := f.newToken(t, models.AccessToken)
			token.PrincipalID = p.ID
			issue := func(version int64) error {
				return f.s.IssueToken(t.Context(), token, version, event(models.AuditTokenMinted))
			}
			requireFault(t, issue(p.Version+1), fault.Conflict, fault.Principal)
			_, err := f.s.TokenByID(t.Context(), token.ID)
			requireFault(t, err, fault.NotFound, fault.Token)
			require.NoError(t, issue(p.Version))
			requireFault(t, issue(p.Version), fault.AlreadyExists, fault.Token)
			token.PrincipalID = uuid.NewString()
			requireFault(t, issue(p.Version), fault.NotFound, fault.Principal)
			assert.Len(t, f.audit(t, models.AuditTokenMinted), 1)
		},
		"a token needs its principal and a hash of its own": func(t *testing.T, f *fixture) {
			token := f.token(t, models.EngineToken)
			token.ID = uuid.NewString()
			requireFault(t, f.s.CreateToken(t.Context(), token, event(models.AuditTokenMinted)), fault.AlreadyExists, fault.Token)
			token.Hash, token.PrincipalID = "other", uuid.NewString()
			requireFault(t, f.s.CreateToken(t.Context(), token, event(models.AuditTokenMinted)), fault.NotFound, fault.Principal)
			assert.Len(t, f.audit(t, models.AuditTokenMinted), 1)
		},
	}
}

package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func roleCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a principal role is read as it was written":             principalRoleIsKept,
		"a catalog role is read as it was written":               catalogRoleIsKept,
		"principal roles are found by names, those there are":    rolesNamed,
		"role names are unique, catalog roles' in their catalog": roleNames,
		"an update of a role needs the version it was read at":   roleUpdates,
		"principals are assigned roles and lose them":            principalMembership,
		"principal roles are given catalog roles and lose them":  catalogMembership,
		"a deleted role takes what hangs on it with it":          rolesGone,
		"an assignment by eight at once is one":                  assignmentRace,
	}
}

func principalRoleIsKept(t *testing.T, f *fixture) {
	row := models.PrincipalRole{ID: uuid.NewString(), Name: "größe", Federated: true, Properties: properties("a", "b"), Version: 1}
	require.NoError(t, f.s.CreatePrincipalRole(t.Context(), row, event(models.AuditPrincipalRoleCreated)))
	got, err := f.s.PrincipalRoleByName(t.Context(), row.Name)
	require.NoError(t, err)
	row.CreatedAt, row.UpdatedAt = got.CreatedAt, got.UpdatedAt
	assert.Equal(t, row, got)
	list, err := f.s.PrincipalRoles(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, row, list[0])
	for _, name := range []string{"", "GRÖSSE", "\x00", "\xff"} {
		_, err = f.s.PrincipalRoleByName(t.Context(), name)
		requireFault(t, err, fault.NotFound, fault.Role)
	}
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleCreated), 1)
	row.Federated, row.Properties = false, properties("c", "d")
	require.NoError(t, f.s.UpdatePrincipalRole(t.Context(), row, event(models.AuditPrincipalRoleUpdated)))
	got, err = f.s.PrincipalRoleByName(t.Context(), row.Name)
	require.NoError(t, err)
	assert.False(t, got.Federated)
	assert.Equal(t, row.Properties, got.Properties)
}

func catalogRoleIsKept(t *testing.T, f *fixture) {
	row := models.CatalogRole{ID: uuid.NewString(), CatalogID: f.cat.ID, Name: "größe", Properties: properties("a", "b"), Version: 1}
	require.NoError(t, f.s.CreateCatalogRole(t.Context(), row, event(models.AuditCatalogRoleCreated)))
	got, err := f.s.CatalogRoleByName(t.Context(), f.cat.ID, row.Name)
	require.NoError(t, err)
	row.CreatedAt, row.UpdatedAt = got.CreatedAt, got.UpdatedAt
	assert.Equal(t, row, got)
	list, err := f.s.CatalogRoles(t.Context(), f.cat.ID)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, models.CatalogAdminRole, list[0].Name)
	assert.Equal(t, row, list[1])
	for _, name := range []string{"", "x", "\x00", "\xff"} {
		_, err = f.s.CatalogRoleByName(t.Context(), f.cat.ID, name)
		requireFault(t, err, fault.NotFound, fault.Role)
	}
	_, err = f.s.CatalogRoleByName(t.Context(), uuid.NewString(), row.Name)
	requireFault(t, err, fault.NotFound, fault.Role)
	row.ID, row.CatalogID = uuid.NewString(), uuid.NewString()
	requireFault(t, f.s.CreateCatalogRole(t.Context(), row, event(models.AuditCatalogRoleCreated)), fault.NotFound, fault.Catalog)
	assert.Len(t, f.audit(t, models.AuditCatalogRoleCreated), 1)
}

func rolesNamed(t *testing.T, f *fixture) {
	for _, name := range []string{"c", "a", "b"} {
		f.principalRole(t, name)
	}
	for _, c := range []struct{ ask, want []string }{
		{nil, nil}, {[]string{"none", "\x00", "\xff", ""}, nil}, {[]string{"b"}, []string{"b"}},
		{[]string{"c", "a", "a", "none"}, []string{"a", "c"}}, {[]string{"a", "b", "c", models.ServiceAdminRole, "x"}, []string{"a", "b", "c", models.ServiceAdminRole}},
	} {
		got, err := f.s.PrincipalRolesNamed(t.Context(), c.ask)
		require.NoError(t, err)
		var names []string
		for _, r := range got {
			names = append(names, r.Name)
		}
		assert.Equal(t, c.want, names, "%v", c.ask)
	}
}

func roleNames(t *testing.T, f *fixture) {
	f.principalRole(t, "readers")
	f.catalogRole(t, "readers")
	other := f.otherCatalog(t, "other")
	other.catalogRole(t, "readers")
	principalRole := func(name string) error {
		return f.s.CreatePrincipalRole(t.Context(), models.PrincipalRole{ID: uuid.NewString(), Name: name}, event(models.AuditPrincipalRoleCreated))
	}
	catalogRole := func(name string) error {
		return f.s.CreateCatalogRole(t.Context(), models.CatalogRole{ID: uuid.NewString(), CatalogID: f.cat.ID, Name: name}, event(models.AuditCatalogRoleCreated))
	}
	for _, create := range []func(string) error{principalRole, catalogRole} {
		requireFault(t, create("readers"), fault.AlreadyExists, fault.Role)
		require.NoError(t, create("Readers"))
		for _, bad := range []string{"nul\x00", "\xff"} {
			requireFault(t, create(bad), fault.Invalid, fault.NoSubject)
		}
	}
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleCreated), 2)
	assert.Len(t, f.audit(t, models.AuditCatalogRoleCreated), 3)
}

func roleUpdates(t *testing.T, f *fixture) {
	pr, cr := f.principalRole(t, "readers"), f.catalogRole(t, "readers")
	pr.Properties, cr.Properties = properties("x", "y"), properties("x", "y")
	require.NoError(t, f.s.UpdatePrincipalRole(t.Context(), pr, event(models.AuditPrincipalRoleUpdated)))
	require.NoError(t, f.s.UpdateCatalogRole(t.Context(), cr, event(models.AuditCatalogRoleUpdated)))
	gotPR, err := f.s.PrincipalRoleByName(t.Context(), pr.Name)
	require.NoError(t, err)
	gotCR, err := f.s.CatalogRoleByName(t.Context(), f.cat.ID, cr.Name)
	require.NoError(t, err)
	assert.Equal(t, pr.Properties, gotPR.Properties)
	assert.Equal(t, cr.Properties, gotCR.Properties)
	assert.Equal(t, []int64{pr.Version + 1, cr.Version + 1}, []int64{gotPR.Version, gotCR.Version})
	requireFault(t, f.s.UpdatePrincipalRole(t.Context(), pr, event(models.AuditPrincipalRoleUpdated)), fault.Conflict, fault.Role)
	requireFault(t, f.s.UpdateCatalogRole(t.Context(), cr, event(models.AuditCatalogRoleUpdated)), fault.Conflict, fault.Role)
	pr.ID, cr.ID = uuid.NewString(), uuid.NewString()
	requireFault(t, f.s.UpdatePrincipalRole(t.Context(), pr, event(models.AuditPrincipalRoleUpdated)), fault.NotFound, fault.Role)
	requireFault(t, f.s.UpdateCatalogRole(t.Context(), cr, event(models.AuditCatalogRoleUpdated)), fault.NotFound, fault.Role)
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleUpdated), 1)
	assert.Len(t, f.audit(t, models.AuditCatalogRoleUpdated), 1)
}

func principalMembership(t *testing.T, f *fixture) {
	ada, bea := f.principal(t, "ada"), f.principal(t, "bea")
	readers, writers := f.principalRole(t, "readers"), f.principalRole(t, "writers")
	f.assign(t, bea, readers)
	f.assign(t, ada, writers)
	f.assign(t, ada, readers)
	member := models.PrincipalRoleMember{PrincipalID: ada.ID, PrincipalRoleID: readers.ID}
	changed, err := f.s.AssignPrincipalRole(t.Context(), member, event(models.AuditPrincipalRoleAssigned))
	require.NoError(t, err)
	assert.False(t, changed, "it is assigned already")
	roles, err := f.s.RolesOfPrincipal(t.Context(), ada.ID)
	require.NoError(t, err)
	assert.Equal(t, []models.PrincipalRole{readers, writers}, roles)
	members, err := f.s.PrincipalsWithRole(t.Context(), readers.ID)
	require.NoError(t, err)
	assert.Equal(t, []models.Principal{ada, bea}, members)
	for _, want := range []bool{true, false} {
		changed, err = f.s.RevokePrincipalRole(t.Context(), member, event(models.AuditPrincipalRoleRevoked))
		require.NoError(t, err)
		assert.Equal(t, want, changed)
	}
	// A key with a part missing is nobody's: it takes nobody's role away.
	changed, err = f.s.RevokePrincipalRole(t.Context(), models.PrincipalRoleMember{PrincipalRoleID: readers.ID}, event(models.AuditPrincipalRoleRevoked))
	require.NoError(t, err)
	assert.False(t, changed)
	members, err = f.s.PrincipalsWithRole(t.Context(), readers.ID)
	require.NoError(t, err)
	assert.Equal(t, []models.Principal{bea}, members)
	for _, gone := range []models.PrincipalRoleMember{
		{PrincipalID: uuid.NewString(), PrincipalRoleID: readers.ID}, {PrincipalID: ada.ID, PrincipalRoleID: uuid.NewString()},
	} {
		_, err = f.s.AssignPrincipalRole(t.Context(), gone, event(models.AuditPrincipalRoleAssigned))
		requireFault(t, err, fault.NotFound, fault.Role)
	}
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleAssigned), 3)
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleRevoked), 1)
}

func catalogMembership(t *testing.T, f *fixture) {
	other := f.otherCatalog(t, "other")
	readers, writers := f.principalRole(t, "readers"), f.principalRole(t, "writers")
	b, a, elsewhere := f.catalogRole(t, "b"), f.catalogRole(t, "a"), other.catalogRole(t, "c")
	f.give(t, readers, b)
	f.give(t, readers, a)
	f.give(t, readers, elsewhere)
	f.give(t, writers, a)
	for catalogID, want := range map[string][]models.CatalogRole{
		f.cat.ID: {a, b}, other.cat.ID: {elsewhere}, "": {a, b, elsewhere}, uuid.NewString(): {},
	} {
		got, err := f.s.CatalogRolesOf(t.Context(), readers.ID, catalogID)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	holders, err := f.s.PrincipalRolesWith(t.Context(), a.ID)
	require.NoError(t, err)
	assert.Equal(t, []models.PrincipalRole{readers, writers}, holders)
	member := models.CatalogRoleMember{PrincipalRoleID: readers.ID, CatalogRoleID: a.ID}
	changed, err := f.s.AssignCatalogRole(t.Context(), member, event(models.AuditCatalogRoleAssigned))
	require.NoError(t, err)
	assert.False(t, changed)
	for _, want := range []bool{true, false} {
		changed, err = f.s.RevokeCatalogRole(t.Context(), member, event(models.AuditCatalogRoleRevoked))
		require.NoError(t, err)
		assert.Equal(t, want, changed)
	}
	_, err = f.s.AssignCatalogRole(t.Context(), models.CatalogRoleMember{PrincipalRoleID: readers.ID, CatalogRoleID: uuid.NewString()}, event(models.AuditCatalogRoleAssigned))
	requireFault(t, err, fault.NotFound, fault.Role)
	assert.Len(t, f.audit(t, models.AuditCatalogRoleAssigned), 4)
	assert.Len(t, f.audit(t, models.AuditCatalogRoleRevoked), 1)
}

func rolesGone(t *testing.T, f *fixture) {
	ada := f.principal(t, "ada")
	readers, reads := f.principalRole(t, "readers"), f.catalogRole(t, "reads")
	f.assign(t, ada, readers)
	f.give(t, readers, reads)
	f.grant(t, reads, models.OnNamespace, f.ns.ID, models.TableReadData)
	require.Len(t, f.grantsOf(t, ada.ID), 1)
	require.NoError(t, f.s.DeleteCatalogRole(t.Context(), reads.ID, event(models.AuditCatalogRoleDeleted)))
	assert.Empty(t, f.grantsOf(t, ada.ID))
	again := f.catalogRole(t, "reads")
	left, err := f.s.GrantsOfCatalogRole(t.Context(), again.ID)
	require.NoError(t, err)
	assert.Empty(t, left, "a role of the same name starts with nothing")
	f.give(t, readers, again)
	require.NoError(t, f.s.DeletePrincipalRole(t.Context(), readers.ID, event(models.AuditPrincipalRoleDeleted)))
	roles, err := f.s.RolesOfPrincipal(t.Context(), ada.ID)
	require.NoError(t, err)
	assert.Empty(t, roles)
	holders, err := f.s.PrincipalRolesWith(t.Context(), again.ID)
	require.NoError(t, err)
	assert.Empty(t, holders)
	requireFault(t, f.s.DeleteCatalogRole(t.Context(), reads.ID, event(models.AuditCatalogRoleDeleted)), fault.NotFound, fault.Role)
	requireFault(t, f.s.DeletePrincipalRole(t.Context(), readers.ID, event(models.AuditPrincipalRoleDeleted)), fault.NotFound, fault.Role)
	assert.Len(t, f.audit(t, models.AuditCatalogRoleDeleted), 1)
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleDeleted), 1)
}

func assignmentRace(t *testing.T, f *fixture) {
	ada, readers := f.principal(t, "ada"), f.principalRole(t, "readers")
	member := models.PrincipalRoleMember{PrincipalID: ada.ID, PrincipalRoleID: readers.ID}
	for _, change := range []func() (bool, error){
		func() (bool, error) {
			return f.s.AssignPrincipalRole(t.Context(), member, event(models.AuditPrincipalRoleAssigned))
		},
		func() (bool, error) {
			return f.s.RevokePrincipalRole(t.Context(), member, event(models.AuditPrincipalRoleRevoked))
		},
	} {
		changes := make([]bool, 8)
		together(len(changes), func(i int) {
			var err error
			changes[i], err = change()
			assert.NoError(t, err)
		})
		won := 0
		for _, c := range changes {
			if c {
				won++
			}
		}
		assert.Equal(t, 1, won)
	}
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleAssigned), 1)
	assert.Len(t, f.audit(t, models.AuditPrincipalRoleRevoked), 1)
}

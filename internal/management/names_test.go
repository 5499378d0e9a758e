package management_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

func TestNames(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	for name, says := range map[string]string{
		"":                       "needs a name",
		strings.Repeat("x", 257): "256 characters",
		"SYSTEM$x":               "reserved",
		"sysTEM$":                "reserved",
		" \tsystem$x":            "control character",
		"  System$x":             "reserved",
		"root ":                  "white space",
		"ro\u200bot":             "invisible",
		"root\ufffd":             "UTF-8",
		"a\nb":                   "control character",
		"a\x00":                  "control character",
		"a\u0085b":               "control character",
		"\xff":                   "UTF-8",
		"..":                     "no URL",
		".":                      "no URL",
	} {
		_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: name})
		wantFault(t, err, fault.Invalid, says)
		_, err = d.CreatePrincipalRole(ctx, root, management.NewRole{Name: name})
		wantFault(t, err, fault.Invalid, says)
		_, err = d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: name})
		wantFault(t, err, fault.Invalid, says)
		_, err = d.CreateCatalog(ctx, root, management.NewCatalog{Name: name, BaseLocation: "file:///wh/x"})
		wantFault(t, err, fault.Invalid, says)
	}
	for _, name := range []string{"x", strings.Repeat("ü", 256), "Größe / 東京 $", "a.b", "mySYSTEM$", "v1"} {
		_, err := d.CreatePrincipalRole(ctx, root, management.NewRole{Name: name})
		require.NoError(t, err, name)
		got, err := d.GetPrincipalRole(ctx, root, name)
		require.NoError(t, err)
		require.Equal(t, name, got.Name)
	}
	for _, name := range []string{"a.b", "a/b", "a b", "a\u00a0b", "v1", "namespaces"} {
		_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: name, BaseLocation: "file:///wh/x"})
		wantFault(t, err, fault.Invalid, "Choose")
	}
	_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "sluice"})
	wantFault(t, err, fault.Invalid, "audit")
}

func TestTakenNames(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: models.RootPrincipal})
	wantFault(t, err, fault.AlreadyExists, models.RootPrincipal)
	_, err = d.CreatePrincipalRole(ctx, root, management.NewRole{Name: models.ServiceAdminRole})
	wantFault(t, err, fault.AlreadyExists, models.ServiceAdminRole)
	_, err = d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: models.CatalogAdminRole})
	wantFault(t, err, fault.AlreadyExists, models.CatalogAdminRole)
	_, err = d.CreateCatalog(ctx, root, management.NewCatalog{Name: "main", BaseLocation: warehouse})
	wantFault(t, err, fault.AlreadyExists, "main")
	require.Len(t, d.events(models.AuditPrincipalCreated), 1)
	require.Empty(t, d.events(models.AuditPrincipalRoleCreated))
}

func TestPropertiesAreBounded(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	big := map[string]string{"a": strings.Repeat("x", 64<<10)}
	_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "p", Properties: big})
	wantFault(t, err, fault.Invalid, "properties")
	_, err = d.UpdateCatalog(ctx, root, "main", management.CatalogChange{Version: 1, Properties: big})
	wantFault(t, err, fault.Invalid, "properties")
	_, err = d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: "r", Properties: map[string]string{"": "x"}})
	wantFault(t, err, fault.Invalid, "name")
}

// What everybody's way in is, stays.
func TestBuiltInsStay(t *testing.T) {
	d := newDesk(t)
	ctx := t.Context()
	d.principal("ops")
	require.NoError(t, d.AssignPrincipalRole(ctx, d.root(), "ops", models.ServiceAdminRole))
	yes := true
	for _, who := range []string{models.RootPrincipal, "ops"} {
		c := d.as(who)
		wantFault(t, d.DeletePrincipal(ctx, c, models.RootPrincipal), fault.Invalid, "cannot be deleted")
		_, err := d.UpdatePrincipal(ctx, c, models.RootPrincipal, management.PrincipalChange{Version: 1, Disabled: &yes})
		wantFault(t, err, fault.Invalid, "cannot be disabled")
		wantFault(t, d.RevokePrincipalRole(ctx, c, models.RootPrincipal, models.ServiceAdminRole), fault.Invalid, "cannot be revoked")
		wantFault(t, d.DeletePrincipalRole(ctx, c, models.ServiceAdminRole), fault.Invalid, "cannot be deleted")
		wantFault(t, d.DeleteCatalogRole(ctx, c, "main", models.CatalogAdminRole), fault.Invalid, "cannot be deleted")
		wantFault(t, d.RevokeCatalogRole(ctx, c, models.ServiceAdminRole, "main", models.CatalogAdminRole), fault.Invalid, "cannot be revoked")
		for _, cascade := range []bool{false, true} {
			err := d.RevokeGrant(ctx, c, "main", models.CatalogAdminRole, onCatalog(models.CatalogManageAccess), cascade)
			wantFault(t, err, fault.Invalid, "cannot be revoked")
		}
	}
	require.NoError(t, d.RevokePrincipalRole(ctx, d.root(), "ops", models.ServiceAdminRole))
	require.True(t, d.root().Has(models.CatalogManageAccess, catalogPath(d)))
	// Others' are like any other.
	require.NoError(t, d.AssignCatalogRole(ctx, d.root(), "ops_role", "main", models.CatalogAdminRole))
	require.NoError(t, d.RevokeCatalogRole(ctx, d.root(), "ops_role", "main", models.CatalogAdminRole))
}

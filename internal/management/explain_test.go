package management_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

func explainDesk(t *testing.T) *desk {
	d := newDesk(t)
	d.table(d.namespace("events"), "clicks")
	d.view(d.namespace("events", "eu"), "recent")
	d.namespace("billing")
	d.principal("job", onNamespace(models.TableWriteData, "events"))
	return d
}

func (d *desk) ask(who string, p models.Privilege, object string) management.Explanation {
	d.t.Helper()
	e, err := d.Explain(d.t.Context(), d.root(), management.Question{Principal: who, Privilege: p, Object: object})
	require.NoError(d.t, err)
	return e
}

func TestExplainEveryWay(t *testing.T) {
	d := explainDesk(t)
	ctx, root := t.Context(), d.root()
	e := d.ask("job", models.TableReadData, "main.events.clicks")
	require.Equal(t, management.Explanation{
		Allowed: true, Object: "main.events.clicks", Scope: models.OnTable,
		Ways: []management.Way{{
			PrincipalRole: "job_role", CatalogRole: "job_in_main", Grant: onNamespace(models.TableWriteData, "events"), On: "main.events", Implies: true,
		}},
	}, e)

	// A second way, through another role and by a grant on the table itself.
	_, err := d.CreatePrincipalRole(ctx, root, management.NewRole{Name: "also"})
	require.NoError(t, err)
	_, err = d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: "readers"})
	require.NoError(t, err)
	require.NoError(t, d.AssignPrincipalRole(ctx, root, "job", "also"))
	require.NoError(t, d.AssignCatalogRole(ctx, root, "also", "main", "readers"))
	require.NoError(t, d.AssignCatalogRole(ctx, root, "also", "main", "job_in_main"))
	require.NoError(t, d.AddGrant(ctx, root, "main", "readers", onTable(models.TableReadData, "clicks", "events")))
	e = d.ask("job", models.TableReadData, "main.events.clicks")
	require.Len(t, e.Ways, 3)
	require.Contains(t, e.Ways, management.Way{
		PrincipalRole: "also", CatalogRole: "readers", Grant: onTable(models.TableReadData, "clicks", "events"), On: "main.events.clicks",
	})

	require.Equal(t, []management.Way{{
		PrincipalRole: models.ServiceAdminRole, Grant: management.GrantInput{Privilege: models.ServiceManageAccess},
	}}, d.ask("root", models.ServiceManageAccess, "").Ways)
	require.Contains(t, d.ask("root", models.CatalogReadProperties, "main").Ways, management.Way{
		PrincipalRole: models.ServiceAdminRole, Grant: management.GrantInput{Privilege: models.ServiceManageAccess}, Implies: true,
	})
	require.False(t, d.ask("root", models.TableGovern, "main.events.clicks").Allowed, "stewards are named")
}

// What Explain says is what the check of a request finds.
func TestExplainAgreesWithChecks(t *testing.T) {
	d := explainDesk(t)
	ns, err := d.store.NamespacePath(t.Context(), d.catalog("main").ID, "events")
	require.NoError(t, err)
	at := catalogPath(d)
	at.NamespaceIDs = []string{ns[0].ID}
	for _, who := range []string{"job", "root"} {
		for _, p := range []models.Privilege{
			models.TableReadData, models.TableWriteData, models.TableDrop, models.TableGovern, models.NamespaceList,
			models.CatalogManageAccess, models.CatalogReadProperties, models.ServiceManageAccess, models.AuditRead, models.TableList,
		} {
			require.Equal(t, d.as(who).Has(p, at), d.ask(who, p, "main.events").Allowed, "%s %s", who, p)
		}
	}
}

func TestExplainDenied(t *testing.T) {
	d := explainDesk(t)
	ctx, root := t.Context(), d.root()
	e := d.ask("job", models.TableDrop, "main.events.clicks")
	require.False(t, e.Allowed)
	require.Empty(t, e.Ways)
	require.Equal(t, []string{"job_role"}, e.Roles)
	require.Equal(t, []string{"job_in_main (TABLE_WRITE_DATA on main.events)"}, e.CatalogRoles)
	require.Contains(t, e.Advice, "`sluice privileges table grant --catalog main --catalog-role job_in_main --namespace events --table clicks TABLE_DROP`")
	require.NotContains(t, e.Advice, "ederated")

	for _, c := range []struct {
		p            models.Privilege
		object, says string
		scope        models.GrantScope
	}{
		{models.ViewDrop, "main.events.eu.recent", "`sluice privileges view grant --catalog main --catalog-role job_in_main --namespace events.eu --view recent VIEW_DROP`", models.OnView},
		{models.NamespaceDrop, "main.events.eu", "`sluice privileges namespace grant --catalog main --catalog-role job_in_main --namespace events.eu NAMESPACE_DROP`", models.OnNamespace},
		{models.NamespaceCreate, "main.events.clicks", "`sluice privileges namespace grant --catalog main --catalog-role job_in_main --namespace events NAMESPACE_CREATE`", models.OnTable},
		{models.CatalogWriteProperties, "main.events.clicks", "`sluice privileges catalog grant --catalog main --catalog-role job_in_main CATALOG_WRITE_PROPERTIES`", models.OnTable},
		{models.TableDrop, "main", "`sluice privileges catalog grant --catalog main --catalog-role job_in_main TABLE_DROP`", models.OnCatalog},
		{models.ServiceManageAccess, "main", "`sluice principal-roles grant --principal job service_admin`", models.OnCatalog},
		{models.TableDrop, "", "name it in the question", ""},
	} {
		e := d.ask("job", c.p, c.object)
		require.False(t, e.Allowed)
		require.Equal(t, c.scope, e.Scope, c.object)
		require.Contains(t, e.Advice, c.says)
	}

	_, _, err := d.CreatePrincipal(ctx, root, management.NewPrincipal{Name: "new one's"})
	require.NoError(t, err)
	e = d.ask("new one's", models.TableDrop, "main.events")
	require.Empty(t, e.Roles)
	require.Contains(t, e.Advice, `--principal 'new one'\''s' ROLE`)
	_, err = d.CreatePrincipalRole(ctx, root, management.NewRole{Name: "outside", Federated: true})
	require.NoError(t, err)
	_, err = d.CreatePrincipalRole(ctx, root, management.NewRole{Name: "empty"})
	require.NoError(t, err)
	require.NoError(t, d.AssignPrincipalRole(ctx, root, "new one's", "empty"))
	e = d.ask("new one's", models.TableDrop, "main.events")
	require.Equal(t, []string{"empty"}, e.Roles)
	require.Contains(t, e.Advice, "`sluice catalog-roles grant --catalog main --principal-role empty CATALOG_ROLE`")
	require.Contains(t, e.Advice, "Federated roles")
}

func TestExplainDisabled(t *testing.T) {
	d := explainDesk(t)
	yes := true
	_, err := d.UpdatePrincipal(t.Context(), d.root(), "job", management.PrincipalChange{Version: 1, Disabled: &yes})
	require.NoError(t, err)
	e := d.ask("job", models.TableReadData, "main.events")
	require.False(t, e.Allowed)
	require.Empty(t, e.Ways)
	require.Equal(t, "Principal job is disabled: it may nothing until it is enabled, and then this.", e.Advice)
	require.Equal(t, []string{"job_in_main (TABLE_WRITE_DATA on main.events)"}, e.CatalogRoles)
	e = d.ask("job", models.TableDrop, "main.events")
	require.Contains(t, e.Advice, "disabled")
	require.Contains(t, e.Advice, "TABLE_DROP")
}

func TestExplainWrongQuestions(t *testing.T) {
	d := explainDesk(t)
	ctx := t.Context()
	for _, c := range []struct {
		q    management.Question
		code fault.Code
		says string
	}{
		{management.Question{Principal: "job", Privilege: "TABLE_EAT", Object: "main"}, fault.Invalid, "TABLE_EAT"},
		{management.Question{Principal: "nobody", Privilege: models.TableDrop, Object: "main"}, fault.NotFound, "nobody"},
		{management.Question{Principal: "job", Privilege: models.TableDrop, Object: "nothing.events"}, fault.NotFound, "Catalog"},
		{management.Question{Principal: "job", Privilege: models.TableDrop, Object: "main.events.nothing"}, fault.NotFound, "main.events.nothing"},
		{management.Question{Principal: "root", Privilege: models.ServiceManageAccess, Object: ".main"}, fault.Invalid, "empty name"},
		{management.Question{Principal: "job", Privilege: models.TableDrop, Object: "main."}, fault.Invalid, "empty name"},
		{management.Question{Principal: "job", Privilege: models.TableDrop, Object: "main..clicks"}, fault.Invalid, "empty name"},
		{management.Question{Principal: "job", Privilege: models.TableDrop, Object: "main.nothing"}, fault.NotFound, "main.nothing"},
	} {
		_, err := d.Explain(ctx, d.root(), c.q)
		wantFault(t, err, c.code, c.says)
	}
	e, err := d.Explain(ctx, d.as("job"), management.Question{Privilege: models.TableReadData, Object: "main\x1fevents\x1fclicks"})
	require.NoError(t, err, "about whoever asks, levels apart by the unit separator")
	require.True(t, e.Allowed)
}

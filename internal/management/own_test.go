package management_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Whoever administers nothing reads what its own roles hold, and nobody else's.
func TestOwnRolesAreReadWithoutAnyRight(t *testing.T) {
	d := explainDesk(t)
	ctx := t.Context()
	d.principal("ada", onNamespace(models.TableReadData, "events"))
	job := d.as("job")
	roles, err := d.CatalogRolesOf(ctx, job, "job_role", "main")
	require.NoError(t, err)
	require.Equal(t, []string{"job_in_main"}, catalogRoleNames(roles))
	grants, err := d.ListGrants(ctx, job, "main", "job_in_main")
	require.NoError(t, err)
	require.Equal(t, []management.GrantInput{onNamespace(models.TableWriteData, "events")}, grants)

	_, err = d.CatalogRolesOf(ctx, job, "ada_role", "main")
	wantFault(t, err, fault.Forbidden, string(models.CatalogManageAccess))
	for _, role := range []string{"ada_in_main", models.CatalogAdminRole, "nothing"} {
		_, err = d.ListGrants(ctx, job, "main", role)
		wantFault(t, err, fault.Forbidden, string(models.CatalogManageAccess))
	}
	_, err = d.ListGrants(ctx, d.root(), "main", "nothing")
	wantFault(t, err, fault.NotFound, "nothing")
	narrow := job
	narrow.Roles, narrow.RoleNames = []string{}, nil // a token that acts with no role
	_, err = d.ListGrants(ctx, narrow, "main", "job_in_main")
	wantFault(t, err, fault.Forbidden)
}

// Who asks about itself by a token that acts with chosen roles is told what the token may.
func TestExplainGoesByTheTokensRoles(t *testing.T) {
	d := explainDesk(t)
	ctx, root := t.Context(), d.root()
	_, err := d.CreatePrincipalRole(ctx, root, management.NewRole{Name: "idp", Federated: true})
	require.NoError(t, err)
	_, err = d.CreateCatalogRole(ctx, root, "main", management.NewRole{Name: "droppers"})
	require.NoError(t, err)
	require.NoError(t, d.AssignCatalogRole(ctx, root, "idp", "main", "droppers"))
	require.NoError(t, d.AddGrant(ctx, root, "main", "droppers", onNamespace(models.TableDrop, "events")))
	ask := func(caller policy.Caller, p models.Privilege) management.Explanation {
		e, err := d.Explain(ctx, caller, management.Question{Privilege: p, Object: "main.events"})
		require.NoError(t, err)
		return e
	}
	job := d.as("job")
	wider := job // of an identity provider's token that names the federated role alone
	wider.Roles, wider.RoleNames = []string{"idp's id"}, []string{"idp"}
	e := ask(wider, models.TableDrop)
	require.True(t, e.Allowed)
	require.Equal(t, "idp", e.Ways[0].PrincipalRole)
	e = ask(wider, models.TableWriteData)
	require.False(t, e.Allowed)
	require.Equal(t, []string{"idp"}, e.Roles)
	require.Equal(t, "This token acts with chosen roles alone. Others of principal job hold it: use a token that acts with all of them.", e.Advice)
	e = ask(wider, models.ViewDrop)
	require.Contains(t, e.Advice, "--catalog-role droppers")
	require.NotContains(t, e.Advice, "Federated roles")

	none := job
	none.Roles, none.RoleNames = []string{}, nil
	require.Contains(t, ask(none, models.ViewDrop).Advice, "acts with no role that is known here")
	require.Contains(t, ask(job, models.TableDrop).Advice, "Federated roles", "of a token that acts with all that are assigned")
	about, err := d.Explain(ctx, root, management.Question{Principal: "job", Privilege: models.TableWriteData, Object: "main.events"})
	require.NoError(t, err)
	require.True(t, about.Allowed, "others are asked about by what is assigned to them")
}

func TestRolesBecomeFederated(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	d.principal("ada")
	yes, no := true, false
	r, err := d.UpdatePrincipalRole(ctx, root, "ada_role", management.RoleChange{Version: 1, Federated: &yes})
	require.NoError(t, err)
	require.True(t, r.Federated)
	require.EqualValues(t, 2, r.Version)
	require.Equal(t, map[string]any{"role": "ada_role", "federated": map[string]any{"from": false, "to": true}}, d.only(models.AuditPrincipalRoleUpdated).Details.V)
	r, err = d.UpdatePrincipalRole(ctx, root, "ada_role", management.RoleChange{Version: 2})
	require.NoError(t, err)
	require.True(t, r.Federated, "what is not said stays")
	roles, err := d.PrincipalRolesOf(ctx, root, "ada")
	require.NoError(t, err)
	require.Equal(t, []string{"ada_role"}, roleNames(roles), "who has it keeps it")
	wantFault(t, d.AssignPrincipalRole(ctx, root, models.RootPrincipal, "ada_role"), fault.Invalid, "federated")
	_, err = d.UpdatePrincipalRole(ctx, root, "ada_role", management.RoleChange{Version: 2, Federated: &no})
	require.NoError(t, err)
	require.NoError(t, d.AssignPrincipalRole(ctx, root, models.RootPrincipal, "ada_role"))
	_, err = d.UpdatePrincipalRole(ctx, root, models.ServiceAdminRole, management.RoleChange{Version: 1, Federated: &yes})
	wantFault(t, err, fault.Invalid, "service_admin cannot be federated")
}

// Session policies, which narrow the keys that engines get, read some characters as patterns.
func TestLocationsThatPoliciesCannotExpress(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	for _, bad := range []string{"s3://lake/sluice/a*b", "s3://lake/sluice/${aws:username}", "s3://lake/sluice/a?b"} {
		_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: "c", BaseLocation: bad})
		wantFault(t, err, fault.Invalid)
		_, err = d.CreateCatalog(ctx, root, management.NewCatalog{Name: "c", BaseLocation: "s3://lake/sluice/c", AllowedLocations: []string{bad}})
		wantFault(t, err, fault.Invalid)
	}
	_, err := d.CreateCatalog(ctx, root, management.NewCatalog{Name: "c", BaseLocation: "s3://lake/sluice/a*b"})
	wantFault(t, err, fault.Invalid, "s3://lake/sluice/a*b", "without *, ? and ${")
	_, err = d.CreateCatalog(ctx, root, management.NewCatalog{Name: "c", BaseLocation: "s3://lake/sluice/$c"})
	require.NoError(t, err)
	_, err = d.UpdateCatalog(ctx, root, "c", management.CatalogChange{Version: 1, AllowedLocations: []string{"s3://lake/sluice/*"}})
	wantFault(t, err, fault.Invalid, "without *")
}

func TestTokensOfJobsAreToldHowToRotate(t *testing.T) {
	d := newDesk(t)
	d.principal("ada")
	job := d.as("ada")
	job.EngineToken = true
	_, _, err := d.RotateCredentials(t.Context(), job, "ada")
	wantFault(t, err, fault.Forbidden, "client id and secret", "sluice principals reset ada")
}

// A name of the right form that is not there is said to be absent, and not how names are written.
func TestAbsentObjectsAreSaidToBeAbsent(t *testing.T) {
	d := explainDesk(t)
	for object, says := range map[string]string{
		"main.nothing":        "The namespace main.nothing does not exist.",
		"main.events.nothing": "The table, view or namespace main.events.nothing does not exist.",
	} {
		_, err := d.Explain(t.Context(), d.root(), management.Question{Principal: "job", Privilege: models.TableDrop, Object: object})
		wantFault(t, err, fault.NotFound)
		require.Equal(t, says, fault.PublicMessage(err))
	}
}

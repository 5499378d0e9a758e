package management_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// useCase is one operation on the desk of rightsDesk, and what becomes of it for everybody who tries.
type useCase struct {
	do func(ctx context.Context, d *desk, c policy.Caller) error
	// reads: it changes nothing, so that read-only tokens may do it too.
	reads bool
	// The answers to who may not see or do it: "ok", "absent" (404, the truth in the audit) or a missing privilege (403).
	catalogAdmin, job, stranger, bound string
}

const (
	ok     = "ok"
	absent = "absent"
	sma    = "SERVICE_MANAGE_ACCESS"
	cma    = "CATALOG_MANAGE_ACCESS"
)

// rightsDesk has the principals that try: ada manages access to main, job writes its namespace events, and stranger
// holds nothing. The objects are made for them to be changed.
func rightsDesk(t *testing.T) *desk {
	d := newDesk(t)
	d.table(d.namespace("events"), "clicks")
	d.principal("ada", onCatalog(models.CatalogManageAccess))
	d.principal("job", onNamespace(models.TableWriteData, "events"))
	d.principal("stranger")
	d.principal("victim", onNamespace(models.TableReadData, "events"))
	_, err := d.CreateCatalog(t.Context(), d.root(), management.NewCatalog{Name: "spare", BaseLocation: "file:///wh/spare"})
	require.NoError(t, err)
	return d
}

func useCases() map[string]useCase {
	grant := onNamespace(models.TableReadData, "events")
	role := management.NewRole{Name: "fresh"}
	change := management.RoleChange{Version: 1, Properties: map[string]string{"a": "b"}}
	return map[string]useCase{
		"create a catalog": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.CreateCatalog(ctx, c, management.NewCatalog{Name: "more", BaseLocation: "file:///wh/more"})
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: sma},
		"get a catalog": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.GetCatalog(ctx, c, "main")
			return err
		}, catalogAdmin: "CATALOG_READ_PROPERTIES", job: "CATALOG_READ_PROPERTIES", stranger: absent, bound: ok},
		"get another catalog": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.GetCatalog(ctx, c, "spare")
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"change a catalog's properties": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.UpdateCatalog(ctx, c, "main", management.CatalogChange{Version: 1, Properties: map[string]string{"a": "b"}})
			return err
		}, catalogAdmin: "CATALOG_WRITE_PROPERTIES", job: "CATALOG_WRITE_PROPERTIES", stranger: absent, bound: ok},
		"move a catalog": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.UpdateCatalog(ctx, c, "main", management.CatalogChange{Version: 1, BaseLocation: "file:///wh/elsewhere"})
			return err
		}, catalogAdmin: "CATALOG_WRITE_PROPERTIES", job: "CATALOG_WRITE_PROPERTIES", stranger: absent, bound: sma},
		"delete a catalog": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.DeleteCatalog(ctx, c, "spare")
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},

		"list principals": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.ListPrincipals(ctx, c)
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: sma},
		"create a principal": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, _, err := d.CreatePrincipal(ctx, c, management.NewPrincipal{Name: "fresh"})
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: sma},
		"get a principal": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.GetPrincipal(ctx, c, "victim")
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"get oneself": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.GetPrincipal(ctx, c, c.Principal)
			return err
		}, catalogAdmin: ok, job: ok, stranger: ok, bound: absent},
		"change a principal": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.UpdatePrincipal(ctx, c, "victim", management.PrincipalChange{Version: 1, Clearance: models.Restricted})
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"raise one's own clearance": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.UpdatePrincipal(ctx, c, c.Principal, management.PrincipalChange{Version: 1, Clearance: models.Restricted})
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: absent},
		"delete a principal": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.DeletePrincipal(ctx, c, "victim")
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"reset a principal's credentials": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, _, err := d.ResetCredentials(ctx, c, "victim", management.Credentials{})
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"list a principal's roles": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.PrincipalRolesOf(ctx, c, "victim")
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"list one's own roles": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.PrincipalRolesOf(ctx, c, c.Principal)
			return err
		}, catalogAdmin: ok, job: ok, stranger: ok, bound: absent},
		"assign a principal role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.AssignPrincipalRole(ctx, c, "victim", "job_role")
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"make oneself an administrator": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.AssignPrincipalRole(ctx, c, c.Principal, models.ServiceAdminRole)
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: absent},
		"revoke a principal role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.RevokePrincipalRole(ctx, c, "victim", "victim_role")
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},

		"list principal roles": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.ListPrincipalRoles(ctx, c)
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: sma},
		"create a principal role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.CreatePrincipalRole(ctx, c, role)
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: sma},
		"get a principal role": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.GetPrincipalRole(ctx, c, "victim_role")
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"get one's own principal role": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			if c.Principal == models.RootPrincipal {
				_, err := d.GetPrincipalRole(ctx, c, models.ServiceAdminRole)
				return err
			}
			_, err := d.GetPrincipalRole(ctx, c, c.Principal+"_role")
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: absent},
		"change a principal role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.UpdatePrincipalRole(ctx, c, "victim_role", change)
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"delete a principal role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.DeletePrincipalRole(ctx, c, "victim_role")
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"list who has a principal role": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.PrincipalsOf(ctx, c, "victim_role")
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},

		"list catalog roles": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.ListCatalogRoles(ctx, c, "main")
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"create a catalog role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.CreateCatalogRole(ctx, c, "main", role)
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"create a catalog role elsewhere": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.CreateCatalogRole(ctx, c, "spare", role)
			return err
		}, catalogAdmin: absent, job: absent, stranger: absent, bound: absent},
		"get a catalog role": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.GetCatalogRole(ctx, c, "main", "victim_in_main")
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"change a catalog role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.UpdateCatalogRole(ctx, c, "main", "victim_in_main", change)
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"delete a catalog role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.DeleteCatalogRole(ctx, c, "main", "victim_in_main")
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"list the catalog roles of a principal role": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.CatalogRolesOf(ctx, c, "victim_role", "main")
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"list who has a catalog role": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.PrincipalRolesWith(ctx, c, "main", "victim_in_main")
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"assign a catalog role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.AssignCatalogRole(ctx, c, "job_role", "main", "ada_in_main")
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"revoke a catalog role": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.RevokeCatalogRole(ctx, c, "victim_role", "main", "victim_in_main")
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},

		"list grants": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.ListGrants(ctx, c, "main", "victim_in_main")
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"grant on the catalog": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.AddGrant(ctx, c, "main", "job_in_main", onCatalog(models.TableDrop))
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"grant on a namespace": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.AddGrant(ctx, c, "main", "job_in_main", grant)
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"grant on a table": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.AddGrant(ctx, c, "main", "job_in_main", onTable(models.TableDrop, "clicks", "events"))
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},
		"revoke a grant": {do: func(ctx context.Context, d *desk, c policy.Caller) error {
			return d.RevokeGrant(ctx, c, "main", "victim_in_main", grant, false)
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: ok},

		"explain what another may": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.Explain(ctx, c, management.Question{Principal: "victim", Privilege: models.TableReadData, Object: "main.events.clicks"})
			return err
		}, catalogAdmin: ok, job: cma, stranger: absent, bound: absent},
		"explain what another may to the service": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.Explain(ctx, c, management.Question{Principal: "victim", Privilege: models.ServiceManageAccess})
			return err
		}, catalogAdmin: sma, job: sma, stranger: sma, bound: absent},
		"explain what one may oneself": {reads: true, do: func(ctx context.Context, d *desk, c policy.Caller) error {
			_, err := d.Explain(ctx, c, management.Question{Principal: c.Principal, Privilege: models.TableReadData, Object: "main.events.clicks"})
			return err
		}, catalogAdmin: ok, job: ok, stranger: absent, bound: ok},
	}
}

// Who may, may; who may not, is told 403 with the privilege or 404, and nothing is changed.
func TestRights(t *testing.T) {
	template := rightsDesk(t)
	main := template.catalog("main").ID
	template.close()
	for name, u := range useCases() {
		t.Run(name, func(t *testing.T) {
			d := template.copied(t)
			before := len(d.events(""))
			root, bound := d.root(), d.root()
			bound.CatalogID = main
			reader, copiedFromJob := d.root(), d.root()
			reader.ReadOnly, reader.CanGovern = true, false
			copiedFromJob.EngineToken, copiedFromJob.CanGovern = true, false

			try := func(who string, c policy.Caller, want string) {
				t.Helper()
				if want == ok {
					require.NoError(t, u.do(t.Context(), template.copied(t), c), "as %s", who)
					return
				}
				err := u.do(t.Context(), d, c)
				e, _ := errors.AsType[*fault.Error](err)
				switch {
				case want == absent && (e == nil || e.Code != fault.NotFound || e.Denied == ""):
					t.Errorf("as %s: %v, want 404 that hides", who, err)
				case want == absent:
				case e == nil || e.Code != fault.Forbidden:
					t.Errorf("as %s: %v, want 403", who, err)
				default:
					wantFault(t, err, fault.Forbidden, want)
				}
			}
			try("ada", d.as("ada"), u.catalogAdmin)
			try("job", d.as("job"), u.job)
			try("stranger", d.as("stranger"), u.stranger)
			try("root, bound to main", bound, u.bound)
			if !u.reads {
				try("root, read-only", reader, "read-only")
				try("root, by a job's token", copiedFromJob, "canGovern")
			}
			require.Len(t, d.events(""), before, "a refused request left an event")
			try("root", root, ok)
			if u.reads {
				try("root, read-only", reader, ok)
			}
		})
	}
}

// A service manager without grants administers principals, and not what is in catalogs.
func TestServiceAloneIsNotAccessToCatalogs(t *testing.T) {
	d := rightsDesk(t)
	ctx := t.Context()
	ops := d.as("stranger")
	ops.Held = policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, nil)
	_, err := d.ListPrincipals(ctx, ops)
	require.NoError(t, err)
	_, err = d.GetCatalog(ctx, ops, "main")
	require.NoError(t, err)
	_, err = d.CreateCatalogRole(ctx, ops, "main", management.NewRole{Name: "mine"})
	wantFault(t, err, fault.Forbidden, cma, "catalog main")
	wantFault(t, d.AddGrant(ctx, ops, "main", "stranger_in_main", onCatalog(models.TableReadData)), fault.Forbidden, cma)
	wantFault(t, d.AddGrant(ctx, ops, "main", "stranger_in_main", onTable(models.TableReadData, "clicks", "events")), fault.NotFound)
}

// What is hidden and what is not there are told apart by nobody but the audit.
func TestHiddenLooksAbsent(t *testing.T) {
	d := rightsDesk(t)
	ctx := t.Context()
	job := d.as("job")
	d.table(d.namespace("billing"), "invoices")
	same := func(hidden, missing error, a, b string) {
		t.Helper()
		h, _ := errors.AsType[*fault.Error](hidden)
		m, _ := errors.AsType[*fault.Error](missing)
		require.NotNil(t, h)
		require.NotNil(t, m)
		require.NotEmpty(t, h.Denied)
		require.Empty(t, m.Denied)
		require.Equal(t, m.Subject, h.Subject)
		require.Equal(t, m.Code, h.Code)
		require.Equal(t, replaced(m.Message, b), replaced(h.Message, a))
	}
	_, hidden := d.GetPrincipal(ctx, job, "victim")
	_, missing := d.GetPrincipal(ctx, job, "nobody")
	same(hidden, missing, "victim", "nobody")
	_, hidden = d.GetPrincipalRole(ctx, job, "victim_role")
	_, missing = d.GetPrincipalRole(ctx, job, "no_role")
	same(hidden, missing, "victim_role", "no_role")
	_, hidden = d.GetCatalog(ctx, job, "spare")
	_, missing = d.GetCatalog(ctx, job, "nothing")
	same(hidden, missing, "spare", "nothing")
	for _, c := range []struct{ hidden, missing management.GrantInput }{
		{onNamespace(models.TableDrop, "billing"), onNamespace(models.TableDrop, "nothing")},
		{onTable(models.TableDrop, "invoices", "billing"), onTable(models.TableDrop, "nothing", "nothing")},
	} {
		hidden = d.AddGrant(ctx, job, "main", "job_in_main", c.hidden)
		missing = d.AddGrant(ctx, job, "main", "job_in_main", c.missing)
		same(hidden, missing, lastOf(c.hidden), lastOf(c.missing))
	}
	ask := func(object string) error {
		_, err := d.Explain(ctx, job, management.Question{Privilege: models.TableReadData, Object: object})
		return err
	}
	same(ask("main.billing.invoices"), ask("main.nothing.nothing"), "billing.invoices", "nothing.nothing")
}

func replaced(message, name string) string { return strings.ReplaceAll(message, name, "X") }

func lastOf(g management.GrantInput) string {
	if g.Name == "" {
		return strings.Join(g.Namespace, ".")
	}
	return strings.Join(g.Namespace, ".") + "." + g.Name
}

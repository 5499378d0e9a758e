package management_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func TestGrantsOnEveryKind(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	ns := d.namespace("events")
	eu := d.namespace("events", "eu")
	clicks, recent := d.table(eu, "clicks"), d.view(eu, "recent")
	d.principal("ada")
	grants := []management.GrantInput{
		onCatalog(models.CatalogReadProperties), onNamespace(models.NamespaceList, "events", "eu"),
		onTable(models.TableWriteData, "clicks", "events", "eu"), onView(models.ViewReadProperties, "recent", "events", "eu"),
	}
	for range 2 {
		for _, g := range grants {
			require.NoError(t, d.AddGrant(ctx, root, "main", "ada_in_main", g))
		}
	}
	got, err := d.ListGrants(ctx, root, "main", "ada_in_main")
	require.NoError(t, err)
	require.Equal(t, grants, got)

	ada := d.as("ada")
	at := policy.Path{CatalogID: ns.CatalogID, NamespaceIDs: []string{ns.ID, eu.ID}, TableID: clicks.ID}
	require.True(t, ada.Has(models.TableWriteData, at))
	at.TableID = recent.ID
	require.False(t, ada.Has(models.TableWriteData, at))
	require.True(t, ada.Has(models.ViewReadProperties, at))

	events := d.events(models.AuditGrantAdded)
	require.Len(t, events, len(grants), "a grant that is there already is not added")
	on := slices.IndexFunc(events, func(e models.AuditEvent) bool { return e.Details.V["scope"] == "table" })
	require.Equal(t, map[string]any{
		"catalogRole": "ada_in_main", "privilege": "TABLE_WRITE_DATA", "scope": "table", "object": "main.events.eu.clicks",
	}, events[on].Details.V)
	require.Equal(t, []string{"main", "events.eu", "events.eu.clicks", clicks.UUID},
		[]string{events[on].Catalog, events[on].Namespace, events[on].Table, events[on].TableUUID})
}

func TestGrantsThatCannotBe(t *testing.T) {
	d := newDesk(t)
	ctx, root := t.Context(), d.root()
	ns := d.namespace("events")
	d.table(ns, "clicks")
	d.view(ns, "recent")
	d.principal("ada")
	for _, c := range []struct {
		in   management.GrantInput
		code fault.Code
		says string
	}{
		{onTable(models.NamespaceCreate, "clicks", "events"), fault.Invalid, `"NAMESPACE_CREATE" cannot be granted on a table`},
		{onNamespace(models.CatalogReadProperties, "events"), fault.Invalid, "on a namespace"},
		{onView(models.TableReadData, "recent", "events"), fault.Invalid, "on a view"},
		{onCatalog(models.ServiceManageAccess), fault.Invalid, "SERVICE_MANAGE_ACCESS"},
		{onCatalog("table_drop"), fault.Invalid, "table_drop"},
		{management.GrantInput{Scope: "policy", Namespace: []string{"events"}, Name: "p", Privilege: models.PolicyRead}, fault.Invalid, "policy"},
		{onNamespace(models.TableDrop), fault.Invalid, "Name the namespace"},
		{management.GrantInput{Scope: models.OnTable, Namespace: []string{"events"}, Privilege: models.TableDrop}, fault.Invalid, "Name the table"},
		{onNamespace(models.TableDrop, "nothing"), fault.NotFound, "Namespace does not exist: main.nothing"},
		{onTable(models.TableDrop, "recent", "events"), fault.NotFound, "Table does not exist: main.events.recent"},
		{onView(models.ViewDrop, "clicks", "events"), fault.NotFound, "View does not exist: main.events.clicks"},
	} {
		wantFault(t, d.AddGrant(ctx, root, "main", "ada_in_main", c.in), c.code, c.says)
		wantFault(t, d.RevokeGrant(ctx, root, "main", "ada_in_main", c.in, true), c.code, c.says)
	}
	wantFault(t, d.AddGrant(ctx, root, "main", "nothing", onCatalog(models.TableDrop)), fault.NotFound, "nothing")
	wantFault(t, d.AddGrant(ctx, root, "nothing", "ada_in_main", onCatalog(models.TableDrop)), fault.NotFound, "Catalog")
	require.Empty(t, d.events(models.AuditGrantAdded))
}

// Who manages the access to one namespace grants there and nowhere else, and never makes stewards.
func TestManagerOfANamespace(t *testing.T) {
	d := newDesk(t)
	ctx := t.Context()
	events := d.namespace("events")
	d.table(events, "clicks")
	d.table(d.namespace("billing"), "invoices")
	d.principal("ada", onNamespace(models.CatalogManageAccess, "events"))
	d.principal("job", onTable(models.TableReadData, "invoices", "billing"))
	ada := d.as("ada")
	grant := func(g management.GrantInput) error { return d.AddGrant(ctx, ada, "main", "job_in_main", g) }
	require.NoError(t, grant(onNamespace(models.TableWriteData, "events")))
	require.NoError(t, grant(onTable(models.TableDrop, "clicks", "events")))
	require.NoError(t, d.RevokeGrant(ctx, ada, "main", "job_in_main", onTable(models.TableDrop, "clicks", "events"), false))
	wantFault(t, grant(onCatalog(models.TableWriteData)), fault.Forbidden, cma, "catalog main")
	wantFault(t, grant(onNamespace(models.TableWriteData, "billing")), fault.NotFound, "billing")
	wantFault(t, grant(onTable(models.TableGovern, "clicks", "events")), fault.Forbidden, cma, "catalog main", "TABLE_GOVERN")
	require.NoError(t, d.AddGrant(ctx, d.root(), "main", "job_in_main", onTable(models.TableGovern, "clicks", "events")))
	wantFault(t, d.RevokeGrant(ctx, ada, "main", "job_in_main", onTable(models.TableReadData, "invoices", "billing"), false), fault.NotFound, "invoices")
	_, err := d.ListGrants(ctx, ada, "main", "job_in_main")
	wantFault(t, err, fault.Forbidden, cma)
	_, err = d.CreateCatalogRole(ctx, ada, "main", management.NewRole{Name: "mine"})
	wantFault(t, err, fault.Forbidden, cma)
}

func TestRevokeGrant(t *testing.T) {
	type revoking struct {
		in      management.GrantInput
		cascade bool
		left    []management.GrantInput // nil: there was nothing to take
	}
	const p = models.TableReadData
	onMain, onEvents, onEU := onCatalog(p), onNamespace(p, "events"), onNamespace(p, "events", "eu")
	onClicks, other := onTable(p, "clicks", "events", "eu"), onTable(models.TableDrop, "clicks", "events", "eu")
	beside := onNamespace(p, "event")
	all := []management.GrantInput{onMain, beside, onEvents, onEU, other, onClicks}
	without := func(gone ...management.GrantInput) []management.GrantInput {
		return slices.DeleteFunc(slices.Clone(all), func(g management.GrantInput) bool {
			return slices.ContainsFunc(gone, func(x management.GrantInput) bool { return sameGrant(g, x) })
		})
	}
	template := newDesk(t)
	template.namespace("event")
	template.namespace("events")
	template.table(template.namespace("events", "eu"), "clicks")
	template.principal("ada", all...)
	template.principal("eve", onClicks)
	template.close()
	for name, c := range map[string]revoking{
		"the catalog's alone":        {onMain, false, without(onMain)},
		"the catalog's and all":      {onMain, true, without(onMain, beside, onEvents, onEU, onClicks)},
		"a namespace's alone":        {onEvents, false, without(onEvents)},
		"a namespace's and all":      {onEvents, true, without(onEvents, onEU, onClicks)},
		"a table's, with cascade":    {onClicks, true, without(onClicks)},
		"what is not there":          {onNamespace(models.TableDrop, "events"), false, nil},
		"what is only within":        {onNamespace(models.TableDrop, "events"), true, without(other)},
		"what is not there nor with": {onNamespace(models.TableGovern, "events"), true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := template.copied(t)
			err := d.RevokeGrant(t.Context(), d.root(), "main", "ada_in_main", c.in, c.cascade)
			left := c.left
			if left == nil {
				wantFault(t, err, fault.NotFound, "ada_in_main does not have the privilege", "namespace main.events")
				left = all
			} else {
				require.NoError(t, err)
			}
			got, err := d.ListGrants(t.Context(), d.root(), "main", "ada_in_main")
			require.NoError(t, err)
			require.Equal(t, left, got)
			events := d.events(models.AuditGrantRevoked)
			require.Len(t, events, len(all)-len(left), "one event for each grant that is gone")
			for _, e := range events {
				require.Equal(t, e.Table != "", e.TableUUID != "", "the event of a table tells which")
			}
			others, err := d.ListGrants(t.Context(), d.root(), "main", "eve_in_main")
			require.NoError(t, err)
			require.Len(t, others, 1, "of another role")
		})
	}
}

// A table that comes back must not bring what was taken meanwhile.
func TestCascadeReachesDroppedTables(t *testing.T) {
	const p = models.TableReadData
	for name, in := range map[string]management.GrantInput{"from the namespace": onNamespace(p, "events"), "from the catalog": onCatalog(p)} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.namespace("events")
			clicks := d.table(d.namespace("events", "eu"), "clicks")
			d.principal("ada", onTable(p, "clicks", "events", "eu"), onTable(models.TableDrop, "clicks", "events", "eu"))
			drop := d.drop(clicks)
			require.NoError(t, d.RevokeGrant(t.Context(), d.root(), "main", "ada_in_main", in, true))
			require.Len(t, d.events(models.AuditGrantRevoked), 1)
			d.undrop(clicks, drop)
			got, err := d.ListGrants(t.Context(), d.root(), "main", "ada_in_main")
			require.NoError(t, err)
			require.Equal(t, []management.GrantInput{onTable(models.TableDrop, "clicks", "events", "eu")}, got)
		})
	}
}

func sameGrant(a, b management.GrantInput) bool {
	return a.Scope == b.Scope && a.Name == b.Name && a.Privilege == b.Privilege && slices.Equal(a.Namespace, b.Namespace)
}

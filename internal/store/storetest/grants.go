package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func grantCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"grants know what their objects lie in":                 grantsKnowTheirPlace,
		"namespaces of one name in two catalogs are apart":      grantsOfTwoCatalogs,
		"grants in very many namespaces are found":              grantsFarAndWide,
		"grants are listed in order of scope, place, privilege": grantList,
		"a grant is once": grantOnce,
		"a grant needs its role and its object, in its catalog":   grantNeedsObject,
		"grants are revoked each with its event":                  grantsRevoked,
		"a dropped table's grants come back with it":              grantsOfDropped,
		"what is gone for good takes its grants with it":          grantsOfGone,
		"a grant is given or its namespace dropped, never both":   grantOrDrop,
		"a revocation by eight at once counts each grant once":    revocationRace,
		"a table that takes another's place takes its grants too": grantsOfReplaced,
	}
}

// reader is a principal role that holds the catalog role.
func (f *fixture) reader(t *testing.T, c models.CatalogRole) models.PrincipalRole {
	t.Helper()
	role := f.principalRole(t, "holder of "+c.Name)
	f.give(t, role, c)
	return role
}

func (f *fixture) heldBy(t *testing.T, roles ...models.PrincipalRole) []policy.Grant {
	t.Helper()
	ids := make([]string, len(roles))
	for i, r := range roles {
		ids[i] = r.ID
	}
	grants, err := f.s.GrantsOfRoles(t.Context(), ids)
	require.NoError(t, err)
	return grants
}

func grantsKnowTheirPlace(t *testing.T, f *fixture) {
	a := f.namespace(t, "a")
	ab := f.namespace(t, "a", "b")
	abc := f.namespace(t, "a", "b", "c")
	f.namespace(t, "a.b") // one level with a dot in it: no ancestor of a, b, c
	odd := f.namespace(t, "a", "größe \U0001F680")
	deep := f.newTable("deep")
	deep.NamespaceID = abc.ID
	require.NoError(t, f.s.CreateTable(t.Context(), deep, catalog.Effects{}))
	view := f.view(t, "top")
	reads, writes := f.catalogRole(t, "reads"), f.catalogRole(t, "writes")
	f.grant(t, reads, models.OnCatalog, f.cat.ID, models.NamespaceList)
	f.grant(t, reads, models.OnNamespace, a.ID, models.TableList)
	f.grant(t, reads, models.OnNamespace, abc.ID, models.TableReadData)
	f.grant(t, reads, models.OnNamespace, odd.ID, models.TableList)
	f.grant(t, reads, models.OnTable, deep.ID, models.TableReadData)
	f.grant(t, reads, models.OnView, view.ID, models.ViewList)
	f.grant(t, writes, models.OnTable, deep.ID, models.TableWriteData)
	readers, writers := f.reader(t, reads), f.reader(t, writes)
	f.give(t, writers, reads) // on two ways, and yet once

	read := []policy.Grant{
		{Privilege: models.NamespaceList, ObjectID: f.cat.ID},
		{Privilege: models.TableList, ObjectID: a.ID, Within: []string{f.cat.ID}},
		{Privilege: models.TableReadData, ObjectID: abc.ID, Within: []string{f.cat.ID, a.ID, ab.ID}},
		{Privilege: models.TableList, ObjectID: odd.ID, Within: []string{f.cat.ID, a.ID}},
		{Privilege: models.TableReadData, ObjectID: deep.ID, Within: []string{f.cat.ID, a.ID, ab.ID, abc.ID}},
		{Privilege: models.ViewList, ObjectID: view.ID, Within: []string{f.cat.ID, f.ns.ID}},
	}
	write := policy.Grant{Privilege: models.TableWriteData, ObjectID: deep.ID, Within: []string{f.cat.ID, a.ID, ab.ID, abc.ID}}
	assert.ElementsMatch(t, read, f.heldBy(t, readers))
	assert.ElementsMatch(t, append(read, write), f.heldBy(t, readers, writers))
	assert.Empty(t, f.heldBy(t))

	moved := event(models.AuditTableRenamed)
	require.NoError(t, f.s.RenameTable(t.Context(), deep.ID, f.ns.ID, "shallow", moved))
	assert.Contains(t, f.heldBy(t, readers), policy.Grant{Privilege: models.TableReadData, ObjectID: deep.ID, Within: []string{f.cat.ID, f.ns.ID}})
}

func grantsOfTwoCatalogs(t *testing.T, f *fixture) {
	other := f.otherCatalog(t, "other")
	mine, theirs := f.namespace(t, "sales", "eu"), other.namespace(t, "sales", "eu")
	a, b := f.catalogRole(t, "a"), other.catalogRole(t, "b")
	f.grant(t, a, models.OnNamespace, mine.ID, models.TableList)
	other.grant(t, b, models.OnNamespace, theirs.ID, models.TableList)
	assert.ElementsMatch(t, []policy.Grant{
		{Privilege: models.TableList, ObjectID: mine.ID, Within: []string{f.cat.ID, f.ns.ID}},
		{Privilege: models.TableList, ObjectID: theirs.ID, Within: []string{other.cat.ID, other.ns.ID}},
	}, f.heldBy(t, f.reader(t, a), other.reader(t, b)))
}

func grantsFarAndWide(t *testing.T, f *fixture) {
	const namespaces = 520 // more than one query looks up
	role := f.catalogRole(t, "all")
	for i := range namespaces {
		parent := f.namespace(t, uuid.NewString())
		child := f.namespace(t, string(parent.Key), "child")
		if i%2 == 0 {
			f.grant(t, role, models.OnNamespace, child.ID, models.TableList)
			continue
		}
		table := f.newTable("t")
		table.NamespaceID = child.ID
		require.NoError(t, f.s.CreateTable(t.Context(), table, catalog.Effects{}))
		f.grant(t, role, models.OnTable, table.ID, models.TableList)
	}
	depths := map[int]int{}
	for _, g := range f.heldBy(t, f.reader(t, role)) {
		depths[len(g.Within)]++
	}
	assert.Equal(t, map[int]int{2: namespaces / 2, 3: namespaces / 2}, depths)
}

func grantList(t *testing.T, f *fixture) {
	ab := f.namespace(t, "sales", "eu")
	table, view := f.table(t, "orders"), f.view(t, "top")
	role := f.catalogRole(t, "all")
	want := []management.PlacedGrant{
		{Grant: f.grant(t, role, models.OnCatalog, f.cat.ID, models.TableCreate)},
		{Grant: f.grant(t, role, models.OnCatalog, f.cat.ID, models.TableList)},
		{Grant: f.grant(t, role, models.OnNamespace, f.ns.ID, models.TableList), Namespace: f.ns.Key},
		{Grant: f.grant(t, role, models.OnNamespace, ab.ID, models.TableDrop), Namespace: ab.Key, Within: []string{f.ns.ID}},
		{Grant: f.grant(t, role, models.OnTable, table.ID, models.TableDrop), Namespace: f.ns.Key, Name: "orders", Within: []string{f.ns.ID}},
		{Grant: f.grant(t, role, models.OnTable, table.ID, models.TableReadData), Namespace: f.ns.Key, Name: "orders", Within: []string{f.ns.ID}},
		{Grant: f.grant(t, role, models.OnView, view.ID, models.ViewDrop), Namespace: f.ns.Key, Name: "top", Within: []string{f.ns.ID}},
	}
	got, err := f.s.GrantsOfCatalogRole(t.Context(), role.ID)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range got {
		assert.WithinRange(t, got[i].CreatedAt, f.started, f.started.Add(60e9))
		want[i].CreatedAt = got[i].CreatedAt
	}
	assert.Equal(t, want, got)
	none, err := f.s.GrantsOfCatalogRole(t.Context(), uuid.NewString())
	require.NoError(t, err)
	assert.Empty(t, none)
}

func grantOnce(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "reads")
	added := make([]bool, 8)
	together(len(added), func(i int) {
		var err error
		added[i], err = f.s.AddGrant(t.Context(), f.newGrant(role, models.OnNamespace, f.ns.ID, models.TableList), event(models.AuditGrantAdded))
		assert.NoError(t, err)
	})
	won := 0
	for _, a := range added {
		if a {
			won++
		}
	}
	assert.Equal(t, 1, won)
	again, err := f.s.AddGrant(t.Context(), f.newGrant(role, models.OnNamespace, f.ns.ID, models.TableList), event(models.AuditGrantAdded))
	require.NoError(t, err)
	assert.False(t, again)
	assert.Len(t, f.audit(t, models.AuditGrantAdded), 1)
}

func grantNeedsObject(t *testing.T, f *fixture) {
	other := f.otherCatalog(t, "other")
	role, foreign := f.catalogRole(t, "reads"), other.catalogRole(t, "reads")
	table, view := f.table(t, "orders"), f.view(t, "top")
	foreignTable := other.table(t, "orders")
	refused := func(g models.Grant, code fault.Code, subject fault.Subject) {
		t.Helper()
		_, err := f.s.AddGrant(t.Context(), g, event(models.AuditGrantAdded))
		requireFault(t, err, code, subject)
	}
	for scope, subject := range map[models.GrantScope]fault.Subject{
		models.OnCatalog: fault.Catalog, models.OnNamespace: fault.Namespace, models.OnTable: fault.Table, models.OnView: fault.View,
	} {
		refused(f.newGrant(role, scope, uuid.NewString(), models.TableList), fault.NotFound, subject)
	}
	refused(f.newGrant(role, models.OnTable, view.ID, models.TableList), fault.NotFound, fault.Table)
	refused(f.newGrant(role, models.OnView, table.ID, models.TableList), fault.NotFound, fault.View)
	refused(f.newGrant(role, models.OnTable, foreignTable.ID, models.TableList), fault.NotFound, fault.Table)
	refused(f.newGrant(role, models.OnCatalog, other.cat.ID, models.TableList), fault.NotFound, fault.Catalog)
	refused(f.newGrant(foreign, models.OnTable, table.ID, models.TableList), fault.NotFound, fault.Role)
	refused(f.newGrant(role, "folder", table.ID, models.TableList), fault.Invalid, fault.NoSubject)
	require.NoError(t, f.drop(t, table.ID))
	refused(f.newGrant(role, models.OnTable, table.ID, models.TableList), fault.NotFound, fault.Table)
	assert.Empty(t, f.audit(t, models.AuditGrantAdded))
}

func grantsRevoked(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "reads")
	var all []management.RevokedGrant
	for _, p := range []models.Privilege{models.TableList, models.TableDrop, models.TableReadData} {
		e := event(models.AuditGrantRevoked)
		e.Reason = string(p)
		all = append(all, management.RevokedGrant{ID: f.grant(t, role, models.OnNamespace, f.ns.ID, p).ID, Event: e})
	}
	absent := management.RevokedGrant{ID: uuid.NewString(), Event: event(models.AuditGrantRevoked)}
	revoke := func(grants ...management.RevokedGrant) int {
		t.Helper()
		n, err := f.s.RevokeGrants(t.Context(), grants)
		require.NoError(t, err)
		return n
	}
	assert.Zero(t, revoke())
	assert.Zero(t, revoke(absent))
	assert.Equal(t, 2, revoke(all[0], absent, all[1], all[0]))
	var reasons []string
	for _, e := range f.audit(t, models.AuditGrantRevoked) {
		reasons = append(reasons, e.Reason)
	}
	assert.ElementsMatch(t, []string{all[0].Event.Reason, all[1].Event.Reason}, reasons)
	assert.Equal(t, 1, revoke(all...))
	left, err := f.s.GrantsOfCatalogRole(t.Context(), role.ID)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Len(t, f.audit(t, models.AuditGrantRevoked), 3)
}

func revocationRace(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "reads")
	var grants []management.RevokedGrant
	for _, p := range []models.Privilege{models.TableList, models.TableDrop, models.TableReadData, models.TableWriteData} {
		grants = append(grants, management.RevokedGrant{ID: f.grant(t, role, models.OnNamespace, f.ns.ID, p).ID, Event: event(models.AuditGrantRevoked)})
	}
	counts := make([]int, 8)
	together(len(counts), func(i int) {
		mine := make([]management.RevokedGrant, len(grants))
		for j, g := range grants { // each in an order of its own
			g.Event.EventID = uuid.NewString()
			mine[(j+i)%len(grants)] = g
		}
		var err error
		counts[i], err = f.s.RevokeGrants(t.Context(), mine)
		assert.NoError(t, err)
	})
	total := 0
	for _, n := range counts {
		total += n
	}
	assert.Equal(t, len(grants), total)
	assert.Len(t, f.audit(t, models.AuditGrantRevoked), len(grants))
}

func grantsOfDropped(t *testing.T, f *fixture) {
	table := f.table(t, "orders")
	role := f.catalogRole(t, "reads")
	f.grant(t, role, models.OnTable, table.ID, models.TableList)
	holder := f.reader(t, role)
	record := f.dropAs(t, table.ID, models.DroppedTable{})
	assert.Empty(t, f.heldBy(t, holder))
	listed, err := f.s.GrantsOfCatalogRole(t.Context(), role.ID)
	require.NoError(t, err)
	assert.Empty(t, listed)
	require.NoError(t, f.undrop(t, record.ID, "orders_again"))
	assert.Len(t, f.heldBy(t, holder), 1)
}

func grantsOfReplaced(t *testing.T, f *fixture) {
	table, next := f.table(t, "orders"), f.newTable("orders")
	role := f.catalogRole(t, "reads")
	f.grant(t, role, models.OnTable, table.ID, models.TableList)
	drop := models.DroppedTable{State: models.StateDropped, DroppedBy: "ada"}
	require.NoError(t, f.s.ReplaceTable(t.Context(), table.ID, drop, event(models.AuditTableDropped), next, catalog.Effects{}))
	held := f.heldBy(t, f.reader(t, role))
	require.Len(t, held, 1)
	assert.Equal(t, next.ID, held[0].ObjectID)
}

func grantsOfGone(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "reads")
	ns := f.namespace(t, "gone")
	forgotten, view, due := f.table(t, "forgotten"), f.view(t, "top"), f.due(t, "due")
	f.grant(t, role, models.OnNamespace, ns.ID, models.TableList)
	f.grant(t, role, models.OnTable, forgotten.ID, models.TableList)
	f.grant(t, role, models.OnView, view.ID, models.ViewList)
	require.NoError(t, f.s.DropNamespace(t.Context(), ns.ID, event(models.AuditNamespaceDropped)))
	require.NoError(t, f.s.ForgetTable(t.Context(), f.dropAs(t, forgotten.ID, models.DroppedTable{}).ID, event(models.AuditTableForgotten)))
	require.NoError(t, f.s.DropView(t.Context(), view.ID, event(models.AuditViewDropped)))
	require.NoError(t, f.undrop(t, due.ID, "due"))
	f.grant(t, role, models.OnTable, due.TableID, models.TableList)
	again := f.dropAs(t, due.TableID, models.DroppedTable{PurgeRequested: true, PurgeAfter: due.PurgeAfter})
	_, claimed, err := f.s.ClaimPurge(t.Context(), again.ID, f.started.Add(60e9))
	require.NoError(t, err)
	require.True(t, claimed)
	before := f.version(t)
	_, err = f.s.FinishPurge(t.Context(), again.ID, 1, 1, event(models.AuditTablePurged))
	require.NoError(t, err)
	assert.Greater(t, f.version(t), before, "the last grant is gone by the purge")
	// A table with the id of one that is gone for good would not get its grants.
	revived := f.newTable("revived")
	revived.ID = due.TableID
	require.NoError(t, f.s.CreateTable(t.Context(), revived, catalog.Effects{}))
	listed, err := f.s.GrantsOfCatalogRole(t.Context(), role.ID)
	require.NoError(t, err)
	assert.Empty(t, listed)
}

func grantOrDrop(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "reads")
	for range 10 {
		ns := f.namespace(t, "short")
		together(2, func(i int) {
			if i == 0 {
				assert.NoError(t, f.s.DropNamespace(t.Context(), ns.ID, event(models.AuditNamespaceDropped)))
				return
			}
			_, err := f.s.AddGrant(t.Context(), f.newGrant(role, models.OnNamespace, ns.ID, models.TableList), event(models.AuditGrantAdded))
			if err != nil {
				assert.True(t, fault.Is(err, fault.NotFound), "%v", err)
			}
		})
		// A grant that was left behind would be on the namespace that gets the id again.
		require.NoError(t, f.s.CreateNamespace(t.Context(), ns, event(models.AuditNamespaceCreated)))
		listed, err := f.s.GrantsOfCatalogRole(t.Context(), role.ID)
		require.NoError(t, err)
		require.Empty(t, listed)
		require.NoError(t, f.s.DropNamespace(t.Context(), ns.ID, event(models.AuditNamespaceDropped)))
	}
}

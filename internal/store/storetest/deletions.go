package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func deletionCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a catalog is deleted with its roles, grants and tokens":    catalogGone,
		"a catalog stays while there is something in it":            catalogNotEmpty,
		"unregistered tables let go of their locations":             unregisteredLetGo,
		"what happened in a deleted catalog is not forgotten":       ledgerOutlives,
		"a catalog gets a namespace or is deleted, never both":      namespaceOrDeletion,
		"a deleted catalog's name is free, and starts with nothing": nameIsFree,
	}
}

func (f *fixture) deleteCatalog(t *testing.T) error {
	t.Helper()
	return f.s.DeleteCatalog(t.Context(), f.cat.ID, event(models.AuditCatalogDeleted))
}

// emptied drops the namespace of the fixture.
func (f *fixture) emptied(t *testing.T) {
	t.Helper()
	require.NoError(t, f.s.DropNamespace(t.Context(), f.ns.ID, event(models.AuditNamespaceDropped)))
}

func catalogGone(t *testing.T, f *fixture) {
	other := f.otherCatalog(t, "other")
	role := other.catalogRole(t, "reads")
	holder := other.reader(t, role)
	other.grant(t, role, models.OnCatalog, other.cat.ID, models.TableList)
	token, kept := other.token(t, models.EngineToken), f.token(t, models.EngineToken)
	other.emptied(t)
	require.NoError(t, other.deleteCatalog(t))
	_, err := f.s.CatalogByID(t.Context(), other.cat.ID)
	requireFault(t, err, fault.NotFound, fault.Catalog)
	roles, err := f.s.CatalogRolesOf(t.Context(), holder.ID, "")
	require.NoError(t, err)
	assert.Empty(t, roles)
	assert.Empty(t, f.heldBy(t, holder))
	_, err = f.s.TokenByID(t.Context(), token.ID)
	requireFault(t, err, fault.NotFound, fault.Token)
	_, err = f.s.TokenByID(t.Context(), kept.ID)
	require.NoError(t, err)
	requireFault(t, other.deleteCatalog(t), fault.NotFound, fault.Catalog)
	assert.Len(t, f.audit(t, models.AuditCatalogDeleted), 1)
}

func catalogNotEmpty(t *testing.T, f *fixture) {
	refused := func(mentions string) {
		t.Helper()
		err := f.deleteCatalog(t)
		requireFault(t, err, fault.NotEmpty, fault.Catalog)
		assert.Contains(t, fault.PublicMessage(err), mentions)
	}
	due := f.due(t, "due")
	kept := f.dropAs(t, f.table(t, "kept").ID, models.DroppedTable{})
	for _, name := range []string{"a", "b", "c"} {
		f.namespace(t, name)
	}
	refused("namespaces a, b, c and more first")
	for _, ns := range []string{"a", "b", "c"} {
		path, err := f.s.NamespacePath(t.Context(), f.cat.ID, models.NamespaceKey(ns))
		require.NoError(t, err)
		require.NoError(t, f.s.DropNamespace(t.Context(), path[0].ID, event(models.AuditNamespaceDropped)))
	}
	refused("namespaces sales first")
	f.emptied(t)
	refused("sales.due, sales.kept")
	require.NoError(t, f.s.ForgetTable(t.Context(), kept.ID, event(models.AuditTableForgotten)))
	_, _, err := f.s.ClaimPurge(t.Context(), due.ID, f.started.Add(60e9))
	require.NoError(t, err)
	refused("sales.due")
	_, err = f.s.FinishPurge(t.Context(), due.ID, 1, 1, event(models.AuditTablePurged))
	require.NoError(t, err)
	assert.Empty(t, f.audit(t, models.AuditCatalogDeleted))
	require.NoError(t, f.deleteCatalog(t))
}

func unregisteredLetGo(t *testing.T, f *fixture) {
	table := f.table(t, "orders")
	record := f.dropAs(t, table.ID, models.DroppedTable{State: models.StateUnregistered})
	f.emptied(t)
	require.NoError(t, f.deleteCatalog(t))
	other := f.otherCatalog(t, "other")
	again := other.newTable("orders")
	again.Location, again.UUID = table.Location, table.UUID
	require.NoError(t, f.s.CreateTable(t.Context(), again, catalog.Effects{Continues: record.ID}))
	assert.Equal(t, models.StateRegistered, f.dropRecord(t, record.ID).State)
}

func ledgerOutlives(t *testing.T, f *fixture) {
	table := f.commit(t, f.table(t, "orders"), 1, 1)
	record := f.dropAs(t, table.ID, models.DroppedTable{})
	require.NoError(t, f.s.ForgetTable(t.Context(), record.ID, event(models.AuditTableForgotten)))
	f.emptied(t)
	events := f.audit(t, models.AuditTableCommitted)
	require.NoError(t, f.deleteCatalog(t))
	commits, err := f.s.Commits(t.Context(), models.CommitFilter{CatalogID: f.cat.ID})
	require.NoError(t, err)
	assert.Len(t, commits, 1)
	assert.Equal(t, events, f.audit(t, models.AuditTableCommitted))
	assert.Equal(t, models.StateForgotten, f.dropRecord(t, record.ID).State)
}

func namespaceOrDeletion(t *testing.T, f *fixture) {
	for range 5 {
		other := f.otherCatalog(t, "other")
		other.emptied(t)
		created := false
		together(2, func(i int) {
			if i == 0 {
				err := f.s.CreateNamespace(t.Context(), other.newNamespace("new"), event(models.AuditNamespaceCreated))
				created = err == nil
				if err != nil {
					requireFault(t, err, fault.NotFound, fault.Catalog)
				}
				return
			}
			if err := other.deleteCatalog(t); err != nil {
				assert.True(t, fault.Is(err, fault.NotEmpty), "%v", err)
			}
		})
		_, err := f.s.CatalogByID(t.Context(), other.cat.ID)
		assert.Equal(t, created, err == nil)
		if created {
			path, err := f.s.NamespacePath(t.Context(), other.cat.ID, "new")
			require.NoError(t, err)
			other.ns = path[0]
			other.emptied(t)
			require.NoError(t, other.deleteCatalog(t))
		}
	}
}

func nameIsFree(t *testing.T, f *fixture) {
	role := f.catalogRole(t, "reads")
	f.grant(t, role, models.OnCatalog, f.cat.ID, models.TableList)
	f.emptied(t)
	require.NoError(t, f.deleteCatalog(t))
	again := models.Catalog{ID: uuid.NewString(), Name: f.cat.Name, BaseLocation: "s3://lake", DefaultWritePolicy: models.OpenAppend}
	require.NoError(t, f.s.CreateCatalog(t.Context(), again, []models.Privilege{models.CatalogManageAccess}, event(models.AuditCatalogCreated)))
	roles, err := f.s.CatalogRoles(t.Context(), again.ID)
	require.NoError(t, err)
	require.Len(t, roles, 1)
	assert.Equal(t, models.CatalogAdminRole, roles[0].Name)
	root, err := f.s.PrincipalByName(t.Context(), models.RootPrincipal)
	require.NoError(t, err)
	assert.Len(t, f.grantsOf(t, root.ID), 1)
}

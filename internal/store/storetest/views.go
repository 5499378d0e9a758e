package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func (f *fixture) newView(name string) models.View {
	id := uuid.NewString()
	return models.View{
		ID: id, CatalogID: f.cat.ID, NamespaceID: f.ns.ID, Name: name, UUID: uuid.NewString(),
		Location: "s3://lake/sales/" + id, MetadataLocation: "s3://lake/sales/" + id + "/metadata/00000.json", Version: 1,
	}
}

func (f *fixture) view(t *testing.T, name string) models.View {
	t.Helper()
	row := f.newView(name)
	require.NoError(t, f.s.CreateView(t.Context(), row, event(models.AuditViewCreated)))
	return row
}

func viewCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a view is read as it was written": func(t *testing.T, f *fixture) {
			row := f.view(t, "Größe 'x' \"y\" `z` %_?")
			got, err := f.s.ViewByName(t.Context(), f.ns.ID, row.Name)
			require.NoError(t, err)
			assert.WithinRange(t, got.CreatedAt, f.started, f.started.Add(60e9))
			row.CreatedAt, row.UpdatedAt = got.CreatedAt, got.UpdatedAt
			assert.Equal(t, row, got)
			assert.Len(t, f.audit(t, models.AuditViewCreated), 1)
			for _, name := range []string{"nope", "", "a\x00", "\xff"} {
				_, err := f.s.ViewByName(t.Context(), f.ns.ID, name)
				requireFault(t, err, fault.NotFound, fault.View)
			}
		},
		"views are listed in byte order, by pages, without tables": func(t *testing.T, f *fixture) {
			for _, name := range []string{"b", "A", "a", "_x"} {
				f.view(t, name)
			}
			f.table(t, "a table")
			names := func(page catalog.Page) (out []string) {
				rows, err := f.s.ListViews(t.Context(), f.ns.ID, page)
				require.NoError(t, err)
				for _, r := range rows {
					out = append(out, r.Name)
				}
				return out
			}
			assert.Equal(t, []string{"A", "_x", "a", "b"}, names(catalog.Page{}))
			assert.Equal(t, []string{"_x", "a"}, names(catalog.Page{After: "A", Limit: 2}))
			tables, err := f.s.ListTables(t.Context(), f.ns.ID, catalog.Page{})
			require.NoError(t, err)
			assert.Len(t, tables, 1)
		},
		"a swap moves the pointer once":                              viewSwaps,
		"a name belongs to one table or view":                        sharedNames,
		"a rename takes the new name and frees the old one":          viewRenames,
		"a dropped view leaves its name":                             viewDrops,
		"a namespace with a view is not empty":                       viewKeepsNamespace,
		"a view stays out of tables' folders, and tables out of its": viewsApart,
		"one of many takes a name, table or view":                    sharedNameOnce,
		"renames that cross each other leave every name right":       crossedRenames,
	}
}

func viewSwaps(t *testing.T, f *fixture) {
	row := f.view(t, "top")
	next := row
	next.Location, next.MetadataLocation = "s3://lake/elsewhere", "s3://lake/elsewhere/metadata/00001.json"
	require.NoError(t, f.s.SwapView(t.Context(), next, event(models.AuditViewReplaced)))
	requireFault(t, f.s.SwapView(t.Context(), next, event(models.AuditViewReplaced)), fault.Conflict, fault.View)
	got, err := f.s.ViewByName(t.Context(), f.ns.ID, "top")
	require.NoError(t, err)
	assert.Equal(t, next.MetadataLocation, got.MetadataLocation)
	assert.Equal(t, next.Location, got.Location)
	assert.Equal(t, row.Version+1, got.Version)
	assert.Len(t, f.audit(t, models.AuditViewReplaced), 1)
	next.ID = uuid.NewString()
	requireFault(t, f.s.SwapView(t.Context(), next, event(models.AuditViewReplaced)), fault.NotFound, fault.View)
}

func sharedNames(t *testing.T, f *fixture) {
	table, view := f.table(t, "orders"), f.view(t, "top")
	requireFault(t, f.s.CreateView(t.Context(), f.newView("orders"), event(models.AuditViewCreated)), fault.AlreadyExists, fault.Table)
	requireFault(t, f.s.CreateView(t.Context(), f.newView("top"), event(models.AuditViewCreated)), fault.AlreadyExists, fault.View)
	requireFault(t, f.s.CreateTable(t.Context(), f.newTable("top"), catalog.Effects{}), fault.AlreadyExists, fault.View)
	renamed := event(models.AuditTableRenamed)
	requireFault(t, f.s.RenameTable(t.Context(), table.ID, f.ns.ID, "top", renamed), fault.AlreadyExists, fault.View)
	requireFault(t, f.s.RenameView(t.Context(), view.ID, f.ns.ID, "orders", renamed), fault.AlreadyExists, fault.Table)
	assert.Empty(t, f.audit(t, models.AuditTableRenamed))
	f.requireName(t, f.ns.ID, "orders", models.TableIdentifier, table.ID)
	f.requireName(t, f.ns.ID, "top", models.ViewIdentifier, view.ID)
	f.requireFree(t, f.ns.ID, "TOP")
	f.requireFree(t, f.ns.ID, "a\x00")
	lost := f.newView("lost")
	lost.NamespaceID = uuid.NewString()
	requireFault(t, f.s.CreateView(t.Context(), lost, event(models.AuditViewCreated)), fault.NotFound, fault.Namespace)
	lost = f.newView("lost")
	lost.CatalogID = uuid.NewString()
	requireFault(t, f.s.CreateView(t.Context(), lost, event(models.AuditViewCreated)), fault.NotFound, fault.Catalog)
}

func (f *fixture) requireName(t *testing.T, namespaceID, name string, kind models.IdentifierKind, id string) {
	t.Helper()
	got, err := f.s.IdentifierByName(t.Context(), namespaceID, name)
	require.NoError(t, err)
	require.Equal(t, models.Identifier{NamespaceID: namespaceID, Name: name, Kind: kind, EntityID: id}, got)
}

func (f *fixture) requireFree(t *testing.T, namespaceID, name string) {
	t.Helper()
	_, err := f.s.IdentifierByName(t.Context(), namespaceID, name)
	requireFault(t, err, fault.NotFound, fault.NoSubject)
}

func viewRenames(t *testing.T, f *fixture) {
	row, other := f.view(t, "top"), f.view(t, "taken")
	rename := func(ns, name string) error {
		return f.s.RenameView(t.Context(), row.ID, ns, name, event(models.AuditViewRenamed))
	}
	requireFault(t, rename(f.ns.ID, other.Name), fault.AlreadyExists, fault.View)
	requireFault(t, rename(uuid.NewString(), "x"), fault.NotFound, fault.Namespace)
	requireFault(t, rename(f.ns.ID, "a\x00"), fault.Invalid, fault.NoSubject)
	assert.Empty(t, f.audit(t, models.AuditViewRenamed))
	target := f.namespace(t, "archive")
	require.NoError(t, rename(target.ID, "old"))
	got, err := f.s.ViewByName(t.Context(), target.ID, "old")
	require.NoError(t, err)
	assert.Equal(t, row.ID, got.ID)
	assert.Greater(t, got.Version, row.Version)
	f.requireFree(t, f.ns.ID, "top")
	f.requireName(t, target.ID, "old", models.ViewIdentifier, row.ID)
	require.NoError(t, rename(target.ID, "old"), "to its own name is nothing to refuse")
	requireFault(t, f.s.RenameView(t.Context(), uuid.NewString(), f.ns.ID, "x", event(models.AuditViewRenamed)), fault.NotFound, fault.View)

	moved := event(models.AuditViewRenamed)
	moved.Table = "sales.top" // which is not its name any more
	requireFault(t, f.s.RenameView(t.Context(), row.ID, f.ns.ID, "x", moved), fault.Conflict, fault.View)
	requireFault(t, f.s.DropView(t.Context(), row.ID, moved), fault.Conflict, fault.View)

	table := f.table(t, "orders")
	require.NoError(t, f.s.RenameTable(t.Context(), table.ID, target.ID, "orders", event(models.AuditTableRenamed)))
	f.requireFree(t, f.ns.ID, "orders")
	f.requireName(t, target.ID, "orders", models.TableIdentifier, table.ID)
	f.view(t, "orders") // the name is free again
}

func viewDrops(t *testing.T, f *fixture) {
	row := f.view(t, "top")
	drop := func() error { return f.s.DropView(t.Context(), row.ID, event(models.AuditViewDropped)) }
	require.NoError(t, drop())
	requireFault(t, drop(), fault.NotFound, fault.View)
	assert.Len(t, f.audit(t, models.AuditViewDropped), 1)
	f.requireFree(t, f.ns.ID, "top")
	f.table(t, "top")
}

func viewKeepsNamespace(t *testing.T, f *fixture) {
	row := f.view(t, "top")
	drop := func() error { return f.s.DropNamespace(t.Context(), f.ns.ID, event(models.AuditNamespaceDropped)) }
	requireFault(t, drop(), fault.NotEmpty, fault.Namespace)
	require.NoError(t, f.s.DropView(t.Context(), row.ID, event(models.AuditViewDropped)))
	require.NoError(t, drop())
}

func viewsApart(t *testing.T, f *fixture) {
	table, view := f.table(t, "orders"), f.view(t, "top")
	inside := f.newView("inside")
	inside.Location = table.Location + "/v"
	requireFault(t, f.s.CreateView(t.Context(), inside, event(models.AuditViewCreated)), fault.Conflict, fault.NoSubject)
	f.requireFree(t, f.ns.ID, "inside")
	around := f.newTable("around")
	around.Location = view.Location
	requireFault(t, f.s.CreateTable(t.Context(), around, catalog.Effects{}), fault.Conflict, fault.NoSubject)
	f.requireFree(t, f.ns.ID, "around")
	for location, want := range map[string][2]string{ // what any entity finds there, and what a view minds
		table.Location:        {"sales.orders", "sales.orders"},
		view.Location + "/x":  {"sales.top", ""},
		"s3://lake/elsewhere": {"", ""},
	} {
		entity, err := f.s.OverlappingTable(t.Context(), location, "")
		require.NoError(t, err)
		tables, err := f.s.TableAt(t.Context(), location)
		require.NoError(t, err)
		assert.Equal(t, want, [2]string{entity.Name, tables.Name}, location)
	}
	beside := f.newView("beside")
	beside.Location = view.Location
	require.NoError(t, f.s.CreateView(t.Context(), beside, event(models.AuditViewCreated)), "views may share a folder")
}

func sharedNameOnce(t *testing.T, f *fixture) {
	renamed := f.table(t, "other")
	var won atomic.Int64
	together(15, func(i int) {
		var err error
		switch i % 3 {
		case 0:
			err = f.s.CreateTable(t.Context(), f.newTable("one"), catalog.Effects{})
		case 1:
			err = f.s.CreateView(t.Context(), f.newView("one"), event(models.AuditViewCreated))
		default:
			if i != 2 {
				return
			}
			err = f.s.RenameTable(t.Context(), renamed.ID, f.ns.ID, "one", event(models.AuditTableRenamed))
		}
		if err == nil {
			won.Add(1)
			return
		}
		assert.Equal(t, fault.AlreadyExists, fault.CodeOf(err), "%v", err)
	})
	assert.EqualValues(t, 1, won.Load())
	f.requireNames(t)
}

func crossedRenames(t *testing.T, f *fixture) {
	table, view := f.table(t, "n0"), f.view(t, "n1")
	together(8, func(i int) {
		for n := range 10 {
			var err error
			if name := fmt.Sprint("n", (i+n)%4); i%2 == 0 {
				err = f.s.RenameTable(t.Context(), table.ID, f.ns.ID, name, event(models.AuditTableRenamed))
			} else {
				err = f.s.RenameView(t.Context(), view.ID, f.ns.ID, name, event(models.AuditViewRenamed))
			}
			if err != nil {
				assert.Equal(t, fault.AlreadyExists, fault.CodeOf(err), "%v", err)
			}
		}
	})
	f.requireNames(t)
}

// requireNames compares the identifiers of the namespace with its tables and views: each has its own name, no other.
func (f *fixture) requireNames(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	tables, err := f.s.ListTables(t.Context(), f.ns.ID, catalog.Page{})
	require.NoError(t, err)
	for _, row := range tables {
		f.requireName(t, f.ns.ID, row.Name, models.TableIdentifier, row.ID)
		seen[row.Name] = true
	}
	views, err := f.s.ListViews(t.Context(), f.ns.ID, catalog.Page{})
	require.NoError(t, err)
	for _, row := range views {
		f.requireName(t, f.ns.ID, row.Name, models.ViewIdentifier, row.ID)
		seen[row.Name] = true
	}
	for _, name := range []string{"one", "other", "n0", "n1", "n2", "n3"} {
		if !seen[name] {
			f.requireFree(t, f.ns.ID, name)
		}
	}
}

package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func stagedCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"the live ones of a name and a principal are given": stagedAreGiven,
		"one takes the place of another at its location":    stagedAgain,
		"a location is taken by one name alone":             stagedApart,
		"a table ends those of its name":                    stagedEnd,
		"a table is held apart from those of others":        stagedHold,
		"of eight that take one location one does":          stagedRace,
		"the innermost table of a catalog is at a location": tableAtLocation,
		"one is found by what lies in it, by its principal": stagedAtLocation,
		"they go with their namespace and their catalog":    stagedGo,
	}
}

func (f *fixture) newStaged(name, location string) models.StagedCreate {
	return models.StagedCreate{
		ID: uuid.NewString(), CatalogID: f.cat.ID, NamespaceID: f.ns.ID, Name: name, TableUUID: uuid.NewString(), Location: location,
		Principal: "ada-id", CreatedAt: f.started, ExpiresAt: f.started.Add(time.Hour),
	}
}

func (f *fixture) stage(t *testing.T, c models.StagedCreate) models.StagedCreate {
	t.Helper()
	require.NoError(t, f.s.StageCreate(t.Context(), c))
	return c
}

func (f *fixture) staged(t *testing.T, name string) []models.StagedCreate {
	t.Helper()
	list, err := f.s.StagedCreates(t.Context(), f.ns.ID, name, "ada-id")
	require.NoError(t, err)
	return list
}

func stagedAreGiven(t *testing.T, f *fixture) {
	assert.Empty(t, f.staged(t, "orders"))
	assert.Empty(t, f.staged(t, "nul\x00"))
	first := f.stage(t, f.newStaged("orders", "s3://lake/sales/orders-1"))
	second := f.newStaged("orders", "s3://lake/sales/orders-2")
	second.CreatedAt = f.started.Add(time.Second)
	f.stage(t, second)
	others := f.newStaged("orders", "s3://lake/sales/orders-3")
	others.Principal = "bob-id"
	f.stage(t, others)
	f.stage(t, f.newStaged("lines", "s3://lake/sales/lines-1"))
	expired := f.newStaged("orders", "s3://lake/sales/orders-4")
	expired.ExpiresAt = f.started.Add(-time.Second)
	f.stage(t, expired)
	assert.Equal(t, []models.StagedCreate{second, first}, f.staged(t, "orders"))

	absent := f.newStaged("x", "s3://lake/sales/x")
	absent.NamespaceID = "none"
	requireFault(t, f.s.StageCreate(t.Context(), absent), fault.NotFound, fault.Namespace)
	absent.NamespaceID, absent.Name = f.ns.ID, "nul\x00"
	requireFault(t, f.s.StageCreate(t.Context(), absent), fault.Invalid, fault.NoSubject)
}

func stagedAgain(t *testing.T, f *fixture) {
	f.stage(t, f.newStaged("orders", "s3://lake/sales/orders"))
	again := f.stage(t, f.newStaged("orders", "s3://lake/sales/orders"))
	assert.Equal(t, []models.StagedCreate{again}, f.staged(t, "orders"))

	expired := f.newStaged("lines", "s3://lake/sales/lines")
	expired.ExpiresAt = f.started.Add(-time.Hour)
	f.stage(t, expired)
	f.stage(t, f.newStaged("other", "s3://lake/sales/lines"))
	assert.Empty(t, f.staged(t, "lines"))
	assert.Len(t, f.staged(t, "other"), 1)
}

func stagedApart(t *testing.T, f *fixture) {
	f.stage(t, f.newStaged("orders", "s3://lake/sales/orders"))
	other := f.otherCatalog(t, "second")
	for _, location := range []string{"s3://lake/sales/orders", "s3://lake/sales/orders/data", "s3://lake/sales", "s3://lake"} {
		requireFault(t, f.s.StageCreate(t.Context(), f.newStaged("lines", location)), fault.Conflict, fault.NoSubject)
		err := f.s.StageCreate(t.Context(), other.newStaged("orders", location))
		requireFault(t, err, fault.Conflict, fault.NoSubject)
		assert.NotContains(t, err.Error(), "sales.orders", "the name of a table of another catalog is not told")
		found, err := f.s.StagedAt(t.Context(), location, f.ns.ID, "lines")
		require.NoError(t, err)
		assert.Equal(t, catalog.Occupant{CatalogID: f.cat.ID, Name: "sales.orders (being created)"}, found)
		found, err = f.s.StagedAt(t.Context(), location, f.ns.ID, "orders")
		require.NoError(t, err)
		assert.Zero(t, found, "of its own name it is none")
	}
	f.stage(t, f.newStaged("orders", "s3://lake/sales/orders/inner"))
	f.stage(t, f.newStaged("lines", "s3://lake/sales/orders2"))

	row := f.table(t, "full")
	requireFault(t, f.s.StageCreate(t.Context(), f.newStaged("full", row.Location)), fault.Conflict, fault.NoSubject)
	require.NoError(t, f.drop(t, row.ID))
	requireFault(t, f.s.StageCreate(t.Context(), f.newStaged("full", row.Location+"/x")), fault.Conflict, fault.NoSubject)
}

func stagedEnd(t *testing.T, f *fixture) {
	f.stage(t, f.newStaged("orders", "s3://lake/sales/orders"))
	f.stage(t, f.newStaged("orders", "s3://lake/sales/orders-2"))
	f.stage(t, f.newStaged("lines", "s3://lake/sales/lines"))
	row := f.newTable("orders")
	row.Location = "s3://lake/sales/orders"
	require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}))
	assert.Empty(t, f.staged(t, "orders"))
	assert.Len(t, f.staged(t, "lines"), 1)
}

func stagedHold(t *testing.T, f *fixture) {
	f.stage(t, f.newStaged("orders", "s3://lake/sales/orders"))
	row := f.newTable("thief")
	row.Location = "s3://lake/sales/orders/data"
	requireFault(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}), fault.Conflict, fault.NoSubject)
	err := f.s.SwapTables(t.Context(), []catalog.Swap{{Table: row, Create: true}})
	requireFault(t, err, fault.Conflict, fault.NoSubject)
	moved := f.table(t, "moved")
	moved.Location = "s3://lake/sales/orders"
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{{Table: moved, Moves: true}}), fault.Conflict, fault.NoSubject)
	assert.Len(t, f.staged(t, "orders"), 1)
}

func stagedRace(t *testing.T, f *fixture) {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	results := make([]error, len(names))
	together(len(names), func(i int) {
		results[i] = f.s.StageCreate(t.Context(), f.newStaged(names[i], "s3://lake/sales/one"))
	})
	won := 0
	for _, err := range results {
		if err == nil {
			won++
			continue
		}
		requireFault(t, err, fault.Conflict, fault.NoSubject)
	}
	assert.Equal(t, 1, won)
}

func tableAtLocation(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.otherCatalog(t, "second")
	for _, at := range []string{row.Location, row.Location + "/", row.Location + "/data/a.parquet"} {
		found, err := f.s.TableAtLocation(t.Context(), f.cat.ID, at)
		require.NoError(t, err)
		assert.Equal(t, row.ID, found.ID)
		_, err = f.s.TableAtLocation(t.Context(), other.cat.ID, at)
		requireFault(t, err, fault.NotFound, fault.Table)
	}
	for _, at := range []string{row.Location + "2/a", "s3://lake/sales", "", "nul\x00"} {
		_, err := f.s.TableAtLocation(t.Context(), f.cat.ID, at)
		requireFault(t, err, fault.NotFound, fault.Table)
	}
}

func stagedGo(t *testing.T, f *fixture) {
	second := f.namespace(t, "second")
	in := f.newStaged("orders", "s3://lake/second/orders")
	in.NamespaceID = second.ID
	f.stage(t, in)
	require.NoError(t, f.s.DropNamespace(t.Context(), second.ID, event(models.AuditNamespaceDropped)))
	f.stage(t, f.newStaged("lines", "s3://lake/second/orders"))
}

func stagedAtLocation(t *testing.T, f *fixture) {
	in, other := f.stage(t, f.newStaged("orders", "s3://lake/sales/orders-9")), f.otherCatalog(t, "second")
	gone := f.newStaged("lines", "s3://lake/sales/lines-9")
	gone.ExpiresAt = f.started.Add(-time.Second)
	f.stage(t, gone)
	for _, at := range []string{in.Location, in.Location + "/", in.Location + "/data/a.parquet"} {
		found, key, err := f.s.StagedAtLocation(t.Context(), f.cat.ID, at, in.Principal)
		require.NoError(t, err)
		assert.Equal(t, in.ID, found.ID)
		assert.Equal(t, f.ns.Key, key)
		_, _, err = f.s.StagedAtLocation(t.Context(), f.cat.ID, at, "another")
		requireFault(t, err, fault.NotFound, fault.Table)
		_, _, err = f.s.StagedAtLocation(t.Context(), other.cat.ID, at, in.Principal)
		requireFault(t, err, fault.NotFound, fault.Table)
	}
	for _, at := range []string{in.Location + "2/a", "s3://lake/sales", gone.Location, "", "nul\x00"} {
		_, _, err := f.s.StagedAtLocation(t.Context(), f.cat.ID, at, in.Principal)
		requireFault(t, err, fault.NotFound, fault.Table)
	}
}

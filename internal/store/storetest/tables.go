package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func tableCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a table is read as it was written": func(t *testing.T, f *fixture) {
			row := f.newTable("Größe 'x' \"y\" `z` %_?")
			row.CurrentSnapshotID = ptr(int64(9007199254740993)) // beyond 2^53
			require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}))
			got, err := f.s.TableByName(t.Context(), f.ns.ID, row.Name)
			require.NoError(t, err)
			assert.WithinRange(t, got.CreatedAt, f.started, f.started.Add(60e9))
			row.CreatedAt, row.UpdatedAt = got.CreatedAt, got.UpdatedAt
			assert.Equal(t, row, got)
			assert.Equal(t, row, f.load(t, row.ID))
		},
		"absent tables are not found": func(t *testing.T, f *fixture) {
			f.table(t, "orders")
			for _, name := range []string{"ORDERS", "orders ", "", "a\x00", "\xff"} {
				_, err := f.s.TableByName(t.Context(), f.ns.ID, name)
				requireFault(t, err, fault.NotFound, fault.Table)
			}
			_, err := f.s.TableByID(t.Context(), uuid.NewString())
			requireFault(t, err, fault.NotFound, fault.Table)
		},
		"tables are listed in byte order, by pages":             tablesAreListed,
		"a creation writes all its effects or none":             creationIsWhole,
		"a table needs its namespace":                           tableNeedsNamespace,
		"locations overlap by whole segments":                   locationsOverlap,
		"locations overlap whatever their catalogs":             overlapAcrossCatalogs,
		"a table that overlaps another is not created":          overlapIsRefused,
		"a rename moves the row and wins or loses as a whole":   renames,
		"governance is stored alone and outdates commits":       governanceIsAlone,
		"governance is changed by who saw what it says":         governanceIsSwapped,
		"tables are found by uuid":                              foundByUUID,
		"a very long name is stored or refused, never half way": longNames,
	}
}

func tablesAreListed(t *testing.T, f *fixture) {
	for _, name := range []string{"b", "A", "a", "_x", "ä"} {
		f.table(t, name)
	}
	names := func(page catalog.Page) (out []string) {
		rows, err := f.s.ListTables(t.Context(), f.ns.ID, page)
		require.NoError(t, err)
		for _, r := range rows {
			out = append(out, r.Name)
		}
		return out
	}
	assert.Equal(t, []string{"A", "_x", "a", "b", "ä"}, names(catalog.Page{}))
	assert.Equal(t, []string{"a", "b"}, names(catalog.Page{After: "_x", Limit: 2}))
	assert.Empty(t, names(catalog.Page{After: "ä"}))
}

func creationIsWhole(t *testing.T, f *fixture) {
	row := f.newTable("ctas")
	row.CurrentSnapshotID = ptr(int64(1))
	effects := catalog.Effects{
		Commits: []models.Commit{commitOf(row, 1, 1)},
		Audit:   []models.AuditEvent{event(models.AuditTableCreated)},
	}
	require.NoError(t, f.s.CreateTable(t.Context(), row, effects))
	assert.Len(t, f.outbox(t), 1)
	again := f.newTable("ctas")
	effects.Commits = []models.Commit{commitOf(again, 2, 1)}
	effects.Audit = []models.AuditEvent{event(models.AuditTableCreated)}
	requireFault(t, f.s.CreateTable(t.Context(), again, effects), fault.AlreadyExists, fault.Table)
	assert.Len(t, f.outbox(t), 1)
	assert.Len(t, f.audit(t, models.AuditTableCreated), 1)
	_, err := f.s.Commit(t.Context(), again.ID, 2)
	requireFault(t, err, fault.NotFound, fault.NoSubject)
}

func tableNeedsNamespace(t *testing.T, f *fixture) {
	row := f.newTable("lost")
	row.NamespaceID = uuid.NewString()
	requireFault(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}), fault.NotFound, fault.Namespace)
	row = f.newTable("lost")
	row.CatalogID = uuid.NewString()
	requireFault(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}), fault.NotFound, fault.Catalog)
}

func locationsOverlap(t *testing.T, f *fixture) {
	row := f.newTable("orders")
	row.Location = "s3://lake/sales/orders"
	require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}))
	slashed := f.newTable("slashed")
	slashed.Location = "s3://lake/slashed/"
	require.NoError(t, f.s.CreateTable(t.Context(), slashed, catalog.Effects{}))
	for location, want := range map[string]string{
		"s3://lake/sales/orders":      "sales.orders",
		"s3://lake/sales/orders/":     "sales.orders",
		"s3://lake/sales/orders/data": "sales.orders",
		"s3://lake/sales":             "sales.orders",
		"s3://lake":                   "sales.orders",
		"s3://lake/sales/orders2":     "",
		"s3://lake/sales/order":       "",
		"s3://lake/sales/orders-old":  "",
		"s3://lake/sales/Orders":      "",
		"s3://lake/other":             "",
		"s3://lake2":                  "",
		"s3://lake/slashed":           "sales.slashed",
		"s3://lake/slashed/x/y":       "sales.slashed",
		"s3://lake/slashedx":          "",
	} {
		got, err := f.s.OverlappingTable(t.Context(), location, "")
		require.NoError(t, err)
		named := f.tableWithin(t, location, "")
		if location == "s3://lake" {
			assert.NotEmpty(t, got)
			assert.NotEmpty(t, named)
			continue
		}
		assert.Equal(t, want, got.Name, location)
		if want == "" {
			assert.Empty(t, got, location)
			assert.Empty(t, named, location)
			continue
		}
		assert.Equal(t, f.cat.ID, got.CatalogID, location)
		assert.Equal(t, "main."+want, named, location)
		assert.Empty(t, f.tableWithin(t, location, f.cat.ID), "in the catalog that is left out: %s", location)
	}
	got, err := f.s.OverlappingTable(t.Context(), "s3://lake/sales", row.ID)
	require.NoError(t, err)
	assert.Empty(t, got, "a table does not overlap itself")
	for _, location := range []string{"", "\x00", "\xff"} {
		got, err = f.s.OverlappingTable(t.Context(), location, "")
		require.NoError(t, err)
		assert.Empty(t, got)
	}
}

// overlapAcrossCatalogs: two catalogs may lie in one bucket, two tables never in one folder.
func overlapAcrossCatalogs(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	other := f.otherCatalog(t, "other")
	inside := other.newTable("inside")
	inside.Location = row.Location + "/data/inside"
	err := f.s.CreateTable(t.Context(), inside, catalog.Effects{})
	requireFault(t, err, fault.Conflict, fault.NoSubject)
	assert.NotContains(t, err.Error(), "orders", "who creates in one catalog is not told the tables of another")
	view := other.newView("inside")
	view.Location = inside.Location
	requireFault(t, f.s.CreateView(t.Context(), view, event(models.AuditViewCreated)), fault.Conflict, fault.NoSubject)
	moved := swapTo(other.table(t, "moved"), 1, 1)
	moved.Table.Location, moved.Moves = row.Location, true
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{moved}), fault.Conflict, fault.NoSubject)
	record := f.dropAs(t, row.ID, models.DroppedTable{})
	requireFault(t, f.s.CreateTable(t.Context(), inside, catalog.Effects{}), fault.Conflict, fault.NoSubject)
	got, err := f.s.TableAt(t.Context(), inside.Location)
	require.NoError(t, err)
	assert.Equal(t, catalog.Occupant{CatalogID: f.cat.ID, Name: "sales.orders (dropped)"}, got)
	require.NoError(t, f.s.ForgetTable(t.Context(), record.ID, event(models.AuditTableForgotten)))
	require.NoError(t, f.s.CreateTable(t.Context(), inside, catalog.Effects{}))
}

func overlapIsRefused(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	inside := f.newTable("inside")
	inside.Location = row.Location + "/data/inside"
	requireFault(t, f.s.CreateTable(t.Context(), inside, catalog.Effects{}), fault.Conflict, fault.NoSubject)
	_, err := f.s.TableByName(t.Context(), f.ns.ID, "inside")
	requireFault(t, err, fault.NotFound, fault.Table)
}

func renames(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "taken")
	rename := func(ns, name string) error {
		return f.s.RenameTable(t.Context(), row.ID, ns, name, event(models.AuditTableRenamed))
	}
	requireFault(t, rename(f.ns.ID, other.Name), fault.AlreadyExists, fault.Table)
	requireFault(t, rename(uuid.NewString(), "x"), fault.NotFound, fault.Namespace)
	requireFault(t, rename(f.ns.ID, "a\x00"), fault.Invalid, fault.NoSubject)
	assert.Empty(t, f.audit(t, models.AuditTableRenamed))
	target := f.namespace(t, "archive")
	require.NoError(t, rename(target.ID, "orders_2025"))
	got, err := f.s.TableByName(t.Context(), target.ID, "orders_2025")
	require.NoError(t, err)
	assert.Equal(t, row.ID, got.ID)
	assert.Greater(t, got.Version, row.Version)
	assert.Len(t, f.audit(t, models.AuditTableRenamed), 1)
	moved := event(models.AuditTableRenamed)
	moved.Table = "sales.orders" // which is not its name any more
	requireFault(t, f.s.RenameTable(t.Context(), row.ID, f.ns.ID, "x", moved), fault.Conflict, fault.Table)
	_, err = f.s.DropTable(t.Context(), row.ID, models.DroppedTable{State: models.StateDropped}, moved)
	requireFault(t, err, fault.Conflict, fault.Table)
	moved.Table = "archive.orders_2025"
	require.NoError(t, f.s.RenameTable(t.Context(), row.ID, target.ID, "orders_2026", moved))
	err = f.s.RenameTable(t.Context(), uuid.NewString(), f.ns.ID, "x", event(models.AuditTableRenamed))
	requireFault(t, err, fault.NotFound, fault.Table)
}

func governanceIsAlone(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	before, stale := row, row
	row = f.commit(t, row, 1, 1)
	stale.WritePolicy, stale.Classification, stale.MetadataLocation = models.OpenFull, models.Restricted, "s3://elsewhere"
	stale.Columns.V = map[string]models.ColumnGovernance{"phone": {Mask: "partial"}}
	stale.RowFilters.V = []models.RowFilter{{Role: "analysts", Filter: "region = 'EU'", Expression: json.RawMessage(`{"type":"eq"}`)}}
	require.NoError(t, f.s.UpdateGovernance(t.Context(), before, stale, event(models.AuditWritePolicyChanged)))
	got := f.load(t, row.ID)
	assert.Equal(t, stale.RowFilters, got.RowFilters)
	assert.Equal(t, models.OpenFull, got.WritePolicy)
	assert.Equal(t, models.Restricted, got.Classification)
	assert.Equal(t, stale.Columns, got.Columns)
	assert.Equal(t, row.MetadataLocation, got.MetadataLocation)
	// A commit that was judged by the old policy is to be judged again, and a swap never puts old governance back.
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(row, 2, 2)}), fault.Conflict, fault.Table)
	row.Version = got.Version
	got = f.commit(t, row, 2, 2)
	assert.Equal(t, models.OpenFull, got.WritePolicy)
	stale.ID = uuid.NewString()
	requireFault(t, f.s.UpdateGovernance(t.Context(), before, stale, event(models.AuditWritePolicyChanged)), fault.NotFound, fault.Table)
}

// What governance says is stored as a whole: whoever did not see what another said must not take it away.
func governanceIsSwapped(t *testing.T, f *fixture) {
	first := f.load(t, f.table(t, "orders").ID)
	for i, change := range []func(*models.Table){
		func(row *models.Table) { row.WritePolicy = models.OpenFull },
		func(row *models.Table) { row.Classification = models.Restricted },
		func(row *models.Table) { row.IdentityColumns.V = []string{"id", "email"} },
		func(row *models.Table) {
			row.Columns.V = map[string]models.ColumnGovernance{"phone": {Mask: "partial"}}
		},
		func(row *models.Table) {
			row.RowFilters.V = []models.RowFilter{{Role: "eu", Filter: "TRUE", Expression: json.RawMessage("true")}}
		},
		func(row *models.Table) { row.KnownColumn = 9 },
	} {
		before := f.load(t, first.ID)
		after := before
		change(&after)
		require.NoError(t, f.s.UpdateGovernance(t.Context(), before, after, event(models.AuditRowFiltersChanged)), i)
		requireFault(t, f.s.UpdateGovernance(t.Context(), before, before, event(models.AuditWritePolicyChanged)), fault.Conflict, fault.Table)
	}
	assert.Len(t, f.audit(t, models.AuditRowFiltersChanged), 6)
	assert.Empty(t, f.audit(t, models.AuditWritePolicyChanged), "of what was not stored")
	got := f.load(t, first.ID)
	assert.Len(t, got.RowFilters.V, 1)
	assert.Equal(t, 9, got.KnownColumn)
	// Two that saw the same: one of them is told.
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i := range errs {
		both.Go(func() {
			after := got
			after.KnownColumn += i + 1
			errs[i] = f.s.UpdateGovernance(t.Context(), got, after, event(models.AuditClassificationChanged))
		})
	}
	both.Wait()
	assert.Len(t, f.audit(t, models.AuditClassificationChanged), 1)
	requireFault(t, errors.Join(errs...), fault.Conflict, fault.Table)
}

func foundByUUID(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	twin := f.newTable("twin")
	twin.UUID = row.UUID
	requireFault(t, f.s.CreateTable(t.Context(), twin, catalog.Effects{}), fault.Conflict, fault.Table)
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{{Table: twin, Create: true}}), fault.Conflict, fault.Table)
	for _, catalogID := range []string{f.cat.ID, ""} {
		got, err := f.s.FindTable(t.Context(), catalogID, row.UUID)
		require.NoError(t, err)
		assert.Len(t, got, 1)
	}
	for _, name := range []string{"old", "older"} { // of format version 1, which need no uuid
		none := f.newTable(name)
		none.UUID, none.FormatVersion = "", 1
		require.NoError(t, f.s.CreateTable(t.Context(), none, catalog.Effects{}))
	}
	old, err := f.s.TableByName(t.Context(), f.ns.ID, "old")
	require.NoError(t, err)
	old.UUID = row.UUID
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{{Table: old}}), fault.Conflict, fault.Table)
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{{Table: old}, {Table: f.newTable("more"), Create: true}}), fault.Conflict, fault.Table)
	got, err := f.s.FindTable(t.Context(), uuid.NewString(), row.UUID)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func longNames(t *testing.T, f *fixture) {
	parts := make([]string, 300)
	for i := range parts {
		parts[i] = uuid.NewString()
	}
	row := f.newTable(strings.Join(parts, "")) // 10,800 bytes that do not compress
	if err := f.s.CreateTable(t.Context(), row, catalog.Effects{}); err != nil {
		requireFault(t, err, fault.Invalid, fault.NoSubject)
		return
	}
	assert.Equal(t, row.Name, f.load(t, row.ID).Name)
}

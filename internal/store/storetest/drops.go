package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func dropCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a drop keeps the whole row and leaves the ledger":          dropKeepsTheRow,
		"an undropped table is what it was, under a free name":      undropBringsItBack,
		"a name can be dropped and made again any number of times":  nameIsRecycled,
		"a protected table is not dropped, and protection is alone": protectedStays,
		"a dropped table's location is taken until it is forgotten": droppedHoldsLocation,
		"a dropped table that is registered again is continued":     dropIsContinued,
		"a drop may leave its location to others":                   dropWithoutItsLocation,
		"a table that takes another's place gets its grants":        replacementInherits,
		"drops are listed newest first, by pages":                   dropsAreListed,
		"a purge and an undrop exclude each other":                  purgeOrUndrop,
		"only what is due is claimed, and claimed again":            purgeIsClaimed,
		"a purge is finished once":                                  purgeIsFinished,
		"a purge sees who may share its files":                      sharersAreSeen,
		"tables without a uuid are not taken for one another":       sharersWithoutUUID,
		"a swap notes that files may be elsewhere":                  swapNotesForeignFiles,
	}
}

func (f *fixture) dropAs(t *testing.T, id string, drop models.DroppedTable) models.DroppedTable {
	t.Helper()
	if drop.State == "" {
		drop.State = models.StateDropped
	}
	drop.DroppedBy, drop.HoldsLocation = "ada", true
	record, err := f.s.DropTable(t.Context(), id, drop, event(models.AuditTableDropped))
	require.NoError(t, err)
	return record
}

func (f *fixture) dropRecord(t *testing.T, id string) models.DroppedTable {
	t.Helper()
	record, err := f.s.DroppedTable(t.Context(), id)
	require.NoError(t, err)
	return record
}

func (f *fixture) undrop(t *testing.T, id, name string) error {
	t.Helper()
	return f.s.UndropTable(t.Context(), id, f.ns.ID, name, event(models.AuditTableUndropped))
}

func dropKeepsTheRow(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	row = f.commit(t, row, 9007199254740993, 1)
	after := time.Now().Add(time.Hour)
	record := f.dropAs(t, row.ID, models.DroppedTable{PurgeRequested: true, PurgeAfter: &after})
	requireFault(t, f.drop(t, row.ID), fault.NotFound, fault.Table)
	_, err := f.s.TableByID(t.Context(), row.ID)
	requireFault(t, err, fault.NotFound, fault.Table)
	_, err = f.s.Commit(t.Context(), row.ID, 9007199254740993)
	require.NoError(t, err)

	got := f.dropRecord(t, record.ID)
	assert.Equal(t, record, got)
	assert.Equal(t, row, got.Table.V, "the row of its last commit, exactly")
	assert.Equal(t, "sales.orders", got.Ident().String())
	assert.Equal(t, row.MetadataLocation, got.MetadataLocation)
	assert.True(t, got.PurgeRequested)
	assert.WithinDuration(t, after, *got.PurgeAfter, time.Millisecond)
	events := f.audit(t, models.AuditTableDropped)
	require.Len(t, events, 1)
	assert.Equal(t, record.ID, events[0].Details.V["dropId"])
	assert.Equal(t, row.MetadataLocation, events[0].Details.V["metadataLocation"])
	_, err = f.s.DroppedTable(t.Context(), uuid.NewString())
	requireFault(t, err, fault.NotFound, fault.Table)
}

func undropBringsItBack(t *testing.T, f *fixture) {
	row := f.commit(t, f.table(t, "orders"), 1, 1)
	record := f.dropAs(t, row.ID, models.DroppedTable{})
	other := f.table(t, "orders")
	requireFault(t, f.undrop(t, record.ID, "orders"), fault.AlreadyExists, fault.Table)
	assert.Equal(t, models.StateDropped, f.dropRecord(t, record.ID).State, "it is still there to try again")
	require.NoError(t, f.undrop(t, record.ID, "orders_back"))
	got, err := f.s.TableByName(t.Context(), f.ns.ID, "orders_back")
	require.NoError(t, err)
	assert.Greater(t, got.Version, row.Version)
	row.Name, row.Version, row.UpdatedAt = got.Name, got.Version, got.UpdatedAt
	assert.Equal(t, row, got)
	assert.Equal(t, models.StateUndropped, f.dropRecord(t, record.ID).State)
	requireFault(t, f.undrop(t, record.ID, "again"), fault.Conflict, fault.Table)
	assert.Len(t, f.audit(t, models.AuditTableUndropped), 1)
	assert.NotEqual(t, other.ID, got.ID)
	err = f.s.UndropTable(t.Context(), f.dropAs(t, row.ID, models.DroppedTable{}).ID, uuid.NewString(), "x", event(models.AuditTableUndropped))
	requireFault(t, err, fault.NotFound, fault.Namespace)
}

func nameIsRecycled(t *testing.T, f *fixture) {
	for range 5 {
		row := f.table(t, "orders")
		require.NoError(t, f.drop(t, row.ID))
	}
	records, err := f.s.DroppedTables(t.Context(), models.DroppedFilter{CatalogID: f.cat.ID})
	require.NoError(t, err)
	assert.Len(t, records, 5, "no row vanishes")
	for i, r := range records {
		require.NoError(t, f.undrop(t, r.ID, "orders_"+string(rune('a'+i))))
	}
}

func protectedStays(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	require.NoError(t, f.s.SetProtection(t.Context(), row.ID, true, event(models.AuditProtectionChanged)))
	stale := row
	stale.WritePolicy = models.OpenFull
	require.NoError(t, f.s.UpdateGovernance(t.Context(), row, stale, event(models.AuditWritePolicyChanged)))
	assert.True(t, f.load(t, row.ID).Protected, "other governance leaves it alone")
	requireFault(t, f.drop(t, row.ID), fault.Forbidden, fault.Table)
	next := f.newTable("orders")
	err := f.s.ReplaceTable(t.Context(), row.ID, models.DroppedTable{State: models.StateDropped}, event(models.AuditTableDropped), next, catalog.Effects{})
	requireFault(t, err, fault.Forbidden, fault.Table)
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(row, 1, 1)}), fault.Conflict, fault.Table)
	assert.Empty(t, f.audit(t, models.AuditTableDropped))
	require.NoError(t, f.s.SetProtection(t.Context(), row.ID, false, event(models.AuditProtectionChanged)))
	require.NoError(t, f.drop(t, row.ID))
	requireFault(t, f.s.SetProtection(t.Context(), row.ID, true, event(models.AuditProtectionChanged)), fault.NotFound, fault.Table)
}

func droppedHoldsLocation(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	record := f.dropAs(t, row.ID, models.DroppedTable{})
	overlap := func(except string) string {
		found, err := f.s.OverlappingTable(t.Context(), row.Location+"/inner", except)
		require.NoError(t, err)
		return found.Name
	}
	assert.Equal(t, "sales.orders (dropped)", overlap(""))
	assert.Empty(t, overlap(record.ID))
	inside := f.newTable("inside")
	inside.Location = row.Location + "/inner"
	requireFault(t, f.s.CreateTable(t.Context(), inside, catalog.Effects{}), fault.Conflict, fault.NoSubject)
	require.NoError(t, f.s.ForgetTable(t.Context(), record.ID, event(models.AuditTableForgotten)))
	assert.Empty(t, overlap(""))
	require.NoError(t, f.s.CreateTable(t.Context(), inside, catalog.Effects{}))
	requireFault(t, f.undrop(t, record.ID, "orders"), fault.Conflict, fault.Table)
	requireFault(t, f.s.ForgetTable(t.Context(), record.ID, event(models.AuditTableForgotten)), fault.Conflict, fault.Table)
}

func dropIsContinued(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	record := f.dropAs(t, row.ID, models.DroppedTable{State: models.StateUnregistered})
	again := f.newTable("orders")
	again.UUID, again.Location = row.UUID, row.Location
	requireFault(t, f.s.CreateTable(t.Context(), again, catalog.Effects{}), fault.Conflict, fault.NoSubject)
	require.NoError(t, f.s.CreateTable(t.Context(), again, catalog.Effects{Continues: record.ID}))
	assert.Equal(t, models.StateRegistered, f.dropRecord(t, record.ID).State)
	third := f.newTable("third")
	requireFault(t, f.s.CreateTable(t.Context(), third, catalog.Effects{Continues: record.ID}), fault.Conflict, fault.Table)
	_, err := f.s.TableByID(t.Context(), third.ID)
	requireFault(t, err, fault.NotFound, fault.Table)
}

func replacementInherits(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	next := f.newTable("orders")
	require.NoError(t, f.s.ReplaceTable(t.Context(), row.ID, models.DroppedTable{State: models.StateDropped, HoldsLocation: true, DroppedBy: "ada"},
		event(models.AuditTableDropped), next, catalog.Effects{Audit: []models.AuditEvent{event(models.AuditTableRegistered)}}))
	got, err := f.s.TableByName(t.Context(), f.ns.ID, "orders")
	require.NoError(t, err)
	assert.Equal(t, next.ID, got.ID)
	records, err := f.s.DroppedTables(t.Context(), models.DroppedFilter{TableUUID: row.UUID})
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.NoError(t, f.undrop(t, records[0].ID, "orders_before"))
	assert.Equal(t, row.ID, f.load(t, row.ID).ID)
	assert.Len(t, f.audit(t, models.AuditTableRegistered), 1)
}

func dropsAreListed(t *testing.T, f *fixture) {
	var ids []string
	for _, name := range []string{"a", "b", "c"} {
		ids = append(ids, f.dropAs(t, f.table(t, name).ID, models.DroppedTable{}).ID)
	}
	list := func(filter models.DroppedFilter) (out []string) {
		records, err := f.s.DroppedTables(t.Context(), filter)
		require.NoError(t, err)
		for _, r := range records {
			out = append(out, r.ID)
		}
		return out
	}
	assert.Equal(t, []string{ids[2], ids[1]}, list(models.DroppedFilter{CatalogID: f.cat.ID, Limit: 2}))
	assert.Equal(t, []string{ids[0]}, list(models.DroppedFilter{Before: ids[1]}))
	require.NoError(t, f.undrop(t, ids[1], "b"))
	assert.Equal(t, []string{ids[1]}, list(models.DroppedFilter{States: []models.DropState{models.StateUndropped}}))
	assert.Empty(t, list(models.DroppedFilter{CatalogID: uuid.NewString()}))
}

// due drops a table so that it may be purged now.
func (f *fixture) due(t *testing.T, name string) models.DroppedTable {
	t.Helper()
	before := time.Now().Add(-time.Minute)
	return f.dropAs(t, f.table(t, name).ID, models.DroppedTable{PurgeRequested: true, PurgeAfter: &before})
}

// purgeOrUndrop runs both at once: exactly one of them wins, whatever the order.
func purgeOrUndrop(t *testing.T, f *fixture) {
	for i := range 10 {
		record := f.due(t, "t"+string(rune('a'+i)))
		var wg sync.WaitGroup
		var claimed bool
		var undropErr, claimErr error
		wg.Go(func() { _, claimed, claimErr = f.s.ClaimPurge(t.Context(), record.ID, time.Now()) })
		wg.Go(func() { undropErr = f.undrop(t, record.ID, record.Name) })
		wg.Wait()
		require.NoError(t, claimErr)
		require.NotEqual(t, claimed, undropErr == nil, "one of both")
		_, err := f.s.TableByID(t.Context(), record.TableID)
		require.Equal(t, claimed, fault.Is(err, fault.NotFound))
		require.Contains(t, []models.DropState{models.StatePurging, models.StateUndropped}, f.dropRecord(t, record.ID).State)
	}
}

func purgeIsClaimed(t *testing.T, f *fixture) {
	later := time.Now().Add(time.Hour)
	kept := f.dropAs(t, f.table(t, "kept").ID, models.DroppedTable{})
	early := f.dropAs(t, f.table(t, "early").ID, models.DroppedTable{PurgeAfter: &later})
	due := f.due(t, "due")
	ids := func(now time.Time) (out []string) {
		records, err := f.s.DuePurges(t.Context(), now, "", 10)
		require.NoError(t, err)
		for _, r := range records {
			out = append(out, r.ID)
		}
		return out
	}
	assert.Equal(t, []string{due.ID}, ids(time.Now()))
	assert.Equal(t, []string{early.ID, due.ID}, ids(later))
	for id, want := range map[string]bool{kept.ID: false, early.ID: false, due.ID: true} {
		record, claimed, err := f.s.ClaimPurge(t.Context(), id, time.Now())
		require.NoError(t, err)
		assert.Equal(t, want, claimed)
		assert.Equal(t, id, record.ID)
	}
	_, again, err := f.s.ClaimPurge(t.Context(), due.ID, time.Now())
	require.NoError(t, err)
	assert.True(t, again, "an interrupted purge goes on")
	assert.Equal(t, []string{due.ID}, ids(time.Now()), "until it is finished")
	requireFault(t, f.s.ForgetTable(t.Context(), due.ID, event(models.AuditTableForgotten)), fault.Conflict, fault.Table)
	name, err := f.s.OverlappingTable(t.Context(), due.Location, "")
	require.NoError(t, err)
	assert.NotEmpty(t, name, "nobody may write where files are being deleted")
	_, _, err = f.s.ClaimPurge(t.Context(), uuid.NewString(), time.Now())
	requireFault(t, err, fault.NotFound, fault.Table)
}

func purgeIsFinished(t *testing.T, f *fixture) {
	due := f.due(t, "due")
	finish := func() (bool, error) {
		e := event(models.AuditTablePurged)
		e.DedupeKey = ptr("purged/" + due.ID)
		return f.s.FinishPurge(t.Context(), due.ID, 7, 700, e)
	}
	_, err := finish()
	requireFault(t, err, fault.Conflict, fault.Table)
	_, _, err = f.s.ClaimPurge(t.Context(), due.ID, time.Now())
	require.NoError(t, err)
	for _, want := range []bool{true, false} {
		finished, err := finish()
		require.NoError(t, err)
		assert.Equal(t, want, finished)
	}
	got := f.dropRecord(t, due.ID)
	assert.Equal(t, models.StatePurged, got.State)
	assert.Equal(t, []int64{7, 700}, []int64{*got.PurgedFiles, *got.PurgedBytes})
	assert.Len(t, f.audit(t, models.AuditTablePurged), 1)
	_, claimed, err := f.s.ClaimPurge(t.Context(), due.ID, time.Now())
	require.NoError(t, err)
	assert.False(t, claimed)
	name, err := f.s.OverlappingTable(t.Context(), due.Location, "")
	require.NoError(t, err)
	assert.Empty(t, name)
}

func sharersAreSeen(t *testing.T, f *fixture) {
	foreign := f.newTable("registered")
	foreign.ForeignFiles = true
	require.NoError(t, f.s.CreateTable(t.Context(), foreign, catalog.Effects{}))
	gone := f.newTable("gone")
	gone.ForeignFiles = true
	require.NoError(t, f.s.CreateTable(t.Context(), gone, catalog.Effects{}))
	require.NoError(t, f.drop(t, gone.ID))
	f.table(t, "own")
	due := f.due(t, "due")
	got, err := f.s.Sharers(t.Context(), due.ID)
	require.NoError(t, err)
	var locations []string
	for _, s := range got.Tables {
		locations = append(locations, s.Location)
		assert.False(t, s.Overlaps)
	}
	assert.ElementsMatch(t, []string{foreign.Location, gone.Location}, locations)
	assert.False(t, got.Overlapped)
}

// sharersWithoutUUID: tables of format version 1 may have no uuid, and one that has none is not the same as another.
func sharersWithoutUUID(t *testing.T, f *fixture) {
	before := time.Now().Add(-time.Minute)
	dropped := func(name string, drop models.DroppedTable) models.DroppedTable {
		row := f.newTable(name)
		row.UUID, row.FormatVersion, row.ForeignFiles = "", 1, true
		require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{}))
		return f.dropAs(t, row.ID, drop)
	}
	locations := func(id string) (out []string) {
		got, err := f.s.Sharers(t.Context(), id)
		require.NoError(t, err)
		for _, s := range got.Tables {
			out = append(out, s.Location)
		}
		return out
	}
	due := dropped("due", models.DroppedTable{PurgeRequested: true, PurgeAfter: &before})
	back := dropped("back", models.DroppedTable{})
	handedOver := dropped("handed_over", models.DroppedTable{State: models.StateUnregistered})
	forgotten := dropped("forgotten", models.DroppedTable{})
	require.NoError(t, f.s.ForgetTable(t.Context(), forgotten.ID, event(models.AuditTableForgotten)))
	others := []string{back.Location, handedOver.Location, forgotten.Location}
	assert.ElementsMatch(t, others, locations(due.ID))
	_, _, err := f.s.ClaimPurge(t.Context(), due.ID, time.Now())
	require.NoError(t, err)
	assert.ElementsMatch(t, others, locations(due.ID), "while its files are being deleted too")

	require.NoError(t, f.undrop(t, back.ID, "back"))
	assert.ElementsMatch(t, others, locations(due.ID), "as a table, and as the record it was no more")
	again := f.dropAs(t, back.TableID, models.DroppedTable{})
	assert.ElementsMatch(t, []string{handedOver.Location, forgotten.Location}, locations(again.ID), "its own records share nothing")
}

func swapNotesForeignFiles(t *testing.T, f *fixture) {
	row := f.table(t, "moved")
	require.False(t, row.ForeignFiles)
	row = f.commit(t, row, 1, 1)
	assert.False(t, row.ForeignFiles)
	swap := swapTo(row, 2, 2)
	swap.Table.ForeignFiles = true
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	row = f.load(t, row.ID)
	assert.True(t, row.ForeignFiles)
	row.ForeignFiles = false
	row = f.commit(t, row, 3, 3)
	assert.True(t, row.ForeignFiles, "and never forgets it")
}

func dropWithoutItsLocation(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	record, err := f.s.DropTable(t.Context(), row.ID, models.DroppedTable{State: models.StateDropped}, event(models.AuditTableDropped))
	require.NoError(t, err)
	again := f.newTable("orders")
	again.Location = row.Location
	require.NoError(t, f.s.CreateTable(t.Context(), again, catalog.Effects{}))
	sharers, err := f.s.Sharers(t.Context(), record.ID)
	require.NoError(t, err)
	assert.True(t, sharers.Overlapped, "a purge knows that another table is there now")
	requireFault(t, f.undrop(t, record.ID, "back"), fault.Conflict, fault.NoSubject)
	require.NoError(t, f.drop(t, again.ID))
	third := f.newTable("third")
	third.Location = row.Location
	requireFault(t, f.s.CreateTable(t.Context(), third, catalog.Effects{}), fault.Conflict, fault.NoSubject)
}

package storetest

import (
	"bytes"
	"crypto/rand"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func governedWriteCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a write lands with its commit, or not at all":       writeLands,
		"the audit of rows is found by write and by hash":    auditOfRows,
		"writes are listed newest first":                     listsWrites,
		"snapshots of upserts are owned":                     ownsSnapshots,
		"a table that is registered again has its writes":    writesMove,
		"the audit of rows outlives its table":               writesOutlive,
		"a data key is made once":                            dataKeyOnce,
		"a write's text may be whatever a client sends":      writeText,
		"a write that was in doubt and is sent again is one": writeOnce,
	}
}

// write is a governed write of a table as the data plane makes it.
func write(row models.Table, snapshot int64, mode models.WriteMode, blocks ...models.RowAuditBlock) models.GovernedWrite {
	id, _ := uuid.NewV7()
	return models.GovernedWrite{
		ID: id.String(), CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: "sales." + row.Name, SnapshotID: snapshot,
		Principal: "ada", TokenID: "t1", RequestID: "r1", Mode: mode, Label: models.Confidential, Digest: "abc", Bytes: 100, Rows: 3, Updated: 1,
		Superseded: 2, Quarantined: 4, QuarantineTable: "sales.orders__quarantine", QuarantineSnapshotID: 99, Level: models.Restricted,
		Levels:          models.JSON[map[models.Classification]int64]{V: map[models.Classification]int64{models.Restricted: 1, models.Internal: 2}},
		Tags:            models.JSON[map[string]int64]{V: map[string]int64{"email": 3}},
		IdentityColumns: models.JSON[[]string]{V: []string{"id"}}, Blocks: blocks,
	}
}

// blockOf is a block with hashes from first to last, filled with their byte.
func blockOf(first, last byte) models.RowAuditBlock {
	content := make([]byte, 1000)
	_, _ = rand.Read(content)
	return models.RowAuditBlock{
		RowCount: 10, FirstHash: bytes.Repeat([]byte{first}, 16), LastHash: bytes.Repeat([]byte{last}, 16), Content: content,
	}
}

// land commits a write as a snapshot of its own.
func (f *fixture) land(t *testing.T, row models.Table, w models.GovernedWrite) models.Table {
	t.Helper()
	swap := swapTo(row, w.SnapshotID, w.SnapshotID)
	swap.Effects.Writes = []models.GovernedWrite{w}
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
	return f.load(t, row.ID)
}

func writeLands(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	other := f.table(t, "orders__quarantine")
	w := write(row, 7, models.UpsertRows, blockOf(0, 127), blockOf(128, 255))
	swaps := []catalog.Swap{swapTo(row, 7, 1), swapTo(other, 99, 1)}
	swaps[0].Effects.Writes = []models.GovernedWrite{w}
	stale := swaps[1]
	stale.Table.Version += 7
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swaps[0], stale}), fault.Conflict, fault.Table)
	_, err := f.s.GovernedWrite(t.Context(), w.ID)
	requireFault(t, err, fault.NotFound, fault.NoSubject)

	require.NoError(t, f.s.SwapTables(t.Context(), swaps))
	got, err := f.s.GovernedWrite(t.Context(), w.ID)
	require.NoError(t, err)
	assert.WithinRange(t, got.CommittedAt, f.started, got.CommittedAt)
	want := w
	want.CommittedAt, want.Blocks = got.CommittedAt, nil
	assert.Equal(t, want, got)
	assert.EqualValues(t, 7, *f.load(t, row.ID).CurrentSnapshotID)
	blocks, err := f.s.RowAuditBlocks(t.Context(), models.RowAuditFilter{WriteID: w.ID})
	require.NoError(t, err)
	require.Len(t, blocks, 2)
	for i, b := range blocks {
		assert.Equal(t, []any{w.ID, i, row.ID}, []any{b.WriteID, b.Place, b.TableID})
		assert.Equal(t, w.Blocks[i].Content, b.Content)
		assert.Equal(t, w.Blocks[i].FirstHash, b.FirstHash)
	}
}

func auditOfRows(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "others")
	many := make([]models.RowAuditBlock, 40)
	for i := range many {
		many[i] = blockOf(byte(i*6), byte(i*6+5))
	}
	first := write(row, 1, models.AppendRows, many...)
	row = f.land(t, row, first)
	second := write(row, 2, models.UpsertRows, blockOf(10, 200))
	f.land(t, row, second)
	f.land(t, other, write(other, 3, models.AppendRows, blockOf(0, 255)))
	places := func(filter models.RowAuditFilter) (out []int) {
		t.Helper()
		blocks, err := f.s.RowAuditBlocks(t.Context(), filter)
		require.NoError(t, err)
		for _, b := range blocks {
			out = append(out, b.Place)
			if b.WriteID == second.ID {
				out[len(out)-1] = 1000
			}
		}
		return out
	}
	hash := bytes.Repeat([]byte{14}, 16)
	assert.Equal(t, []int{2, 1000}, places(models.RowAuditFilter{TableID: row.ID, Hash: hash}))
	assert.Equal(t, []int{2}, places(models.RowAuditFilter{WriteID: first.ID, Hash: hash}))
	assert.Equal(t, []int{0, 1}, places(models.RowAuditFilter{TableID: row.ID, Limit: 2}))
	assert.Equal(t, []int{39, 1000}, places(models.RowAuditFilter{TableID: row.ID, AfterWrite: first.ID, AfterPlace: 38, Limit: 2}))
	assert.Empty(t, places(models.RowAuditFilter{TableID: row.ID, AfterWrite: second.ID}))
	assert.Empty(t, places(models.RowAuditFilter{TableID: uuid.NewString()}))
	assert.Empty(t, places(models.RowAuditFilter{WriteID: "\x00"}))
}

func listsWrites(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "others")
	a := write(row, 1, models.AppendRows)
	row = f.land(t, row, a)
	b := write(row, 2, models.UpsertRows)
	b.Principal = "bob"
	f.land(t, row, b)
	c := write(other, 3, models.AppendRows)
	f.land(t, other, c)
	for name, want := range map[string]struct {
		f  models.GovernedWriteFilter
		is []string
	}{
		"all":       {models.GovernedWriteFilter{}, []string{c.ID, b.ID, a.ID}},
		"catalog":   {models.GovernedWriteFilter{CatalogID: uuid.NewString()}, nil},
		"table":     {models.GovernedWriteFilter{TableID: row.ID, CatalogID: f.cat.ID}, []string{b.ID, a.ID}},
		"principal": {models.GovernedWriteFilter{Principal: "ada"}, []string{c.ID, a.ID}},
		"page":      {models.GovernedWriteFilter{Before: c.ID, Limit: 1}, []string{b.ID}},
		"odd text":  {models.GovernedWriteFilter{Principal: "a\x00"}, nil},
	} {
		got, err := f.s.GovernedWrites(t.Context(), want.f)
		require.NoError(t, err, name)
		var ids []string
		for _, w := range got {
			ids = append(ids, w.ID)
		}
		assert.Equal(t, want.is, ids, name)
	}
}

func ownsSnapshots(t *testing.T, f *fixture) {
	row, other := f.table(t, "orders"), f.table(t, "others")
	owned := func(row models.Table, ids ...int64) []int64 {
		t.Helper()
		got, err := f.s.OwnedSnapshots(t.Context(), row.ID, ids)
		require.NoError(t, err)
		return got
	}
	has := func(row models.Table) bool {
		t.Helper()
		got, err := f.s.HasOwned(t.Context(), row.ID)
		require.NoError(t, err)
		return got
	}
	row = f.land(t, row, write(row, 1, models.AppendRows))
	assert.False(t, has(row), "what was appended is nobody's")
	row = f.land(t, row, write(row, 9007199254740993, models.UpsertRows))
	row = f.land(t, row, write(row, 5, models.UpsertRows))
	assert.True(t, has(row))
	assert.False(t, has(other))
	many := make([]int64, 1200)
	for i := range many {
		many[i] = int64(i)
	}
	assert.Equal(t, []int64{5}, owned(row, many...))
	assert.ElementsMatch(t, []int64{5, 9007199254740993}, owned(row, 9007199254740993, 1, 5, 6))
	assert.Empty(t, owned(row))
	assert.Empty(t, owned(other, 5))
}

func writesMove(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	w := write(row, 5, models.UpsertRows, blockOf(0, 255))
	row = f.land(t, row, w)
	record := f.dropAs(t, row.ID, models.DroppedTable{})
	again := f.newTable("orders")
	again.UUID, again.Location = row.UUID, row.Location
	require.NoError(t, f.s.CreateTable(t.Context(), again, catalog.Effects{Continues: record.ID}))
	owned, err := f.s.OwnedSnapshots(t.Context(), again.ID, []int64{5})
	require.NoError(t, err)
	assert.Equal(t, []int64{5}, owned)
	blocks, err := f.s.RowAuditBlocks(t.Context(), models.RowAuditFilter{TableID: again.ID})
	require.NoError(t, err)
	assert.Len(t, blocks, 1)
	blocks, err = f.s.RowAuditBlocks(t.Context(), models.RowAuditFilter{TableID: row.ID})
	require.NoError(t, err)
	assert.Empty(t, blocks)
}

func writesOutlive(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	w := write(row, 5, models.UpsertRows, blockOf(0, 255))
	f.land(t, row, w)
	record := f.dropAs(t, row.ID, models.DroppedTable{})
	require.NoError(t, f.s.ForgetTable(t.Context(), record.ID, event(models.AuditTableForgotten)))
	_, err := f.s.GovernedWrite(t.Context(), w.ID)
	require.NoError(t, err)
	blocks, err := f.s.RowAuditBlocks(t.Context(), models.RowAuditFilter{TableID: row.ID})
	require.NoError(t, err)
	assert.Len(t, blocks, 1)
}

func dataKeyOnce(t *testing.T, f *fixture) {
	_, err := f.s.DataKey(t.Context(), "mask", nil)
	requireFault(t, err, fault.NotFound, fault.NoSubject)
	got := make([]models.DataKey, 8)
	together(len(got), func(i int) {
		var err error
		got[i], err = f.s.DataKey(t.Context(), "mask", []byte{byte(i), 1})
		assert.NoError(t, err)
	})
	for _, k := range got {
		assert.Equal(t, got[0].Sealed, k.Sealed)
	}
	other, err := f.s.DataKey(t.Context(), "identity", []byte{99})
	require.NoError(t, err)
	assert.Equal(t, []byte{99}, other.Sealed)
	again, err := f.s.DataKey(t.Context(), "mask", nil)
	require.NoError(t, err)
	assert.Equal(t, got[0], again)
}

func writeText(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	w := write(row, 5, models.AppendRows)
	w.Principal, w.RequestID, w.TableName = "a\x00b", "\xff", "nul\x00"
	f.land(t, row, w)
	got, err := f.s.GovernedWrite(t.Context(), w.ID)
	require.NoError(t, err)
	assert.Equal(t, "a\uFFFDb", got.Principal)
	_, err = f.s.GovernedWrite(t.Context(), "\x00")
	requireFault(t, err, fault.NotFound, fault.NoSubject)
}

// A write has one id for ever: whoever lands it twice, as two processes that both think the other dead, lands it once.
func writeOnce(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	w := write(row, 5, models.AppendRows, blockOf(0, 255))
	row = f.land(t, row, w)
	w.SnapshotID = 6
	swap := swapTo(row, 6, 6)
	swap.Effects.Writes = []models.GovernedWrite{w}
	requireFault(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}), fault.AlreadyExists, fault.NoSubject)
	assert.EqualValues(t, 5, *f.load(t, row.ID).CurrentSnapshotID)
}

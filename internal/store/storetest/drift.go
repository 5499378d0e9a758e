package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/catalog"
)

func (f *fixture) drifted(t *testing.T, after string, quiet time.Duration, limit int) []activities.DriftedTable {
	t.Helper()
	time.Sleep(time.Millisecond) // "older than" is strict
	got, err := f.s.Drifted(t.Context(), after, quiet, limit)
	require.NoError(t, err)
	return got
}

func driftCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"a head that is not recorded is drift once it is quiet": func(t *testing.T, f *fixture) {
			f.table(t, "empty")
			row := f.table(t, "orders")
			swap := swapTo(row, 1, 1)
			swap.Effects.Commits = nil // as after a ref was moved
			require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
			assert.Empty(t, f.drifted(t, "", time.Hour, 10))
			got := f.drifted(t, "", 0, 10)
			require.Len(t, got, 1)
			assert.Equal(t, activities.DriftedTable{
				TableID: row.ID, CatalogID: f.cat.ID, TableUUID: row.UUID, TableName: "sales.orders", SnapshotIDs: []int64{1},
			}, got[0])
			f.record(t, recording(row, 1, 1))
			assert.Empty(t, f.drifted(t, "", 0, 10))
		},
		"pending commits are drift, oldest first, the head last": func(t *testing.T, f *fixture) {
			row := f.table(t, "orders")
			for _, n := range []int64{5, 3, 9} {
				row = f.commit(t, row, n, n)
			}
			got := f.drifted(t, "", 0, 10)
			require.Len(t, got, 1)
			assert.Equal(t, []int64{5, 3, 9}, got[0].SnapshotIDs)
			assert.Equal(t, "sales.orders", got[0].TableName)
			f.record(t, recording(row, 9, 9))
			assert.Equal(t, []int64{5, 3}, f.drifted(t, "", 0, 10)[0].SnapshotIDs)
			f.record(t, recording(row, 5, 5))
			f.record(t, recording(row, 3, 3))
			assert.Empty(t, f.drifted(t, "", 0, 10))
		},
		"pending commits of a dropped table are found": func(t *testing.T, f *fixture) {
			row := f.commit(t, f.table(t, "orders"), 1, 1)
			require.NoError(t, f.drop(t, row.ID))
			got := f.drifted(t, "", 0, 10)
			require.Len(t, got, 1)
			assert.Equal(t, []int64{1}, got[0].SnapshotIDs)
		},
		"pages follow the ids and miss nothing": func(t *testing.T, f *fixture) {
			for i := range 7 {
				row := f.table(t, "t"+strconv.Itoa(i))
				swap := swapTo(row, 1, 1)
				if i%2 == 0 {
					swap.Effects.Commits = nil
				}
				require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swap}))
			}
			seen := map[string]bool{}
			for after := ""; ; {
				got := f.drifted(t, after, 0, 3)
				if len(got) == 0 {
					break
				}
				assert.LessOrEqual(t, len(got), 3)
				for _, d := range got {
					assert.Greater(t, d.TableID, after)
					after = d.TableID
					seen[d.TableID] = true
				}
			}
			assert.Len(t, seen, 7)
		},
	}
}

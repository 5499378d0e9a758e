package storetest

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

func outboxCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"events come oldest first and leave when they are removed": outboxOrder,
		"a failed attempt is counted with its cause":               outboxDelays,
		"what one has claimed no other gets":                       outboxClaims,
		"the newest are claimed besides the oldest":                outboxNewest,
		"a claim is over with its lease, or when it is released":   outboxLeases,
		"of many claims at once each event is in one":              outboxRace,
	}
}

func (f *fixture) claimEvents(t *testing.T, owner string, lease time.Duration, oldest, newest int) []models.OutboxEvent {
	t.Helper()
	events, err := f.s.ClaimEvents(t.Context(), owner, lease, oldest, newest)
	require.NoError(t, err)
	return events
}

// pend makes events of snapshots 1 to n.
func (f *fixture) pend(t *testing.T, n int64) {
	t.Helper()
	row := f.table(t, "orders")
	for i := int64(1); i <= n; i++ {
		row = f.commit(t, row, i, i)
	}
}

func snapshotsOf(events []models.OutboxEvent) []int64 {
	out := []int64{}
	for _, e := range events {
		out = append(out, e.SnapshotID)
	}
	return out
}

func idsOf(events []models.OutboxEvent) []int64 {
	out := []int64{}
	for _, e := range events {
		out = append(out, e.ID)
	}
	return out
}

func outboxOrder(t *testing.T, f *fixture) {
	events, oldest, err := f.s.Backlog(t.Context())
	require.NoError(t, err)
	assert.Zero(t, events)
	assert.True(t, oldest.IsZero())
	f.pend(t, 3)
	events, oldest, err = f.s.Backlog(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 3, events)
	assert.WithinRange(t, oldest, f.started, f.started.Add(time.Minute))
	two := f.claimEvents(t, "one", time.Minute, 2, 0)
	assert.Equal(t, []int64{1, 2}, snapshotsOf(two))
	require.NoError(t, f.s.RemoveEvents(t.Context(), append(idsOf(two), 999_999)))
	require.NoError(t, f.s.RemoveEvents(t.Context(), nil))
	assert.Equal(t, []int64{3}, snapshotsOf(f.outbox(t)))
}

func outboxDelays(t *testing.T, f *fixture) {
	f.pend(t, 1)
	id := f.outbox(t)[0].ID
	require.NoError(t, f.s.DelayEvent(t.Context(), id, "first"))
	require.NoError(t, f.s.DelayEvent(t.Context(), id, "no route to Temporal\x00"))
	got := f.outbox(t)[0]
	assert.Equal(t, 2, got.Attempts)
	assert.Contains(t, got.LastError, "no route to Temporal")
}

func outboxClaims(t *testing.T, f *fixture) {
	assert.Empty(t, f.claimEvents(t, "one", time.Minute, 10, 10))
	f.pend(t, 5)
	assert.Empty(t, f.claimEvents(t, "one", time.Minute, 0, 0))
	mine := f.claimEvents(t, "one", time.Minute, 3, 0)
	assert.Equal(t, []int64{1, 2, 3}, snapshotsOf(mine))
	assert.Equal(t, "one", mine[0].ClaimedBy)
	assert.WithinRange(t, *mine[0].ClaimedUntil, f.started.Add(50*time.Second), time.Now().Add(time.Minute))
	assert.Equal(t, "sales.orders", mine[0].TableName)
	assert.Equal(t, []int64{4, 5}, snapshotsOf(f.claimEvents(t, "two", time.Minute, 10, 0)))
	for _, owner := range []string{"one", "two", "three"} {
		assert.Empty(t, f.claimEvents(t, owner, time.Minute, 10, 10), "not even its own")
	}
	events, _, err := f.s.Backlog(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 5, events, "what is claimed is not started yet")
}

func outboxNewest(t *testing.T, f *fixture) {
	f.pend(t, 9)
	assert.Equal(t, []int64{1, 2, 3, 8, 9}, snapshotsOf(f.claimEvents(t, "one", time.Minute, 3, 2)))
	assert.Equal(t, []int64{7}, snapshotsOf(f.claimEvents(t, "one", time.Minute, 0, 1)))
	assert.Equal(t, []int64{4, 5, 6}, snapshotsOf(f.claimEvents(t, "one", time.Minute, 2, 2)), "each once")
}

func outboxLeases(t *testing.T, f *fixture) {
	f.pend(t, 4)
	first := f.claimEvents(t, "one", 0, 2, 0)
	assert.Equal(t, []int64{1, 2, 3}, snapshotsOf(f.claimEvents(t, "two", time.Minute, 3, 0)), "a claim without time is a look")
	require.NoError(t, f.s.ReleaseEvents(t.Context(), "one", idsOf(first)))
	assert.Equal(t, []int64{4}, snapshotsOf(f.outbox(t)), "they are another's now")
	require.NoError(t, f.s.ReleaseEvents(t.Context(), "two", append(idsOf(first), 999_999)))
	require.NoError(t, f.s.ReleaseEvents(t.Context(), "two", nil))
	assert.Equal(t, []int64{1, 2, 4}, snapshotsOf(f.claimEvents(t, "two", 30*time.Millisecond, 10, 0)))
	assert.Empty(t, f.claimEvents(t, "three", time.Minute, 10, 0))
	time.Sleep(40 * time.Millisecond)
	assert.Equal(t, []int64{1, 2, 4}, snapshotsOf(f.claimEvents(t, "three", time.Minute, 10, 0)), "its owner is gone")
	assert.Empty(t, f.outbox(t))
	require.NoError(t, f.s.ReleaseClaims(t.Context()))
	assert.Equal(t, []int64{1, 2, 3, 4}, snapshotsOf(f.claimEvents(t, "four", time.Minute, 10, 0)), "it is the only one")
}

func outboxRace(t *testing.T, f *fixture) {
	f.pend(t, 60)
	var mu sync.Mutex
	var all []int64
	together(8, func(n int) {
		for {
			events, err := f.s.ClaimEvents(t.Context(), strconv.Itoa(n), time.Minute, 4, 1)
			if !assert.NoError(t, err) || len(events) == 0 {
				return
			}
			mu.Lock()
			all = append(all, snapshotsOf(events)...)
			mu.Unlock()
		}
	})
	slices.Sort(all)
	assert.Len(t, slices.Compact(slices.Clone(all)), len(all), "none twice")
	rest := snapshotsOf(f.claimEvents(t, "last", time.Minute, 100, 0)) // of one who looked while the last ones were held
	assert.Len(t, all, 60-len(rest))
}

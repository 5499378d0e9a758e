package catalog_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Whoever reserved a table commits first, whatever process the others commit in.
func TestOthersWaitForAHolder(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	id, other := h.load(t, "events").Row.ID, newPeer(t, h)
	reserved, err := h.Reserve(t.Context(), id, "holder")
	require.NoError(t, err)
	require.True(t, reserved)
	reserved, err = other.Reserve(t.Context(), id, "another")
	require.NoError(t, err)
	require.False(t, reserved)

	waiting := make(chan error, 2)
	for _, service := range []*catalog.Service{h.Service, other} {
		in := input("events", nil, []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"owner":"ada"}}`)})
		go func() {
			_, err := service.CommitTable(context.Background(), h.root, h.cat, in)
			waiting <- err
		}()
	}
	select {
	case err := <-waiting:
		t.Fatalf("somebody did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	stale, c := h.append(t, "events", 1), h.append(t, "events", 1)
	mine := input("events", c.Requirements, c.Updates)
	mine.Holder = "holder"
	_, err = h.CommitTable(t.Context(), h.root, h.cat, mine)
	require.NoError(t, err)
	require.NotContains(t, h.load(t, "events").Document.Properties(), "owner", "the others still wait")
	_, err = h.commit(h.root, "events", stale)
	require.True(t, fault.Is(err, fault.Conflict), "what is stale does not wait: %v", err)

	h.Release(t.Context(), id, "another")
	select {
	case err := <-waiting:
		t.Fatalf("somebody did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	h.Release(t.Context(), id, "holder")
	for range 2 {
		select {
		case err := <-waiting:
			require.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Fatal("it waits although the table is free")
		}
	}
}

func TestAReservationEnds(t *testing.T) {
	now := time.Now().UTC()
	h := newHarness(t, func(d *catalog.Deps) { d.Now = func() time.Time { return now } })
	h.create(t, "events", models.OpenAppend)
	_, err := h.Reserve(t.Context(), h.load(t, "events").Row.ID, "a process that was killed")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	c := h.append(t, "events", 1)
	_, err = h.CommitTable(ctx, h.root, h.cat, input("events", c.Requirements, c.Updates))
	require.ErrorIs(t, err, context.DeadlineExceeded, "a client that goes is not waited with")
	now = now.Add(7 * time.Second)
	_, err = h.commit(h.root, "events", c)
	require.NoError(t, err)
}

// A clock that was wrong holds nobody up for as long as it was wrong by.
func TestAReservationByAClockThatWasWrong(t *testing.T) {
	now := time.Now().UTC()
	h := newHarness(t, func(d *catalog.Deps) { d.Now = func() time.Time { return now } })
	h.create(t, "events", models.OpenAppend)
	now = now.Add(time.Hour)
	h.reserve(t, "events", "of a clock that runs ahead")
	now = now.Add(-time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := h.CommitTable(ctx, h.root, h.cat, owned("events"))
	require.NoError(t, err)
	h.reserve(t, "events", "another")
}

// begin starts a commit that has to wait, and gives what it came to.
func (h *harness) begin(t *testing.T, in ...catalog.CommitInput) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- h.CommitTransaction(context.Background(), h.root, h.cat, in) }()
	stillWaits(t, done)
	return done
}

func stillWaits(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
}

func over(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("it still waits")
		return nil
	}
}

func (h *harness) reserve(t *testing.T, table, holder string) string {
	t.Helper()
	id := h.load(t, table).Row.ID
	reserved, err := h.Reserve(t.Context(), id, holder)
	require.NoError(t, err)
	require.True(t, reserved)
	return id
}

func owned(table string) catalog.CommitInput {
	return input(table, nil, []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"owner":"ada"}}`)})
}

// A transaction waits for the holders of all its tables, and holds nobody up meanwhile.
func TestATransactionWaitsForAllHolders(t *testing.T) {
	h := newHarness(t)
	for _, name := range []string{"a", "b", "free"} {
		h.create(t, name, models.OpenAppend)
	}
	a, b := h.reserve(t, "a", "one"), h.reserve(t, "b", "another")
	there, back := h.begin(t, owned("a"), owned("b"), owned("free")), h.begin(t, owned("b"), owned("a"))
	_, err := h.commit(h.root, "free", h.append(t, "free", 1))
	require.NoError(t, err, "nobody reserved it")
	h.Release(t.Context(), a, "one")
	stillWaits(t, there)
	stillWaits(t, back)
	h.Release(t.Context(), b, "another")
	require.NoError(t, over(t, there))
	require.NoError(t, over(t, back))
}

// However many holders follow each other, a commit waits no longer than for one.
func TestACommitDoesNotWaitForHoldersWithoutEnd(t *testing.T) {
	var clock atomic.Int64
	start := time.Now().UTC()
	h := newHarness(t, func(d *catalog.Deps) { d.Now = func() time.Time { return start.Add(time.Duration(clock.Load())) } })
	h.create(t, "a", models.OpenAppend)
	h.create(t, "b", models.OpenAppend)
	id := h.reserve(t, "a", "one")
	done := h.begin(t, owned("a"), owned("b"))
	clock.Store(int64(16 * time.Second))
	h.reserve(t, "b", "another")
	h.Release(t.Context(), id, "one")
	stillWaits(t, done)
	clock.Store(int64(21 * time.Second))
	require.NoError(t, over(t, done), "b is reserved, but not for long enough")
}

func TestAReservedTableThatGoes(t *testing.T) {
	h := newHarness(t)
	for name, change := range map[string]func() error{
		"dropped": func() error { return h.DropTable(t.Context(), h.root, h.cat, ident("dropped"), false) },
		"renamed": func() error {
			return h.RenameTable(t.Context(), h.root, h.cat, ident("renamed"), ident("elsewhere"))
		},
	} {
		h.create(t, name, models.OpenAppend)
		h.reserve(t, name, "holder")
		done := h.begin(t, owned(name))
		require.NoError(t, change())
		wantCode(t, over(t, done), fault.NotFound)
	}
	stillWaits(t, h.begin(t, owned("elsewhere")))

	drops, err := h.DroppedTables(t.Context(), h.root, "", models.DroppedFilter{Limit: 5})
	require.NoError(t, err)
	_, err = h.UndropTable(t.Context(), h.root, drops.Items[0].ID, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = h.CommitTable(ctx, h.root, h.cat, owned("dropped"))
	require.NoError(t, err, "its holder was told that it is gone")
}

package catalog_test

import (
	"context"
	"encoding/json"
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
	now = now.Add(21 * time.Second)
	_, err = h.commit(h.root, "events", c)
	require.NoError(t, err)
}

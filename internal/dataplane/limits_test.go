package dataplane_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// held is a client that takes nothing of its answer until it is let.
type held struct {
	began chan struct{}
	let   chan struct{}
}

// Begin implements dataplane.Sink.
func (h *held) Begin(dataplane.Head) (io.Writer, error) { return h, nil }

func (h *held) Write(p []byte) (int, error) {
	select {
	case h.began <- struct{}{}:
	default:
	}
	<-h.let
	return len(p), nil
}

func TestAPrincipalHasSoManyQueriesAtATime(t *testing.T) {
	l := withPeople(t, func(d *dataplane.Deps) { d.Limits.Concurrency = 1 })
	slow := &held{began: make(chan struct{}, 1), let: make(chan struct{})}
	over := make(chan error, 1)
	go func() {
		over <- l.data.Query(t.Context(), l.analyst(), "main.sales.people", dataplane.QueryInput{Format: rows.NDJSON}, slow)
	}()
	<-slow.began
	_, err := l.query(l.analyst(), "people", dataplane.QueryInput{})
	tooMany, ok := errors.AsType[*dataplane.TooManyError](err)
	require.True(t, ok, "%v", err)
	assert.Positive(t, tooMany.Retry)
	_, err = l.query(l.owner(), "people", dataplane.QueryInput{})
	require.NoError(t, err, "others have turns of their own")
	close(slow.let)
	require.NoError(t, <-over)
	_, err = l.query(l.analyst(), "people", dataplane.QueryInput{})
	require.NoError(t, err)
}

func TestAnswersAreBoundedInSize(t *testing.T) {
	l := withPeople(t, func(d *dataplane.Deps) { d.Limits.AnswerBytes = 150 })
	g, err := l.query(l.owner(), "people", dataplane.QueryInput{Format: rows.NDJSON})
	refused(t, err, fault.TooLarge, "larger than the limit of 150 bytes")
	assert.LessOrEqual(t, g.body.Len(), 150)
	_, err = l.query(l.owner(), "people", dataplane.QueryInput{Format: rows.NDJSON, Select: []string{"id"}})
	require.NoError(t, err)
}

func TestQueriesAreBoundedInTime(t *testing.T) {
	l := withPeople(t, func(d *dataplane.Deps) { d.Limits.Timeout = time.Nanosecond })
	_, err := l.query(l.owner(), "people", dataplane.QueryInput{})
	refused(t, err, fault.TooLarge, "may take")
}

// slow is a client that is there after a while.
type slow struct {
	got
	after time.Duration
}

// Begin implements dataplane.Sink.
func (s *slow) Begin(h dataplane.Head) (io.Writer, error) {
	time.Sleep(s.after)
	return s.got.Begin(h)
}

func TestSlowClientsAreBoundedInTime(t *testing.T) {
	const limit = 300 * time.Millisecond
	l := withPeople(t, func(d *dataplane.Deps) { d.Limits.Timeout = limit })
	for _, in := range []dataplane.QueryInput{{Format: rows.JSON}, {Format: rows.JSON, PageSize: 2}, {Format: rows.NDJSON}, {Format: rows.ArrowStream}} {
		client := &slow{after: 2 * limit}
		err := l.data.Query(t.Context(), l.owner(), "main.sales.people", in, client)
		refused(t, err, fault.TooLarge, "may take")
		require.Zero(t, client.body.Len())
	}
}

// gone is a client that hangs up at the first byte.
type gone struct{ hangUp context.CancelFunc }

// Begin implements dataplane.Sink.
func (g gone) Begin(dataplane.Head) (io.Writer, error) { return g, nil }

func (g gone) Write([]byte) (int, error) { g.hangUp(); return 0, io.ErrClosedPipe }

func TestAClientThatIsGoneEndsItsQuery(t *testing.T) {
	l := withPeople(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := l.data.Query(ctx, l.analyst(), "main.sales.people", dataplane.QueryInput{Format: rows.NDJSON}, gone{cancel})
	require.Error(t, err)
	require.True(t, errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled), "%v", err)
	n := testutil.CollectAndCount(l.registry, "sluice_data_requests_total")
	require.Positive(t, n)
	require.Equal(t, 2, testutil.CollectAndCount(l.registry, "sluice_data_memory_bytes"))
	families, err := l.registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "sluice_data_memory_bytes" {
			for _, m := range family.GetMetric() {
				require.Zero(t, m.GetGauge().GetValue(), "whoever is gone holds nothing")
			}
		}
	}
	_, err = l.query(l.analyst(), "people", dataplane.QueryInput{})
	require.NoError(t, err)
}

// trickle is a body that gives a blank line now and then, and has no end.
type trickle struct{}

func (trickle) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	p[0] = '\n'
	return 1, nil
}

func TestABodyThatTricklesEndsWithTheTimeOfItsWrite(t *testing.T) {
	l := newWriteLake(t, func(d *dataplane.Deps) { d.Limits.Timeout, d.Limits.Concurrency = 200*time.Millisecond, 1 })
	l.make(made{name: "orders", version: 2})
	for _, key := range []string{"", uuid.NewString()} {
		in := dataplane.WriteInput{Format: rows.NDJSON, Body: trickle{}, Key: key}
		_, err := l.data.Write(t.Context(), l.writer(), "main.sales.orders", in)
		refused(t, err, fault.TooLarge, "longer than")
	}
	_, err := l.write("orders", dataplane.WriteInput{}, order(1, "EU", "a")) // its turn is free again
	require.NoError(t, err)
}

package events_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// ledger is a real audit whose reads are counted, and may be made to fail.
type ledger struct {
	*store.Store
	t     *testing.T
	reads atomic.Int64
	down  atomic.Bool
}

// SealedEvents implements events.Source.
func (l *ledger) SealedEvents(ctx context.Context, after int64, limit int) ([]models.SealedEvent, error) {
	l.reads.Add(1)
	if l.down.Load() {
		return nil, errors.New("down")
	}
	return l.Store.SealedEvents(ctx, after, limit)
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + filepath.Join(t.TempDir(), "sluice.db") + "?synchronous=normal"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	require.NoError(t, store.Migrate(t.Context(), s))
	return &ledger{Store: s, t: t}
}

// happen writes events and seals them.
func (l *ledger) happen(n int) {
	for range n {
		e := models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditTokenMinted, Allowed: true}
		require.NoError(l.t, l.AppendAudit(context.Background(), e))
	}
	l.seal()
}

func (l *ledger) seal() {
	for {
		done, err := l.SealAudit(context.Background(), 1000, func(state models.AuditState, records []audit.Record) []string {
			return audit.Link(state.Hash, state.Seq, records)
		})
		require.NoError(l.t, err)
		if done.Events == 0 {
			return
		}
	}
}

func newFeed(t *testing.T, l *ledger) *events.Feed {
	t.Helper()
	f := events.NewFeed(l, slog.New(slog.DiscardHandler))
	t.Cleanup(f.Close)
	return f
}

func open(t *testing.T, f *events.Feed, after int64) *events.Stream {
	t.Helper()
	s, err := f.Open(t.Context(), after)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// take gives the places of the next n events.
func take(t *testing.T, s *events.Stream, n int) []int64 {
	t.Helper()
	var out []int64
	for len(out) < n {
		e, ok, err := s.Next(t.Context(), time.After(10*time.Second))
		require.NoError(t, err)
		require.True(t, ok, "only %d events came", len(out))
		out = append(out, e.Seq)
		require.Equal(t, e.Seq, s.At())
	}
	return out
}

func none(t *testing.T, s *events.Stream) {
	t.Helper()
	_, ok, err := s.Next(t.Context(), time.After(time.Second))
	require.NoError(t, err)
	require.False(t, ok)
}

func from(first, last int64) []int64 {
	var out []int64
	for seq := first; seq <= last; seq++ {
		out = append(out, seq)
	}
	return out
}

func TestAStreamBeginsNowOrAfterAPlace(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	f := newFeed(t, l)
	l.happen(10)
	live, some, all := open(t, f, -1), open(t, f, 7), open(t, f, 0)
	none(t, live)
	assert.Equal(t, from(8, 10), take(t, some, 3))
	assert.Equal(t, from(1, 10), take(t, all, 10))
	require.NoError(t, l.AppendAudit(t.Context(), models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditTokenMinted}))
	none(t, live) // what is not sealed has no place yet
	l.happen(2)
	for _, s := range []*events.Stream{live, some, all} {
		assert.Equal(t, from(11, 13), take(t, s, 3))
	}
}

// Streams that begin at any time, while events come in, have each event once, in order.
func TestStreamsHaveNoGap(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	f := newFeed(t, l)
	const total = 1500
	var writing, reading sync.WaitGroup
	writing.Go(func() {
		for range total / 30 {
			l.happen(30)
		}
	})
	for n := range 6 {
		reading.Go(func() {
			there := func() bool { // a place that is still to come means from now on
				state, err := l.AuditState(t.Context())
				return err == nil && state.Seq >= int64(n*100)
			}
			if !assert.Eventually(t, there, 20*time.Second, 5*time.Millisecond) {
				return
			}
			s, err := f.Open(t.Context(), int64(n*100))
			if !assert.NoError(t, err) {
				return
			}
			defer func() { s.Close() }()
			for want := int64(n*100) + 1; want <= total; want++ {
				e, ok, err := s.Next(t.Context(), time.After(20*time.Second))
				if fault.Is(err, fault.Unavailable) { // it was too slow, and goes on as its client would
					again, err := f.Open(t.Context(), want-1)
					if !assert.NoError(t, err) {
						return
					}
					s.Close()
					s = again
					want--
					continue
				}
				if !assert.NoError(t, err) || !assert.True(t, ok) || !assert.Equal(t, want, e.Seq) {
					return
				}
			}
		})
	}
	writing.Wait()
	reading.Wait()
}

// However many listen, the audit is read as for one, and not at all when they are gone.
func TestTheFeedReadsOnceForAll(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	f := newFeed(t, l)
	var streams []*events.Stream
	for range 20 {
		s := open(t, f, -1)
		none(t, s)
		streams = append(streams, s)
	}
	before := l.reads.Load()
	time.Sleep(2 * time.Second)
	assert.LessOrEqual(t, l.reads.Load()-before, int64(6))
	for _, s := range streams {
		s.Close()
		s.Close()
	}
	time.Sleep(100 * time.Millisecond)
	before = l.reads.Load()
	time.Sleep(1200 * time.Millisecond)
	assert.Equal(t, before, l.reads.Load())
	l.happen(1)
	again := open(t, f, 0)
	assert.Equal(t, []int64{1}, take(t, again, 1), "the next listener is told again")
}

// A listener that does not listen is dropped; it comes again and has the rest.
func TestASlowListenerIsDropped(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	f := newFeed(t, l)
	slow, quick := open(t, f, -1), open(t, f, -1)
	none(t, slow)
	none(t, quick)
	for range 5 {
		l.happen(500)
		take(t, quick, 500)
	}
	var err error
	for err == nil {
		_, _, err = slow.Next(t.Context(), time.After(10*time.Second))
	}
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
	assert.Equal(t, int64(1000), slow.At(), "what was held for it is still given")
	again := open(t, f, slow.At())
	assert.Equal(t, from(1001, 2500), take(t, again, 1500))
}

func TestThereAreNotTooManyStreams(t *testing.T) {
	t.Parallel()
	f := newFeed(t, newLedger(t))
	var streams []*events.Stream
	for range 64 {
		streams = append(streams, open(t, f, 0))
	}
	_, err := f.Open(t.Context(), 0)
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
	streams[0].Close()
	open(t, f, 0)
}

func TestCloseEndsStreamsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	f := newFeed(t, l)
	live, fresh := open(t, f, -1), open(t, f, 0)
	none(t, live)
	l.happen(3)
	ended := make(chan error, 1)
	go func() {
		for {
			if _, _, err := live.Next(context.Background(), nil); err != nil {
				ended <- err
				return
			}
		}
	}()
	took := time.Now()
	f.Close()
	f.Close()
	require.Equal(t, fault.Unavailable, fault.CodeOf(<-ended))
	assert.Less(t, time.Since(took), time.Second)
	_, _, err := fresh.Next(t.Context(), nil)
	require.Equal(t, fault.Unavailable, fault.CodeOf(err), "also one that still reads the past")
	_, err = f.Open(t.Context(), -1)
	require.Equal(t, fault.Unavailable, fault.CodeOf(err))
}

func TestTheFeedWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	f := newFeed(t, l)
	s := open(t, f, -1)
	none(t, s)
	l.down.Store(true)
	l.happen(2)
	none(t, s)
	l.down.Store(false)
	assert.Equal(t, from(1, 2), take(t, s, 2))
}

func TestMatches(t *testing.T) {
	t.Parallel()
	e := models.AuditEvent{Type: models.AuditFindingOpened, Catalog: "main", Table: "a.b", TableUUID: "u", Principal: "ada", At: time.Unix(100, 0)}
	for name, c := range map[string]struct {
		f    models.AuditFilter
		want bool
	}{
		"all":                 {models.AuditFilter{}, true},
		"a type":              {models.AuditFilter{Type: "finding.opened"}, true},
		"another type":        {models.AuditFilter{Type: "finding.open"}, false},
		"a group":             {models.AuditFilter{Type: "finding.*"}, true},
		"another group":       {models.AuditFilter{Type: "find.*"}, false},
		"a catalog":           {models.AuditFilter{Catalog: "main"}, true},
		"another catalog":     {models.AuditFilter{Catalog: "lake"}, false},
		"a table":             {models.AuditFilter{Catalog: "main", Table: "a.b"}, true},
		"another table":       {models.AuditFilter{Catalog: "main", Table: "a.c"}, false},
		"a table by its uuid": {models.AuditFilter{TableUUID: "u"}, true},
		"another uuid":        {models.AuditFilter{TableUUID: "v"}, false},
		"a principal":         {models.AuditFilter{Principal: "ada"}, true},
		"another principal":   {models.AuditFilter{Principal: "bob"}, false},
		"since then":          {models.AuditFilter{Since: time.Unix(100, 0)}, true},
		"later":               {models.AuditFilter{Since: time.Unix(101, 0)}, false},
	} {
		assert.Equal(t, c.want, events.Matches(c.f, e), name)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][3]string{
		"": {"", "a", "a.b"}, "main": {"main", "", ""}, "main.a": {"main", "a", ""}, "main.a.b": {"main", "a", "a.b"},
	} {
		assert.Equal(t, want, events.Ref(names[0], names[1], names[2]), fmt.Sprint(names))
	}
}

// A place that no event has yet is now. Above all such a listener takes nothing from others.
func TestPlacesInTheFuture(t *testing.T) {
	l := newLedger(t)
	l.happen(3)
	f := newFeed(t, l)
	future := open(t, f, 1<<40)
	early, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := future.Next(early, nil) // it begins to listen
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualValues(t, 3, future.At())
	other := open(t, f, -1)
	_, _, err = other.Next(early, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	l.happen(2)
	require.Equal(t, []int64{4, 5}, take(t, other, 2))
	require.Equal(t, []int64{4, 5}, take(t, future, 2))
}

package dispatch_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dispatch"
)

// logLines counts what is logged.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

func (l *logLines) containing(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, s) {
			n++
		}
	}
	return n
}

type rig struct {
	t      *testing.T
	outbox *outbox
	engine *engine
	log    *logLines
	reg    *prometheus.Registry
	d      *dispatch.Dispatcher
	stop   func()
}

// fast makes tests quick; what a test is about it sets itself.
func fast() dispatch.Options {
	return dispatch.Options{
		PollInterval: 10 * time.Millisecond, BatchLinger: 5 * time.Millisecond,
		BackoffFirst: 5 * time.Millisecond, BackoffMost: 40 * time.Millisecond,
	}
}

func start(t *testing.T, o dispatch.Options) *rig {
	t.Helper()
	r := &rig{t: t, outbox: newOutbox(t), engine: newEngine(), log: &logLines{}, reg: prometheus.NewRegistry()}
	o.Logger, o.Registerer = slog.New(slog.NewTextHandler(r.log, nil)), r.reg
	var err error
	r.d, err = dispatch.New(r.outbox, r.engine, o)
	require.NoError(t, err)
	r.stop = running(t, r.d)
	return r
}

// running runs a dispatcher until the returned function is called, or the test ends.
func running(t *testing.T, d *dispatch.Dispatcher) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func (r *rig) eventually(what string, cond func() bool) {
	r.t.Helper()
	require.Eventually(r.t, cond, 10*time.Second, 2*time.Millisecond, what)
}

func (r *rig) emptied() {
	r.t.Helper()
	r.eventually("the outbox is empty", func() bool { return r.outbox.len() == 0 })
}

// metric sums a metric over its labels.
func (r *rig) metric(name string) (sum float64) {
	r.t.Helper()
	families, err := r.reg.Gather()
	require.NoError(r.t, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}

func (r *rig) eachStartedOnce(n int) {
	r.t.Helper()
	started := r.engine.started()
	require.Len(r.t, started, n)
	for id, times := range started {
		require.Equal(r.t, 1, times, "event %d", id)
	}
}

func TestTemporalDownWhileEventsArrive(t *testing.T) {
	r := start(t, fast())
	r.engine.set(func(e *engine) { e.down = true })
	for range 100 {
		r.outbox.add(1)
		r.d.Wake()
		time.Sleep(time.Millisecond)
	}
	r.eventually("an attempt is noted", func() bool { return r.outbox.attempts() > 2 })
	require.Equal(t, 100, r.outbox.len(), "nothing is lost")
	require.Empty(t, r.engine.started())
	require.Less(t, r.outbox.attempts(), 100, "it backs off")
	require.Equal(t, 1, r.log.containing("level=WARN"), "one line for an outage")

	r.engine.set(func(e *engine) { e.down = false })
	r.emptied()
	r.eachStartedOnce(100)
	r.eventually("recovery is logged", func() bool { return r.log.containing("commits are reconciled again") == 1 })
}

func TestTemporalDiesInTheMiddleOfARound(t *testing.T) {
	o := fast()
	o.Parallel, o.BatchThreshold = 1, 1000
	r := start(t, o)
	r.engine.set(func(e *engine) { e.delay = 2 * time.Millisecond })
	r.outbox.add(50)
	r.eventually("some are started", func() bool { return len(r.engine.started()) > 5 })
	r.engine.set(func(e *engine) { e.down = true })
	r.eventually("what is started is removed", func() bool { return r.outbox.attempts() > 0 && r.outbox.len() == 50-len(r.engine.started()) })
	r.engine.set(func(e *engine) { e.down = false })
	r.emptied()
	r.eachStartedOnce(50)
}

// Commits of one table would each be reconciled with all those before.
func TestCommitsOfOneTableGoTogether(t *testing.T) {
	r := start(t, fast())
	r.stop()
	r.outbox.perTable = 3
	r.outbox.add(10) // of tables 0 to 3: 2, 3, 3 and 2
	running(t, r.d)
	r.emptied()
	r.eachStartedOnce(10)
	require.ElementsMatch(t, [][]int64{{1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10}}, r.engine.batched())
}

func TestAWakeStartsAtOnceWithoutAPoll(t *testing.T) {
	o := fast()
	o.PollInterval = time.Hour
	r := start(t, o)
	r.outbox.add(1)
	r.d.Wake()
	r.emptied()
	require.Empty(t, r.engine.batched(), "a lone commit has a workflow of its own")
}

func TestCommitsOfOtherProcessesAreFoundByPolling(t *testing.T) {
	r := start(t, fast())
	r.outbox.add(3)
	r.emptied()
	r.eachStartedOnce(3)
}

func TestABacklogIsBatchedInOrder(t *testing.T) {
	o := fast()
	o.BatchThreshold, o.BatchSize = 5, 100
	r := start(t, o)
	r.stop()
	r.outbox.add(1050)
	running(t, r.d)
	r.emptied()
	r.eachStartedOnce(1050)
	batches := r.engine.batched()
	require.Less(t, len(batches), 3*11)
	for _, b := range batches {
		require.LessOrEqual(t, len(b), 100)
		require.IsIncreasing(t, b)
	}
	require.EqualValues(t, len(batches), r.metric("sluice_dispatch_started_total"), "in a backlog nothing goes alone")
	require.Equal(t, 1050.0, r.metric("sluice_dispatch_commits_total"))
}

func TestAStreamFasterThanSinglesIsBatched(t *testing.T) {
	o := fast()
	o.SingleRate, o.BatchThreshold, o.BatchLinger = 1, 10, 20*time.Millisecond
	r := start(t, o)
	for range 200 {
		r.outbox.add(1)
		r.d.Wake()
		time.Sleep(time.Millisecond)
	}
	r.emptied()
	r.eachStartedOnce(200)
	batched := 0
	for _, b := range r.engine.batched() {
		batched += len(b)
	}
	require.Greater(t, batched, 150)
}

func TestARefusedEventDoesNotBlockTheOthers(t *testing.T) {
	for name, threshold := range map[string]int{"one by one": 1000, "in a batch": 1} {
		t.Run(name, func(t *testing.T) {
			o := fast()
			o.BatchThreshold = threshold
			r := start(t, o)
			r.engine.set(func(e *engine) { e.refuse[7] = true })
			r.outbox.add(20)
			r.eventually("all others are started", func() bool { return r.outbox.len() == 1 })
			require.NotContains(t, r.engine.started(), int64(7))
			r.outbox.add(5)
			r.eventually("later ones too", func() bool { return r.outbox.len() == 1 })
			require.Equal(t, 1, r.log.containing("level=WARN"))

			r.engine.set(func(e *engine) { delete(e.refuse, 7) })
			r.emptied()
			r.eachStartedOnce(25)
		})
	}
}

func TestTheDatabaseDown(t *testing.T) {
	r := start(t, fast())
	r.outbox.fail(errors.New("disk I/O error"))
	r.outbox.add(10)
	r.eventually("it is logged", func() bool { return r.log.containing("level=WARN") == 1 })
	r.outbox.fail(nil)
	r.emptied()
	r.eachStartedOnce(10)
}

func TestWhatCouldNotBeRemovedIsNotStartedAgain(t *testing.T) {
	r := start(t, fast())
	r.outbox.failRemovals(errors.New("disk full"))
	r.outbox.add(5)
	r.eventually("they are started", func() bool { return len(r.engine.started()) == 5 })
	time.Sleep(50 * time.Millisecond)
	r.outbox.failRemovals(nil)
	r.emptied()
	r.eachStartedOnce(5)
}

func TestStoppingIsQuickAndKeepsWhatIsStarted(t *testing.T) {
	r := start(t, fast())
	r.engine.set(func(e *engine) { e.delay = 100 * time.Millisecond })
	r.outbox.add(2)
	time.Sleep(50 * time.Millisecond) // the start is under way
	begun := time.Now()
	r.stop()
	require.Less(t, time.Since(begun), time.Second)
	r.eachStartedOnce(2)
	require.Zero(t, r.outbox.len(), "what is started is removed")
}

func TestStoppingDoesNotWaitForADeadTemporal(t *testing.T) {
	o := fast()
	o.StartTimeout = time.Minute
	r := start(t, o)
	r.engine.set(func(e *engine) { e.delay = time.Minute })
	r.outbox.add(2)
	time.Sleep(50 * time.Millisecond)
	begun := time.Now()
	r.stop()
	require.Less(t, time.Since(begun), 4*time.Second)
	require.Equal(t, 2, r.outbox.len())
	require.Zero(t, r.log.containing("level=WARN"), "a stop is no outage")
}

// An alert on the increase of a counter needs it to be there before the first failure.
func TestFailuresAreCountedFromZero(t *testing.T) {
	r := start(t, fast())
	families, err := r.reg.Gather()
	require.NoError(t, err)
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
	}
	require.Equal(t, 3, series["sluice_dispatch_failures_total"])
	require.Equal(t, 2, series["sluice_dispatch_started_total"])
	require.Zero(t, r.metric("sluice_dispatch_failures_total"))
}

func TestTheBacklogIsMeasured(t *testing.T) {
	r := start(t, fast())
	r.engine.set(func(e *engine) { e.down = true })
	r.outbox.add(4)
	r.eventually("it shows", func() bool { return r.metric("sluice_outbox_events") == 4 })
	require.Positive(t, r.metric("sluice_outbox_oldest_seconds"))
	r.eventually("the failure shows", func() bool { return r.metric("sluice_dispatch_failures_total") > 0 })
}

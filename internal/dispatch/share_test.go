package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dispatch"
	"github.com/sluice-data/sluice/models"
)

// clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// another adds a dispatcher to the rig's outbox.
func (r *rig) another(o dispatch.Options) (stop func()) {
	r.t.Helper()
	d, err := dispatch.New(r.outbox, r.engine, o)
	require.NoError(r.t, err)
	return running(r.t, d)
}

func TestSeveralDispatchersStartEachEventOnce(t *testing.T) {
	r := start(t, fast())
	for range 3 {
		r.another(fast())
	}
	r.engine.set(func(e *engine) { e.delay = time.Millisecond })
	for range 20 {
		r.outbox.add(150)
		r.d.Wake()
		time.Sleep(time.Millisecond)
	}
	r.emptied()
	r.eachStartedOnce(3000)
}

func TestClaimsOfADeadProcessAreTakenOverAfterTheLease(t *testing.T) {
	now := newClock()
	o := fast()
	o.Now = now.now
	r := start(t, o)
	r.stop()
	r.outbox.now = now.now
	r.outbox.add(40)
	dead, err := r.outbox.ClaimEvents(t.Context(), "dead", 30*time.Second, 40, 0)
	require.NoError(t, err)
	require.Len(t, dead, 40)
	r.outbox.add(2)
	r.another(o)
	r.eventually("what is not claimed is started", func() bool { return len(r.engine.started()) == 2 })
	now.pass(29 * time.Second)
	time.Sleep(5 * o.PollInterval)
	require.Len(t, r.engine.started(), 2, "the claim holds")
	now.pass(time.Second)
	r.emptied()
	r.eachStartedOnce(42)
}

func TestAStopGivesBackWhatWasNotStarted(t *testing.T) {
	o := fast()
	o.Parallel, o.BatchThreshold = 1, 1000
	r := start(t, o)
	r.engine.set(func(e *engine) { e.delay = 5 * time.Millisecond })
	r.outbox.add(100)
	r.eventually("some are started", func() bool { return len(r.engine.started()) > 3 })
	r.stop()
	claimed, _ := r.outbox.claimed()
	require.Zero(t, claimed)
	require.Equal(t, 100-len(r.engine.started()), r.outbox.len())
	r.another(fast())
	r.emptied()
	r.eachStartedOnce(100)
}

func TestAStopGivesBackWhatIsOnHold(t *testing.T) {
	r := start(t, fast())
	r.engine.set(func(e *engine) { e.refuse[1] = true })
	r.outbox.add(1)
	r.eventually("it is refused", func() bool { return r.outbox.attempts() == 1 })
	r.stop()
	claimed, _ := r.outbox.claimed()
	require.Zero(t, claimed)
}

// While Temporal is down, a large outbox is not claimed and given back over and over.
func TestAnOutageIsTriedWithOneEvent(t *testing.T) {
	r := start(t, fast())
	r.engine.set(func(e *engine) { e.down = true })
	r.outbox.add(500)
	r.eventually("it is tried", func() bool { return r.outbox.attempts() >= 10 })
	r.stop()
	claimed, made := r.outbox.claimed()
	require.Zero(t, claimed, "others may try")
	require.LessOrEqual(t, made, 500+r.outbox.attempts()+1)
}

func TestADispatcherWithoutEventsDoesNotCallAnOutageOver(t *testing.T) {
	now := newClock()
	o := fast()
	o.Now = func() time.Time { now.pass(time.Second); return now.now() } // the backlog is counted in every round
	r := start(t, o)
	r.engine.set(func(e *engine) { e.down = true })
	r.outbox.add(1)
	r.eventually("the outage is seen", func() bool { return r.log.containing("level=WARN") == 1 })
	r.eventually("another has the event", func() bool {
		claimed, err := r.outbox.ClaimEvents(t.Context(), "other", time.Hour, 1, 0)
		return err == nil && len(claimed) == 1
	})
	time.Sleep(100 * time.Millisecond)
	require.Zero(t, r.log.containing("commits are reconciled again"))
	require.NoError(t, r.outbox.RemoveEvents(t.Context(), []int64{1}))
	r.eventually("nothing waits", func() bool { return r.log.containing("commits are reconciled again") == 1 })
}

func TestAClaimThatIsAboutToEndIsNotUsed(t *testing.T) {
	now := newClock()
	o := fast()
	o.Now, o.Parallel, o.BatchThreshold, o.Lease, o.StartTimeout = now.now, 1, 1000, 30*time.Second, 10*time.Second
	r := start(t, o)
	r.stop()
	r.outbox.now = now.now
	r.outbox.add(10)
	slow := starterFunc(func(ctx context.Context, events []models.OutboxEvent) error {
		now.pass(9 * time.Second)
		return r.engine.start(ctx, events...)
	})
	d, err := dispatch.New(r.outbox, slow, o)
	require.NoError(t, err)
	var lapses []time.Time
	r.outbox.onRelease = func() { lapses = append(lapses, now.now()) }
	stop := running(t, d)
	r.emptied()
	stop()
	r.eachStartedOnce(10)
	require.Len(t, lapses, 3, "three fit into a lease; the others are claimed anew")
}

type starterFunc func(ctx context.Context, events []models.OutboxEvent) error

func (f starterFunc) StartReconcile(ctx context.Context, e models.OutboxEvent) error {
	return f(ctx, []models.OutboxEvent{e})
}

func (f starterFunc) StartReconcileBatch(ctx context.Context, events []models.OutboxEvent) error {
	return f(ctx, events)
}

func (f starterFunc) AwaitReconcileBatch(context.Context, []models.OutboxEvent) error { return nil }

// A commit that comes while 10,000 wait is started in the next rounds, not after them.
func TestABacklogDoesNotStarveNewCommits(t *testing.T) {
	const backlog = 10_000
	now := newClock()
	o := fast()
	o.Now = now.now
	r := start(t, o)
	r.stop()
	r.outbox.now = now.now
	r.outbox.add(backlog)

	var mu sync.Mutex
	came := map[int64]time.Time{} // new commits
	waited := map[int64]time.Duration{}
	var first, last time.Duration // after the start, that the oldest and the last old one were started
	begun := now.now()
	starter := starterFunc(func(ctx context.Context, events []models.OutboxEvent) error {
		mu.Lock()
		defer mu.Unlock()
		now.pass(100 * time.Millisecond) // 1,000 commits/s at most, beside 30 new ones
		r.outbox.add(3)
		for id := r.outbox.newest() - 2; id <= r.outbox.newest(); id++ {
			came[id] = now.now()
		}
		for _, e := range events {
			if at, ok := came[e.ID]; ok {
				waited[e.ID] = now.now().Sub(at)
			} else {
				last = now.now().Sub(begun)
			}
			if e.ID == 1 {
				first = last
			}
		}
		return r.engine.start(ctx, events...)
	})
	d, err := dispatch.New(r.outbox, starter, o)
	require.NoError(t, err)
	stop := running(t, d)
	r.eventually("the backlog is started", func() bool { return len(r.engine.started()) > backlog+100 })
	stop()

	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, last, 9*time.Second, "the test is about a backlog")
	var longest time.Duration
	for _, d := range waited {
		longest = max(longest, d)
	}
	require.Greater(t, len(waited), 100)
	require.Less(t, longest, 3*time.Second, "new commits pass the old ones")
	require.Less(t, first, time.Second, "which begin at once with the oldest")
}

// What Temporal was given cannot be passed by what comes later, so that it gets a few batches at a time.
func TestOnlySoManyBatchesAreUnderWay(t *testing.T) {
	o := fast()
	o.BatchThreshold, o.BatchSize, o.Batches = 1, 10, 3
	r := start(t, o)
	r.stop()
	last := make(chan struct{})
	r.engine.set(func(e *engine) { e.last = last })
	r.engine.set(func(e *engine) { e.lasting = 30 })
	r.outbox.add(1000)
	r.another(o)
	oldest := func() (n int) {
		for _, b := range r.engine.batched() {
			if b[0] <= 30 {
				n++
			}
		}
		return n
	}
	r.eventually("three batches are started", func() bool { return oldest() == 3 })
	r.outbox.add(1)
	newest := r.outbox.newest()
	r.eventually("a new commit passes all the others", func() bool { return r.engine.started()[newest] == 1 })
	require.Zero(t, r.engine.started()[31])
	last <- struct{}{}
	r.eventually("the next oldest follow the end of a batch", func() bool { return r.engine.started()[31] == 1 })
	close(last)
	r.emptied()
	r.eachStartedOnce(1001)
}

// Batches that wait for a store which is down must not stop the commits of others.
func TestABatchKeepsItsSlotForAWhileOnly(t *testing.T) {
	o := fast()
	o.BatchThreshold, o.BatchSize, o.Batches, o.BatchPatience = 1, 10, 2, 20*time.Millisecond
	r := start(t, o)
	r.engine.set(func(e *engine) { e.last = make(chan struct{}) })
	r.outbox.add(200)
	r.emptied()
	r.eachStartedOnce(200)
}

func TestAStopDoesNotWaitForBatches(t *testing.T) {
	o := fast()
	o.BatchThreshold = 1
	r := start(t, o)
	r.engine.set(func(e *engine) { e.last = make(chan struct{}) })
	r.outbox.add(10)
	r.emptied()
	begun := time.Now()
	r.stop()
	require.Less(t, time.Since(begun), time.Second)
}

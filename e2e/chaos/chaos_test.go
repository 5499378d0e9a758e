package chaos

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	rounds = flag.Int("rounds", 20, "kills of TestChaos")
	seed   = flag.Uint64("seed", 0, "seed of TestChaos's random choices, 0 for a new one; real time still differs from run to run")
)

const (
	writers = 8
	tables  = 4
	// freshEvery is after how many rounds the writers go on with new tables.
	freshEvery = 10
)

// TestChaos kills the server at random moments under eight writers, four of them on one table.
func TestChaos(t *testing.T) {
	begin(t, "rounds", *rounds)
	dir := t.TempDir()
	program, err := binary()
	require.NoError(t, err)
	arena := &Arena{Binary: program, Folder: filepath.Join(dir, "data"), Log: filepath.Join(dir, "sluice.log")}
	require.NoError(t, arena.Start())
	t.Cleanup(func() {
		arena.Kill()
		if t.Failed() {
			t.Logf("the server's last words:\n%s", arena.process.Tail(4000))
		}
	})
	require.NoError(t, arena.Ready(t.Context()))
	c, _ := arena.Connect()
	require.NoError(t, c.SetDefaultPolicy(t.Context(), "open_append"))
	require.NoError(t, arena.FreshTables(t.Context(), tables))

	journal := &Journal{}
	stop := startWriters(t, arena, journal)
	kill(t, arena)
	stop()
	verify(t, arena, journal)
}

// begin skips where tests are to be short, chooses what is random, and tells how the test is run again.
func begin(t *testing.T, setting string, value int) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes minutes")
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("reproduce with: go test ./e2e/chaos -run %s -%s %d -seed %d", t.Name(), setting, value, *seed)
}

// startWriters gives a function that ends them.
func startWriters(t *testing.T, arena *Arena, journal *Journal) func() {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range writers {
		w := &Writer{
			Rand: rand.New(rand.NewPCG(*seed, uint64(i))), Connect: arena.Connect, Journal: journal, Pause: 60 * time.Millisecond,
		}
		wg.Go(func() { w.Run(ctx, func() Target { return arena.Target(i, writers) }) })
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// kill makes the rounds; at its end the server is up.
func kill(t *testing.T, arena *Arena) {
	t.Helper()
	r := rand.New(rand.NewPCG(*seed, 1<<32))
	for round := 1; round <= *rounds; round++ {
		whileStarting, after := Moment(r)
		if whileStarting {
			arena.Kill()
			require.NoError(t, arena.Start())
		}
		time.Sleep(after)
		arena.Kill()
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		began := time.Now()
		require.NoError(t, arena.Start())
		require.NoError(t, arena.Ready(t.Context()), "round %d", round)
		t.Logf("round %d: killed after %s (while starting: %t), back after %s", round, after, whileStarting, time.Since(began).Round(time.Millisecond))
		if round%freshEvery == 0 && round < *rounds {
			require.NoError(t, arena.FreshTables(t.Context(), tables))
		}
	}
}

// verify waits until all is reconciled and holds everything against what the writers were told.
func verify(t *testing.T, arena *Arena, journal *Journal) {
	t.Helper()
	for _, problem := range journal.Problems() {
		t.Errorf("a writer got an answer that no engine should get: %v", problem)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+time.Duration(*rounds)*time.Second)
	defer cancel()
	c, _ := arena.Connect()
	began := time.Now()
	settled := Settle(ctx, c)
	found, err := Observe(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, arena.Stop())
	found.Outbox, err = CountOutbox(t.Context(), arena.Database())
	require.NoError(t, err)

	sent := journal.Sent()
	fates := map[Fate]int{}
	for _, s := range sent {
		fates[s.Fate]++
	}
	doubts, seen := journal.Doubts()
	t.Logf("%d commits sent %v (%d without a clear answer, %d seen to have landed) to %d tables; reconciled %s after the last; %d audit events",
		len(sent), fates, doubts, seen, len(arena.Tables()), time.Since(began).Round(time.Millisecond), len(found.Audit))
	assert.NoError(t, settled)
	assert.Greater(t, fates[Acknowledged], *rounds, "the writers hardly wrote")
	report(t, Check(arena.Tables(), sent, found))
}

func report(t *testing.T, broken []Violation) {
	t.Helper()
	const shown = 20
	for i, v := range broken {
		if i == shown {
			t.Errorf("and %d more", len(broken)-shown)
			return
		}
		t.Error(v)
	}
}

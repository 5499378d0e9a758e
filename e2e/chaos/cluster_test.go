package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

var clusterCommits = flag.Int("cluster-commits", 100, "commits of TestClusterChaos that are acknowledged before it ends")

// clusterTables is how many tables the six writers of TestClusterChaos share.
const clusterTables = 4

// TestClusterChaos kills PostgreSQL, Temporal, apis and workers at random moments, in an installation of separate programs, under
// two Flink jobs, two connectors and two engines that append. Whatever dies, each commit has one event, the audit's chain
// verifies, and no finding is made of what was no fault; then one fault is made on purpose, and found.
func TestClusterChaos(t *testing.T) {
	begin(t, "cluster-commits", *clusterCommits)
	c := startCluster(t)
	client, _ := c.Connect(0)()
	require.NoError(t, client.SetDefaultPolicy(t.Context(), "open_append"))
	targets := newTargets(t, client, "cluster", clusterTables)

	journal := &Journal{}
	streams := []Stream{NewFlink(), NewFlink(), NewConnect(), NewConnect(), nil, nil}
	stop := startStreams(t, c, journal, streams, targets)
	strikes := strikeUntil(t, c, journal, *clusterCommits)
	stop()
	for _, problem := range journal.Problems() {
		t.Errorf("a writer got an answer that no engine should get: %v", problem)
	}
	require.Empty(t, c.Ended(), "nothing ends by itself")
	began := time.Now()
	settleCluster(t, c)
	t.Logf("%d commits acknowledged under %d strikes, reconciled %s after the last", journal.Count(Acknowledged), strikes, time.Since(began).Round(time.Millisecond))
	verifyCluster(t, c, journal, targets)

	before := len(journal.Sent())
	replayed := replay(t, c, journal, streams[0].(*Flink), targets[0])
	require.Len(t, journal.Sent(), before+2)
	settleCluster(t, c)
	verifyCluster(t, c, journal, targets, replayed)
}

// startCluster starts an installation for as long as the test takes, where there is a PostgreSQL.
func startCluster(t *testing.T) *Cluster {
	t.Helper()
	program, err := binary()
	require.NoError(t, err)
	// A job that ends with the test is not to be late before the end of the checks.
	c, err := StartCluster(t.Context(), program, t.TempDir(), "SLUICE_STALLED_WRITER_FLOOR=1h")
	if errors.Is(err, pgtest.ErrNotInstalled) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(c.Stop)
	return c
}

func newTargets(t *testing.T, c *product.Client, namespace string, n int) []Target {
	t.Helper()
	require.NoError(t, c.CreateNamespace(t.Context(), namespace))
	var targets []Target
	for i := range n {
		name := fmt.Sprintf("t%d", i)
		loaded, err := c.CreateTable(t.Context(), namespace, name, nil)
		require.NoError(t, err)
		parsed, err := icebergtest.Parse(loaded.Metadata)
		require.NoError(t, err)
		targets = append(targets, Target{namespace, name, parsed.UUID})
	}
	return targets
}

// startStreams starts a writer for each stream, each on one table for good; the returned function ends them.
func startStreams(t *testing.T, c *Cluster, journal *Journal, streams []Stream, targets []Target) func() {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i, stream := range streams {
		w := &Writer{
			Rand: rand.New(rand.NewPCG(*seed, uint64(i))), Connect: c.Connect(i), Journal: journal, Pause: 150 * time.Millisecond, Stream: stream,
		}
		wg.Go(func() { w.Run(ctx, func() Target { return targets[i%len(targets)] }) })
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// strikeUntil kills one or two parts at a time, every part as often as the others, until so many commits are acknowledged and
// each part was killed once at least.
func strikeUntil(t *testing.T, c *Cluster, journal *Journal, commits int) (strikes int) {
	t.Helper()
	r := rand.New(rand.NewPCG(*seed, 1<<32))
	var next []int
	for strikes = 0; journal.Count(Acknowledged) < commits || strikes < len(c.parts); strikes++ {
		// Some commits land between two strikes, or the writers are stuck.
		enough := journal.Count(Acknowledged) + 1 + r.IntN(30)
		require.Eventually(t, func() bool { return journal.Count(Acknowledged) >= enough }, 2*time.Minute, 10*time.Millisecond,
			"commits go on; the writers met %v, and of the parts ended %v", journal.Problems(), c.Ended())
		require.Empty(t, c.Ended(), "nothing ends by itself")
		if len(next) < 2 {
			next = append(next, r.Perm(len(c.parts))...)
		}
		some := next[:1]
		if r.IntN(3) == 0 && next[0] != next[1] {
			some = next[:2]
		}
		next = next[len(some):]
		began := time.Now()
		names, err := c.Strike(t.Context(), r, some)
		require.NoError(t, err)
		t.Logf("strike %d: %v, back after %s, %d commits", strikes+1, names, time.Since(began).Round(time.Millisecond), journal.Count(Acknowledged))
	}
	return strikes
}

func settleCluster(t *testing.T, c *Cluster) {
	t.Helper()
	client, _ := c.Connect(0)()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	assert.NoError(t, Settle(ctx, client))
	// The events that a killed worker had claimed are another's when the claim is over.
	assert.Eventually(t, func() bool { return rowsOf(t, c, "outbox_events") == 0 }, time.Minute, 200*time.Millisecond, "the outbox is emptied")
}

// verifyCluster holds everything against what the writers were told. Of replayed snapshots, each is one finding.
func verifyCluster(t *testing.T, c *Cluster, journal *Journal, targets []Target, replayed ...int64) {
	t.Helper()
	client, _ := c.Connect(0)()
	found, err := Observe(t.Context(), client)
	require.NoError(t, err)
	found.Outbox = rowsOf(t, c, "outbox_events")
	var uuids []string
	for _, target := range targets {
		uuids = append(uuids, target.UUID)
	}
	report(t, Check(uuids, journal.Sent(), found))
	verifyFindings(t, client, replayed)
	// What was written last is sealed a moment later.
	var verified []byte
	require.Eventually(t, func() bool {
		verified, err = c.Programs.Run(t.Context(), "audit", "verify")
		return err == nil
	}, time.Minute, time.Second, "the audit verifies")
	t.Logf("audit verify: %s", verified)
}

func rowsOf(t *testing.T, c *Cluster, table string) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.Programs.DatabaseURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n))
	return n
}

// provoked are the findings that this test gives reason to: many commits of files of 1,000 bytes, by engines that come to the
// folder without a key of ours.
var provoked = map[string]bool{"snapshot_rate": true, "small_files": true, "undelegated_access": true}

func verifyFindings(t *testing.T, c *product.Client, replayed []int64) {
	t.Helper()
	findings, err := c.Findings(t.Context())
	require.NoError(t, err)
	want := map[string]bool{}
	for _, id := range replayed {
		want[strconv.FormatInt(id, 10)] = true
	}
	for _, f := range findings {
		switch {
		case provoked[f.Kind]:
		case f.Kind == "duplicate_checkpoint" && f.SnapshotID != nil && want[*f.SnapshotID]:
			delete(want, *f.SnapshotID)
		default:
			t.Errorf("a finding of what was no fault: %s of %s (%s), open %t: %v", f.Kind, f.Ref, f.Subject, f.Open, f.Evidence)
		}
	}
	assert.Empty(t, want, "replayed snapshots without a finding")
}

// replay has a Flink job commit once more, and then its last checkpoint again.
func replay(t *testing.T, c *Cluster, journal *Journal, job *Flink, target Target) (snapshot int64) {
	t.Helper()
	client, _ := c.Connect(0)()
	for _, again := range []bool{false, true} {
		if again {
			job.Replay()
		}
		loaded, err := client.LoadTable(t.Context(), target.Namespace, target.Name)
		require.NoError(t, err)
		table, err := icebergtest.Parse(loaded.Metadata)
		require.NoError(t, err)
		commit, err := files(job).Append(table, 1, 10)
		require.NoError(t, err)
		require.NoError(t, client.Commit(t.Context(), target.Namespace, target.Name, commit.Body()))
		journal.add(sentOf(table.UUID, commit, Acknowledged))
		job.checkpoint++
		snapshot = commit.SnapshotID
	}
	return snapshot
}

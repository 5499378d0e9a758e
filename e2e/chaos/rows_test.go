package chaos

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
)

var rowStrikes = flag.Int("row-strikes", 3, "kills of TestClusterRows")

const (
	// upserters is how many write to each table of TestClusterRows.
	upserters = 3
	// freshStrikes is after how many kills they go on with new tables.
	freshStrikes = 10
)

// TestClusterRows kills apis, and PostgreSQL, under governed writes of the same rows through both apis, each of which is
// repeated to the other api until it is answered. Each write lands once, and the tables and the audit of rows are what the writes
// come to in order of their snapshots.
func TestClusterRows(t *testing.T) {
	begin(t, "row-strikes", *rowStrikes)
	c := startCluster(t)
	for left, phase := *rowStrikes, 0; left > 0; left, phase = left-freshStrikes, phase+1 {
		writeUnderStrikes(t, c, fmt.Sprint("rows_", phase), min(left, freshStrikes))
	}
}

// writeUnderStrikes fills new tables while apis are killed, and looks at what is there in the end.
func writeUnderStrikes(t *testing.T, c *Cluster, namespace string, strikes int) {
	t.Helper()
	client, _ := c.Connect(0)()
	targets := keyedTables(t, client, namespace)
	var all []*Upserter
	for i := range upserters * len(targets) {
		all = append(all, &Upserter{
			Number: i, Rand: rand.New(rand.NewPCG(*seed, uint64(i))), APIs: []Connection{c.Connect(0), c.Connect(1)},
			Target: targets[i%len(targets)], IDs: 30, Pause: 300 * time.Millisecond,
		})
	}
	began := time.Now()
	stop := startUpserters(t.Context(), all)
	strikeAPIs(t, c, strikes)
	stop()
	require.Empty(t, c.Ended(), "nothing ends by itself")
	for _, u := range all {
		require.NoError(t, u.Problem)
	}
	t.Logf("%s of writes", time.Since(began).Round(time.Millisecond))
	settleCluster(t, c)
	client, _ = c.Connect(0)()
	for i, target := range targets {
		var written []GovernedWrite
		repeats, longest := 0, time.Duration(0)
		for at := i; at < len(all); at += len(targets) {
			u := all[at]
			written, repeats, longest = append(written, u.Written...), repeats+u.Repeats, max(longest, u.Longest)
		}
		verifyRows(t, client, target, written)
		t.Logf("%s.%s: %d writes, the longest took %s, %d requests repeated",
			namespace, target.Name, len(written), longest.Round(time.Millisecond), repeats)
	}
}

// keyedTables makes a table of each format version that takes upserts.
func keyedTables(t *testing.T, c *product.Client, namespace string) (out []Target) {
	t.Helper()
	require.NoError(t, c.CreateNamespace(t.Context(), namespace))
	for version := 2; version <= 3; version++ {
		target := Target{Namespace: namespace, Name: fmt.Sprint("v", version)}
		_, err := c.CreateKeyedTable(t.Context(), namespace, target.Name, map[string]string{"format-version": fmt.Sprint(version)})
		require.NoError(t, err)
		out = append(out, target)
	}
	return out
}

// strikeAPIs kills an api, or now and then PostgreSQL, and starts it again.
func strikeAPIs(t *testing.T, c *Cluster, strikes int) {
	t.Helper()
	r := rand.New(rand.NewPCG(*seed, 1<<32))
	var struck []int // parts: the apis in turn
	for i, p := range c.parts {
		if _, ok := p.(*apiPart); ok {
			struck = append(struck, i)
		}
	}
	for strike := range strikes {
		time.Sleep(500*time.Millisecond + time.Duration(r.Int64N(int64(1500*time.Millisecond))))
		part := struck[strike%len(struck)]
		if strike%7 == 5 {
			part = 0
		}
		began := time.Now()
		names, err := c.Strike(t.Context(), r, []int{part})
		require.NoError(t, err)
		t.Logf("strike %d: %v, back after %s", strike+1, names, time.Since(began).Round(time.Millisecond))
	}
}

// verifyRows replays writes in order of their snapshots, and holds the table and the audit of rows against that.
func verifyRows(t *testing.T, c *product.Client, target Target, written []GovernedWrite) {
	t.Helper()
	bySnapshot, audited := map[string]GovernedWrite{}, map[string]bool{}
	for _, w := range written {
		bySnapshot[w.Result.SnapshotID] = w
		audited[w.Result.AuditID] = true
	}
	order := snapshotsOf(t, c, target)
	require.ElementsMatch(t, order, slices.Collect(maps.Keys(bySnapshot)), "each write has one snapshot")
	writes, err := c.Writes(t.Context(), target.Namespace, target.Name)
	require.NoError(t, err)
	require.Len(t, writes, len(audited), "each write is in the audit once")

	content, landings := map[int]string{}, map[int][]string{}
	for _, snapshot := range order {
		w := bySnapshot[snapshot]
		var updated int64
		for id, line := range w.Rows {
			if _, there := content[id]; there {
				updated++
			}
			content[id], landings[id] = line, append(landings[id], w.Result.AuditID)
		}
		require.Equal(t, product.WriteResult{
			AuditID: w.Result.AuditID, SnapshotID: snapshot, Rows: int64(len(w.Rows)), Updated: updated,
		}, w.Result)
		rows, err := c.LandedRows(t.Context(), w.Result.AuditID)
		require.NoError(t, err)
		require.Len(t, rows, len(w.Rows))
		for _, row := range rows {
			if row.Updated {
				updated--
			}
		}
		require.Zero(t, updated, "the audit says which rows were there")
	}
	rows, err := c.ReadRows(t.Context(), target.Namespace, target.Name)
	require.NoError(t, err)
	require.ElementsMatch(t, slices.Collect(maps.Values(content)), rows)
	for id, want := range landings {
		found, err := c.RowAudit(t.Context(), target.Namespace, target.Name, map[string]any{"id": strconv.Itoa(id)})
		require.NoError(t, err)
		var got []string
		for _, l := range found {
			got = append(got, l.Write.AuditID)
		}
		require.Equal(t, want, got, "the audit of row %d, in order", id)
	}
}

// snapshotsOf gives the snapshots of a table in order of their sequence numbers.
func snapshotsOf(t *testing.T, c *product.Client, target Target) (out []string) {
	t.Helper()
	loaded, err := c.LoadTable(t.Context(), target.Namespace, target.Name)
	require.NoError(t, err)
	type snapshot struct {
		ID       json.Number `json:"snapshot-id"`
		Sequence int64       `json:"sequence-number"`
	}
	var doc struct {
		Snapshots []snapshot `json:"snapshots"`
	}
	require.NoError(t, json.Unmarshal(loaded.Metadata, &doc))
	slices.SortFunc(doc.Snapshots, func(a, b snapshot) int { return int(a.Sequence - b.Sequence) })
	for _, s := range doc.Snapshots {
		out = append(out, s.ID.String())
	}
	return out
}

package dataplane_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// eachDatabase runs a test on a lake with SQLite and on one with PostgreSQL. The lake's clock runs.
func eachDatabase(t *testing.T, run func(t *testing.T, l *writeLake)) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			var l *writeLake
			if name == "sqlite" {
				l = newWriteLake(t)
			} else {
				l = writeLakeOn(t, pgtest.Database(t))
			}
			l.runs = time.Now()
			run(t, l)
		})
	}
}

// process is a further server of a lake: it shares database and files with the others, and nothing else.
type process struct {
	l    *writeLake
	core *catalog.Service
	data *dataplane.Service
}

func (l *writeLake) process() *process {
	l.t.Helper()
	core, deps := catalog.New(l.catalogDeps), l.another()
	deps.Catalog, deps.IO = core, tableio.New(core, l.files, l.time)
	return &process{l: l, core: core, data: dataplane.New(deps)}
}

func (p *process) write(name string, in dataplane.WriteInput, lines ...string) (dataplane.WriteResult, error) {
	return p.data.Write(p.l.t.Context(), p.l.writer(), "main.sales."+name, written(in, lines...))
}

// appends commits rows as an engine does, anew as long as others are faster, and gives the snapshot.
func (p *process) appends(name string, lines ...string) int64 {
	p.l.t.Helper()
	for {
		staged := p.l.stagedAppend(name, lines...)
		_, err := p.core.CommitTable(p.l.t.Context(), p.l.owner(), p.l.cat, staged.Input)
		if err == nil {
			return staged.SnapshotID
		}
		require.Equal(p.l.t, fault.Conflict, fault.CodeOf(err), "%v", err)
		staged.Discard(p.l.t.Context())
	}
}

// A key that two processes are sent at the same time lands once, and both give the same answer.
func TestAKeyThatTwoProcessesGetAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, l *writeLake) {
		l.make(made{name: "orders", version: 2, identifier: "1"})
		servers := []*process{l.process(), l.process()}
		rounds := 20
		if testing.Short() {
			rounds = 5
		}
		var content []string
		for round := range rounds {
			in := dataplane.WriteInput{Key: uuid.NewString()}
			if round%2 == 0 {
				in.Mode = upsert.Mode
			}
			line := order(round, "EU", "a")
			content = append(content, line)
			var both sync.WaitGroup
			var answers [2]dataplane.WriteResult
			for i, p := range servers {
				both.Go(func() {
					var err error
					answers[i], err = p.write("orders", in, line)
					require.NoError(t, err)
				})
			}
			both.Wait()
			require.Equal(t, answers[0], answers[1])
			_, err := servers[round%2].write("orders", in, order(round, "EU", "b"))
			refused(t, err, fault.Unprocessable, "another request")
			in.Label = "restricted"
			_, err = servers[1-round%2].write("orders", in, line)
			refused(t, err, fault.Unprocessable, "another request")
			require.Equal(t, l.hashesOfRows("orders", line), hashesOf(l.records(answers[0].AuditID)))
		}
		require.Equal(t, sortedCopy(content), l.content("orders"))
		require.Equal(t, rounds, l.load("orders").Document.SnapshotCount())
		writes, err := l.db.GovernedWrites(t.Context(), models.GovernedWriteFilter{Limit: 10 * rounds})
		require.NoError(t, err)
		require.Len(t, writes, rounds)
	})
}

// Of two bodies under one key one lands, and the other is refused, whichever process it is sent to.
func TestAKeyWithTwoBodiesInTwoProcesses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, l *writeLake) {
		l.make(made{name: "orders", version: 2})
		servers := []*process{l.process(), l.process()}
		for round := range 10 {
			in := dataplane.WriteInput{Key: uuid.NewString()}
			var both sync.WaitGroup
			var errs [2]error
			for i, p := range servers {
				both.Go(func() { _, errs[i] = p.write("orders", in, order(round, "EU", fmt.Sprint("by ", i))) })
			}
			both.Wait()
			landed := slices.Index(errs[:], nil)
			require.GreaterOrEqual(t, landed, 0, "%v", errs)
			refused(t, errs[1-landed], fault.Unprocessable, "another request")
			require.Contains(t, l.content("orders"), order(round, "EU", fmt.Sprint("by ", landed)))
			require.Len(t, l.content("orders"), round+1)
		}
	})
}

func TestAKeyPastItsLifetimeIsNew(t *testing.T) {
	eachDatabase(t, func(t *testing.T, l *writeLake) {
		l.make(made{name: "orders", version: 2})
		one, other := l.process(), l.process()
		in := dataplane.WriteInput{Key: uuid.NewString()}
		first, err := one.write("orders", in, order(1, "EU", "a"))
		require.NoError(t, err)
		l.pass(59 * time.Minute)
		again, err := other.write("orders", in, order(1, "EU", "a"))
		require.NoError(t, err)
		require.Equal(t, first, again)
		l.pass(2 * time.Minute)
		later, err := other.write("orders", in, order(2, "EU", "b"))
		require.NoError(t, err)
		require.NotEqual(t, first.AuditID, later.AuditID)
		again, err = one.write("orders", in, order(2, "EU", "b"))
		require.NoError(t, err)
		require.Equal(t, later, again)
		require.Equal(t, []string{order(1, "EU", "a"), order(2, "EU", "b")}, l.content("orders"))
	})
}

// landed is what a commit brought.
type landed struct {
	lines  []string // rows, of an upsert one of each key
	result *dataplane.WriteResult
}

// Upserts of the same keys in two processes beside the appends of an engine in a third: what is there in the end is what they
// come to in order of their snapshots, and the audit of each write is its rows.
func TestUpsertsInTwoProcessesBesideAnEngine(t *testing.T) {
	eachDatabase(t, func(t *testing.T, l *writeLake) {
		for _, table := range []made{{name: "parts", version: 2, spec: byRegion}, {name: "whole", version: 3}} {
			t.Run(table.name, func(t *testing.T) { upsertsBesideAnEngine(t, l, table) })
		}
	})
}

func upsertsBesideAnEngine(t *testing.T, l *writeLake, table made) {
	const keys = 40
	rounds, name := 10, table.name
	if testing.Short() {
		rounds = 5
	}
	table.identifier = "1"
	l.make(table)
	var mu sync.Mutex
	history := map[int64]landed{}
	var all sync.WaitGroup
	for i := range 3 {
		p, random := l.process(), rand.New(rand.NewPCG(uint64(table.version), uint64(i)))
		all.Go(func() {
			for round := range rounds {
				var lines []string
				for _, id := range random.Perm(keys)[:1+random.IntN(8)] {
					lines = append(lines, order(id, []string{"EU", "US"}[random.IntN(2)], fmt.Sprint("round ", round, " of ", i)))
				}
				did := landed{lines: lines}
				var snapshot int64
				if i == 2 {
					snapshot = p.appends(name, lines...)
				} else {
					in := upsert
					in.Key = uuid.NewString()
					result, err := p.write(name, in, lines...)
					require.NoError(t, err)
					snapshot, did.result = result.SnapshotID, &result
				}
				mu.Lock()
				history[snapshot] = did
				mu.Unlock()
			}
		})
	}
	all.Wait()
	require.Len(t, history, 3*rounds)
	l.replay(name, history)
}

// replay derives from the order of snapshots what a table has to have, and holds its content and the audit against that.
func (l *writeLake) replay(name string, history map[int64]landed) {
	l.t.Helper()
	doc := l.load(name).Document
	ids := doc.SnapshotIDs()
	slices.SortFunc(ids, func(a, b int64) int {
		one, _ := doc.Snapshot(a)
		other, _ := doc.Snapshot(b)
		return int(one.SequenceNumber - other.SequenceNumber)
	})
	require.Equal(l.t, slices.Sorted(maps.Keys(history)), slices.Sorted(slices.Values(ids)))
	rowsOf := map[string][]string{} // by key
	for _, id := range ids {
		did := history[id]
		var replaced, updated int64
		for _, line := range did.lines {
			key := keyOf(line)
			if did.result == nil {
				rowsOf[key] = append(rowsOf[key], line)
				continue
			}
			replaced += int64(len(rowsOf[key]))
			updated += int64(min(1, len(rowsOf[key])))
			rowsOf[key] = []string{line}
		}
		if did.result == nil {
			continue
		}
		require.EqualValues(l.t, len(did.lines), did.result.Rows)
		require.Equal(l.t, replaced, *did.result.Updated)
		records := l.records(did.result.AuditID)
		require.Equal(l.t, l.hashesOfRows(name, did.lines...), hashesOf(records))
		for _, r := range records {
			if r.Updated {
				updated--
			}
		}
		require.Zero(l.t, updated, "the audit says which rows were there")
	}
	require.Equal(l.t, sortedCopy(slices.Concat(slices.Collect(maps.Values(rowsOf))...)), l.content(name))
}

func keyOf(line string) string {
	var row struct{ ID string }
	_ = json.Unmarshal([]byte(line), &row)
	return row.ID
}

// hashesOfRows gives the hashes of rows by their ids, sorted.
func (l *writeLake) hashesOfRows(name string, lines ...string) [][16]byte {
	l.t.Helper()
	w, err := l.io.NewFileWriter(l.t.Context(), l.load(name).Document, tableio.FileOptions{})
	require.NoError(l.t, err)
	defer w.Abort()
	r, err := rows.NewReader(strings.NewReader(strings.Join(lines, "\n")), rows.NDJSON, w.Schema(), rows.ReadOptions{})
	require.NoError(l.t, err)
	defer r.Close()
	var out [][16]byte
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(l.t, err)
		hashes, err := l.hasher(w.Schema(), "id").Hash(batch.Rows)
		require.NoError(l.t, err)
		out = append(out, hashes...)
		batch.Release()
	}
	sortHashes(out)
	return out
}

// The audit of a row tells in which order writes landed it, whichever was begun first.
func TestTheAuditOfARowIsInOrderOfCommits(t *testing.T) {
	eachDatabase(t, func(t *testing.T, l *writeLake) {
		l.make(made{name: "orders", version: 2, identifier: "1"})
		one, other := l.process(), l.process()
		var first dataplane.WriteResult
		slow := upsert
		slow.Format, slow.Body = rows.NDJSON, &pausing{lines: order(1, "EU", "slow"), then: func() {
			var err error
			first, err = other.write("orders", upsert, order(1, "EU", "fast"))
			require.NoError(t, err)
		}}
		second, err := one.write("orders", slow)
		require.NoError(t, err)
		require.Equal(t, []string{order(1, "EU", "slow")}, l.content("orders"))
		_, found, err := one.data.FindRow(t.Context(), l.owner(), "main.sales.orders", json.RawMessage(`{"id":1}`))
		require.NoError(t, err)
		require.Len(t, found, 2)
		require.Equal(t, []string{first.AuditID, second.AuditID}, []string{found[0].Write.ID, found[1].Write.ID})
	})
}

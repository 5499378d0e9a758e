package facade

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/models"
)

var appends = flag.Int("appends", 2, "appends of each of the 60 writers of TestCaseA8")

// doubtful moves pointers, or not, and then does not know.
type doubtful struct {
	catalog.Store
	on, moves bool
}

func (d *doubtful) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	if !d.on {
		return d.Store.SwapTables(ctx, swaps)
	}
	if d.moves {
		if err := d.Store.SwapTables(ctx, swaps); err != nil {
			return err
		}
	}
	return fault.New(fault.UnknownState, "The database did not confirm the commit: load the current state before trying again.")
}

// TestCaseA1CommitInDoubt: a client that is told 4xx deletes its files; so a commit in doubt is never that. What the
// database itself leaves in doubt is tested with internal/store.
func TestCaseA1CommitInDoubt(t *testing.T) {
	for name, moves := range map[string]bool{"that took effect": true, "that did not": false} {
		t.Run(name, func(t *testing.T) {
			d := &doubtful{moves: moves}
			s := newSite(t, func(s *setup) { d.Store, s.core.Store = s.core.Store, d })
			s.create(t, "a")
			s.create(t, "b")
			a, b := s.append(t, "a"), s.append(t, "b")
			d.on = true
			r := s.want(t, 500, s.post(t, tablePath("a"), string(a.Body())))
			require.Equal(t, "CommitStateUnknownException", r.kind())
			require.Empty(t, r.Header.Get("Retry-After"), "a client must look first")
			r = s.want(t, 500, s.post(t, "/transactions/commit", transaction(change("b", b))))
			require.Equal(t, "CommitStateUnknownException", r.kind())
			d.on = false
			for _, name := range []string{"a", "b"} {
				want := 0
				if moves {
					want = 1
				}
				require.Equal(t, want, s.table(t, name).SnapshotCount, "all of the commit or nothing")
			}
			require.Len(t, s.metadataFiles(t), 4, "files that may be referenced stay")
		})
	}
}

func TestCaseA2ConcurrentCommitsGet409(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	first, second := s.append(t, "a"), s.append(t, "a")
	s.want(t, 200, s.post(t, tablePath("a"), string(first.Body())))
	r := s.want(t, 409, s.post(t, tablePath("a"), string(second.Body())))
	require.Equal(t, "CommitFailedException", r.kind())
	for name, body := range map[string]string{
		"update":      `{"requirements":[],"updates":[{"action":"add-wings"}]}`,
		"requirement": `{"requirements":[{"type":"assert-weather"}],"updates":[]}`,
	} {
		r := s.want(t, 400, s.post(t, tablePath("a"), body))
		require.Equal(t, "BadRequestException", r.kind(), "an unknown %s", name)
		s.want(t, 400, s.post(t, "/transactions/commit", `{"table-changes":[{"identifier":{"namespace":["db"],"name":"a"},`+body[1:]+`]}`))
	}
	require.Equal(t, []int64{first.SnapshotID}, s.table(t, "a").Lineage())
}

func TestCaseA13ConcurrentTransactionsGet409(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	s.create(t, "b")
	stale := transaction(change("a", s.append(t, "a")), change("b", s.append(t, "b")))
	s.want(t, 204, s.post(t, "/transactions/commit", transaction(change("b", s.append(t, "b")))))
	r := s.want(t, 409, s.post(t, "/transactions/commit", stale))
	require.Equal(t, "CommitFailedException", r.kind())
	require.Zero(t, s.table(t, "a").SnapshotCount)
	require.Equal(t, 1, s.table(t, "b").SnapshotCount)
}

// TestCaseA4OverloadIsBeforeAnyEffect: clients clean up after a 503, so it is only said before anything is written.
func TestCaseA4OverloadIsBeforeAnyEffect(t *testing.T) {
	check := func(t *testing.T, s *site, status int, refused func(path, body string) reply) {
		t.Helper()
		events, files := s.audit(t, ""), len(s.metadataFiles(t))
		commit := string(s.append(t, "a").Body())
		for path, body := range map[string]string{
			tablePath("a"):                 commit,
			"/namespaces/db/tables":        createBody("new"),
			"/namespaces":                  `{"namespace":["new"]}`,
			"/namespaces/db/properties":    `{"updates":{"a":"b"}}`,
			"/tables/rename":               `{"source":{"namespace":["db"],"name":"a"},"destination":{"namespace":["db"],"name":"z"}}`,
			"/transactions/commit":         `{"table-changes":[{"identifier":{"namespace":["db"],"name":"a"},` + commit[1:] + `]}`,
			"/namespaces/db/tables?stage=": `{"name":"s","stage-create":true,"schema":` + columns + `}`,
		} {
			r := refused(path, body)
			require.Equal(t, status, r.StatusCode, "%s: %s", path, r.body)
			require.Equal(t, "SlowDownException", r.kind())
			require.NotEmpty(t, r.Header.Get("Retry-After"))
		}
		require.Equal(t, events, s.audit(t, ""))
		require.Len(t, s.metadataFiles(t), files)
	}
	t.Run("more requests than the server takes", func(t *testing.T) {
		l := newLake(t)
		free := l.serve(t)
		free.want(t, 200, free.post(t, "/namespaces", `{"namespace":["db"]}`))
		free.create(t, "a")
		gate := &gate{entered: make(chan struct{}, 1), open: make(chan struct{})}
		full := l.serve(t, func(s *setup) { s.api.Limits.InFlight = 1; gate.Store, s.core.Store = s.core.Store, gate })
		var held sync.WaitGroup
		held.Go(func() {
			_, err := full.send(t.Context(), "HEAD", tablePath("a"), "")
			assert.NoError(t, err)
		})
		<-gate.entered
		check(t, free, 503, func(path, body string) reply { return full.post(t, path, body) })
		health, err := full.sendTo(t.Context(), "GET", full.url+"/healthz", "")
		require.NoError(t, err)
		require.Equal(t, 200, health.StatusCode, "probes are answered all the same")
		close(gate.open)
		held.Wait()
		full.want(t, 200, full.get(t, tablePath("a")))
	})
	t.Run("more requests than a principal may send", func(t *testing.T) {
		l := newLake(t)
		free := l.serve(t)
		free.want(t, 200, free.post(t, "/namespaces", `{"namespace":["db"]}`))
		free.create(t, "a")
		limited := l.serve(t, func(s *setup) { s.api.Limits.PerSecond = 1 })
		refused := func(path, body string) reply {
			for range 100 {
				if r := limited.post(t, path, body); r.StatusCode == 429 {
					return r
				}
				require.Equal(t, 200, limited.get(t, "/namespaces/db").StatusCode/200*200)
			}
			t.Fatal("never refused")
			return reply{}
		}
		limited.get(t, "/namespaces/db") // the one request of this second
		check(t, free, 429, refused)
	})
	t.Run("the object store or the database is away", func(t *testing.T) {
		f := &failing{}
		s := newSite(t, func(s *setup) { f.Store, s.core.Store = s.core.Store, f })
		s.create(t, "a")
		body, files := string(s.append(t, "a").Body()), len(s.metadataFiles(t))
		f.with = fault.New(fault.Unavailable, "The database cannot be reached: nothing was written, try again.")
		r := s.want(t, 503, s.post(t, tablePath("a"), body))
		require.Equal(t, "1", r.Header.Get("Retry-After"))
		require.Len(t, s.metadataFiles(t), files, "the metadata file of the failed commit is gone")
	})
}

// gate holds lookups until it opens.
type gate struct {
	catalog.Store
	entered, open chan struct{}
}

func (g *gate) TableByName(ctx context.Context, namespaceID, name string) (models.Table, error) {
	select {
	case g.entered <- struct{}{}:
	default:
	}
	<-g.open
	return g.Store.TableByName(ctx, namespaceID, name)
}

// TestCaseA8ManyWriters: 60 writers on one table and on 60 tables get only 200 or 409, and every acknowledged file is
// there once.
func TestCaseA8ManyWriters(t *testing.T) {
	const writers = 60
	for name, tables := range map[string]int{"one table": 1, "sixty tables": writers} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			for i := range tables {
				s.create(t, fmt.Sprint("t", i))
			}
			var mu sync.Mutex
			acknowledged := map[string][]string{}
			var lost atomic.Int64
			start := time.Now()
			var wg sync.WaitGroup
			for w := range writers {
				table := fmt.Sprint("t", w%tables)
				wg.Go(func() {
					for range *appends {
						files, conflicts, err := s.appendUntilDone(t.Context(), table)
						lost.Add(int64(conflicts))
						if !assert.NoError(t, err) {
							return
						}
						mu.Lock()
						acknowledged[table] = append(acknowledged[table], files...)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			took := time.Since(start)
			for table, want := range acknowledged {
				got, err := s.writer.LiveFiles(s.table(t, table).HeadList)
				require.NoError(t, err)
				require.ElementsMatch(t, want, got)
			}
			n := writers * *appends
			require.Equal(t, n, s.audit(t, models.AuditTableCommitted))
			t.Logf("%d appends in %v: %.0f/s, %d conflicts", n, took.Round(time.Millisecond), float64(n)/took.Seconds(), lost.Load())
		})
	}
}

// appendUntilDone appends one file as an engine does: on a conflict it refreshes and tries again.
func (s *site) appendUntilDone(ctx context.Context, table string) (files []string, conflicts int, err error) {
	for {
		r, err := s.send(ctx, "GET", tablePath(table)+"?snapshots=refs", "")
		if err != nil || r.StatusCode != 200 {
			return nil, conflicts, fmt.Errorf("load: %d %s %w", r.StatusCode, r.body, err)
		}
		var l loaded
		if err := json.Unmarshal(r.body, &l); err != nil {
			return nil, conflicts, err
		}
		base, err := icebergtest.Parse(l.Metadata)
		if err != nil {
			return nil, conflicts, err
		}
		c, err := s.writer.Append(base, 1, 1)
		if err != nil {
			return nil, conflicts, err
		}
		r, err = s.send(ctx, "POST", tablePath(table), string(c.Body()))
		switch {
		case err != nil:
			return nil, conflicts, err
		case r.StatusCode == 200:
			return c.DataFiles, conflicts, nil
		case r.StatusCode != 409:
			return nil, conflicts, fmt.Errorf("commit: %d %s", r.StatusCode, r.body)
		}
		conflicts++
		time.Sleep(rand.N(min(20*time.Millisecond<<min(conflicts, 6), time.Second)))
	}
}

// TestCaseA8NonOverlappingUpdatesRetryOnTheServer: what does not depend on what others changed needs no client's retry.
func TestCaseA8NonOverlappingUpdatesRetryOnTheServer(t *testing.T) {
	l := newLake(t)
	s, other := l.serve(t), l.serve(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["db"]}`))
	s.create(t, "a")
	var wg sync.WaitGroup
	for i := range 24 {
		process := []*site{s, other}[i%2]
		wg.Go(func() {
			r, err := process.send(t.Context(), "POST", tablePath("a"), fmt.Sprintf(`{"requirements":[],"updates":[{"action":"set-properties","updates":{"k%d":"v"}}]}`, i))
			if assert.NoError(t, err) {
				assert.Equal(t, 200, r.StatusCode, "%s", r.body)
			}
		})
	}
	wg.Wait()
	for i := range 24 {
		require.Contains(t, string(s.load(t, "a").Metadata), fmt.Sprintf(`"k%d":"v"`, i))
	}
}

func TestCaseA9ConcurrentNamespaceProperties(t *testing.T) {
	l := newLake(t)
	s, other := l.serve(t), l.serve(t)
	s.want(t, 200, s.post(t, "/namespaces", `{"namespace":["db"]}`))
	var updated sync.Map
	var wg sync.WaitGroup
	for i := range 20 {
		process := []*site{s, other}[i%2]
		wg.Go(func() {
			r, err := process.send(t.Context(), "POST", "/namespaces/db/properties", fmt.Sprintf(`{"updates":{"k%d":"v"}}`, i))
			if assert.NoError(t, err) && assert.Contains(t, []int{200, 409}, r.StatusCode, "%s", r.body) && r.StatusCode == 200 {
				updated.Store(fmt.Sprintf(`"k%d":"v"`, i), true)
			}
		})
	}
	wg.Wait()
	now := string(s.get(t, "/namespaces/db").body)
	n := 0
	updated.Range(func(pair, _ any) bool {
		n++
		return assert.Contains(t, now, pair.(string), "an acknowledged update is lost")
	})
	require.Positive(t, n)
}

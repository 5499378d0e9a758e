package facade

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/icebergtest"
)

// entry is what one name stands for: a table and main's head, 0 for none. The zero entry is no table.
type entry struct {
	uuid string
	head int64
}

// names is the whole state that the model knows: three names, between which tables move.
type names [3]entry

// call is one request, by what it means to the model.
type call struct {
	op       string // load, commit, create, drop, rename
	name, to int
	expect   entry // of a commit: what it asserts
	head     int64 // of a commit: the snapshot it adds
}

// result is its answer.
type result struct {
	status int
	entry  entry // as loaded, created or committed
}

// catalogModel says what a catalog may answer when requests take effect one after the other.
func catalogModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return names{} },
		Step: func(state, input, output any) (bool, any) {
			s, c, r := state.(names), input.(call), output.(result)
			ok := step(&s, c, r)
			return ok, s
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
	}
}

// step applies a call to the state and tells whether it may have been answered so.
func step(s *names, c call, r result) bool {
	now := s[c.name]
	absent := now == entry{}
	switch c.op {
	case "load":
		return r.status == 404 && absent || r.status == 200 && r.entry == now
	case "create":
		if r.status == 409 {
			return !absent
		}
		s[c.name] = r.entry
		return r.status == 200 && absent
	case "drop":
		s[c.name] = entry{}
		return r.status == 404 && absent || r.status == 204 && !absent
	case "commit":
		switch r.status {
		case 404:
			return absent
		case 409:
			return !absent && now != c.expect
		}
		s[c.name] = entry{c.expect.uuid, c.head}
		return r.status == 200 && now == c.expect && r.entry == s[c.name]
	case "rename":
		switch r.status {
		case 404:
			return absent
		case 409:
			return !absent && s[c.to] != entry{}
		}
		s[c.to], s[c.name] = now, entry{}
		return r.status == 204 && !absent
	}
	return false
}

// recorder runs clients against processes and keeps what they did when.
type recorder struct {
	start   time.Time
	mu      sync.Mutex
	history []porcupine.Operation
}

func (r *recorder) record(client int, c call, run func() (result, error)) error {
	began := time.Since(r.start).Nanoseconds()
	answer, err := run()
	ended := time.Since(r.start).Nanoseconds()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: client, Input: c, Output: answer, Call: began, Return: ended})
	return nil
}

func nameOf(i int) string { return []string{"x", "y", "z"}[i] }

// client sends random requests to a process: mostly loads and commits to what it loaded last.
func (r *recorder) client(ctx context.Context, s *site, id, requests int, random *rand.Rand) error {
	var base icebergtest.Table
	known := 0 // the name that base was seen under
	for range requests {
		c := call{name: random.IntN(3)}
		n := random.IntN(100)
		if n < 70 && random.IntN(8) > 0 {
			c.name = known
		}
		path := tablePath(nameOf(c.name))
		var run func() (result, error)
		switch {
		case n < 40 || n < 70 && base.UUID == "":
			c.op = "load"
			run = func() (result, error) { return s.ask(ctx, "GET", path, "", &base) }
		case n < 70:
			commit, err := s.writer.Append(base, 1, 1)
			if err != nil {
				return err
			}
			c.op, c.expect, c.head = "commit", entryOf(base), commit.SnapshotID
			run = func() (result, error) { return s.ask(ctx, "POST", path, string(commit.Body()), &base) }
		case n < 86:
			c.op = "create"
			run = func() (result, error) {
				return s.ask(ctx, "POST", "/namespaces/db/tables", createBody(nameOf(c.name)), &base)
			}
		case n < 91:
			c.op = "drop"
			run = func() (result, error) { return s.ask(ctx, "DELETE", path, "", nil) }
		default:
			c.op, c.to = "rename", (c.name+1+random.IntN(2))%3
			body := fmt.Sprintf(`{"source":{"namespace":["db"],"name":%q},"destination":{"namespace":["db"],"name":%q}}`, nameOf(c.name), nameOf(c.to))
			run = func() (result, error) { return s.ask(ctx, "POST", "/tables/rename", body, nil) }
		}
		before := base.UUID
		if err := r.record(id, c, run); err != nil && !strings.Contains(err.Error(), "too often") {
			return err
		}
		if base.UUID != before {
			known = c.name
		}
	}
	return nil
}

func entryOf(t icebergtest.Table) entry {
	e := entry{uuid: t.UUID}
	if t.Head != nil {
		e.head = *t.Head
	}
	return e
}

// ask sends a request and reads the table in its answer, if there is one, into base too.
func (s *site) ask(ctx context.Context, method, path, body string, base *icebergtest.Table) (result, error) {
	r, err := s.send(ctx, method, path, body)
	if err != nil {
		return result{}, err
	}
	if r.StatusCode >= 500 || strings.Contains(string(r.body), "too often") { // no effect, and nothing to conclude
		return result{}, fmt.Errorf("%s %s: %d %s", method, path, r.StatusCode, r.body)
	}
	out := result{status: r.StatusCode}
	if r.StatusCode == 200 && base != nil {
		var l loaded
		if err := json.Unmarshal(r.body, &l); err != nil {
			return out, err
		}
		if *base, err = icebergtest.Parse(l.Metadata); err != nil {
			return out, err
		}
		out.entry = entryOf(*base)
	}
	return out, nil
}

// observe runs clients on two processes of one lake and gives the history.
func observe(t *testing.T, l *lake, clients, requests int, change ...func(*setup)) []porcupine.Operation {
	t.Helper()
	processes := []*site{l.serve(t, change...), l.serve(t, change...)}
	processes[0].want(t, 200, processes[0].post(t, "/namespaces", `{"namespace":["db"]}`))
	r := &recorder{start: time.Now()}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	for id := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(id)))
			assert.NoError(t, r.client(t.Context(), processes[id%2], id, requests, random))
		})
	}
	wg.Wait()
	return r.history
}

func TestHistoriesAreLinearizable(t *testing.T) { eachDatabase(t, linearizable) }

func linearizable(t *testing.T, newLake func(testing.TB) *lake) {
	for range 2 {
		history := observe(t, newLake(t), 8, 60)
		counts := map[string]int{}
		for _, op := range history {
			counts[fmt.Sprint(op.Input.(call).op, " ", op.Output.(result).status)]++
		}
		t.Log(counts)
		for _, happened := range []string{"commit 200", "commit 409", "rename 204", "drop 204", "create 200"} {
			require.Positive(t, counts[happened], "the history is too tame")
		}
		verdict := porcupine.CheckOperationsTimeout(catalogModel(), history, time.Minute)
		require.Equal(t, porcupine.Ok, verdict)
	}
}

// unsafeSwaps moves pointers whatever their rows have become since they were read.
type unsafeSwaps struct{ catalog.Store }

func (u unsafeSwaps) SwapTables(ctx context.Context, swaps []catalog.Swap) error {
	time.Sleep(2 * time.Millisecond) // the moment in which somebody else commits
	for i := range swaps {
		if row, err := u.TableByID(ctx, swaps[i].Table.ID); err == nil {
			swaps[i].Table.Version = row.Version
		}
	}
	return u.Store.SwapTables(ctx, swaps)
}

// TestUnsafeSwapIsSeen proves that the check can fail: with swaps that do not compare, acknowledged commits get lost.
func TestUnsafeSwapIsSeen(t *testing.T) {
	for range 10 {
		history := observe(t, newLake(t), 8, 60, func(s *setup) { s.core.Store = unsafeSwaps{s.core.Store} })
		if porcupine.CheckOperationsTimeout(catalogModel(), history, time.Minute) == porcupine.Illegal {
			return
		}
	}
	t.Fatal("ten histories of unsafe swaps were found in order")
}

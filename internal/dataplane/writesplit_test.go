package dataplane_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// steps lands split writes by the steps of the workflow, as several workers may: each step twice, at once.
type steps struct {
	lake   *writeLake
	start  error                   // of StartWrite
	before func(models.SplitWrite) // the first step

	mu     sync.Mutex
	writes []models.SplitWrite
	ends   map[string]chan error
}

func (s *steps) StartWrite(ctx context.Context, w models.SplitWrite) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, w)
	if s.start != nil {
		return s.start
	}
	end := make(chan error, 1)
	s.ends[w.WriteID] = end
	go func() { end <- s.run(context.WithoutCancel(ctx), w) }()
	return nil
}

func (s *steps) AwaitWrite(ctx context.Context, writeID string) error {
	s.mu.Lock()
	end := s.ends[writeID]
	s.mu.Unlock()
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *steps) run(ctx context.Context, w models.SplitWrite) error {
	if s.before != nil {
		s.before(w)
	}
	one, two := s.lake.data, dataplane.New(s.lake.another())
	twice := func(do func(*dataplane.Service) error) error {
		var first, second error
		var both sync.WaitGroup
		both.Go(func() { first = do(one) })
		both.Go(func() { second = do(two) })
		both.Wait()
		if first == nil {
			return second
		}
		return first
	}
	var err error
	for chunk := range w.Chunks {
		if err == nil {
			err = twice(func(d *dataplane.Service) error { _, err := d.WriteChunk(ctx, w, chunk); return err })
		}
	}
	if err == nil {
		err = twice(func(d *dataplane.Service) error { return d.CommitChunks(ctx, w) })
	}
	if cleaned := twice(func(d *dataplane.Service) error { return d.CleanChunks(ctx, w) }); err == nil {
		err = cleaned
	}
	return err
}

// newSplitLake splits writes of more than 100 KB into chunks of about 200 KB.
func newSplitLake(t *testing.T) (*writeLake, *steps) {
	t.Helper()
	s := &steps{ends: map[string]chan error{}}
	l := newWriteLake(t, func(d *dataplane.Deps) { d.Limits.SplitAfter, d.Split = 100<<10, s })
	l.data.ChunkBytes(200 << 10)
	s.lake = l
	return l, s
}

// many makes rows whose notes do not shrink, and adds some of another's.
func many(n int, others ...string) dataplane.WriteInput {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for i := range n {
		note := make([]byte, 200)
		for k := range note {
			note[k] = "bcdfghjklmnpqrstvwxz"[random.IntN(20)]
		}
		fmt.Fprintln(&text, order(i, []string{"EU", "US"}[i%2], string(note)))
	}
	text.WriteString(strings.Join(others, "\n"))
	return dataplane.WriteInput{Format: rows.NDJSON, Body: strings.NewReader(text.String())}
}

func (l *writeLake) chunks(name string) []string {
	l.t.Helper()
	root := strings.TrimPrefix(l.load(name).Row.Location, "file://")
	found, err := filepath.Glob(filepath.Join(root, "data", "_sluice", "*"))
	require.NoError(l.t, err)
	return found
}

func TestLargeAppendsAreSharedAndLandOnce(t *testing.T) {
	for version := 1; version <= 3; version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			if testing.Short() && version != 2 {
				t.Skip("takes as long as the other")
			}
			l, s := newSplitLake(t)
			l.make(made{name: "orders", version: version, spec: byRegion})
			in := many(30_000)
			in.Key = uuid.NewString()
			out := l.wrote("orders", in)
			require.EqualValues(t, 30_000, out.Rows)
			require.NotZero(t, out.SnapshotID)
			require.Len(t, s.writes, 1)
			require.Greater(t, s.writes[0].Chunks, 2)
			require.Equal(t, l.hashes("orders", "id", "region", "note"), hashesOf(l.records(out.AuditID)))
			require.Len(t, l.records(out.AuditID), 30_000)
			require.Empty(t, l.chunks("orders"))
			require.EqualValues(t, 1, l.load("orders").Document.SnapshotCount())

			again := many(30_000)
			again.Key = in.Key
			require.Equal(t, out, l.wrote("orders", again))
			require.Len(t, s.writes, 1)
			write, err := l.db.GovernedWrite(t.Context(), out.AuditID)
			require.NoError(t, err)
			require.Equal(t, "eve", write.Principal)
		})
	}
}

// Where no workflow can be started, the process lands the write by itself.
func TestASplitWriteWithoutWorkflows(t *testing.T) {
	l, s := newSplitLake(t)
	s.start = fault.New(fault.Unavailable, "Temporal cannot be reached.")
	l.make(made{name: "orders", version: 2})
	in := many(20_000, `{"id":"x"}`, order(20_001, "EU", "mail ada@example.org"))
	in.OnViolation = dataplane.QuarantineViolations
	out := l.wrote("orders", in)
	require.EqualValues(t, 20_000, out.Rows)
	require.EqualValues(t, 2, out.Quarantined)
	require.Len(t, l.asides("orders"), 2)
	require.Len(t, l.hashes("orders", "id"), 20_000)
	require.Empty(t, l.chunks("orders"))
}

func TestSplitWritesThatCannotLand(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*writeLake, models.SplitWrite)
		code  fault.Code
	}{
		"the schema changed": {func(l *writeLake, _ models.SplitWrite) {
			l.change("orders", `{"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[`+orderFields+
				`,{"id":4,"name":"city","type":"string","required":false}]},"last-column-id":4}`, `{"action":"set-current-schema","schema-id":-1}`)
		}, fault.Conflict},
		"a chunk was changed": {func(l *writeLake, w models.SplitWrite) {
			file := strings.TrimPrefix(w.Folder, "file://") + "/" + w.WriteID + "-chunk-00000"
			data, err := os.ReadFile(file)
			require.NoError(l.t, err)
			data[len(data)/2] ^= 1
			require.NoError(l.t, os.WriteFile(file, data, 0o600))
		}, fault.Invalid},
		"a chunk is another's": {func(l *writeLake, w models.SplitWrite) {
			chunk := strings.TrimPrefix(w.Folder, "file://") + "/" + w.WriteID + "-chunk-"
			data, err := os.ReadFile(chunk + "00001")
			require.NoError(l.t, err)
			require.NoError(l.t, os.WriteFile(chunk+"00000", data, 0o600))
		}, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			l, s := newSplitLake(t)
			l.make(made{name: "orders", version: 2})
			s.before = func(w models.SplitWrite) { c.spoil(l, w) }
			_, err := l.write("orders", many(20_000))
			require.Equal(t, c.code, fault.CodeOf(err), "%v", err)
			require.Empty(t, l.objects("orders"), "nothing is left of it")
		})
	}
}

// A refusal comes before anything is shared.
func TestALargeWriteIsRefusedAsASmallOne(t *testing.T) {
	l, s := newSplitLake(t)
	l.make(made{name: "orders", version: 2})
	_, err := l.write("orders", many(20_000, `{"id":"x"}`))
	refused(t, err, fault.Invalid, "row 20001")
	require.Empty(t, s.writes)
	require.Empty(t, l.objects("orders"))
}

// The client is gone, and the write goes on; its key answers later.
func TestTheClientOfASplitWriteLeaves(t *testing.T) {
	l, s := newSplitLake(t)
	l.make(made{name: "orders", version: 2})
	ctx, cancel := context.WithCancel(t.Context())
	goOn := make(chan struct{})
	s.before = func(models.SplitWrite) { cancel(); <-goOn }
	in := many(20_000)
	in.Key = uuid.NewString()
	_, err := l.writeIn(ctx, "orders", in)
	refused(t, err, fault.UnknownState, "Idempotency-Key")
	close(goOn)
	require.NoError(t, <-s.ends[s.writes[0].WriteID])
	again := many(20_000)
	again.Key = in.Key
	out := l.wrote("orders", again)
	require.Equal(t, s.writes[0].WriteID, out.AuditID)
	require.EqualValues(t, 20_000, out.Rows)
	require.EqualValues(t, 1, l.load("orders").Document.SnapshotCount())
}

// A worker that was thought dead does not land what was cleaned up meanwhile: its data files are gone.
func TestAWriteThatWasGivenUpDoesNotLandLater(t *testing.T) {
	l, s := newSplitLake(t)
	s.start = fault.New(fault.Unavailable, "Temporal cannot be reached.")
	l.make(made{name: "orders", version: 2})
	other := dataplane.New(l.another())
	l.core.before = sync.OnceFunc(func() {
		_, err := l.core.Service.CommitTable(t.Context(), l.owner(), l.cat, l.appendOf("orders", order(1, "US", "theirs")))
		require.NoError(t, err)
		require.NoError(t, other.CleanChunks(t.Context(), s.writes[0]))
	})
	_, err := l.write("orders", many(20_000))
	refused(t, err, fault.Conflict, "given up")
	require.Len(t, l.content("orders"), 1)
	require.Empty(t, l.chunks("orders"))
}

// A split write has its tables kept for it as others have, for both of the workers that are at it.
func TestASplitWriteBesideAnEngineThatIsAlwaysFaster(t *testing.T) {
	l, _ := newSplitLake(t)
	l.make(made{name: "orders", version: 2})
	engine := l.process()
	over := l.faster(func(n int) { engine.appends("orders", order(1_000_000+n, "US", "theirs")) })
	out := l.wrote("orders", many(2_000))
	begun := over()
	require.EqualValues(t, 2_000, out.Rows)
	require.GreaterOrEqual(t, begun, 3)
	require.LessOrEqual(t, begun, 8, "how often both tried")
	require.Len(t, l.content("orders"), 2_000+begun)
	require.Empty(t, l.load("orders").Row.ReservedBy)
}

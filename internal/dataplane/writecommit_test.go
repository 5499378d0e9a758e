package dataplane_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// stagedAppend is rows in files that an engine is about to commit.
func (l *writeLake) stagedAppend(name string, lines ...string) *tableio.Staged {
	l.t.Helper()
	base := l.load(name).Document
	w, err := l.io.NewFileWriter(l.t.Context(), base, tableio.FileOptions{})
	require.NoError(l.t, err)
	r, err := rows.NewReader(strings.NewReader(strings.Join(lines, "\n")), rows.NDJSON, w.Schema(), rows.ReadOptions{})
	require.NoError(l.t, err)
	batch, err := r.Next()
	require.NoError(l.t, err)
	defer batch.Release()
	require.NoError(l.t, w.Write(batch.Rows))
	written, err := w.Close()
	require.NoError(l.t, err)
	staged, err := l.io.Stage(l.t.Context(), tableio.Delta{Table: ident(name), Base: base, Adds: []*tableio.Written{written}})
	require.NoError(l.t, err)
	return staged
}

func TestAppendsBesideOthers(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	between := 0
	l.core.before = func() {
		if between++; between <= 2 {
			_, err := l.core.Service.CommitTable(t.Context(), l.owner(), l.cat, l.appendOf("orders", order(100+between, "US", "theirs")))
			require.NoError(t, err)
		}
	}
	l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "mine"))
	require.Len(t, l.content("orders"), 3)
	data := 0
	for _, f := range l.objects("orders") {
		if strings.HasSuffix(f, ".parquet") {
			data++
		}
	}
	require.Equal(t, 3, data, "the data file is written once")
}

// An engine that commits more often than a write can be made ready makes it wait no longer than for two of its commits.
func TestAWriteBesideAnEngineThatIsAlwaysFaster(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1"})
	l.wrote("orders", upsert, order(1, "EU", "a"))
	engine := l.process()
	over := l.faster(func(n int) { engine.appends("orders", order(100+n, "US", "theirs")) })
	l.wrote("orders", upsert, order(1, "EU", "mine"))
	require.Equal(t, 3, over(), "how often it was tried")
	require.Equal(t, []string{order(1, "EU", "mine"), order(101, "US", "theirs"), order(102, "US", "theirs"), order(103, "US", "theirs")}, l.content("orders"))

	_, err := engine.core.CommitTable(t.Context(), l.owner(), l.cat, l.appendOf("orders", order(200, "US", "theirs")))
	require.NoError(t, err, "the table is free again")
}

// The quarantine is kept for a write too: others may put nothing but refused rows there, and never touch the table.
func TestAWriteWhoseQuarantineIsContended(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	bad := `{"id":"x"}`
	l.wrote("orders", aside1, bad)
	other := l.process()
	over := l.faster(func(int) {
		_, err := other.write("orders", aside1, bad)
		require.NoError(t, err)
	})
	l.wrote("orders", aside1, bad)
	require.Equal(t, 3, over(), "how often it was tried")
	require.Len(t, l.content("orders__quarantine"), 5)
}

// Whatever ends a write, its table is free again.
func TestAWriteThatEndsKeepsNoTable(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	ctx, leave := context.WithCancel(t.Context())
	tried := 0
	l.core.instead = func() error {
		if tried++; tried == 3 {
			require.NotEmpty(t, l.load("orders").Row.ReservedBy)
			leave()
		}
		return fault.New(fault.Conflict, "Somebody was faster.")
	}
	_, err := l.writeIn(ctx, "orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, tried)
	require.Empty(t, l.load("orders").Row.ReservedBy)
}

// A table is kept for as long as an attempt takes, and for a killed process no longer than for some seconds.
func TestAWriteThatTakesLongKeepsItsTable(t *testing.T) {
	l := newWriteLake(t)
	l.runs = time.Now()
	l.make(made{name: "orders", version: 2})
	tried := 0
	l.core.instead = func() error {
		if tried++; tried <= 2 {
			return fault.New(fault.Conflict, "Somebody was faster.")
		}
		until := *l.load("orders").Row.ReservedUntil
		require.Less(t, until.Sub(l.time()), 7*time.Second)
		require.Eventually(t, func() bool { return l.load("orders").Row.ReservedUntil.After(until) }, 10*time.Second, 50*time.Millisecond)
		return nil
	}
	l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	require.Empty(t, l.load("orders").Row.ReservedBy)
}

// A write that does not land although the others wait for it holds them up for a time only.
func TestAWriteThatDoesNotLandKeepsNoTable(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	l.data.KeepFor(100 * time.Millisecond)
	tried := 0
	var kept []bool
	l.core.instead = func() error {
		tried++
		kept = append(kept, l.load("orders").Row.ReservedBy != "")
		if tried == 3 {
			time.Sleep(200 * time.Millisecond)
		}
		if tried == 6 {
			return nil
		}
		return fault.New(fault.Conflict, "Somebody was faster.")
	}
	l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	require.Equal(t, []bool{false, false, true, false, false, false}, kept)
}

// A table that cannot be kept costs attempts: whether the write landed is not in doubt.
func TestAWriteWhoseTableCannotBeKept(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	tried := 0
	l.core.instead = func() error {
		if tried++; tried > 4 {
			return nil
		}
		return fault.New(fault.Conflict, "Somebody was faster.")
	}
	l.core.reserve = func() error {
		if tried == 2 {
			return nil
		}
		return fault.New(fault.UnknownState, "The database went away.")
	}
	l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	require.Equal(t, 5, tried)
	require.Empty(t, l.load("orders").Row.ReservedBy)
}

// Rows that were checked for one schema do not land in another.
func TestTheSchemaChangesMeanwhile(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	before := l.objects("orders")
	l.core.before = sync.OnceFunc(func() {
		l.change("orders", `{"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[`+orderFields+
			`,{"id":4,"name":"city","type":"string","required":false}]},"last-column-id":4}`, `{"action":"set-current-schema","schema-id":-1}`)
		_, err := l.core.Service.CommitTable(t.Context(), l.owner(), l.cat, l.appendOf("orders", order(9, "US", "theirs")))
		require.NoError(t, err)
	})
	_, err := l.write("orders", dataplane.WriteInput{}, order(2, "EU", "b"))
	refused(t, err, fault.Conflict, "another schema")
	require.Len(t, l.content("orders"), 2)
	require.Len(t, l.objects("orders"), len(before)+3, "nothing is left but the other's data file, manifest and list")
}

// A commit whose answer is lost is looked for.
func TestACommitWhoseOutcomeIsInDoubt(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	l.core.after = func(err error) error {
		require.NoError(t, err)
		return fault.New(fault.UnknownState, "The database went away.")
	}
	out := l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	require.EqualValues(t, 1, out.Rows)
	require.NotZero(t, out.SnapshotID)
	require.Len(t, l.content("orders"), 1)
}

func TestACommitThatFailsLeavesNothing(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1"})
	l.wrote("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	before := l.objects("orders")
	for _, in := range []dataplane.WriteInput{{}, upsert, aside1} {
		l.core.instead = func() error { return fault.New(fault.Unavailable, "The database does not answer.") }
		_, err := l.write("orders", in, order(1, "EU", "a"), order(2, "EU", "b"))
		refused(t, err, fault.Unavailable, "database")
		require.Equal(t, before, l.objects("orders"))
	}
}

// Where nobody knows whether it landed, its files stay, because it may have.
func TestACommitThatMayHaveHappenedLeavesItsFiles(t *testing.T) {
	l := newWriteLake(t)
	l.data.LookFor(100 * time.Millisecond)
	l.make(made{name: "orders", version: 2})
	l.core.instead = func() error { return fault.New(fault.UnknownState, "The database went away.") }
	_, err := l.write("orders", dataplane.WriteInput{}, order(1, "EU", "a"))
	refused(t, err, fault.UnknownState, "Idempotency-Key")
	require.Len(t, l.objects("orders"), 3)
}

func TestADroppedTableIsNotWrittenTo(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	body := &pausing{lines: order(1, "EU", "a"), then: func() {
		require.NoError(t, l.core.DropTable(t.Context(), l.owner(), l.cat, ident("orders"), false))
	}}
	_, err := l.write("orders", dataplane.WriteInput{Format: rows.NDJSON, Body: body})
	refused(t, err, fault.Conflict, "dropped")
}

// pausing is a body in whose middle something happens.
type pausing struct {
	lines string
	then  func()
}

func (p *pausing) Read(b []byte) (int, error) {
	if p.lines == "" {
		if p.then != nil {
			p.then()
			p.then = nil
		}
		return 0, io.EOF
	}
	n := copy(b, p.lines)
	p.lines = p.lines[n:]
	return n, nil
}

func TestAKeyIsUsedOnce(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2, identifier: "1"})
	for _, mode := range []models.WriteMode{models.AppendRows, models.UpsertRows} {
		key := uuid.NewString()
		in := dataplane.WriteInput{Mode: mode, Key: key}
		first := l.wrote("orders", in, order(1, "EU", "a"), order(2, "EU", "a"))
		second := l.wrote("orders", in, order(1, "EU", "a"), order(2, "EU", "a"))
		require.Equal(t, first, second)
		require.NotZero(t, first.SnapshotID)
		head, _ := l.load("orders").Document.CurrentSnapshotID()
		require.Equal(t, first.SnapshotID, head)

		_, err := l.write("orders", in, order(1, "EU", "b"))
		refused(t, err, fault.Unprocessable, "another request")
		in.Label = models.Restricted
		_, err = l.write("orders", in, order(1, "EU", "a"), order(2, "EU", "a"))
		refused(t, err, fault.Unprocessable, "another request")
	}
	_, err := l.write("orders", dataplane.WriteInput{Key: "x"}, order(1, "EU", "a"))
	refused(t, err, fault.Invalid, "Idempotency-Key")
}

// A refusal is not kept: who corrects what was in the way may send the same rows again.
func TestAKeyAfterARefusal(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	in := dataplane.WriteInput{Key: uuid.NewString()}
	_, err := l.write("orders", in, order(1, "EU", "ada@example.org"))
	require.True(t, fault.Is(err, fault.Unprocessable))
	l.govern("orders", models.Internal, nil, map[string]models.ColumnGovernance{"note": {Sensitivity: models.Confidential, Tag: "email"}})
	require.EqualValues(t, 1, l.wrote("orders", in, order(1, "EU", "ada@example.org")).Rows)
}

// Of many processes that are sent a write under one key one lands it, and all give the same answer.
func TestAKeyInManyProcesses(t *testing.T) {
	l := newWriteLake(t)
	l.make(made{name: "orders", version: 2})
	key := uuid.NewString()
	results := make([]dataplane.WriteResult, 6)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			other := dataplane.New(l.another())
			out, err := other.Write(t.Context(), l.writer(), "main.sales.orders", dataplane.WriteInput{
				Format: rows.NDJSON, Body: strings.NewReader(order(1, "EU", "a")), Key: key,
			})
			require.NoError(t, err)
			results[i] = out
		})
	}
	all.Wait()
	require.Len(t, l.content("orders"), 1)
	for _, r := range results {
		require.Equal(t, results[0], r)
	}
}

package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

// cut says what a proxy does with the next message that has the mark.
type cut int

const (
	passOn cut = iota
	before     // drops the connection instead of passing it on
	after      // passes it on and drops the connection instead of the answer
)

// proxy stands between the store and PostgreSQL and breaks a connection at a message that has the mark.
type proxy struct {
	target string
	mu     sync.Mutex
	mode   cut
	mark   []byte
}

// newProxy gives a proxy and the URL of the database through it.
func newProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	at, err := url.Parse(database)
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{target: at.Host}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	at.Host = l.Addr().String()
	return p, at.String()
}

func (p *proxy) set(mode cut, mark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode, p.mark = mode, []byte(mark)
}

// judge says what to do with a message; the mode is used up by the first that has the mark.
func (p *proxy) judge(message []byte) cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == passOn || !bytes.Contains(message, p.mark) {
		return passOn
	}
	mode := p.mode
	p.mode = passOn
	return mode
}

func (p *proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var silent sync.Mutex // held while answers are withheld
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			silent.Lock()
			_, err = client.Write(buf[:n])
			silent.Unlock()
			if err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		switch p.judge(buf[:n]) {
		case before:
			return
		case after:
			silent.Lock()
			_, _ = server.Write(buf[:n])
			time.Sleep(200 * time.Millisecond) // the server commits meanwhile
			_ = client.Close()
			silent.Unlock()
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestLostCommitIsUnknown: a connection that breaks at COMMIT leaves it open whether the commit took effect, and
// the store must say just that, both when it did and when it did not.
func TestLostCommitIsUnknown(t *testing.T) {
	p, at := newProxy(t, pgtest.Database(t))
	s := migrated(t, at)
	for mode, effective := range map[cut]int{before: 0, after: 1} {
		event := models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditTableCommitted, Principal: uuid.NewString()}
		p.set(mode, "commit\x00")
		err := s.SaveWriter(t.Context(), models.TableWriter{ID: event.Principal, Kind: models.ExpectedWriter}, event)
		assert.Equal(t, fault.UnknownState, fault.CodeOf(err), "%v", err)
		assert.Regexp(t, "may or may not be in effect", fault.PublicMessage(err))
		events, err := s.AuditEvents(t.Context(), models.AuditFilter{Principal: event.Principal})
		require.NoError(t, err, "the store goes on with another connection")
		assert.Len(t, events, effective)
	}
}

// TestLostSwapIsUnknown is the same for the swap that is one statement, which commits itself.
func TestLostSwapIsUnknown(t *testing.T) {
	p, at := newProxy(t, pgtest.Database(t))
	s := migrated(t, at)
	row := benchTables(t, s, 1)[0]
	snapshot := int64(0)
	for _, mode := range []cut{before, after} {
		snapshot++
		swap := benchSwap(row, snapshot)
		p.set(mode, swap.Table.MetadataLocation)
		err := s.SwapTables(t.Context(), []catalog.Swap{swap})
		assert.Equal(t, fault.UnknownState, fault.CodeOf(err), "%v", err)
		got, err := s.TableByID(t.Context(), row.ID)
		require.NoError(t, err, "the store goes on with another connection")
		assert.Equal(t, mode == after, got.MetadataLocation == swap.Table.MetadataLocation)
		events, err := s.ClaimEvents(t.Context(), "a look", 0, 10, 0)
		require.NoError(t, err)
		assert.Equal(t, mode == after, len(events) == 1, "the effects are there exactly with the pointer")
	}
}

// TestSwapsOfOneAndOfMany: the single statement and the transaction of several write the same rows.
func TestSwapsOfOneAndOfMany(t *testing.T) {
	s := migrated(t, pgtest.Database(t))
	row := benchTables(t, s, 1)[0]
	one := benchSwap(row, 1)
	require.NoError(t, s.SwapTables(t.Context(), []catalog.Swap{one}))
	row.Version++
	many := benchSwap(row, 2)
	many.Effects.Audit = append(many.Effects.Audit, models.AuditEvent{Type: models.AuditTableRegistered})
	require.NoError(t, s.SwapTables(t.Context(), []catalog.Swap{many}))

	commits, err := s.Commits(t.Context(), models.CommitFilter{})
	require.NoError(t, err)
	events, err := s.ClaimEvents(t.Context(), "a look", 0, 10, 0)
	require.NoError(t, err)
	notes, err := s.AuditEvents(t.Context(), models.AuditFilter{Type: models.AuditTableCommitted})
	require.NoError(t, err)
	require.Len(t, commits, 2)
	require.Len(t, events, 2)
	require.Len(t, notes, 2)
	a, b := commits[1], commits[0]
	b.ID, b.SnapshotID, b.SequenceNumber, b.CommittedAt = a.ID, 1, 1, a.CommittedAt
	b.MetadataLocation, b.Writer.V.RequestID = a.MetadataLocation, a.Writer.V.RequestID
	assert.Equal(t, a, b)
	events[1].ID, events[1].SnapshotID, events[1].CreatedAt = events[0].ID, 1, events[0].CreatedAt
	assert.Equal(t, events[0], events[1])
	x, y := notes[1], notes[0]
	y.ID, y.EventID, y.At, y.SnapshotID, y.RequestID = x.ID, x.EventID, x.At, x.SnapshotID, x.RequestID
	assert.Equal(t, x, y)
}

// lockedOut runs do while another session holds the audit table, so that a mutation waits within its transaction.
func lockedOut(t *testing.T, at string, do func(holder *sql.Tx)) {
	t.Helper()
	tx, err := raw(t, at).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "LOCK TABLE audit_events IN EXCLUSIVE MODE")
	require.NoError(t, err)
	do(tx)
	require.NoError(t, tx.Rollback())
}

func requireNoAudit(t *testing.T, s *store.Store) {
	t.Helper()
	events, err := s.AuditEvents(t.Context(), models.AuditFilter{})
	require.NoError(t, err)
	require.Empty(t, events)
}

// TestLostConnectionBeforeCommitIsUnavailable: nothing was written, and the store may say so.
func TestLostConnectionBeforeCommitIsUnavailable(t *testing.T) {
	at := pgtest.Database(t)
	s := migrated(t, at+"&application_name="+t.Name())
	lockedOut(t, at, func(holder *sql.Tx) {
		failed := make(chan error, 1)
		go func() { failed <- s.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditTableCommitted}) }()
		require.Eventually(t, func() bool {
			var killed int
			err := holder.QueryRowContext(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE application_name = $1 AND wait_event_type = 'Lock'`, t.Name()).Scan(&killed)
			return err == nil && killed == 1
		}, 10*time.Second, 10*time.Millisecond)
		err := <-failed
		assert.Equal(t, fault.Unavailable, fault.CodeOf(err), "%v", err)
	})
	requireNoAudit(t, s)
}

func TestSlowStatementIsUnavailable(t *testing.T) {
	at := pgtest.Database(t)
	s, err := store.Open(t.Context(), store.Config{URL: at, StatementTimeout: 100 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, store.Migrate(t.Context(), s))
	lockedOut(t, at, func(*sql.Tx) {
		err := s.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditTableCommitted})
		assert.Equal(t, fault.Unavailable, fault.CodeOf(err), "%v", err)
	})
	requireNoAudit(t, s)
}

func TestCallerWhoGivesUpMidwayLeavesNothing(t *testing.T) {
	at := pgtest.Database(t)
	s := migrated(t, at)
	lockedOut(t, at, func(*sql.Tx) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := s.AppendAudit(ctx, models.AuditEvent{Type: models.AuditTableCommitted})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
	requireNoAudit(t, s)
	require.NoError(t, s.AppendAudit(t.Context(), models.AuditEvent{Type: models.AuditTableCommitted}))
}

package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// busy is an audit that another process seals and signs between any two looks at it.
type busy struct {
	*store.Store
	meanwhile func()
}

func (b *busy) AuditState(ctx context.Context) (models.AuditState, error) {
	defer b.meanwhile()
	return b.Store.AuditState(ctx)
}

func (b *busy) AuditKeys(ctx context.Context) ([]models.AuditKey, error) {
	defer b.meanwhile()
	return b.Store.AuditKeys(ctx)
}

func (b *busy) AuditCheckpoints(ctx context.Context) ([]models.AuditCheckpoint, error) {
	defer b.meanwhile()
	return b.Store.AuditCheckpoints(ctx)
}

// A verification beside a process that seals, signs, makes its key and prunes finds nothing wrong.
func TestVerifyingBesideASealer(t *testing.T) {
	s, v := migrated(t, sqliteURL(t)), vault(t)
	looks := 0
	beside := &busy{s, func() {
		looks++
		appendAll(t, s, events(2))
		sealed(t, s, v)
		if looks == 3 {
			_, err := audit.NewPruner(s, audit.NewKeys(s, v, time.Now, nil), time.Nanosecond, false, time.Now).Prune(t.Context())
			require.NoError(t, err)
		}
	}}
	for range 3 {
		report, err := audit.NewVerifier(beside, time.Now).Verify(t.Context(), audit.VerifyOptions{Vault: v})
		require.NoError(t, err)
		require.True(t, report.Good, "%+v", report.Problems)
	}
}

// A clock that was ahead must not leave the audit unsigned until its time has come.
func TestCheckpointsAfterAClockThatWasAhead(t *testing.T) {
	s, v := migrated(t, sqliteURL(t)), vault(t)
	seal := func(now time.Time) {
		clock := func() time.Time { return now }
		sealer, err := audit.NewSealer(s, audit.NewKeys(s, v, clock, nil), audit.SealerOptions{Every: time.Millisecond, Now: clock})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			sealer.Run(ctx)
		}()
		time.Sleep(100 * time.Millisecond)
		before, err := s.LastCheckpoint(t.Context())
		stop()
		<-done
		require.NoError(t, err)
		require.True(t, before.At.Equal(now.Truncate(time.Microsecond)), "the newest is of %s", before.At)
	}
	now := time.Now()
	for _, at := range []time.Time{now.Add(365 * 24 * time.Hour), now} {
		appendAll(t, s, events(3))
		seal(at)
	}
	require.True(t, verify(t, s, audit.VerifyOptions{Vault: v}).Good)
}

// stuck is a database that takes no key.
type stuck struct{ *store.Store }

func (stuck) ResealAuditKey(context.Context, string, []byte) error {
	return fault.New(fault.Unavailable, "The database is locked by another process: nothing was written, try again.")
}

// A database that is busy for a moment is no reason to sign with another key, which nobody outside knows.
func TestAKeyIsKeptWhenItCannotBeEncryptedAnew(t *testing.T) {
	s, v := migrated(t, sqliteURL(t)), vault(t)
	appendAll(t, s, events(3))
	sealed(t, s, v)
	_, err := audit.NewKeys(stuck{s}, v, time.Now, nil).Checkpoint(t.Context(), 3, audit.Genesis, false)
	require.NoError(t, err)
	keys, err := s.AuditKeys(t.Context())
	require.NoError(t, err)
	require.Len(t, keys, 1)
}

// Who owns the database computes the chain anew and removes the checkpoint that says otherwise. A process that saw the
// chain as it was does not sign it.
func TestAChainComputedAnewIsNotSigned(t *testing.T) {
	for name, remove := range map[string]string{
		"checkpoints kept":    "SELECT 1",
		"checkpoints removed": "DELETE FROM audit_checkpoints",
	} {
		t.Run(name, func(t *testing.T) {
			address := sqliteURL(t)
			s, v := migrated(t, address), vault(t)
			appendAll(t, s, events(5))
			sealer, err := audit.NewSealer(s, audit.NewKeys(s, v, time.Now, nil), audit.SealerOptions{Every: time.Millisecond, Checkpoint: time.Millisecond})
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				sealer.Run(ctx)
			}()
			require.Eventually(t, func() bool {
				last, err := s.LastCheckpoint(t.Context())
				return err == nil && last.Seq == 5
			}, 5*time.Second, 5*time.Millisecond)
			db := raw(t, address)
			dropGuard(t, db, false)
			exec(t, db, "UPDATE audit_events SET principal = 'mallory' WHERE seq = 5")
			rechain(t, s, db)
			exec(t, db, "UPDATE audit_states SET hash = (SELECT hash FROM audit_events WHERE seq = 5)")
			exec(t, db, remove)
			time.Sleep(50 * time.Millisecond)
			appendAll(t, s, events(5))
			require.Eventually(t, func() bool {
				state, err := s.AuditState(t.Context())
				return err == nil && state.Seq == 10
			}, 5*time.Second, 5*time.Millisecond, "events go on to be sealed")
			stop()
			<-done
			last, err := s.LastCheckpoint(t.Context())
			require.NoError(t, err)
			require.Less(t, last.Seq, int64(6))
		})
	}
}

// An event that somebody put before the chain is not taken away with what is pruned: a verification is to find it.
func TestPruningLeavesWhatWasNeverSealed(t *testing.T) {
	address := sqliteURL(t)
	s, v := migrated(t, address), vault(t)
	appendAll(t, s, events(5))
	sealed(t, s, v)
	db := raw(t, address)
	dropGuard(t, db, false)
	exec(t, db, copyRow("0", "'abc'", "'abc'"))
	_, err := audit.NewPruner(s, audit.NewKeys(s, v, time.Now, nil), 2*time.Minute, false, time.Now).Prune(t.Context())
	require.NoError(t, err)
	report := verify(t, s, audit.VerifyOptions{Vault: v})
	require.Len(t, report.Problems, 1)
	require.Equal(t, audit.Inserted, report.Problems[0].Kind)
}

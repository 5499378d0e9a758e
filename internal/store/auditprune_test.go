package store_test

import (
	"crypto/ed25519"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/models"
)

func TestPrunedAuditVerifies(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		address := url(t)
		s, v := migrated(t, address), vault(t)
		list := events(40) // of the last 40 minutes, the oldest first
		appendAll(t, s, list)
		sealed(t, s, v)
		keys := audit.NewKeys(s, v, time.Now, nil)
		const retention = 30*time.Minute + 30*time.Second
		removed, err := audit.NewPruner(s, keys, retention, true, time.Now).Prune(t.Context())
		require.NoError(t, err)
		require.Zero(t, removed, "nothing is exported yet")
		require.NoError(t, s.SetExported(t.Context(), 5))
		for _, want := range []int64{5, 0} {
			removed, err = audit.NewPruner(s, keys, retention, true, time.Now).Prune(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, removed)
		}
		removed, err = audit.NewPruner(s, keys, retention, false, time.Now).Prune(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 5, removed, "10 are older than half an hour")
		sealed(t, s, v)
		report := verify(t, s, audit.VerifyOptions{Vault: v})
		require.True(t, report.Good, "%+v", report.Problems)
		require.EqualValues(t, 11, report.FirstSeq)
		require.EqualValues(t, 10, report.PrunedSeq)
		require.EqualValues(t, 32, report.Events, "and two about the pruning")
		kept, err := s.AuditEvents(t.Context(), models.AuditFilter{Type: models.AuditPruned, Limit: 10})
		require.NoError(t, err)
		require.Len(t, kept, 2)
		require.EqualValues(t, 10, kept[0].Details.V["throughSeq"])
		require.EqualValues(t, 5, kept[0].Details.V["events"])

		db := raw(t, address)
		_, err = db.ExecContext(t.Context(), "DELETE FROM audit_events WHERE seq = 11")
		require.ErrorContains(t, err, "append-only", "the database refuses what is not pruned")
		dropGuard(t, db, strings.HasPrefix(address, "postgres"))
		exec(t, db, "DELETE FROM audit_events WHERE seq = 11")
		report = verify(t, s, audit.VerifyOptions{Vault: v})
		require.Equal(t, audit.Removed, report.Problems[0].Kind)
		require.EqualValues(t, 11, report.Problems[0].Seq)
	})
}

// A pruning that dies between its checkpoint and its removal is finished by the next.
func TestPruningIsFinished(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		s, v := migrated(t, url(t)), vault(t)
		appendAll(t, s, events(10))
		sealed(t, s, v)
		keys := audit.NewKeys(s, v, time.Now, nil)
		seq, hash, err := s.PrunableAudit(t.Context(), time.Now().Add(-5*time.Minute-time.Second), false)
		require.NoError(t, err)
		require.EqualValues(t, 5, seq)
		c, err := keys.Checkpoint(t.Context(), seq, hash, true)
		require.NoError(t, err)
		event := models.AuditEvent{Type: models.AuditPruned, Details: models.JSON[map[string]any]{V: map[string]any{}}}
		pruned, err := s.PruneAudit(t.Context(), c, event)
		require.NoError(t, err)
		require.True(t, pruned)
		require.Empty(t, verify(t, s, audit.VerifyOptions{Vault: v}).Problems, "what is being removed is not missed")
		removed, err := audit.NewPruner(s, keys, 0, false, time.Now).Prune(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 5, removed)
		require.Empty(t, verify(t, s, audit.VerifyOptions{Vault: v}).Problems)
		pruned, err = s.PruneAudit(t.Context(), c, event)
		require.NoError(t, err)
		require.False(t, pruned, "once is enough")
	})
}

// A key is encrypted anew when the encryption keys are rotated. Where they are exchanged at once it is followed by another.
func TestRotatedEncryptionKeys(t *testing.T) {
	s := migrated(t, sqliteURL(t))
	first, second := keyring.Generate(), keyring.Generate()
	appendAll(t, s, events(3))
	sealed(t, s, vaultOf(t, first))
	appendAll(t, s, events(3))
	sealed(t, s, vaultOf(t, second+","+first))
	appendAll(t, s, events(3))
	sealed(t, s, vaultOf(t, second))
	report := verify(t, s, audit.VerifyOptions{Vault: vaultOf(t, second)})
	require.True(t, report.Good, "%+v", report.Problems)
	require.Equal(t, 3, report.Checkpoints)
	keys, err := s.AuditKeys(t.Context())
	require.NoError(t, err)
	require.Len(t, keys, 1)

	appendAll(t, s, events(3))
	other := vault(t)
	sealed(t, s, other)
	report = verify(t, s, audit.VerifyOptions{Vault: other})
	require.Len(t, report.Problems, 1, "%+v", report.Problems)
	require.Contains(t, report.Problems[0].Detail, keys[0].ID)
	both, err := s.AuditKeys(t.Context())
	require.NoError(t, err)
	require.Len(t, both, 2)
	report = verify(t, s, audit.VerifyOptions{Public: []ed25519.PublicKey{both[0].Public, both[1].Public}})
	require.True(t, report.Good, "%+v", report.Problems)
	require.Equal(t, 4, report.Checkpoints)
}

// TestAuditSurvivesAReopenedFile: the chain goes on where it was.
func TestAuditSurvivesAReopenedFile(t *testing.T) {
	address := "sqlite://" + filepath.Join(t.TempDir(), "sluice.db")
	v := vault(t)
	s := migrated(t, address)
	appendAll(t, s, events(5))
	sealed(t, s, v)
	again := open(t, address)
	appendAll(t, again, events(5))
	sealed(t, again, v)
	report := verify(t, again, audit.VerifyOptions{Vault: v})
	require.True(t, report.Good)
	require.EqualValues(t, 10, report.LastSeq)
}

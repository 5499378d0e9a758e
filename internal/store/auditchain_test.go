package store_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// vault is the encryption keys of the chain's tests.
func vault(t testing.TB) audit.Vault {
	t.Helper()
	return vaultOf(t, keyring.Generate())
}

func vaultOf(t testing.TB, keys string) audit.Vault {
	t.Helper()
	r, err := keyring.Parse(keys)
	require.NoError(t, err)
	return r.For("audit-checkpoints")
}

// events are different ones, with everything that an event may have.
func events(n int) []models.AuditEvent {
	list := make([]models.AuditEvent, n)
	for i := range list {
		snapshot, key := int64(100+i), uuid.NewString()
		list[i] = models.AuditEvent{
			EventID: uuid.NewString(), Type: models.AuditTableCommitted, At: time.Now().Add(time.Duration(i-n) * time.Minute),
			Principal: "flink", TokenID: fmt.Sprintf("token-%d", i), Catalog: "main", Namespace: "größe", Table: "größe.t", TableUUID: uuid.NewString(),
			Allowed: i%3 > 0, Reason: "because", RequestID: "r-1", Address: "192.0.2.7",
			Details: models.JSON[map[string]any]{V: map[string]any{"n": i, "text": "ü"}},
		}
		if i%2 == 0 {
			list[i].SnapshotID, list[i].DedupeKey = &snapshot, &key
		}
	}
	return list
}

func appendAll(t testing.TB, s *store.Store, list []models.AuditEvent) {
	t.Helper()
	for _, e := range list {
		require.NoError(t, s.AppendAudit(t.Context(), e))
	}
}

// sealed seals what is there, with a checkpoint, as a process that stops does.
func sealed(t testing.TB, s *store.Store, v audit.Vault) {
	t.Helper()
	sealer, err := audit.NewSealer(s, audit.NewKeys(s, v, time.Now, nil), audit.SealerOptions{})
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	sealer.Run(over)
}

func verify(t testing.TB, s *store.Store, o audit.VerifyOptions) audit.Report {
	t.Helper()
	report, err := audit.NewVerifier(s, time.Now).Verify(t.Context(), o)
	require.NoError(t, err)
	return report
}

func TestSealedAuditVerifies(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		s, v := migrated(t, url(t)), vault(t)
		require.True(t, verify(t, s, audit.VerifyOptions{Vault: v}).Good, "an empty audit is good")
		appendAll(t, s, events(30))
		report := verify(t, s, audit.VerifyOptions{Vault: v})
		require.False(t, report.Good, "events of half an hour ago are not sealed")
		require.Equal(t, audit.NotSealed, report.Problems[0].Kind)
		sealed(t, s, v)
		report = verify(t, s, audit.VerifyOptions{Vault: v})
		require.Equal(t, audit.Report{
			Good: true, Events: 30, FirstSeq: 1, LastSeq: 30, Hash: report.Hash, Checkpoints: 1, SignedSeq: 30, Problems: []audit.Problem{}, Notes: []string{},
		}, report)
		sealed(t, s, v)
		require.Equal(t, 1, verify(t, s, audit.VerifyOptions{Vault: v}).Checkpoints, "nothing new, nothing to sign")
	})
}

// Many sealers at once make one chain, while events are written.
func TestManySealersMakeOneChain(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		address := url(t)
		s, v := migrated(t, address), vault(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		for range 3 {
			mine := open(t, address) // a process of its own
			sealer, err := audit.NewSealer(mine, audit.NewKeys(mine, v, time.Now, nil), audit.SealerOptions{Every: time.Millisecond, Checkpoint: 5 * time.Millisecond})
			require.NoError(t, err)
			go func() {
				sealer.Run(ctx)
				done <- struct{}{}
			}()
		}
		appendAll(t, s, events(200))
		stop()
		for range 3 {
			<-done
		}
		report := verify(t, s, audit.VerifyOptions{Vault: v})
		require.True(t, report.Good, "%+v", report.Problems)
		require.EqualValues(t, 200, report.Events)
		require.EqualValues(t, 200, report.SignedSeq)
		keys, err := s.AuditKeys(t.Context())
		require.NoError(t, err)
		require.Len(t, keys, 1, "the key is made once")
	})
}

// An event that becomes visible after later ones has its place after them.
func TestEventsThatCommitLateComeLater(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		address := url(t)
		if strings.HasPrefix(address, "sqlite") {
			t.Skip("SQLite has one writer: rows become visible in order of their ids")
		}
		s, v := migrated(t, address), vault(t)
		db := raw(t, address)
		late, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = late.ExecContext(t.Context(), `INSERT INTO audit_events (event_id, type, at, principal, token_id, catalog, namespace, table_name, table_uuid, allowed, reason, request_id, address, details)
			VALUES ('late', 'table.committed', now(), '', '', '', '', '', '', true, '', '', '', '{}')`)
		require.NoError(t, err)
		appendAll(t, s, events(3))
		sealed(t, s, v)
		require.NoError(t, late.Commit())
		sealed(t, s, v)
		var seq, id int64
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT seq, id FROM audit_events WHERE event_id = 'late'").Scan(&seq, &id))
		require.EqualValues(t, 4, seq)
		require.EqualValues(t, 1, id)
		require.True(t, verify(t, s, audit.VerifyOptions{Vault: v}).Good)
	})
}

// tampering is what somebody does who owns the database and has removed its triggers, to the row at place 8 of 20.
type tampering struct {
	statements []string
	kind       audit.ProblemKind
	seq        int64
}

func changing(column, to string) tampering {
	return tampering{[]string{"UPDATE audit_events SET " + column + " = " + to + " WHERE seq = 8"}, audit.Edited, 8}
}

// tamperings of one row: one byte of every column, and its removal and the like.
func tamperings(postgres bool) map[string]tampering {
	list := map[string]tampering{
		"first removed":   {[]string{"DELETE FROM audit_events WHERE seq = 1"}, audit.Removed, 1},
		"middle removed":  {[]string{"DELETE FROM audit_events WHERE seq = 8"}, audit.Removed, 8},
		"several removed": {[]string{"DELETE FROM audit_events WHERE seq BETWEEN 8 AND 11"}, audit.Removed, 8},
		"last removed":    {[]string{"DELETE FROM audit_events WHERE seq = 20"}, audit.CutOff, 20},
		"end removed": {[]string{
			"DELETE FROM audit_events WHERE seq > 15",
			"UPDATE audit_states SET seq = 15, hash = (SELECT hash FROM audit_events WHERE seq = 15)",
		}, audit.CutOff, 20},
		"all removed": {[]string{
			"DELETE FROM audit_events", "UPDATE audit_states SET seq = 0, hash = '" + audit.Genesis + "'",
		}, audit.CutOff, 20},
		"two swapped": {[]string{
			"UPDATE audit_events SET seq = 99 WHERE seq = 8", "UPDATE audit_events SET seq = 8 WHERE seq = 9", "UPDATE audit_events SET seq = 9 WHERE seq = 99",
		}, audit.Reordered, 8},
		"two far ones swapped": {[]string{
			"UPDATE audit_events SET seq = 99 WHERE seq = 8", "UPDATE audit_events SET seq = 8 WHERE seq = 14", "UPDATE audit_events SET seq = 14 WHERE seq = 99",
		}, audit.Reordered, 8},
		"removed and renumbered": {[]string{
			"DELETE FROM audit_events WHERE seq = 8", "UPDATE audit_events SET seq = seq + 1000 WHERE seq > 8", "UPDATE audit_events SET seq = seq - 1001 WHERE seq > 1000",
			"UPDATE audit_states SET seq = 19",
		}, audit.Removed, 8},
		"one inserted": {[]string{
			"UPDATE audit_events SET seq = seq + 1000 WHERE seq >= 8", "UPDATE audit_events SET seq = seq - 999 WHERE seq > 1000",
			copyRow("8", "'abc'", "'abc'"), "UPDATE audit_states SET seq = 21",
		}, audit.Inserted, 8},
		"one added at the end": {[]string{copyRow("21", "'abc'", "'abc'")}, audit.Inserted, 21},
		"one added before all": {[]string{copyRow("0", "'abc'", "'abc'")}, audit.Inserted, 0},
		"one added far before": {[]string{copyRow("-7", "'abc'", "'abc'")}, audit.Inserted, -7},
		"state changed":        {[]string{"UPDATE audit_states SET hash = '" + strings.Repeat("ab", 32) + "'"}, audit.BadState, 20},
		"called pruned":        {[]string{"UPDATE audit_states SET pruned_seq = 8", "DELETE FROM audit_events WHERE seq <= 8"}, audit.NoCheckpoint, 8},
		"unsealed again":       {[]string{"UPDATE audit_events SET seq = NULL, prev_hash = NULL, hash = NULL WHERE seq = 8"}, audit.Removed, 8},
		"checkpoint changed":   {[]string{"UPDATE audit_checkpoints SET hash = '" + strings.Repeat("ab", 32) + "'"}, audit.BadSignature, 20},
		"checkpoint moved":     {[]string{"UPDATE audit_checkpoints SET seq = 19, hash = (SELECT hash FROM audit_events WHERE seq = 19)"}, audit.BadSignature, 19},
		"signature changed":    {[]string{"UPDATE audit_checkpoints SET signature = (SELECT public FROM audit_keys)"}, audit.BadSignature, 20},
		"key changed":          {[]string{"UPDATE audit_keys SET public = private"}, audit.BadSignature, 0},
		"key removed":          {[]string{"DELETE FROM audit_keys"}, audit.BadSignature, 20},
		"at":                   changing("at", "at + 1"),
		"allowed":              changing("allowed", "1 - allowed"),
		"snapshot_id":          changing("snapshot_id", "7"),
		"snapshot_id removed":  {[]string{"UPDATE audit_events SET snapshot_id = NULL WHERE seq = 9"}, audit.Edited, 9},
		"dedupe_key removed":   {[]string{"UPDATE audit_events SET dedupe_key = NULL WHERE seq = 9"}, audit.Edited, 9},
		"id":                   changing("id", "id + 1000"),
		"seq":                  {[]string{"UPDATE audit_events SET seq = 1008 WHERE seq = 8"}, audit.Removed, 8},
	}
	for _, column := range []string{
		"event_id", "type", "principal", "token_id", "catalog", "namespace", "table_name", "table_uuid", "reason", "request_id", "address", "details", "prev_hash", "hash",
	} {
		list[column] = changing(column, "'#' || substr("+column+", 2)")
	}
	list["dedupe_key"] = tampering{[]string{"UPDATE audit_events SET dedupe_key = '#' || substr(dedupe_key, 2) WHERE seq = 9"}, audit.Edited, 9}
	if postgres {
		list["at"] = changing("at", "at + interval '1 microsecond'")
		list["allowed"] = changing("allowed", "NOT allowed")
		id := list["id"]
		id.statements = append([]string{"ALTER TABLE audit_events ALTER id SET GENERATED BY DEFAULT"}, id.statements...)
		list["id"] = id
	}
	return list
}

func copyRow(seq, prev, hash string) string {
	const columns = "type, at, principal, token_id, catalog, namespace, table_name, table_uuid, snapshot_id, allowed, reason, request_id, address, details"
	return "INSERT INTO audit_events (event_id, " + columns + ", seq, prev_hash, hash) SELECT 'forged', " + columns + ", " + seq + ", " + prev + ", " + hash + " FROM audit_events WHERE seq = 3"
}

func dropGuard(t *testing.T, db *sql.DB, postgres bool) {
	t.Helper()
	for _, trigger := range []string{"update", "delete", "insert", "change", "truncate"} {
		statement := "DROP TRIGGER IF EXISTS audit_events_" + trigger
		if postgres {
			statement += " ON audit_events"
		}
		exec(t, db, statement)
	}
}

func TestTamperingIsFoundAndTheRowNamed(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		address := url(t)
		postgres := strings.HasPrefix(address, "postgres")
		s, v := migrated(t, address), vault(t)
		appendAll(t, s, events(20))
		sealed(t, s, v)
		db := raw(t, address)
		dropGuard(t, db, postgres)
		restore := copied(t, db, postgres)
		for name, c := range tamperings(postgres) {
			t.Run(name, func(t *testing.T) {
				defer restore()
				require.True(t, verify(t, s, audit.VerifyOptions{Vault: v}).Good)
				for _, statement := range c.statements {
					exec(t, db, statement)
				}
				report := verify(t, s, audit.VerifyOptions{Vault: v})
				require.False(t, report.Good)
				require.True(t, slices.ContainsFunc(report.Problems, func(p audit.Problem) bool {
					return p.Kind == c.kind && p.Seq == c.seq && p.Detail != ""
				}), "%+v", report.Problems)
			})
		}
	})
}

// copied keeps the audit as it is and gives what brings it back.
func copied(t *testing.T, db *sql.DB, postgres bool) (restore func()) {
	t.Helper()
	tables := []string{"audit_events", "audit_states", "audit_checkpoints", "audit_keys"}
	for _, table := range tables {
		exec(t, db, "CREATE TABLE copy_of_"+table+" AS SELECT * FROM "+table)
	}
	return func() {
		for _, table := range tables {
			exec(t, db, "DELETE FROM "+table)
			into := table
			if postgres && table == "audit_events" {
				into += " OVERRIDING SYSTEM VALUE"
			}
			exec(t, db, "INSERT INTO "+into+" SELECT * FROM copy_of_"+table)
		}
	}
}

// rechain computes the whole chain anew, as somebody could who knows how it is made and has no key.
func rechain(t *testing.T, s *store.Store, db *sql.DB) {
	t.Helper()
	prev, h := audit.Genesis, audit.NewHasher()
	var statements []string
	require.NoError(t, s.AuditRecords(t.Context(), 0, 1000, func(r *audit.Record) error {
		hash := h.Hash(prev, r.Seq, r)
		statements = append(statements, fmt.Sprintf("UPDATE audit_events SET prev_hash = '%s', hash = '%s' WHERE seq = %d", prev, hash, r.Seq))
		prev = hash
		return nil
	}))
	for _, statement := range statements {
		exec(t, db, statement)
	}
	exec(t, db, "UPDATE audit_states SET hash = '"+prev+"'")
}

func TestAChainComputedAnewIsFound(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		address := url(t)
		s, v := migrated(t, address), vault(t)
		appendAll(t, s, events(20))
		sealed(t, s, v)
		outside := checkpoints(t, s)
		db := raw(t, address)
		dropGuard(t, db, strings.HasPrefix(address, "postgres"))
		exec(t, db, "UPDATE audit_events SET principal = 'nobody' WHERE seq = 8")
		rechain(t, s, db)
		report := verify(t, s, audit.VerifyOptions{Vault: v})
		require.Equal(t, audit.Rewritten, report.Problems[0].Kind, "%+v", report)
		require.EqualValues(t, 20, report.Problems[0].Seq)

		// Whoever removes the checkpoints too is found by one that was kept outside.
		exec(t, db, "DELETE FROM audit_checkpoints")
		report = verify(t, s, audit.VerifyOptions{Vault: v})
		require.True(t, report.Good, "%+v", report.Problems)
		require.NotEmpty(t, report.Notes, "and it is said that nothing stands for it")
		report = verify(t, s, audit.VerifyOptions{Vault: v, Outside: outside})
		require.Equal(t, audit.Rewritten, report.Problems[0].Kind)

		// So is whoever signs with a key of their own: it is not sealed by the encryption keys, nor the one that is known.
		exec(t, db, "DELETE FROM audit_keys")
		sealed(t, s, vault(t))
		report = verify(t, s, audit.VerifyOptions{Vault: v})
		require.Equal(t, audit.BadSignature, report.Problems[0].Kind)
		known, err := audit.DecodeKey(outside[0].PublicKey)
		require.NoError(t, err)
		report = verify(t, s, audit.VerifyOptions{Public: []ed25519.PublicKey{known}})
		require.Equal(t, audit.BadSignature, report.Problems[0].Kind)
	})
}

// checkpoints are all there are, written to a file and read again.
func checkpoints(t *testing.T, s *store.Store) []audit.Checkpoint {
	t.Helper()
	rows, err := s.AuditCheckpoints(t.Context())
	require.NoError(t, err)
	keys, err := s.AuditKeys(t.Context())
	require.NoError(t, err)
	var file strings.Builder
	for _, row := range rows {
		line, err := json.Marshal(audit.Exportable(row, keys[0]))
		require.NoError(t, err)
		file.Write(append(line, '\n'))
	}
	list, err := audit.ReadCheckpoints(strings.NewReader(file.String()))
	require.NoError(t, err)
	return list
}

func TestEndThatIsCutOffIsFoundByACheckpointFromOutside(t *testing.T) {
	dialects(t, func(t *testing.T, url func(testing.TB) string) {
		address := url(t)
		s, v := migrated(t, address), vault(t)
		appendAll(t, s, events(20))
		sealed(t, s, v)
		outside := checkpoints(t, s)
		db := raw(t, address)
		dropGuard(t, db, strings.HasPrefix(address, "postgres"))
		for _, statement := range []string{
			"DELETE FROM audit_checkpoints", "DELETE FROM audit_events WHERE seq > 18",
			"UPDATE audit_states SET seq = 18, hash = (SELECT hash FROM audit_events WHERE seq = 18)",
		} {
			exec(t, db, statement)
		}
		require.True(t, verify(t, s, audit.VerifyOptions{Vault: v}).Good, "the database alone cannot know")
		report := verify(t, s, audit.VerifyOptions{Vault: v, Outside: outside})
		require.Equal(t, audit.CutOff, report.Problems[0].Kind)
		outside[0].Seq = 17
		report = verify(t, s, audit.VerifyOptions{Vault: v, Outside: outside})
		require.Equal(t, audit.BadSignature, report.Problems[0].Kind, "a checkpoint that was changed outside is none")
	})
}

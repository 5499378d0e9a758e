package store_test

import (
	"database/sql"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
)

// Filling a million rows takes a minute or two; the figures of bench/RESULTS.md are of -auditrows=1000000.
var auditRows = flag.Int("auditrows", 20_000, "events of the audit benchmarks")

// fill writes as many events as a busy catalog has, not sealed yet.
func fill(t testing.TB, db *sql.DB, address string, n int) {
	t.Helper()
	const columns = "event_id, type, at, principal, token_id, catalog, namespace, table_name, table_uuid, snapshot_id, allowed, reason, request_id, address, details"
	const details = `'{"metadataLocation":"s3://lake/warehouse/sales/orders/metadata/00042-9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json","operation":"append","rows":1000,"files":4,"bytes":1234567,"rowCountBefore":41000,"rowCountAfter":42000}'`
	statement := "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) INSERT INTO audit_events (" + columns + ") " +
		"SELECT 'event-' || i, 'table.committed', 1790000000000000 + i, 'flink', 'token', 'main', 'sales', 'sales.orders', '9c12d441-03fe-4693-9a96-a0705ddf69c1', i, 1, '', 'request', '192.0.2.7', " + details + " FROM n"
	if strings.HasPrefix(address, "postgres") {
		statement = "INSERT INTO audit_events (" + columns + ") " +
			"SELECT 'event-' || i, 'table.committed', now(), 'flink', 'token', 'main', 'sales', 'sales.orders', '9c12d441-03fe-4693-9a96-a0705ddf69c1', i, true, '', 'request', '192.0.2.7', " + details + " FROM generate_series(1, $1::bigint) AS i"
	}
	_, err := db.ExecContext(t.Context(), statement, n)
	require.NoError(t, err)
}

func benchmarkAudit(b *testing.B, run func(b *testing.B, s *store.Store, db *sql.DB, address string)) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": sqliteURL, "postgres": pgtest.Database} {
		b.Run(name, func(b *testing.B) {
			address := url(b)
			s := migrated(b, address)
			run(b, s, raw(b, address), address)
		})
	}
}

// BenchmarkSealAudit seals all events, and says how many a second.
func BenchmarkSealAudit(b *testing.B) {
	benchmarkAudit(b, func(b *testing.B, s *store.Store, db *sql.DB, address string) {
		for range b.N {
			b.StopTimer()
			var from int64
			require.NoError(b, db.QueryRowContext(b.Context(), "SELECT count(*) FROM audit_events").Scan(&from))
			if from > 0 {
				b.Skip("one run is a measurement: -benchtime 1x")
			}
			fill(b, db, address, *auditRows)
			v := vault(b)
			b.StartTimer()
			began := time.Now()
			sealed(b, s, v)
			state, err := s.AuditState(b.Context())
			require.NoError(b, err)
			b.ReportMetric(float64(state.Seq)/time.Since(began).Seconds(), "events/s")
		}
	})
}

// BenchmarkVerifyAudit verifies all events.
func BenchmarkVerifyAudit(b *testing.B) {
	benchmarkAudit(b, func(b *testing.B, s *store.Store, db *sql.DB, address string) {
		fill(b, db, address, *auditRows)
		v := vault(b)
		for state, err := s.AuditState(b.Context()); state.Seq < int64(*auditRows); state, err = s.AuditState(b.Context()) {
			require.NoError(b, err)
			sealed(b, s, v)
		}
		for b.Loop() {
			report := verify(b, s, audit.VerifyOptions{Vault: v})
			require.True(b, report.Good, "%+v", report.Problems)
		}
		b.ReportMetric(float64(*auditRows)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	})
}

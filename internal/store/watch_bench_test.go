package store_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

// watched is a database as it is after a while: many tables that nothing happens to, and one with a stream.
type watched struct {
	s       *store.Store
	table   models.Table
	commits int
}

// benchWatched makes tables that are looked at and recorded, with ten commits each, and one to which a stream commits
// every ten seconds: four jobs one after another, each of which counts its checkpoints from the first.
func benchWatched(b testing.TB, at string, tables, commits int) watched {
	b.Helper()
	s := migrated(b, at)
	row := benchTables(b, s, 1)[0]
	db := raw(b, at)
	numbers := func(n int) string { // numbers(n) is a table i of 0 to n-1, in both dialects
		return fmt.Sprintf("WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < %d) ", n-1)
	}
	ago := func(seconds string) string { return "now() - (" + seconds + ") * interval '1 second'" }
	if strings.HasPrefix(at, "sqlite") {
		now := time.Now().UnixMicro()
		ago = func(seconds string) string { return fmt.Sprintf("%d - (%s) * 1000000", now, seconds) }
	}
	into := func(table, columns, query string) {
		exec(b, db, fmt.Sprintf("INSERT INTO %s (%s) %s", table, columns, query))
	}
	quoted := "'" + row.CatalogID + "', '" + row.NamespaceID + "'"
	into("tables", `id, catalog_id, namespace_id, name, table_uuid, location, metadata_location, format_version, write_policy, classification,
		identity_columns, columns, current_snapshot_id, recorded_snapshot_id, version, created_at, updated_at`,
		numbers(tables)+"SELECT 't' || i, "+quoted+", 'quiet' || i, 'u' || i, 's3://lake/' || i, 'm', 2, 'open_append', 'internal', '[\"id\"]', "+
			"'{\"email\":{\"sensitivity\":\"confidential\"}}', 9, 9, 1, "+ago("900000")+", "+ago("800000")+" FROM numbers")
	into("commits", commitColumns, numbers(tables*10)+
		"SELECT 'c', 't' || (i / 10), 'u', 'sales.quiet', i % 10, NULL, i % 10, 'main', 'append', '{}', 'm', 'external', '{}', 'w' || (i / 10), '', '', "+
		ago("900000 - i % 10")+", 'reconciled', '', 10, 1000 FROM numbers")
	into("commits", commitColumns, numbers(commits)+
		fmt.Sprintf("SELECT 'c', '%[1]s', '%[1]s', 'bench.t0', i, CASE WHEN i > 0 THEN i - 1 END, i, 'main', 'append', '{\"flink.max-committed-checkpoint-id\":\"1\"}', 'm', 'external', '{}', "+
			"'stream', 'job' || (4 * i / %[2]d), 'checkpoint/' || (i %% (%[2]d / 4)), %[3]s, 'reconciled', '', 10, 1000 FROM numbers",
			row.ID, commits, ago(fmt.Sprintf("10 * (%d - i)", commits))))
	exec(b, db, fmt.Sprintf("UPDATE tables SET current_snapshot_id = %d, recorded_snapshot_id = %d, updated_at = %s WHERE id = '%s'", commits-1, commits-1, ago("0"), row.ID))
	row, err := s.TableByID(b.Context(), row.ID)
	require.NoError(b, err)
	w := watched{s: s, table: row, commits: commits}
	w.lookAtAll(b)
	return w
}

const commitColumns = `catalog_id, table_id, table_uuid, table_name, snapshot_id, parent_snapshot_id, sequence_number, ref, operation, summary,
	metadata_location, kind, writer, writer_id, job, unit, committed_at, status, workflow_id, added_files, added_bytes`

// lookAtAll keeps every table as looked at.
func (w watched) lookAtAll(b testing.TB) {
	b.Helper()
	all, err := w.s.TablesToCheck(b.Context(), time.Time{}, "", 0)
	require.NoError(b, err)
	var looked activities.FindingSettlement
	for _, c := range all {
		looked.Checks = append(looked.Checks, models.TableCheck{TableID: c.Table.ID, Version: c.Table.Version, Stamp: c.Stamp})
	}
	_, err = w.s.SettleFindings(b.Context(), looked)
	require.NoError(b, err)
}

// last gives the newest commit of the stream.
func (w watched) last(b testing.TB) models.Commit {
	b.Helper()
	c, err := w.s.Commit(b.Context(), w.table.ID, int64(w.commits-1))
	require.NoError(b, err)
	return c
}

// reads are what is asked all the time, of a database where nothing is wrong.
func (w watched) reads(b testing.TB) map[string]func() error {
	ctx, last := b.Context(), w.last(b)
	return map[string]func() error{
		"history": func() error { _, err := w.s.History(ctx, last); return err },
		"latest":  func() error { _, err := w.s.LatestOf(ctx, "stream", models.MostIntervals); return err },
		"unit":    func() error { _, err := w.s.CommitsOfUnit(ctx, "stream", last.Unit); return err },
		"line":    func() error { _, err := w.s.OnLedger(ctx, w.table.ID, []int64{int64(w.commits - 100)}); return err },
		"hour":    func() error { _, err := w.s.TableRates(ctx, time.Now().Add(-time.Hour), "", 500); return err },
		"day":     func() error { _, err := w.s.TableRates(ctx, time.Now().Add(-24*time.Hour), "", 500); return err },
		"refusals": func() error {
			_, err := w.s.Refusals(ctx, w.table.UUID, "job", time.Now().Add(-time.Hour), 10)
			return err
		},
		"files":    func() error { _, err := w.s.FilesToCheck(ctx, time.Now().Add(-24*time.Hour), 500); return err },
		"claims":   func() error { _, err := w.s.ClaimEvents(ctx, "dispatcher", time.Minute, 1, 1); return err },
		"findings": func() error { _, err := w.s.OpenFindingsOf(ctx, w.table.ID, "", 100); return err },
		"drift":    func() error { _, err := w.s.Drifted(ctx, "", time.Minute, 500); return err },
		"checks":   func() error { _, err := w.s.TablesToCheck(ctx, time.Now().Add(-24*time.Hour), "", 500); return err },
	}
}

// BenchmarkWatching measures what watching costs while nothing happens: 10,000 tables, and a stream of 100,000 commits.
func BenchmarkWatching(b *testing.B) {
	for name, at := range map[string]func(testing.TB) string{"sqlite": sqliteURL, "postgres": pgtest.Database} {
		b.Run(name, func(b *testing.B) {
			url := at(b)
			w := benchWatched(b, url, 10_000, 100_000)
			exec(b, raw(b, url), "ANALYZE")
			for what, read := range w.reads(b) {
				b.Run(what, func(b *testing.B) {
					for b.Loop() {
						require.NoError(b, read())
					}
				})
			}
		})
	}
}

// TestWatchingReadsByIndexes: what is asked for every commit, or all the time, reads little of the ledger, the audit, the
// findings and the records of files, however much there is, whether or not the database knows that.
func TestWatchingReadsByIndexes(t *testing.T) {
	at := pgtest.Database(t)
	w := benchWatched(t, at, 200, 20_000)
	db := raw(t, at)
	exec(t, db, `INSERT INTO audit_events (event_id, type, at, principal, token_id, catalog, namespace, table_name, table_uuid, allowed, reason, request_id, address, details)
		SELECT 'e' || i, 'table.committed', now(), 'job', '', 'main', 'bench', 'bench.t0', '`+w.table.UUID+`', TRUE, '', '', '', '{}' FROM generate_series(1, 20000) i`)
	exec(t, db, `INSERT INTO file_records (id, table_id, location, snapshot_id, size, etag, recorded_at, checked_at, removed_at, removed_by)
		SELECT 'f' || i, '`+w.table.ID+`', 's3://lake/f', 1, 1, '', now(), now() - interval '1 year', now(), 2 FROM generate_series(1, 20000) i`)
	exec(t, db, `INSERT INTO findings (id, kind, severity, catalog_id, catalog_name, table_id, table_uuid, table_name, principal, subject, subject_key, evidence,
			first_seen_at, last_seen_at, resolved_at, resolved_by, note)
		SELECT 'd' || i, 'missing_file', 'high', 'c', 'main', 't' || i % 200, 'u', 'sales.quiet', 'job', 's', 'k' || i, '{}', now(), now(), now(), 'sluice', '' FROM generate_series(1, 20000) i`)
	const calls = 8 // the first ones are planned for their values, later ones for any
	rows := func(read func(w watched) error) int64 {
		before := rowsRead(t, db)
		u, err := url.Parse(at)
		require.NoError(t, err)
		query := u.Query()
		query.Set("application_name", "watching")
		u.RawQuery = query.Encode()
		s, err := store.Open(t.Context(), store.Config{URL: u.String()})
		require.NoError(t, err)
		for range calls {
			require.NoError(t, read(watched{s: s, table: w.table, commits: w.commits}))
		}
		require.NoError(t, s.Close()) // its sessions tell what they did when they end
		require.Eventually(t, func() bool {
			var sessions int
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'watching'").Scan(&sessions))
			return sessions == 0
		}, time.Minute, time.Millisecond)
		return (rowsRead(t, db) - before) / calls
	}
	const little = 1500 // an hour of the stream has 360 commits
	for _, known := range []bool{false, true} {
		if known {
			exec(t, db, "ANALYZE")
		}
		for name := range w.reads(t) {
			if name != "day" && (known || name != "hour") { // a day is much of this ledger, and an hour is sorted as long as nothing is known
				require.Less(t, rows(func(w watched) error { return w.reads(t)[name]() }), int64(little), "%s reads too much, known=%v", name, known)
			}
		}
		require.Greater(t, rows(func(w watched) error {
			_, err := w.s.Commits(t.Context(), models.CommitFilter{CatalogID: "none"})
			return err
		}), int64(little), "a query that reads the whole ledger is seen")
	}
}

// rowsRead counts what was read, by whatever way, of the tables that grow.
func rowsRead(t *testing.T, db *sql.DB) (n int64) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE schemaname = current_schema()
		AND relname IN ('commits', 'audit_events', 'file_records', 'findings')`).Scan(&n))
	return n
}

package store

import (
	"context"
	"math"
	"time"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

const (
	// mostCounted is how many commits of a table are counted, the newest: whoever has more within a day has more than enough.
	mostCounted = 100_000
	// firstCounted is how many are read at first: most tables have no more.
	firstCounted = 64
	mostAtOnce   = 4096
)

// newestSQL gives a table's newest commits before an id. The ranges name the index of its commits, as ofWriter does. Who made
// a commit matters where it may have been Sluice.
const newestSQL = `SELECT id, committed_at, COALESCE(added_files, 0) AS added_files, COALESCE(added_bytes, 0) AS added_bytes,
	CASE WHEN kind = '` + string(models.PlatformCommit) + `' THEN writer END AS writer
	FROM commits WHERE (table_id, id) > (?, 0) AND (table_id, id) < (?, ?) ORDER BY table_id DESC, id DESC LIMIT ?`

// countedRow is what is counted of a commit.
type countedRow struct {
	ID                     int64
	CommittedAt            time.Time
	AddedFiles, AddedBytes int64
	Writer                 models.JSON[models.Writer] // of platform commits alone
}

// TableRates implements activities.WriterLedger. Of tables that changed since the time, it reads on until it has as many that
// were committed to as are wanted.
func (s *Store) TableRates(ctx context.Context, since time.Time, after string, limit int) ([]findings.TableRate, error) {
	since = stored(since)
	out := []findings.TableRate{}
	for {
		page := checkPage
		if limit > 0 {
			page = min(page, limit-len(out))
		}
		tables, err := all[stateRow](ctx, s.stateQuery(ctx).
			Where("tables.id > ? AND tables.updated_at >= ?", after, since).Order("tables.id").Limit(page))
		if err != nil || len(tables) == 0 {
			return out, err
		}
		after = tables[len(tables)-1].ID
		for _, t := range tables {
			rate, err := s.rateOf(ctx, t, since)
			if err != nil {
				return nil, err
			}
			if rate.Commits > 0 {
				out = append(out, rate)
			}
		}
		if len(tables) < page || limit > 0 && len(out) >= limit {
			return out, nil
		}
	}
}

// rateOf counts the commits of a table since a time, newest first: the ledger is in order of time for each table. Those that
// Sluice makes by itself are none that a writer could make less often.
func (s *Store) rateOf(ctx context.Context, t stateRow, since time.Time) (findings.TableRate, error) {
	rate := findings.TableRate{
		CatalogID: t.CatalogID, Catalog: t.CatalogName, TableID: t.ID, TableUUID: t.UUID, Table: t.dotted(), Since: since,
	}
	before, page := int64(math.MaxInt64), firstCounted
	for rate.Commits < mostCounted {
		var rows []countedRow
		if err := s.query(ctx).Raw(newestSQL, t.ID, t.ID, before, page).Scan(&rows).Error; err != nil {
			return rate, translate(ctx, err)
		}
		for _, r := range rows {
			if r.CommittedAt.Before(since) {
				return rate, nil
			}
			before = r.ID
			if r.Writer.V.Principal == byItself {
				continue
			}
			rate.Commits, rate.AddedFiles, rate.AddedBytes = rate.Commits+1, rate.AddedFiles+r.AddedFiles, rate.AddedBytes+r.AddedBytes
		}
		if len(rows) < page {
			break
		}
		page = min(4*page, mostAtOnce)
	}
	return rate, nil
}

// isRefusal is the predicate of the index audit_events_refused.
const isRefusal = "type IN ('" + string(models.AuditCommitDenied) + "', '" + string(models.AuditRequestDenied) + "', '" + string(models.AuditRequestFailed) + "')"

// Refusals implements activities.WriterLedger. Requests that were refused before the table was known name it, and have no
// uuid.
func (s *Store) Refusals(ctx context.Context, tableUUID, principal string, since time.Time, limit int) ([]findings.Refusal, error) {
	tables, err := all[stateRow](ctx, s.stateQuery(ctx).Where("tables.table_uuid = ? AND tables.table_uuid <> ''", clean(tableUUID)))
	if err != nil {
		return nil, err
	}
	about := s.query(ctx).Where("table_uuid = ? AND table_uuid <> ''", clean(tableUUID))
	for _, t := range tables {
		about = about.Or("table_uuid = '' AND catalog = ? AND table_name = ?", t.CatalogName, t.dotted())
	}
	events, err := all[models.AuditEvent](ctx, limited(s.query(ctx), limit).Select("at", "type", "reason").
		Where(isRefusal+" AND principal = ? AND at >= ?", clean(principal), stored(since)).Where(about).Order("id DESC"))
	if err != nil {
		return nil, err
	}
	out := make([]findings.Refusal, len(events))
	for i, e := range events {
		out[i] = findings.Refusal{At: e.At, Type: e.Type, Reason: e.Reason}
	}
	return out, nil
}

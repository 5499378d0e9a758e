package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

// Predicates of the indexes of writers' commits, spelled out, not parameters: only so do the indexes serve.
const (
	hasWriter = "writer_id <> ''"
	hasUnit   = "unit <> ''"
	hasJob    = "job <> ''"
)

// What a writer, or a job of one, committed before an id, as ranges of their indexes. Equalities with an order by id would be
// the same, and lead PostgreSQL to read the whole ledger by its ids where it expects to find one soon.
const (
	ofWriter    = "(writer_id, id) > (?, 0) AND (writer_id, id) < (?, ?)"
	ofJob       = "(job, writer_id, id) > (?, ?, 0) AND (job, writer_id, id) < (?, ?, ?)"
	newestFirst = "writer_id DESC, id DESC"
)

// leftOut is what may be large of a commit, and says nothing of its writer.
const leftOut = "partitions"

// Parts of a history.
const (
	partBefore = "before"
	partUnit   = "unit"
	partJob    = "job"
)

// historyRow is a commit with the part of the history that it is in.
type historyRow struct {
	Part          string
	models.Commit `gorm:"embedded"`
}

// History implements activities.Ledger, by one query: each commit that is reconciled asks.
func (s *Store) History(ctx context.Context, c models.Commit) (findings.History, error) {
	var h findings.History
	if c.WriterID == "" {
		return h, nil
	}
	query, args, err := s.historyQuery(c)
	if err != nil {
		return h, err
	}
	var rows []historyRow
	if err := s.query(ctx).Raw(query, args...).Scan(&rows).Error; err != nil {
		return h, translate(ctx, err)
	}
	ref := clean(c.Ref)
	slices.SortFunc(rows, func(a, b historyRow) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range rows {
		switch r.Part {
		case partBefore:
			if r.SnapshotID != c.SnapshotID && r.Ref == ref {
				h.Before = append(h.Before, r.Commit)
			}
		case partUnit:
			h.SameUnit = append(h.SameUnit, r.Commit)
		case partJob:
			if r.SnapshotID != c.SnapshotID {
				h.FirstOfJob = &r.Commit
			}
		}
	}
	slices.Reverse(h.Before)
	h.Before = h.Before[:min(len(h.Before), findings.HistoryDepth)]
	return h, nil
}

// historyQuery selects the parts of a history that a commit has.
func (s *Store) historyQuery(c models.Commit) (query string, args []any, err error) {
	columns, err := s.leanCommit()
	if err != nil {
		return "", nil, err
	}
	before := c.ID
	if before <= 0 {
		before = math.MaxInt64
	}
	var parts []string
	add := func(part, where string, limit int, values ...any) {
		parts = append(parts, "SELECT * FROM (SELECT '"+part+"' AS part, "+columns+" FROM commits WHERE "+hasWriter+" AND "+where+" LIMIT ?) AS part_"+part)
		args = append(append(args, values...), limit)
	}
	// One more, because it may be the commit itself. Conditions on anything else would keep the index from being followed.
	add(partBefore, ofWriter+" ORDER BY "+newestFirst, findings.HistoryDepth+1, c.WriterID, c.WriterID, before)
	if c.Unit != "" {
		add(partUnit, hasUnit+" AND writer_id = ? AND unit = ? AND snapshot_id <> ? ORDER BY id", findings.HistoryDepth, c.WriterID, clean(c.Unit), c.SnapshotID)
	}
	if c.Unit != "" && c.Job != "" {
		add(partJob, hasUnit+" AND "+hasJob+" AND "+ofJob+" ORDER BY job, writer_id, id", 1, clean(c.Job), c.WriterID, clean(c.Job), c.WriterID, int64(math.MaxInt64))
	}
	return strings.Join(parts, " UNION ALL "), args, nil
}

// leanCommit gives the columns of a commit but what is left out.
func (s *Store) leanCommit() (string, error) {
	statement := &gorm.Statement{DB: s.read}
	if err := statement.Parse(&models.Commit{}); err != nil {
		return "", err
	}
	var names []string
	for _, name := range statement.Schema.DBNames {
		if name != leftOut {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", "), nil
}

// latestSQL gives what is summarized of a writer's newest commits. What they say of themselves is large, and only of a few
// of interest.
const latestSQL = `SELECT id, catalog_id, table_id, table_uuid, table_name, snapshot_id, ref, writer_id, job, committed_at,
	CASE WHEN place <= ? THEN writer ELSE '' END AS writer, CASE WHEN place <= ? THEN summary ELSE '' END AS summary
	FROM (SELECT *, row_number() OVER (ORDER BY id DESC) AS place
		FROM (SELECT * FROM commits WHERE ` + hasWriter + ` AND ` + ofWriter + ` ORDER BY ` + newestFirst + ` LIMIT ?) AS newest
	) AS latest ORDER BY place`

// telling is how many of a writer's newest commits tell how far it is: the last one of a stream may not.
const telling = 3

// LatestOf implements activities.Ledger.
func (s *Store) LatestOf(ctx context.Context, writerID string, limit int) ([]models.Commit, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	var rows []models.Commit
	err := s.query(ctx).Raw(latestSQL, telling, telling, writerID, writerID, int64(math.MaxInt64), limit).Scan(&rows).Error
	return rows, translate(ctx, err)
}

// CommitsOfUnit implements catalog.Store.
func (s *Store) CommitsOfUnit(ctx context.Context, writerID, unit string) ([]models.Commit, error) {
	return all[models.Commit](ctx, s.query(ctx).Limit(findings.HistoryDepth).Omit(leftOut).
		Where(hasWriter+" AND "+hasUnit+" AND writer_id = ? AND unit = ?", writerID, clean(unit)).Order("id"))
}

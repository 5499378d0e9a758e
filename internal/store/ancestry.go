package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sluice-data/sluice/models"
)

// longestLine is how many ancestors of a table's head are followed.
const longestLine = 100_000

// lineSQL follows main from its head to the first commit that is as old as a sequence number, by what the ledger has. It gives
// what is on the line of the snapshots in question, and its last two members with what the ledger has of them.
const lineSQL = `WITH RECURSIVE line (snapshot_id, depth) AS (
		SELECT current_snapshot_id, 0 FROM tables WHERE id = ? AND current_snapshot_id IS NOT NULL
		UNION ALL
		SELECT c.parent_snapshot_id, line.depth + 1 FROM line JOIN commits c ON c.table_id = ? AND c.snapshot_id = line.snapshot_id
		WHERE c.parent_snapshot_id IS NOT NULL AND c.sequence_number > ? AND line.depth < ?)
	SELECT line.snapshot_id, line.depth, c.id IS NOT NULL AS known, c.parent_snapshot_id, COALESCE(c.sequence_number, 0) AS sequence_number, c.committed_at
	FROM line LEFT JOIN commits c ON c.table_id = ? AND c.snapshot_id = line.snapshot_id
	WHERE line.snapshot_id IN ? OR line.depth >= (SELECT max(depth) FROM line) - 1 ORDER BY line.depth`

// lineRow is a member of the line of a table's head.
type lineRow struct {
	SnapshotID       int64
	Depth            int
	Known            bool // the ledger has it
	ParentSnapshotID *int64
	SequenceNumber   int64
	CommittedAt      *time.Time
}

// OnLedger implements activities.CheckLedger. The ledger cannot tell what is beyond the end of its knowledge, as of the
// history that a registered table came with: snapshots that are older than that are taken to be ancestors.
func (s *Store) OnLedger(ctx context.Context, tableID string, snapshots []int64) (map[int64]bool, error) {
	out := make(map[int64]bool, len(snapshots))
	for chunk := range slices.Chunk(snapshots, maxPadded) {
		asked, err := all[models.Commit](ctx, s.query(ctx).Select("id", "snapshot_id", "sequence_number", "committed_at").
			Where("table_id = ? AND snapshot_id IN ?", tableID, chunk))
		if err != nil {
			return nil, err
		}
		var line []lineRow
		err = s.query(ctx).Raw(lineSQL, tableID, tableID, oldestOf(asked, len(chunk)), longestLine, tableID, chunk).Scan(&line).Error
		if err != nil {
			return nil, translate(ctx, err)
		}
		for _, id := range chunk {
			out[id] = slices.ContainsFunc(line, func(r lineRow) bool { return r.SnapshotID == id }) || beyond(line, asked, id)
		}
	}
	return out, nil
}

// oldestOf gives the sequence number at which a line need not be followed any more; none before format version 2, and none
// when the ledger lacks a snapshot.
func oldestOf(asked []models.Commit, want int) int64 {
	if len(asked) < want || len(asked) == 0 {
		return -1
	}
	oldest := slices.MinFunc(asked, func(a, b models.Commit) int { return cmp.Compare(a.SequenceNumber, b.SequenceNumber) }).SequenceNumber
	if oldest == 0 {
		return -1
	}
	return oldest
}

// beyond tells whether a snapshot that is not on the line may be an ancestor of its end.
func beyond(line []lineRow, asked []models.Commit, id int64) bool {
	if len(line) == 0 {
		return false // there is no main
	}
	end := line[len(line)-1]
	complete := end.Known && end.ParentSnapshotID == nil
	if complete {
		return false
	}
	if !end.Known {
		if len(line) == 1 {
			return true // of the head itself nothing is known
		}
		end = line[len(line)-2]
	}
	i := slices.IndexFunc(asked, func(c models.Commit) bool { return c.SnapshotID == id })
	if i < 0 {
		return true
	}
	c := asked[i]
	return cmp.Or(cmp.Compare(c.SequenceNumber, end.SequenceNumber), c.CommittedAt.Compare(*end.CommittedAt)) < 0
}

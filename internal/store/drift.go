package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

// isPending is spelled out, not a parameter: only so does the partial index serve it.
const isPending = "status = '" + string(models.CommitPending) + "'"

// Drifted implements activities.Ledger. Pending commits of dropped tables are found too: they are to be abandoned.
func (s *Store) Drifted(ctx context.Context, after string, quiet time.Duration, limit int) ([]activities.DriftedTable, error) {
	before := s.clock().Add(-quiet)
	heads, err := all[stateRow](ctx, limited(s.stateQuery(ctx), limit).
		Where("tables.id > ? AND tables.updated_at < ? AND current_snapshot_id IS NOT NULL", after, before).
		Where("current_snapshot_id IS DISTINCT FROM recorded_snapshot_id").Order("tables.id"))
	if err != nil {
		return nil, err
	}
	var behind []string
	err = limited(s.query(ctx), limit).Model(&models.Commit{}).Distinct("table_id").
		Where("table_id > ? AND committed_at < ? AND "+isPending, after, before).Order("table_id").Pluck("table_id", &behind).Error
	if err != nil {
		return nil, translate(ctx, err)
	}
	ids := behind
	for _, head := range heads {
		ids = append(ids, head.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if limit > 0 && len(ids) > limit {
		ids = ids[:limit]
	}
	return s.describeDrift(ctx, ids, heads, before)
}

func (s *Store) describeDrift(
	ctx context.Context, ids []string, heads []stateRow, before time.Time,
) ([]activities.DriftedTable, error) {
	found := make(map[string]*activities.DriftedTable, len(ids))
	for chunk := range slices.Chunk(ids, 500) {
		commits, err := all[models.Commit](ctx, s.query(ctx).
			Select("id", "catalog_id", "table_id", "table_uuid", "table_name", "snapshot_id").
			Where("table_id IN ? AND committed_at < ? AND "+isPending, chunk, before).Order("table_id, id"))
		if err != nil {
			return nil, err
		}
		for _, c := range commits {
			d := found[c.TableID]
			if d == nil {
				d = &activities.DriftedTable{TableID: c.TableID, CatalogID: c.CatalogID, TableUUID: c.TableUUID, TableName: c.TableName}
				found[c.TableID] = d
			}
			d.SnapshotIDs = append(d.SnapshotIDs, c.SnapshotID)
		}
	}
	for _, head := range heads {
		if _, wanted := slices.BinarySearch(ids, head.ID); wanted {
			addHead(found, head)
		}
	}
	out := make([]activities.DriftedTable, 0, len(found))
	for _, d := range found {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b activities.DriftedTable) int { return cmp.Compare(a.TableID, b.TableID) })
	return out, nil
}

// addHead adds a table's unrecorded head after its pending commits, under the names the table has now.
func addHead(found map[string]*activities.DriftedTable, head stateRow) {
	d := found[head.ID]
	if d == nil {
		d = &activities.DriftedTable{TableID: head.ID}
		found[head.ID] = d
	}
	d.CatalogID, d.TableUUID, d.TableName = head.CatalogID, head.UUID, head.dotted()
	if !slices.Contains(d.SnapshotIDs, *head.CurrentSnapshotID) {
		d.SnapshotIDs = append(d.SnapshotIDs, *head.CurrentSnapshotID)
	}
}

package reconcile

import (
	"context"

	"github.com/apache/iceberg-go"
)

// lostDeletes are delete files of one sequence number that a snapshot leaves out.
type lostDeletes struct {
	first string // the least path of them
	reach *reach // what they delete from
}

// undeleted gives the first delete file of the platform that is left out while a data file stays that it deletes from and that
// gets no other deletes: rows that an upsert replaced would be back. "" if there is none. Compaction, which replaces both, and
// deletes that are merged with new ones are no such thing.
func (o *owning) undeleted(ctx context.Context, before, gone []manifest) (string, error) {
	if len(o.lost) == 0 {
		return "", nil
	}
	ids := make([]int64, 0, len(o.lost))
	for _, snapshot := range o.lost {
		ids = append(ids, snapshot)
	}
	owned, err := o.owned(ctx, distinct(ids))
	if err != nil || len(owned) == 0 {
		return "", err
	}
	lost, err := o.readLost(ctx, gone, owned)
	if err != nil {
		return "", err
	}
	return o.stillReached(ctx, before, gone, lost)
}

// readLost reads what the lost delete files of owned snapshots delete from, by their sequence numbers.
func (o *owning) readLost(ctx context.Context, gone []manifest, owned map[int64]bool) (map[int64]*lostDeletes, error) {
	out := make(map[int64]*lostDeletes)
	err := o.each(ctx, ofContent(gone, deletesContent), true, func(ctx context.Context, m *manifest) error {
		return o.free.eachWanted(ctx, m, wantedOfDeletes(), func(e entry) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			if snapshot, ok := o.lost[keyOfEntry(e)]; !ok || !owned[snapshot] || e.status == iceberg.EntryStatusDELETED {
				return nil
			}
			group := out[e.sequence]
			if group == nil {
				group = &lostDeletes{first: e.path, reach: newReach(o.reach.layout)}
				out[e.sequence] = group
			}
			group.first = min(group.first, e.path)
			group.reach.add(m, e)
			return nil
		})
	})
	return out, err
}

// stillReached looks for data files that stay and that lost deletes reach.
func (o *owning) stillReached(ctx context.Context, before, gone []manifest, lost map[int64]*lostDeletes) (string, error) {
	isGone := make(map[string]bool, len(gone))
	for n := range gone {
		isGone[gone[n].path] = true
	}
	first := ""
	err := o.each(ctx, ofContent(before, dataContent), true, func(ctx context.Context, m *manifest) error {
		return o.free.eachWanted(ctx, m, &wanted{partition: true}, func(e entry) error {
			if e.status == iceberg.EntryStatusDELETED || o.reach.has(m, e) {
				return nil
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if isGone[m.path] && !o.kept[keyOfEntry(e)].same {
				return nil
			}
			for sequence, group := range lost { // an upsert deletes from what was there before it
				if e.sequence < sequence && group.reach.has(m, e) && (first == "" || group.first < first) {
					first = group.first
				}
			}
			return nil
		})
	})
	return first, err
}

package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
)

// facts says what a commit truly does, for the policy to judge: every added snapshot is read, every ref move followed.
func (s *Service) facts(ctx context.Context, p *plan, in CommitInput, c metadata.Changes) (policy.Change, error) {
	change := policy.Change{
		CreatesTable: p.creates, ReplacesTable: c.ReplacedTable,
		RemovedSnapshots: len(c.RemovedSnapshots),
		Columns:          columnFacts(c.ColumnChanges),
		SpecChanged:      c.AddedSpecs > 0 || len(c.RemovedSpecs) > 0 || c.DefaultSpecChanged,
		SortOrderChanged: c.AddedSortOrders > 0 || c.DefaultSortOrderChanged,
		LocationChanged:  c.LocationChanged, FormatUpgraded: c.FormatVersionChanged,
		SchemasRemoved: len(c.RemovedSchemas) > 0, EncryptionKeys: c.EncryptionKeysChanged,
		OutsideFile: s.outsideStatistics(p.next.Location(), in.Updates),
	}
	for _, u := range in.Updates {
		change.Actions = append(change.Actions, u.Action)
	}
	s.propertyFacts(&change, p, c)
	refFacts(&change, p, c)
	ids := make([]int64, 0, len(c.AddedSnapshots))
	for _, snap := range c.AddedSnapshots {
		ids = append(ids, snap.ID)
	}
	for _, move := range change.RefMoves {
		ids = append(ids, move.Gains...)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		facts, err := s.snapshotFacts(ctx, p, c, id)
		if err != nil {
			return policy.Change{}, err
		}
		change.Snapshots = append(change.Snapshots, facts)
	}
	return change, nil
}

// snapshotFacts reads one snapshot. One that the same commit removes again is judged as sent.
func (s *Service) snapshotFacts(ctx context.Context, p *plan, c metadata.Changes, id int64) (policy.SnapshotFacts, error) {
	snap, ok := p.next.Snapshot(id)
	if !ok {
		i := slices.IndexFunc(c.AddedSnapshots, func(a metadata.Snapshot) bool { return a.ID == id })
		if i < 0 {
			return policy.SnapshotFacts{ID: id, NotAppend: "it is not there any more"}, nil
		}
		snap = c.AddedSnapshots[i]
	}
	inspection := Inspection{FormatVersion: p.next.FormatVersion(), Snapshot: snap, Location: p.next.Location()}
	if snap.ParentID != nil {
		parent, ok := p.next.Snapshot(*snap.ParentID)
		if !ok && p.base != nil {
			parent, ok = p.base.Snapshot(*snap.ParentID)
		}
		if !ok {
			return policy.SnapshotFacts{ID: id, Operation: snap.Operation, NotAppend: "its parent snapshot is not there to compare with"}, nil
		}
		inspection.Parent = &parent
	}
	facts, err := s.inspector.Inspect(ctx, inspection)
	facts.FirstOfCreate = p.creates && snap.ParentID == nil
	return facts, err
}

// propertyFacts leaves out reserved properties that get the very value Sluice stamps: clients that rebuild a table
// from its metadata repeat them in good faith.
func (s *Service) propertyFacts(change *policy.Change, p *plan, c metadata.Changes) {
	wanted := s.stamps.wanted(p.row)
	for _, key := range slices.Sorted(maps.Keys(c.PropertiesSet)) {
		if value, ok := wanted[key]; !ok || value != c.PropertiesSet[key] {
			change.PropertiesSet = append(change.PropertiesSet, key)
		}
	}
	change.PropertiesGone = c.PropertiesRemoved
}

func columnFacts(changes []metadata.ColumnChange) []policy.ColumnChange {
	facts := make([]policy.ColumnChange, len(changes))
	for i, c := range changes {
		facts[i] = policy.ColumnChange{
			Column:   c.Name,
			Additive: c.Kind == metadata.ColumnAddOptional || c.Kind == metadata.ColumnDoc,
			What:     columnVerb(c.Kind),
		}
	}
	return facts
}

func columnVerb(kind metadata.ColumnChangeKind) string {
	switch kind {
	case metadata.ColumnAddOptional, metadata.ColumnAddRequired:
		return policy.ColumnAdds
	case metadata.ColumnDrop:
		return policy.ColumnDrops
	case metadata.ColumnRename:
		return policy.ColumnRenames
	case metadata.ColumnRetype:
		return policy.ColumnRetypes
	case metadata.ColumnMove:
		return policy.ColumnMoves
	case metadata.ColumnReorder:
		return policy.ColumnReorders
	case metadata.ColumnDoc:
		return policy.ColumnDocuments
	case metadata.ColumnMakeOptional:
		return policy.ColumnMakesOptional
	case metadata.ColumnMakeRequired:
		return policy.ColumnMakesRequired
	}
	return "changes the " + string(kind) + " of"
}

// refFacts follows every move of every ref, intermediate ones too.
func refFacts(change *policy.Change, p *plan, c metadata.Changes) {
	added := map[int64]bool{}
	for _, snap := range c.AddedSnapshots {
		added[snap.ID] = true
	}
	for _, r := range c.RefChanges {
		if r.After == nil {
			change.RemovedRefs = append(change.RemovedRefs, r.Name)
			continue
		}
		move := policy.RefMove{Ref: r.Name, Forward: true}
		if r.Before != nil {
			move.Tag = r.Before.Type == "tag" || r.After.Type == "tag"
			move.Forward = descends(p, r.Before.SnapshotID, r.After.SnapshotID)
			move.ShortensRetention = shortens(*r.Before, *r.After)
			if move.Forward && !move.Tag {
				move.Gains = gained(p, added, r.Before.SnapshotID, r.After.SnapshotID)
			}
		}
		change.RefMoves = append(change.RefMoves, move)
	}
}

// descends tells whether after is before or comes from it, in the new document or the old one.
func descends(p *plan, before, after int64) bool {
	return p.next.IsAncestor(before, after) || p.base != nil && p.base.IsAncestor(before, after)
}

// gained walks from the new head back to the old one and gives the snapshots on the way that this commit did not add.
func gained(p *plan, added map[int64]bool, before, after int64) []int64 {
	var ids []int64
	for id := after; id != before; {
		snap, ok := p.next.Snapshot(id)
		if !ok {
			break
		}
		if !added[id] {
			ids = append(ids, id)
		}
		if snap.ParentID == nil {
			break
		}
		id = *snap.ParentID
	}
	return ids
}

func shortens(before, after metadata.Ref) bool {
	return lower(before.MaxRefAgeMs, after.MaxRefAgeMs) || lower(before.MaxSnapshotAgeMs, after.MaxSnapshotAgeMs) ||
		lower(before.MinSnapshotsToKeep, after.MinSnapshotsToKeep)
}

// lower tells whether a limit appears where there was none, or gets smaller.
func lower[T int | int64](before, after *T) bool {
	return after != nil && (before == nil || *after < *before)
}

// outsideStatistics gives the first statistics file that a commit adds outside the table.
func (s *Service) outsideStatistics(location string, updates []metadata.Update) string {
	for _, u := range updates {
		if u.Action != "set-statistics" && u.Action != "set-partition-statistics" {
			continue
		}
		var body struct {
			Statistics struct {
				Path string `json:"statistics-path"`
			} `json:"statistics"`
			PartitionStatistics struct {
				Path string `json:"statistics-path"`
			} `json:"partition-statistics"`
		}
		if json.Unmarshal(u.Raw, &body) != nil {
			continue // decoding the update has refused it already
		}
		for _, path := range [...]string{body.Statistics.Path, body.PartitionStatistics.Path} {
			if path != "" && !s.locations.Within(location, path) {
				return path
			}
		}
	}
	return ""
}

package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// facts says what a commit truly does, for the policy to judge: every added snapshot is read, every ref move followed. The
// kind is what the first judgement said; where it was not asked, nobody's rows are kept from the commit.
func (s *Service) facts(ctx context.Context, p *plan, in CommitInput, c metadata.Changes, kind models.CommitKind) (policy.Change, error) {
	change := policy.Change{
		CreatesTable: p.creates, ReplacesTable: c.ReplacedTable,
		RemovedSnapshots: len(c.RemovedSnapshots),
		Columns:          columnFacts(c.ColumnChanges),
		SpecChanged:      c.AddedSpecs > 0 || len(c.RemovedSpecs) > 0 || c.DefaultSpecChanged,
		SortOrderChanged: c.AddedSortOrders > 0 || c.DefaultSortOrderChanged,
		LocationChanged:  c.LocationChanged, FormatUpgraded: c.FormatVersionChanged,
		SchemasRemoved: len(c.RemovedSchemas) > 0, EncryptionKeys: c.EncryptionKeysChanged,
	}
	if c.StatisticsChanged {
		change.OutsideFile = s.outsideStatistics(p.next, p.base)
	}
	for _, u := range in.Updates {
		change.Actions = append(change.Actions, u.Action)
	}
	s.propertyFacts(&change, p, c)
	refFacts(&change, p, c)
	if err := s.revived(ctx, &change, p, c); err != nil {
		return policy.Change{}, err
	}
	owned, err := s.ownershipOf(ctx, p, kind)
	if err != nil {
		return policy.Change{}, err
	}
	ids := make([]int64, 0, len(c.AddedSnapshots))
	for _, snap := range c.AddedSnapshots {
		ids = append(ids, snap.ID)
	}
	for _, move := range change.RefMoves {
		ids = append(ids, move.Gains...)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		facts, err := s.snapshotFacts(ctx, p, id, s.ownershipFor(p, id, c, owned))
		if err != nil {
			return policy.Change{}, err
		}
		change.Snapshots = append(change.Snapshots, facts)
	}
	return change, nil
}

// snapshotFacts reads one snapshot.
func (s *Service) snapshotFacts(ctx context.Context, p *plan, id int64, ownership *Ownership) (policy.SnapshotFacts, error) {
	snap, ok := p.next.Snapshot(id)
	if !ok {
		return policy.SnapshotFacts{ID: id, NotAppend: "it is not there any more"}, nil
	}
	inspection := Inspection{FormatVersion: p.next.FormatVersion(), Snapshot: snap, Location: p.next.Location(), Ownership: ownership}
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
	wanted := s.stamps.Wanted(p.row)
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

// revived looks where the files lie of snapshots that refs come back to. Tables that were registered have a history
// that nobody has read but for the heads that they came with.
func (s *Service) revived(ctx context.Context, change *policy.Change, p *plan, c metadata.Changes) error {
	if p.base == nil || !p.row.ForeignFiles || s.anyLocation || change.OutsideFile != "" {
		return nil
	}
	refs := p.base.Refs()
	var back []metadata.Snapshot
	for _, r := range c.RefChanges {
		if r.After == nil {
			continue
		}
		snap, ok := p.base.Snapshot(r.After.SnapshotID)
		live := !ok
		for _, ref := range refs {
			live = live || ref.SnapshotID == snap.ID
		}
		if !live {
			back = append(back, snap)
		}
	}
	if len(back) == 0 {
		return nil
	}
	var err error
	change.OutsideFile, err = s.inspector.OutsideFile(ctx, p.next.Location(), back)
	return err
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

// outsideStatistics gives the first statistics file outside the table that a document has and base, if any, has not. It
// reads what the document holds, not what a client sent: nothing can mean another file to it than to engines.
func (s *Service) outsideStatistics(doc, base *metadata.Document) string {
	before := map[string]bool{}
	if base != nil {
		for _, path := range statisticsFiles(base) {
			before[path] = true
		}
	}
	for _, path := range statisticsFiles(doc) {
		if !before[path] && !s.locations.Within(doc.Location(), path) {
			return path
		}
	}
	return ""
}

// statisticsFiles gives the paths of a table's statistics files. Keys are compared exactly, as engines do: decoding into
// a struct would take STATISTICS-PATH for the path as well.
func statisticsFiles(doc *metadata.Document) []string {
	var paths []string
	for _, section := range [...]string{"statistics", "partition-statistics"} {
		raw, _ := doc.Section(section)
		var files []map[string]json.RawMessage
		if json.Unmarshal(raw, &files) != nil {
			continue // absent: what is there was checked by the parser
		}
		for _, file := range files {
			var path string
			if json.Unmarshal(file["statistics-path"], &path) == nil {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

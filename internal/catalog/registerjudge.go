package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// mostRefs bounds how many branches and tags of a table that is registered may have data of their own to be read.
const mostRefs = 1000

// Bounds on the counters that a registered table begins with: far beyond any table, and far from where they end. A table
// that begins at the end of one takes no commit any more.
const (
	mostSequence  = 1 << 48
	mostRowIDs    = 1 << 56
	mostColumnIDs = 1 << 30
	clocksApart   = 10 * time.Minute
)

// checkClaims refuses a file whose uuid is none or whose counters would brick the table.
func (s *Service) checkClaims(doc *metadata.Document) error {
	if err := checkUUID(doc.UUID()); err != nil {
		return err
	}
	var columns int64
	if raw, ok := doc.Section("last-column-id"); ok {
		if err := json.Unmarshal(raw, &columns); err != nil {
			columns = mostColumnIDs + 1
		}
	}
	rows, _ := doc.NextRowID()
	latest := s.now().Add(clocksApart).UnixMilli()
	if doc.LastSequenceNumber() > mostSequence || rows > mostRowIDs || columns > mostColumnIDs || doc.LastUpdatedMs() > latest {
		return fault.New(fault.Invalid, "The metadata's last-updated-ms, last-sequence-number, next-row-id or last-column-id is beyond what a table can have: no commit could follow it.")
	}
	return nil
}

// judgeOver judges registering over a table: whatever the file holds, it takes the place of what is there, with other
// snapshots, columns and properties, which is a replacement.
func (s *Service) judgeOver(ctx context.Context, caller policy.Caller, at tablePlace, row models.Table, doc *metadata.Document) error {
	attempt := s.attempt(caller, at, row, CommitInput{})
	attempt.Change = policy.Change{ReplacesTable: true}
	if len(row.Columns.V)+len(row.IdentityColumns.V)+len(row.RowFilters.V) > 0 {
		current, err := s.documents.get(ctx, row.MetadataLocation)
		if err != nil {
			return err
		}
		if attempt.Change.Columns, err = columnsBetween(current, doc); err != nil {
			return err
		}
	}
	_, err := s.decide(ctx, caller, &plan{at: at, row: row, next: doc}, attempt)
	return err
}

func columnsBetween(before, after *metadata.Document) ([]policy.ColumnChange, error) {
	was, err := before.CurrentSchema()
	if err != nil {
		return nil, err
	}
	is, err := after.CurrentSchema()
	if err != nil {
		return nil, err
	}
	return columnFacts(metadata.DiffSchemas(was, is)), nil
}

// judgeRegistered judges what comes with a metadata file as the commit is judged that creates a table with data: by its
// policy and privileges, and by where its files lie. asLeft: it is the very file that Sluice left, and what it
// has was judged when it came. Nothing is read for who may not bring the data anyway.
func (s *Service) judgeRegistered(ctx context.Context, caller policy.Caller, at tablePlace, row models.Table, doc *metadata.Document, asLeft bool) error {
	if err := s.checkPathProperties(doc.Location(), doc.Properties()); err != nil {
		return err
	}
	row.UUID = canonicalUUID(doc.UUID())
	attempt := s.attempt(caller, at, row, CommitInput{})
	attempt.Change = policy.Change{CreatesTable: true, Registers: true, PropertiesSet: s.foreignStamps(doc)}
	var fresh []metadata.Snapshot
	if !asLeft {
		fresh = heads(doc)
	}
	if len(fresh) > mostRefs {
		return fault.New(fault.TooLarge, "The table has %d branches and tags with data of their own; at most %d can be checked. Remove some before it is registered.", len(fresh), mostRefs)
	}
	for _, snap := range fresh {
		// A table that begins with this takes nothing from anybody: there is nothing that it could overwrite.
		attempt.Change.Snapshots = append(attempt.Change.Snapshots, policy.SnapshotFacts{ID: snap.ID, Operation: "append", Append: true, FirstOfCreate: true})
	}
	p := &plan{at: at, row: row, next: doc, creates: true}
	if _, err := s.decide(ctx, caller, p, attempt); err != nil || asLeft || s.anyLocation && row.WritePolicy == models.OpenFull {
		return err
	}
	outside := s.outsideHistory(doc)
	if outside == "" && len(fresh) > 0 {
		var err error
		if outside, err = s.inspector.OutsideFile(ctx, doc.Location(), fresh); err != nil {
			return err
		}
	}
	if attempt.Change.OutsideFile = outside; outside == "" {
		return nil
	}
	_, err := s.decide(ctx, caller, p, attempt)
	return err
}

// foreignStamps gives the reserved properties that Sluice never stamps. Its own come with a table that Sluice had: their
// values are made right by the next restamp.
func (s *Service) foreignStamps(doc *metadata.Document) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(doc.Properties())) {
		if s.stamps.Reserved(key) && !s.stamps.Stamped(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// heads gives the snapshots that refs point to, each once.
func heads(doc *metadata.Document) []metadata.Snapshot {
	refs := doc.Refs()
	ids := make([]int64, 0, len(refs)+1)
	for _, ref := range refs {
		ids = append(ids, ref.SnapshotID)
	}
	if head, ok := doc.CurrentSnapshotID(); ok {
		ids = append(ids, head)
	}
	slices.Sort(ids)
	var found []metadata.Snapshot
	for _, id := range slices.Compact(ids) {
		if snap, ok := doc.Snapshot(id); ok {
			found = append(found, snap)
		}
	}
	return found
}

// outsideHistory gives the first manifest list or statistics file of a whole document that lies outside the table. Files
// that older snapshots list are not read: no ref reaches them until it is moved there, and then they are.
func (s *Service) outsideHistory(doc *metadata.Document) string {
	for _, id := range doc.SnapshotIDs() {
		snap, _ := doc.Snapshot(id)
		for _, path := range append([]string{snap.ManifestList}, snap.Manifests...) {
			if path != "" && !s.locations.Within(doc.Location(), path) {
				return path
			}
		}
	}
	return s.outsideStatistics(doc, nil)
}

// clientFile makes the damage of a file that a client chose to register the client's error.
func clientFile(err error, location string) error {
	if cause := errors.Unwrap(err); fault.Is(cause, fault.Invalid) {
		return fault.Wrap(cause, fault.Invalid, "The metadata file %s cannot be registered: %s", location, fault.PublicMessage(cause))
	}
	return err
}

package catalog

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
)

// Bounds of a look at a table's files.
const (
	mostChecked   = 10_000 // snapshots, the newest
	mostSearched  = 1_000  // of main's, whose manifests are looked at
	looksAtOnce   = 16
	mostManifests = 1_000 // missing ones that are named of a snapshot
)

// Standing says whether a file is there.
type Standing string

// The standings.
const (
	FileThere   Standing = "there"
	FileMissing Standing = "missing"
	FileUnknown Standing = "unknown" // the store did not answer, or the file cannot be read
)

// TableCheckup is what a look at the files that a table's snapshots stand on showed.
type TableCheckup struct {
	Ref              string // catalog.namespace.table
	UUID             string
	MetadataLocation string
	Metadata         Standing        // of the metadata file; of what cannot be read nothing else is known
	Snapshots        []SnapshotCheck // newest first
	// LastGood is the newest snapshot of main, its head before all others, whose manifest list and manifests are all there;
	// nil when there is none.
	LastGood *int64
}

// SnapshotCheck is what was seen of one snapshot.
type SnapshotCheck struct {
	ID           int64
	At           time.Time
	OnMain       bool     // it is main's head or an ancestor of it
	ManifestList string   // "" of an old snapshot that lists its manifests itself
	List         Standing // of the manifest list
	// Missing is manifests of it that are not there. They are looked at from main's head on back, until a snapshot has all.
	Missing []string
}

// CheckTable looks whether the files are there that a table's snapshots stand on, and finds the snapshot to roll back to when
// they are not. It only reads. Data files are looked at by the schedule.
func (s *Service) CheckTable(ctx context.Context, caller policy.Caller, ref string) (TableCheckup, error) {
	at, row, err := s.byRef(ctx, caller, policy.CheckTable, ref)
	if err != nil {
		return TableCheckup{}, err
	}
	if err := caller.Require(policy.CheckTable, policy.Object, at.tablePath(row.ID), "table "+at.ref(row.Name)); err != nil {
		return TableCheckup{}, err
	}
	row, doc, err := s.present(ctx, row)
	out := TableCheckup{Ref: at.ref(row.Name), UUID: row.UUID, MetadataLocation: row.MetadataLocation, Metadata: FileThere}
	switch {
	case fault.Is(err, fault.NotFound) && subjectOf(err) == fault.File:
		out.Metadata = FileMissing
		return out, nil
	case fault.Is(err, fault.Invalid):
		out.Metadata = FileUnknown
		return out, nil
	case err != nil:
		return TableCheckup{}, err
	}
	c := checkup{inspector: s.inspector, files: s.presence.files, doc: doc, seen: map[string]Standing{}}
	c.lists(ctx, &out)
	c.search(ctx, &out)
	return out, ctx.Err()
}

// checkup looks at the files of one table.
type checkup struct {
	inspector Inspector
	files     Existence // nil: nothing is known
	doc       *metadata.Document
	seen      map[string]Standing // by location
}

// lists looks at the manifest lists of the newest snapshots.
func (c *checkup) lists(ctx context.Context, out *TableCheckup) {
	var snapshots []metadata.Snapshot
	for _, id := range c.doc.SnapshotIDs() {
		if snap, ok := c.doc.Snapshot(id); ok {
			snapshots = append(snapshots, snap)
		}
	}
	slices.SortStableFunc(snapshots, func(a, b metadata.Snapshot) int { return int(max(min(b.TimestampMs-a.TimestampMs, 1), -1)) })
	snapshots = snapshots[:min(len(snapshots), mostChecked)]
	paths := make([]string, len(snapshots))
	for i, snap := range snapshots {
		paths[i] = snap.ManifestList
	}
	c.look(ctx, paths)
	onMain := map[int64]bool{}
	for _, id := range c.line() {
		onMain[id] = true
	}
	for _, snap := range snapshots {
		out.Snapshots = append(out.Snapshots, SnapshotCheck{
			ID: snap.ID, At: time.UnixMilli(snap.TimestampMs).UTC(), OnMain: onMain[snap.ID],
			ManifestList: snap.ManifestList, List: c.seen[snap.ManifestList],
		})
	}
}

// line gives main's snapshots, its head first.
func (c *checkup) line() []int64 {
	var ids []int64
	for id, ok := c.doc.CurrentSnapshotID(); ok && len(ids) < c.doc.SnapshotCount(); {
		snap, there := c.doc.Snapshot(id)
		if !there {
			break
		}
		ids = append(ids, id)
		if snap.ParentID == nil {
			break
		}
		id = *snap.ParentID
	}
	return ids
}

// search goes back from main's head to the first snapshot that has all of its files.
func (c *checkup) search(ctx context.Context, out *TableCheckup) {
	for n, id := range c.line() {
		if n == mostSearched || ctx.Err() != nil {
			return
		}
		snap, _ := c.doc.Snapshot(id)
		i := slices.IndexFunc(out.Snapshots, func(s SnapshotCheck) bool { return s.ID == id })
		if i < 0 || out.Snapshots[i].List != FileThere {
			continue
		}
		manifests, err := c.inspector.Manifests(ctx, snap)
		if err != nil {
			out.Snapshots[i].List = FileUnknown
			continue
		}
		c.look(ctx, manifests)
		good := true
		for _, path := range manifests {
			good = good && c.seen[path] == FileThere
			if c.seen[path] == FileMissing && len(out.Snapshots[i].Missing) < mostManifests {
				out.Snapshots[i].Missing = append(out.Snapshots[i].Missing, path)
			}
		}
		if good {
			out.LastGood = &id
			return
		}
	}
}

// look asks for those of the files that were not asked for before, several at a time.
func (c *checkup) look(ctx context.Context, paths []string) {
	var mu sync.Mutex
	var work sync.WaitGroup
	places := make(chan struct{}, looksAtOnce)
	for _, path := range paths {
		mu.Lock()
		_, known := c.seen[path]
		if !known {
			c.seen[path] = FileUnknown
		}
		mu.Unlock()
		if known || c.files == nil || path == "" {
			continue
		}
		places <- struct{}{}
		work.Go(func() {
			defer func() { <-places }()
			there, err := c.files.Exists(ctx, path)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && there:
				c.seen[path] = FileThere
			case err == nil:
				c.seen[path] = FileMissing
			}
		})
	}
	work.Wait()
	c.seen[""] = FileThere // a snapshot that lists its manifests itself has its list in the metadata
}

package activities

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

const (
	// newestLists is how many manifest lists of a table that changed are looked at, beside those of the heads; all of
	// them are when its last full check is old.
	newestLists = 20
	// listsPerSecond bounds how often the stores are asked.
	listsPerSecond = 1000
	// mostLists is how many manifest lists are looked at together.
	mostLists = 10_000
	// mostMissing is how many missing ones of a table are told of at once, the newest.
	mostMissing = 1000
)

// manifestLists finds snapshots whose manifest list is gone, so that nobody can read them.
func (c *tableCheck) manifestLists(ctx context.Context, doc *metadata.Document) error {
	l := &lists{check: c, doc: doc, seen: map[int64]maintenance.Sighting{}}
	l.lastGood = sync.OnceValues(func() (*int64, error) { return l.searchGood(ctx) })
	ids := doc.SnapshotIDs()
	if !c.full() {
		ids = l.newest(ids)
	}
	if err := l.look(ctx, ids); err != nil {
		return err
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !l.seen[id].Gone })
	c.again = c.again || len(gone) > 0
	for _, id := range gone[max(0, len(gone)-mostMissing):] {
		if err := l.missing(ctx, id); err != nil {
			return err
		}
	}
	return l.resolve(ctx)
}

// lists is the manifest lists of a table as they are found.
type lists struct {
	check *tableCheck
	doc   *metadata.Document
	seen  map[int64]maintenance.Sighting // by snapshot

	// lastGood searches once: of a table whose folder is gone each snapshot asks.
	lastGood func() (*int64, error)
}

// newest gives the snapshots to look at of a table that changed: the heads and the last ones.
func (l *lists) newest(ids []int64) []int64 {
	out := slices.Clone(ids[max(0, len(ids)-newestLists):])
	if head, ok := l.doc.CurrentSnapshotID(); ok {
		out = append(out, head)
	}
	for _, ref := range l.doc.Refs() {
		out = append(out, ref.SnapshotID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// look looks at the lists of snapshots that were not looked at yet. What the store does not say is neither there nor gone.
func (l *lists) look(ctx context.Context, ids []int64) error {
	var asked []int64
	var paths []string
	for _, id := range ids {
		snap, ok := l.doc.Snapshot(id)
		if _, again := l.seen[id]; ok && !again && snap.ManifestList != "" {
			asked, paths = append(asked, id), append(paths, snap.ManifestList)
		}
	}
	for len(asked) > 0 {
		n := min(len(asked), mostLists)
		sightings, err := l.check.acts.ports.Watcher.Look(ctx, paths[:n], listsPerSecond)
		if err != nil {
			return err
		}
		for i, s := range sightings {
			l.seen[asked[i]] = s
		}
		asked, paths = asked[n:], paths[n:]
	}
	return nil
}

// missing makes the finding about a snapshot whose manifest list is gone. It takes the place of what a recount found of the
// same snapshot.
func (l *lists) missing(ctx context.Context, id int64) error {
	snap, _ := l.doc.Snapshot(id)
	f := l.check.about(models.FindingMissingFile, snap.ManifestList)
	f.SnapshotID = &id
	var err error
	if f.Principal, err = l.check.acts.committer(ctx, Target{TableID: l.check.t.Table.ID, SnapshotID: id}); err != nil {
		return err
	}
	f.Evidence.V = map[string]any{"file": snap.ManifestList, "snapshot": strconv.FormatInt(id, 10), "manifestList": true}
	good, err := l.lastGood()
	if err != nil {
		return err
	}
	head, _ := l.doc.CurrentSnapshotID()
	remedy := "Bring the file back from a backup or a version that the store keeps. "
	switch {
	case good == nil:
		remedy += "No snapshot of main has its manifest list: nothing can be rolled back to."
	case id == head:
		remedy += "Until then nobody can read the table: roll main back to the last good snapshot."
	default:
		remedy += "Until then nobody can read this snapshot: expire it if it is not needed."
	}
	if good != nil {
		f.Evidence.V["lastGoodSnapshot"] = strconv.FormatInt(*good, 10)
	}
	f.Evidence.V["remedy"] = remedy
	l.check.find(f)
	for _, open := range l.check.open {
		if open.Kind == f.Kind && open.SnapshotID != nil && *open.SnapshotID == id && open.Subject == snapshotSubject(id) {
			l.check.resolve(open, "It is the manifest list that is missing: there is a finding about that.")
		}
	}
	return nil
}

// searchGood gives the newest ancestor of main's head, or that itself, whose manifest list is there, nil for none.
func (l *lists) searchGood(ctx context.Context) (*int64, error) {
	id, ok := l.doc.CurrentSnapshotID()
	for steps := 0; ok && steps <= l.doc.SnapshotCount(); steps++ {
		snap, there := l.doc.Snapshot(id)
		if !there {
			return nil, nil
		}
		if err := l.look(ctx, []int64{id}); err != nil {
			return nil, err
		}
		if s := l.seen[id]; s.Found || snap.ManifestList == "" {
			return &id, nil
		}
		if ok = snap.ParentID != nil; ok {
			id = *snap.ParentID
		}
	}
	return nil, nil
}

// resolve closes findings about manifest lists that are there again, or whose snapshot is gone.
func (l *lists) resolve(ctx context.Context) error {
	for _, f := range l.check.open {
		if f.Kind != models.FindingMissingFile || f.SnapshotID == nil {
			continue
		}
		snap, there := l.doc.Snapshot(*f.SnapshotID)
		switch {
		case !there && (isList(f) || f.Subject == snapshotSubject(*f.SnapshotID)):
			l.check.resolve(f, "Its snapshot is gone.")
		case there && isList(f):
			if err := l.look(ctx, []int64{snap.ID}); err != nil {
				return err
			}
			if l.seen[snap.ID].Found {
				l.check.resolve(f, "The file is there again.")
			}
		}
	}
	return nil
}

// isList tells whether a finding is about a manifest list.
func isList(f models.Finding) bool {
	list, _ := f.Evidence.V["manifestList"].(bool)
	return list
}

package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
)

// ownership gives the first file of the platform that a snapshot takes from what readers had before it, or from which it
// deletes rows; "" if there is none. A file is the platform's when the snapshot that added it is; one that is kept under
// another snapshot, sequence number or description counts as taken, for it could be taken for somebody else's next time, or be
// read in part. An append of what readers had is not looked at.
func (i *Inspector) ownership(ctx context.Context, in catalog.Inspection, facts policy.SnapshotFacts, now []manifest) (string, error) {
	own := in.Ownership
	if own == nil || facts.OutsideFile != "" && !own.AnyLocation {
		return "", nil // what lies outside is refused for that, unread
	}
	if facts.Append && in.Parent != nil && in.Parent.ID == own.Before.ID {
		return "", nil
	}
	before, err := i.manifestsBefore(ctx, own)
	if err != nil {
		return "", err
	}
	step := compareLists(before, now)
	leave, err := i.enter(ctx, in, step)
	if err != nil {
		return "", err
	}
	defer leave()
	o := newOwning(i, in)
	gone := slices.Concat(step.dropped, step.altered)
	if err := o.readFresh(ctx, step.fresh); err != nil {
		return "", err
	}
	if err := o.readGone(ctx, gone); err != nil {
		return "", err
	}
	if err := o.readDeletes(ctx, step.fresh); err != nil {
		return "", err
	}
	if err := o.readReached(ctx, before); err != nil {
		return "", err
	}
	if first, err := o.firstOwned(ctx); err != nil || first != "" {
		return first, err
	}
	return o.undeleted(ctx, before, gone)
}

// manifestsBefore gives what readers had. A list that cannot be read had nothing for them, and its repair must stay possible.
func (i *Inspector) manifestsBefore(ctx context.Context, own *catalog.Ownership) ([]manifest, error) {
	list := own.Before.ManifestList
	if cached, ok := i.lists.Get(list); ok && list != "" {
		return cached, nil
	}
	before, size, err := i.source.manifestsOf(ctx, own.Before)
	if fault.Is(err, fault.Invalid) {
		return nil, nil
	}
	if err == nil && list != "" {
		i.lists.Put(list, before, int64(size+len(list)))
	}
	return before, err
}

// owning is the search for files of the platform in one snapshot.
type owning struct {
	i     *Inspector
	in    catalog.Inspection
	free  source // for what is committed already, or paid for: not on the account of this commit
	mu    sync.Mutex
	kept  map[fileKey]keptFile // what the new manifests say to have of before
	hurt  map[int64]string     // by the snapshot that added it, a file that rows are taken from
	lost  map[fileKey]int64    // delete files that are left out, with the snapshots that added them
	reach *reach               // of the new deletes
}

// keptFile is an entry of before in a new manifest; same tells whether it was there like that.
type keptFile struct {
	file liveFile
	same bool
}

func newOwning(i *Inspector, in catalog.Inspection) *owning {
	o := &owning{i: i, in: in, free: i.source, kept: make(map[fileKey]keptFile), hurt: make(map[int64]string), lost: make(map[fileKey]int64)}
	o.free.meter, o.reach = nil, newReach(newLayout(in.Ownership.Document, nil))
	return o
}

// note remembers a file that rows are taken from. The least path of each snapshot is kept, so that the answer is the same
// in whatever order manifests are read.
func (o *owning) note(snapshot int64, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, ok := o.hurt[snapshot]; !ok || path < known {
		o.hurt[snapshot] = path
	}
}

// each reads manifests, several at a time. One that was there before and that nobody can read had nothing for readers.
func (o *owning) each(ctx context.Context, manifests []manifest, old bool, read func(context.Context, *manifest) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(o.i.limits.readers)
	for n := range manifests {
		work.Go(func() error {
			err := read(ctx, &manifests[n])
			if old && fault.Is(err, fault.Invalid) {
				return nil
			}
			return err
		})
	}
	return work.Wait()
}

// readFresh collects what the new manifests keep of before.
func (o *owning) readFresh(ctx context.Context, fresh []manifest) error {
	return o.each(ctx, fresh, false, func(ctx context.Context, m *manifest) error {
		return o.i.source.eachWholeEntry(ctx, m, true, func(e iceberg.ManifestEntry) error {
			if e.Status() != iceberg.EntryStatusEXISTING {
				return nil
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.kept[keyOf(e.DataFile())] = (keptFile{file: liveFileOf(e, m, o.i.seed)}); len(o.kept) > maxKept {
				return fault.New(fault.TooLarge, "Snapshot %d carries over more than %d files of its parent; no more can be checked. "+
					"Set the writer's commit.manifest-merge.enabled to false.", o.in.Snapshot.ID, maxKept)
			}
			return nil
		})
	})
}

// readGone holds the live files of manifests that are left out, or that are described otherwise, against what is kept.
func (o *owning) readGone(ctx context.Context, gone []manifest) error {
	return o.each(ctx, gone, true, func(ctx context.Context, m *manifest) error {
		return o.free.eachWholeEntry(ctx, m, true, func(e iceberg.ManifestEntry) error {
			if e.Status() == iceberg.EntryStatusDELETED {
				return nil
			}
			file := liveFileOf(e, m, o.i.seed)
			switch {
			case o.keeps(keyOf(e.DataFile()), file):
			case m.content == dataContent:
				o.note(file.snapshot, e.DataFile().FilePath())
			default:
				return o.lose(keyOf(e.DataFile()), file)
			}
			return nil
		})
	})
}

// keeps tells whether a file of before is kept as it was.
func (o *owning) keeps(key fileKey, was liveFile) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, ok := o.kept[key]
	if !ok || was.sameAs(now.file) != "" {
		return false
	}
	now.same = true
	o.kept[key] = now
	return true
}

// lose remembers a delete file that is left out.
func (o *owning) lose(key fileKey, file liveFile) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost[key] = file.snapshot; len(o.lost) > maxKept {
		return fault.New(fault.TooLarge, "Snapshot %d leaves out more than %d delete files; no more can be checked. Commit the work in smaller steps.",
			o.in.Snapshot.ID, maxKept)
	}
	return nil
}

// readDeletes collects what the deletes reach that the snapshot adds, or says to be of before when they are not.
func (o *owning) readDeletes(ctx context.Context, fresh []manifest) error {
	return o.each(ctx, deletesOf(fresh), false, func(ctx context.Context, m *manifest) error {
		return o.free.eachWanted(ctx, m, wantedOfDeletes(), func(e entry) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			old := o.kept[keyOfEntry(e)].same
			if e.status == iceberg.EntryStatusDELETED || e.status == iceberg.EntryStatusEXISTING && old {
				return nil
			}
			if o.reach.add(m, e); o.reach.size > maxKept {
				return fault.New(fault.TooLarge, "Snapshot %d adds more than %d delete files; no more can be checked. Commit the work in smaller steps.",
					o.in.Snapshot.ID, maxKept)
			}
			return nil
		})
	})
}

// readReached finds the files of before that deletes reach, in manifests that may have one of the platform's.
func (o *owning) readReached(ctx context.Context, before []manifest) error {
	if o.reach.size == 0 {
		return nil
	}
	mine, err := o.ownedManifests(ctx, before)
	if err != nil {
		return err
	}
	return o.each(ctx, mine, true, func(ctx context.Context, m *manifest) error {
		return o.free.eachWanted(ctx, m, &wanted{partition: true}, func(e entry) error {
			if e.status != iceberg.EntryStatusDELETED && o.reach.has(m, e) {
				o.note(e.snapshot, e.path)
			}
			return nil
		})
	})
}

// ownedManifests leaves out manifests in which all files are of a snapshot that is not the platform's.
func (o *owning) ownedManifests(ctx context.Context, before []manifest) ([]manifest, error) {
	ids := make([]int64, len(before))
	for n := range before {
		ids[n] = before[n].snapshot
	}
	owned, err := o.owned(ctx, distinct(ids))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ofContent(before, dataContent), func(m manifest) bool {
		return !m.bare && m.snapshot != unknown && m.files[1] == 0 && !owned[m.snapshot]
	}), nil
}

// deletesOf gives the manifests of delete files, whatever their list says of what is in them.
func deletesOf(fresh []manifest) []manifest {
	return slices.DeleteFunc(slices.Clone(fresh), func(m manifest) bool { return m.content != deletesContent })
}

// ofContent gives the manifests of data files or of delete files in which something may be live.
func ofContent(all []manifest, content int64) []manifest {
	return slices.DeleteFunc(slices.Clone(all), func(m manifest) bool { return m.content != content || !m.mayLive() })
}

// wantedOfDeletes is what tells which data files a delete file reaches.
func wantedOfDeletes() *wanted {
	return &wanted{partition: true, whole: true, columns: map[int]bool{pathColumnID: true}}
}

// keyOfEntry is keyOf of an entry with its details; of a data file, without as well.
func keyOfEntry(e entry) fileKey {
	key := fileKey{path: e.path}
	if e.details != nil {
		key.offset = max(e.details.offset, 0)
	}
	return key
}

func distinct(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (o *owning) owned(ctx context.Context, ids []int64) (map[int64]bool, error) {
	found, err := o.in.Ownership.Owned(ctx, ids)
	out := make(map[int64]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out, err
}

// firstOwned gives the first file of the platform among those that were noted.
func (o *owning) firstOwned(ctx context.Context) (string, error) {
	if len(o.hurt) == 0 {
		return "", nil
	}
	owned, err := o.owned(ctx, slices.Collect(maps.Keys(o.hurt)))
	if err != nil {
		return "", err
	}
	first := ""
	for id := range owned {
		if path := o.hurt[id]; first == "" || path < first {
			first = path
		}
	}
	return first, nil
}

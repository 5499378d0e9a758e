package reconcile

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
)

// contents is what a new manifest holds.
type contents struct {
	added, existing, deleted int64
	firstDeleted             string // path of the first deleted entry
	sequenceOf               string // path of the first added file with a sequence number of another commit
	lowest                   int64  // data sequence number of live entries, -1 if there are none
	addedRows, existingRows  int64
	foreign                  string               // path of the first added file that is said to be of another snapshot
	absurd                   string               // path of the first file that claims more rows than files have
	kept                     map[fileKey]liveFile // entries that are live and were before: existing ones
	strays                   []string             // paths outside the location that are said to be of before
	twice                    string               // path of the first file that is live twice
	bounds                   string               // why the bounds in the list do not cover the entries
}

// readFresh reads the new manifests, several at a time. outside is the first file that is not in the table's location:
// a manifest, or a file that a manifest adds. Manifests are not opened once one was found. What they keep of before is
// remembered when there is something to hold it against.
func (i *Inspector) readFresh(
	ctx context.Context, in catalog.Inspection, step listStep,
) (found []contents, outside string, err error) {
	fresh, keep := step.fresh, len(step.dropped) > 0
	var kept atomic.Int64
	for n := range fresh {
		if path := fresh[n].path; !i.within(in.Location, path) {
			return nil, path, nil
		}
	}
	found = make([]contents, len(fresh))
	var first atomic.Pointer[string]
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(i.limits.readers)
	for n := range fresh {
		work.Go(func() error {
			if first.Load() != nil {
				return nil
			}
			c, out, err := i.readContents(ctx, in, &fresh[n], keep)
			if err == nil && kept.Add(int64(len(c.kept))) > maxKept {
				err = fault.New(fault.TooLarge, "Snapshot %d carries over more than %d files of its parent; no more can be checked. "+
					"Set the writer's commit.manifest-merge.enabled to false.", in.Snapshot.ID, maxKept)
			}
			if out != "" {
				first.CompareAndSwap(nil, &out)
			}
			found[n] = c
			return err
		})
	}
	err = work.Wait()
	if out := first.Load(); out != nil {
		return found, *out, nil
	}
	return found, "", err
}

// readContents reads one new manifest, a second time with metrics when it keeps files of before: they must be the same.
func (i *Inspector) readContents(
	ctx context.Context, in catalog.Inspection, m *manifest, keep bool,
) (c contents, outside string, err error) {
	c = contents{lowest: -1}
	err = i.source.open(ctx, m, func(raw []byte) error {
		size, err := i.source.scan(raw, m, func(e entry) error {
			if e.status != iceberg.EntryStatusDELETED && !i.within(in.Location, e.path) {
				if e.status == iceberg.EntryStatusEXISTING && keep && len(c.strays) < maxKept {
					c.strays = append(c.strays, e.path)
				} else if outside == "" {
					outside = e.path
				}
			}
			c.count(e, in)
			return nil
		})
		if err == nil && c.existing > 0 && keep {
			err = i.readKept(ctx, raw, m, size, &c)
		}
		return err
	})
	return c, outside, err
}

func (c *contents) count(e entry, in catalog.Inspection) {
	switch e.status {
	case iceberg.EntryStatusDELETED:
		if c.deleted++; c.firstDeleted == "" {
			c.firstDeleted = e.path
		}
		return
	case iceberg.EntryStatusADDED:
		c.added++
		c.addedRows = addRows(c.addedRows, e.records)
		if e.snapshot != in.Snapshot.ID && e.snapshot != unknown && c.foreign == "" {
			c.foreign = e.path
		}
		if in.FormatVersion > 1 && e.sequence != in.Snapshot.SequenceNumber && c.sequenceOf == "" {
			c.sequenceOf = e.path
		}
	case iceberg.EntryStatusEXISTING:
		c.existing++
		c.existingRows = addRows(c.existingRows, e.records)
	}
	if e.records > maxFileRows && c.absurd == "" {
		c.absurd = e.path
	}
	if c.lowest < 0 || e.sequence < c.lowest {
		c.lowest = e.sequence
	}
}

func (i *Inspector) readKept(ctx context.Context, raw []byte, m *manifest, size extent, c *contents) error {
	c.kept = make(map[fileKey]liveFile)
	ranges, err := newRanges(raw, m)
	if err != nil {
		return err
	}
	return i.source.decode(ctx, raw, m, size, true, func(e iceberg.ManifestEntry) error {
		if e.Status() == iceberg.EntryStatusDELETED {
			return nil
		}
		if c.bounds == "" {
			c.bounds = ranges.excludes(e.DataFile())
		}
		if e.Status() == iceberg.EntryStatusADDED {
			return nil
		}
		key := keyOf(e.DataFile())
		if _, ok := c.kept[key]; ok && c.twice == "" {
			c.twice = key.path
		}
		if len(c.kept) > maxKept {
			return nil // counted, and refused by who asked
		}
		c.kept[key] = liveFileOf(e, m, i.seed)
		return nil
	})
}

// wrong gives why a manifest of these contents can be of no append, "" if it can.
func (c *contents) wrong(m *manifest, in catalog.Inspection) string {
	switch {
	case m.content == deletesContent && (c.added > 0 || c.existing == 0):
		return fmt.Sprintf("it adds the delete manifest %s", m.path)
	case c.deleted > 0:
		return fmt.Sprintf("it removes the live file %s of its parent", c.firstDeleted)
	case m.files[2] > 0:
		return fmt.Sprintf("its manifest list says that %s removes %d files", m.path, m.files[2])
	case c.absurd != "":
		return fmt.Sprintf("it says that the file %s has more rows than a file can have", c.absurd)
	}
	if why := c.misattributed(m, in); why != "" {
		return why
	}
	if c.existing == 0 {
		return ""
	}
	return c.misdescribed(m)
}

// misattributed gives what is said to be of another commit than the one that adds it, "" if nothing is.
func (c *contents) misattributed(m *manifest, in catalog.Inspection) string {
	other := !m.bare && m.snapshot != unknown && m.snapshot != in.Snapshot.ID
	v2 := in.FormatVersion > 1
	switch {
	case c.foreign != "":
		return fmt.Sprintf("it adds the file %s under a snapshot id that is not its own", c.foreign)
	case c.added > 0 && other:
		return fmt.Sprintf("it adds the manifest %s under a snapshot id that is not its own", m.path)
	case c.sequenceOf != "":
		return fmt.Sprintf("it adds the file %s under a sequence number that is not its own", c.sequenceOf)
	case v2 && m.sequence != in.Snapshot.SequenceNumber:
		return fmt.Sprintf("it adds the manifest %s under a sequence number that is not its own", m.path)
	case v2 && c.lowest >= 0 && m.low > c.lowest:
		return fmt.Sprintf("its manifest list claims too high a sequence number for %s", m.path)
	}
	return ""
}

// misdescribed gives what the list says wrongly of a manifest that keeps files of before, "" if nothing: readers would
// skip or misjudge these. Of a manifest with new files alone the writer may say what it likes.
func (c *contents) misdescribed(m *manifest) string {
	switch {
	case c.twice != "":
		return fmt.Sprintf("it lists the file %s twice", c.twice)
	case c.bounds != "":
		return fmt.Sprintf("its manifest list gives %s a partition range that leaves out %s", m.path, c.bounds)
	case !sameCount(m.files[0], c.added), !sameCount(m.files[1], c.existing),
		!sameCount(m.rows[0], c.addedRows), !sameCount(m.rows[1], c.existingRows):
		return fmt.Sprintf("its manifest list miscounts the files or rows of %s", m.path)
	}
	return ""
}

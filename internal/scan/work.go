package scan

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/metadata"
)

// work is a plan being made: what is to be read and matched.
type work struct {
	planner *Planner
	pin     pinned
	names   *catalogue
	filter  *expression.Filter
	stats   []int // field ids whose statistics are answered
	tests   bool  // the filter has predicates
	plain   bool  // files are wanted, not tasks: nothing is said of what is left to check
	data    []manifest
	deletes []manifest
	added   map[int64]bool // of an incremental scan: the snapshots whose files count; nil for all live files
}

// open reads the manifest list and binds the filter.
func (p *Planner) open(ctx context.Context, doc *metadata.Document, pin pinned) (*work, error) {
	schema, _, err := doc.Schema(pin.Schema)
	if err != nil {
		return nil, err
	}
	w := &work{planner: p, pin: pin, names: newCatalogue(doc, schema)}
	filter, err := expression.ParseIn(pin.Filter, w.names.columns, pin.IgnoreCase)
	if err != nil {
		return nil, err
	}
	w.setFilter(filter)
	for _, name := range pin.Stats {
		if col, err := w.names.columns.Find(name, pin.IgnoreCase); err == nil && !slices.Contains(w.stats, col.ID) {
			w.stats = append(w.stats, col.ID)
		}
	}
	slices.Sort(w.stats)
	if pin.Snapshot == nil || filter.IsNone() {
		return w, nil
	}
	if pin.Start != nil {
		err = w.addAppends(ctx, doc)
	} else {
		err = w.addSnapshot(ctx, doc)
	}
	return w, err
}

func (w *work) setFilter(filter *expression.Filter) {
	w.filter, w.tests = filter, !filter.IsAll() && !filter.IsNone()
}

func (w *work) addSnapshot(ctx context.Context, doc *metadata.Document) error {
	snap, _ := doc.Snapshot(*w.pin.Snapshot)
	manifests, err := w.planner.manifestsOf(ctx, snap)
	for _, m := range manifests {
		if m.deletes() {
			w.deletes = append(w.deletes, m)
		} else {
			w.data = append(w.data, m)
		}
	}
	return err
}

// addAppends takes the manifests that appends between the two snapshots added, oldest first. Other operations do not
// count: what they rewrote was there before or is no append.
func (w *work) addAppends(ctx context.Context, doc *metadata.Document) error {
	w.added = make(map[int64]bool)
	var appends []metadata.Snapshot
	for id := *w.pin.Snapshot; id != *w.pin.Start; {
		snap, ok := doc.Snapshot(id)
		if !ok || snap.ParentID == nil {
			break
		}
		if snap.Operation == "append" {
			appends = append(appends, snap)
			w.added[id] = true
		}
		id = *snap.ParentID
	}
	for _, snap := range slices.Backward(appends) {
		manifests, err := w.planner.manifestsOf(ctx, snap)
		if err != nil {
			return err
		}
		for _, m := range manifests {
			if !m.deletes() && m.SnapshotID() == snap.ID {
				w.data = append(w.data, m)
			}
		}
	}
	return nil
}

// page makes the page that starts at s. It ends when it has enough tasks or rows, or has read enough manifests; rest is
// what is left.
func (w *work) page(ctx context.Context, s span, minRows int64) (page Page, rest span, err error) {
	index, err := w.indexDeletes(ctx)
	if err != nil {
		return Page{}, s, err
	}
	b := builder{page: &page, positions: make(map[*deleteFile]int), stats: w.stats}
	most := w.planner.limits
	for read := 0; !s.empty() && read < most.manifests; {
		// One batch reads ahead: as many manifests as there are readers.
		batch := w.data[s.From:min(s.To, s.From+min(most.readers, most.manifests-read))]
		found, err := w.readAll(ctx, batch)
		if err != nil {
			return Page{}, s, err
		}
		for _, candidates := range found {
			for _, c := range candidates[min(s.Skip, len(candidates)):] {
				if len(page.Tasks) >= most.tasks || minRows > 0 && b.rows >= minRows {
					return page, s, nil
				}
				b.add(c, index.of(c))
				s.Skip++
			}
			s.From, s.Skip = s.From+1, 0
		}
		read += len(batch)
	}
	return page, s, nil
}

// readAll reads data manifests side by side and gives the files of each that may match, in order.
func (w *work) readAll(ctx context.Context, batch []manifest) ([][]candidate, error) {
	specs := make([]spec, len(batch))
	for i, m := range batch {
		var err error
		if specs[i], err = w.specOf(m); err != nil {
			return nil, err
		}
	}
	out := make([][]candidate, len(batch))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.planner.limits.readers)
	for i, m := range batch {
		if !m.bare && !w.manifestMay(m, specs[i]) {
			continue
		}
		group.Go(func() (err error) {
			out[i], err = w.candidates(ctx, m, specs[i])
			return err
		})
	}
	return out, group.Wait()
}

// specOf gives a manifest's spec as far as its list has it.
func (w *work) specOf(m manifest) (spec, error) {
	if m.bare {
		return spec{id: -1}, nil
	}
	return w.names.spec(m.specID())
}

func (w *work) detail() detail {
	switch {
	case len(w.stats) > 0:
		return allStats
	case w.tests, w.plain:
		return pruning
	}
	return noStats
}

// candidates gives the files of a data manifest that may match.
func (w *work) candidates(ctx context.Context, m manifest, s spec) ([]candidate, error) {
	entries, specID, err := w.planner.entriesOf(ctx, m, w.detail())
	if err != nil {
		return nil, err
	}
	if m.bare {
		if s, err = w.names.spec(specID); err != nil {
			return nil, err
		}
	}
	var out []candidate
	for _, e := range entries {
		if w.added != nil && (e.Status() != iceberg.EntryStatusADDED || !w.added[e.SnapshotID()]) {
			continue
		}
		if c, ok := w.match(e, s); ok {
			out = append(out, c)
		}
	}
	return out, nil
}

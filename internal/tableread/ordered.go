package tableread

import (
	"bytes"
	"container/heap"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
)

// section is a part of a table that is to be looked at for a page: a data file, or a row group of one that is open.
type section struct {
	span
	of    *scan.DataFile
	file  *dataFile // nil when it is not open
	group int
}

func (s *section) rows() int64 {
	if s.file == nil {
		return s.of.Records
	}
	return s.file.footer.first[s.group+1] - s.file.footer.first[s.group]
}

// sections are parts in the order of their lower bounds.
type sections []section

func (s sections) Len() int { return len(s) }
func (s sections) Less(i, j int) bool {
	if c := bytes.Compare(s[i].lower, s[j].lower); c != 0 {
		return c < 0
	}
	return s[i].of.Path < s[j].of.Path
}
func (s sections) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *sections) Push(x any)   { *s = append(*s, x.(section)) }
func (s *sections) Pop() any {
	last := len(*s) - 1
	out := (*s)[last]
	*s = (*s)[:last]
	return out
}

// best are the first rows in order that were found so far, the last of them on top.
type best []place

func (b best) Len() int           { return len(b) }
func (b best) Less(i, j int) bool { return comparePositions(&b[i].Position, &b[j].Position) > 0 }
func (b best) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *best) Push(x any)        { *b = append(*b, x.(place)) }
func (b *best) Pop() any {
	last := len(*b) - 1
	out := (*b)[last]
	*b = (*b)[:last]
	return out
}

// ordering finds the first rows in the order of some columns. What cannot have any of them is not looked at.
type ordering struct {
	*pageWork
	left sections
	want want

	mutex sync.Mutex // of what follows
	best  best
	keys  int64 // bytes that the keys of best take
}

// inOrder finds the rows by their order columns.
func (w *pageWork) inOrder(ctx context.Context) error {
	o := &ordering{pageWork: w, want: want{columns: fieldsOf(w.order), places: true}}
	var err error
	if o.want.schema, err = schemaOf(o.want.columns); err != nil {
		return err
	}
	for _, f := range w.plan.files {
		o.add(section{span: spanOfFile(f, w.order), of: f})
	}
	heap.Init(&o.left)
	for {
		some := o.next()
		if len(some) == 0 {
			break
		}
		if err := o.look(ctx, some); err != nil {
			return err
		}
	}
	slices.SortFunc(o.best, func(a, b place) int { return comparePositions(&a.Position, &b.Position) })
	w.found = o.best
	return nil
}

// add keeps a part to look at, unless all of it was on pages before.
func (o *ordering) add(s section) {
	if o.after != nil && s.isBelow(o.after.Key) {
		if s.file != nil {
			o.plan.groupsPruned.Add(1)
		} else {
			o.plan.skipped.Add(1)
		}
		return
	}
	o.left = append(o.left, s)
}

// next takes the parts to look at next, as many as there are workers: those that may have rows before the last of the
// best. None are left when all others come after it.
func (o *ordering) next() []section {
	var out []section
	for len(out) < o.plan.reader.options.Workers && o.left.Len() > 0 {
		if len(o.best) > o.rows && bytes.Compare(o.left[0].lower, o.best[0].Key) > 0 {
			break
		}
		if o.isEnough(out) {
			break
		}
		out = append(out, heap.Pop(&o.left).(section))
	}
	return out
}

// isEnough tells whether some parts have enough rows by themselves, all of them before those of the parts after them.
func (o *ordering) isEnough(some []section) bool {
	rows := int64(0)
	for _, s := range some {
		if bytes.Compare(s.upper, o.left[0].lower) >= 0 {
			return false
		}
		rows += s.rows()
	}
	return rows > int64(o.rows) && o.plan.filter.IsAll()
}

// look opens files and reads row groups.
func (o *ordering) look(ctx context.Context, some []section) error {
	opened := make([][]section, len(some))
	work, inner := errgroup.WithContext(ctx)
	for i, s := range some {
		work.Go(func() (err error) {
			if s.file == nil {
				opened[i], err = o.open(ctx, s)
				return err
			}
			return o.readGroup(inner, s)
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for _, groups := range opened {
		for _, g := range groups {
			before := len(o.left)
			if o.add(g); len(o.left) > before {
				heap.Fix(&o.left, before)
			}
		}
	}
	return nil
}

// open gives the row groups of a file.
func (o *ordering) open(ctx context.Context, s section) ([]section, error) {
	f, err := o.plan.open(ctx, s.of)
	if err != nil {
		return nil, err
	}
	defer f.close()
	var out []section
	err = f.from.decode(func() error {
		bindings, err := f.bindAll(o.want.columns)
		if err != nil {
			return err
		}
		for i := range f.footer.meta.RowGroups {
			g := section{of: s.of, file: f, group: i}
			g.span = spanOfGroup(&rowGroup{from: f.from, footer: f.footer, index: i}, o.order, bindings)
			if bytes.Compare(g.lower, s.lower) < 0 {
				g.lower = s.lower
			}
			if bytes.Compare(g.upper, s.upper) > 0 {
				g.upper = s.upper
			}
			out = append(out, g)
		}
		return nil
	})
	return out, err
}

// readGroup looks for rows among those of a row group.
func (o *ordering) readGroup(ctx context.Context, s section) error {
	return o.plan.group(ctx, s.file, s.group, &o.want, func(r *groupReader) error {
		return r.read(ctx, rowsToRead{}, func(batch arrow.RecordBatch, rows []int64) (bool, error) {
			columns := make([]arrow.Array, len(o.order))
			for i := range columns {
				columns[i] = o.order[i].descend(batch.Column(i))
			}
			key, err := encoders(columns)
			if err != nil {
				return false, err
			}
			return true, o.offer(s, key, rows)
		})
	})
}

// offer keeps those of some rows that are among the first. Their keys may take so much as a page.
func (o *ordering) offer(s section, key encoder, rows []int64) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	p := place{Position: Position{Path: s.of.Path}, file: s.file, group: s.group}
	var buf []byte
	for i, row := range rows {
		buf = key(buf[:0], i)
		p.Key, p.Row = buf, row
		if o.after != nil && comparePositions(&p.Position, o.after) <= 0 {
			continue
		}
		full := len(o.best) > o.rows
		if full && comparePositions(&p.Position, &o.best[0].Position) >= 0 {
			continue
		}
		kept := p
		kept.Key = bytes.Clone(buf)
		if o.keys += int64(len(buf)); o.keys > o.plan.reader.memory.pages.most {
			return fault.New(fault.TooLarge, "The values that pages are ordered by take too much memory. Ask for smaller pages.")
		}
		if full {
			o.keys -= int64(len(o.best[0].Key))
			o.best[0] = kept
			heap.Fix(&o.best, 0)
		} else {
			heap.Push(&o.best, kept)
		}
	}
	return nil
}

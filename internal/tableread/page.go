package tableread

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Page gives the next rows after a position, nil for the first page. They are ordered by the columns of these field ids,
// NULL first and NaN last, and then, or without any, by data file path and position. Errors are those of Scan.
func (r *Reader) Page(ctx context.Context, s Scan, order []int, after *Position, rows int) (*Page, error) {
	p, err := r.newPlan(s)
	if err != nil {
		return nil, err
	}
	defer p.close()
	rows = max(rows, 1)
	w := &pageWork{plan: p, after: after, rows: rows}
	for _, id := range order {
		path, err := p.pathTo(id)
		if err != nil {
			return nil, err
		}
		if len(path.leaf.Children) > 0 {
			return nil, fault.New(fault.Invalid, "Rows cannot be ordered by column %s, which is a %s.", path.leaf.Path, path.leaf.Type)
		}
		w.order = append(w.order, path)
	}
	if err := p.find(ctx, s); err != nil {
		return nil, err
	}
	if len(order) == 0 {
		err = w.inPlaces(ctx)
	} else {
		err = w.inOrder(ctx)
	}
	if err != nil {
		return nil, pageError(ctx, err)
	}
	return w.page(ctx)
}

func pageError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s, ok := err.(stopped); ok { //nolint:errorlint // it is never wrapped
		return s.error
	}
	return err
}

// pageWork is a page that is being made.
type pageWork struct {
	plan  *plan
	order []columnPath
	after *Position
	rows  int
	found []place // in order, one more than rows when others follow
}

// place is a row that is on the page.
type place struct {
	Position
	file  *dataFile
	group int
}

// inPlaces finds the rows by path and position.
func (w *pageWork) inPlaces(ctx context.Context) error {
	want := &want{schema: arrow.NewSchema(nil, nil), places: true, few: w.rows + 1}
	for _, of := range w.plan.files {
		from := int64(0)
		if w.after != nil {
			if of.Path < w.after.Path {
				continue
			}
			if of.Path == w.after.Path {
				from = w.after.Row + 1
			}
		}
		if from >= of.Records {
			continue
		}
		f, err := w.plan.open(ctx, of)
		if err != nil {
			return err
		}
		for index := range f.footer.meta.RowGroups {
			start := f.footer.first[index]
			if f.footer.first[index+1] <= from || start == f.footer.first[index+1] {
				continue
			}
			if err := w.placesOf(ctx, f, index, max(from-start, 0), want); err != nil {
				return err
			}
			if len(w.found) > w.rows {
				return nil
			}
		}
		f.close()
	}
	return nil
}

// placesOf finds the rows of a row group, from one of them on.
func (w *pageWork) placesOf(ctx context.Context, f *dataFile, index int, from int64, want *want) error {
	return w.plan.group(ctx, f, index, want, func(r *groupReader) error {
		return r.read(ctx, rowsToRead{from: from}, func(_ arrow.RecordBatch, rows []int64) (bool, error) {
			for _, row := range rows {
				if len(w.found) > w.rows {
					break
				}
				w.found = append(w.found, place{Position{Path: f.Path, Row: row}, f, index})
			}
			return len(w.found) <= w.rows, nil
		})
	})
}

// group opens a row group that may have rows which pass, and waits for the memory to read it.
func (p *plan) group(ctx context.Context, f *dataFile, index int, w *want, read func(*groupReader) error) error {
	if err := f.from.use(); err != nil {
		return err
	}
	defer f.from.close()
	return f.from.decode(func() error {
		r, err := newGroupReader(f, index, w)
		if err != nil {
			return err
		}
		if r.group.numRows() == 0 {
			return nil
		}
		if !w.chosen && !r.mayPass() {
			p.groupsPruned.Add(1)
			return nil
		}
		weight, err := r.weight()
		if err != nil {
			return err
		}
		release, err := p.reader.memory.holdRows(ctx, p.owner, weight)
		if err != nil {
			return err
		}
		defer release()
		r.group.memory = p.reader.newWorkspace()
		defer r.group.memory.close()
		p.groups.Add(1)
		return read(r)
	})
}

// firstShare is the memory that a page asks for at first. Most take less.
const firstShare = 8 << 20

// errShare is the error of rows that take more than the share of their page.
var errShare = errors.New("the rows take more than their share")

// page reads the rows that were found, or as many of the first of them as there is memory for: how much they take is only
// known once they are read.
func (w *pageWork) page(ctx context.Context) (*Page, error) {
	out := &Page{More: len(w.found) > w.rows}
	found := w.found[:min(len(w.found), w.rows)]
	most := w.plan.reader.memory.pages.most
	for share := min(firstShare, most); len(found) > 0; {
		err := w.fill(ctx, out, found, share)
		switch {
		case err == nil:
			out.Last = found[len(found)-1].Position
			w.plan.given.Store(int64(len(found)))
		case !errors.Is(err, errShare):
			return nil, pageError(ctx, err)
		case share < most:
			share = min(8*share, most)
			continue
		default:
			found, out.More = found[:(len(found)+1)/2], true
			continue
		}
		break
	}
	out.Stats = w.plan.stats()
	return out, nil
}

// fill reads rows into a page, within its share of memory. A single row may take more: there are no smaller pages.
func (w *pageWork) fill(ctx context.Context, out *Page, found []place, share int64) error {
	keep, err := w.plan.reader.memory.pages.hold(ctx, w.plan.owner, share)
	if err != nil {
		return err
	}
	limit := share / 2 // they are there twice while they are put in order
	if len(found) == 1 {
		limit = math.MaxInt64
	}
	if out.Rows, err = w.fetch(ctx, found, limit); err != nil {
		keep(0)
		return err
	}
	keep(sizeOf(out.Rows))
	out.keep = keep
	return nil
}

func sizeOf(b arrow.RecordBatch) int64 {
	size := int64(0)
	for _, c := range b.Columns() {
		size += int64(c.Data().SizeInBytes())
	}
	return size
}

// fetch reads the columns of rows, each row group once, and puts them in order. They may take so many bytes.
func (w *pageWork) fetch(ctx context.Context, found []place, limit int64) (arrow.RecordBatch, error) {
	type groupKey struct {
		file  *dataFile
		group int
	}
	byGroup := make(map[groupKey][]int) // places in found
	var groups []groupKey
	for i, p := range found {
		k := groupKey{p.file, p.group}
		if byGroup[k] == nil {
			groups = append(groups, k)
		}
		byGroup[k] = append(byGroup[k], i)
	}
	want := &want{columns: w.plan.columns, schema: w.plan.arrow, chosen: true}
	var batches []arrow.RecordBatch
	from := make([]int32, len(found)) // where each row is among all that were read
	read := int32(0)
	for _, k := range groups {
		only := rowsOf(found, byGroup[k], k.file.footer.first[k.group], from, read)
		read += int32(len(only))
		want.few = len(only)
		err := w.plan.group(ctx, k.file, k.group, want, func(r *groupReader) error {
			return r.read(ctx, rowsToRead{only: only}, func(b arrow.RecordBatch, _ []int64) (bool, error) {
				if limit -= sizeOf(b); limit < 0 {
					return false, errShare
				}
				b.Retain()
				batches = append(batches, b)
				return true, nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return arranged(w.plan.arrow, batches, from)
}

// rowsOf gives the rows of a row group in order, by their numbers in it, and notes where each will be read to.
func rowsOf(found []place, members []int, first int64, from []int32, read int32) []int64 {
	slices.SortFunc(members, func(a, b int) int { return cmp.Compare(found[a].Row, found[b].Row) })
	only := make([]int64, len(members))
	for i, m := range members {
		only[i] = found[m].Row - first
		from[m] = read + int32(i)
	}
	return only
}

// arranged gives rows of several batches in another order.
func arranged(schema *arrow.Schema, batches []arrow.RecordBatch, from []int32) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, schema.NumFields())
	for i := range columns {
		parts := make([]arrow.Array, len(batches))
		for n, b := range batches {
			parts[n] = b.Column(i)
		}
		all, err := joined(parts)
		if err != nil {
			return nil, err
		}
		if columns[i], err = takeRows(all, from); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(schema, columns, int64(len(from))), nil
}

// fieldsOf gives the top-level columns of paths.
func fieldsOf(paths []columnPath) []metadata.Field {
	out := make([]metadata.Field, len(paths))
	for i, p := range paths {
		out[i] = p.top
	}
	return out
}

// schemaOf gives the Arrow schema of columns.
func schemaOf(fields []metadata.Field) (*arrow.Schema, error) {
	return columnar.FromMetadata(metadata.Schema{Fields: fields})
}

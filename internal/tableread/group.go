package tableread

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/metadata"
)

// What a batch has at most, but for the rows of one step more.
const (
	batchRows  = 64 << 10
	batchBytes = 8 << 20
)

// want says what is read of row groups.
type want struct {
	columns []metadata.Field
	schema  *arrow.Schema
	places  bool // the numbers of rows in their files are given too
	chosen  bool // the rows to read are known to be live and to pass
	few     int  // no more rows than that are needed of a row group; 0 for all
}

// groupReader reads the live rows of a row group that pass the filter.
type groupReader struct {
	file   *dataFile
	group  *rowGroup
	want   *want
	step   int                   // rows that are read next
	steps  int                   // and at most
	tests  map[int]*testedColumn // by field id
	keys   [][]*testedColumn     // of each lookup of the file
	given  []*givenColumn
	count  int     // rows that were collected
	places []int64 // of them, when they are wanted
	ahead  bool    // given columns were read ahead
}

// testedColumn is a column of which all rows are read, to tell which of them are wanted.
type testedColumn struct {
	path    columnPath
	binding *binding
	column  column
	at      int64 // rows read or passed over
	from    int64 // the first row of current
	current arrow.Array
}

// givenColumn is a column of which only the wanted rows are unpacked.
type givenColumn struct {
	binding *binding
	column  column
	at      int64
	shared  *testedColumn // the same column, when it is tested
	parts   []arrow.Array // of a shared column
	size    int64
}

// newGroupReader makes a reader of a row group.
func newGroupReader(f *dataFile, index int, w *want) (*groupReader, error) {
	r := &groupReader{file: f, group: &rowGroup{from: f.from, footer: f.footer, index: index, few: w.few > 0}, want: w, tests: make(map[int]*testedColumn)}
	if !w.chosen {
		if err := r.testAll(); err != nil {
			return nil, err
		}
	}
	bindings, err := f.bindAll(w.columns)
	if err != nil {
		return nil, err
	}
	for _, b := range bindings {
		g := &givenColumn{binding: b}
		if t := r.tests[b.field.ID]; t != nil && len(b.field.Children) == 0 {
			g.shared = t
		}
		r.given = append(r.given, g)
	}
	r.steps, err = r.group.stepRows(append(r.testedLeaves(), r.givenLeaves()...))
	if w.few > 0 {
		r.steps = min(r.steps, max(w.few, leastStepRows))
	}
	r.step = min(r.steps, firstStepRows)
	return r, err
}

// testAll adds the columns of the filter and of equality deletes.
func (r *groupReader) testAll() error {
	for id, path := range r.file.plan.tested {
		if err := r.test(id, path); err != nil {
			return err
		}
	}
	for _, l := range r.file.lookups {
		var keys []*testedColumn
		for _, path := range l.columns {
			if err := r.test(path.leaf.ID, path); err != nil {
				return err
			}
			keys = append(keys, r.tests[path.leaf.ID])
		}
		r.keys = append(r.keys, keys)
	}
	return nil
}

func (r *groupReader) test(id int, path columnPath) error {
	if r.tests[id] != nil {
		return nil
	}
	bindings, err := r.file.bindAll([]metadata.Field{path.top})
	if err != nil {
		return err
	}
	r.tests[id] = &testedColumn{path: path, binding: bindings[0]}
	return nil
}

func (r *groupReader) testedLeaves() []*node {
	var bindings []*binding
	for _, t := range r.tests {
		bindings = append(bindings, t.binding)
	}
	return leavesOf(bindings)
}

func (r *groupReader) givenLeaves() []*node {
	var bindings []*binding
	for _, g := range r.given {
		if g.shared == nil {
			bindings = append(bindings, g.binding)
		}
	}
	return leavesOf(bindings)
}

// weight is about what reading takes in memory, in bytes.
func (r *groupReader) weight() (int64, error) {
	const perLeaf = 384 << 10 // a page, packed and unpacked, and what is decoded of it
	total := int64(2 * batchBytes)
	for _, leaves := range [][]*node{r.testedLeaves(), r.givenLeaves()} {
		packed, _, err := r.group.compressed(leaves)
		if err != nil {
			return 0, err
		}
		if packed <= mostPrefetched {
			total += packed
		}
		total += int64(len(leaves)) * perLeaf
	}
	return total, nil
}

// mayPass tells whether a row may pass the filter, by what the file says of the row group.
func (r *groupReader) mayPass() bool {
	return r.file.plan.filter.May(func(id int) summary { return r.group.summaryOf(r.tests[id]) })
}

// rowsToRead says which rows of a row group are read.
type rowsToRead struct {
	from int64
	only []int64 // in order; nil for all
}

// read gives the rows batch by batch; the numbers of rows are those in the file. emit says whether to go on.
func (r *groupReader) read(ctx context.Context, rows rowsToRead, emit func(arrow.RecordBatch, []int64) (bool, error)) error {
	if len(r.tests) > 0 && r.want.few == 0 && rows.only == nil {
		if err := r.group.prefetch(r.testedLeaves()); err != nil {
			return err
		}
	}
	total := r.group.numRows()
	for row := rows.from; row < total; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, wanted := int(min(int64(r.step), total-row)), picks{all: true}
		if rows.only != nil {
			if row, wanted, rows.only = nextOf(rows.only, r.step); len(wanted.rows) == 0 {
				break
			}
			n = int(wanted.rows[len(wanted.rows)-1]) + 1
		}
		if err := r.readStep(row, n, wanted, rows.only != nil); err != nil {
			return err
		}
		row += int64(n)
		if !r.isFull() {
			continue
		}
		if more, err := r.flush(emit); err != nil || !more {
			return err
		}
	}
	_, err := r.flush(emit)
	return err
}

// readStep adds those of n rows that are to be given to the batch.
func (r *groupReader) readStep(row int64, n int, wanted picks, some bool) error {
	if !r.want.chosen {
		var err error
		if wanted, err = r.choose(row, n, wanted); err != nil {
			return err
		}
	}
	before := r.size()
	if wanted.count(n) > 0 {
		if err := r.collect(row, n, wanted, some); err != nil {
			return err
		}
	}
	r.pace(n, wanted.count(n), r.size()-before)
	return nil
}

// pace says how many rows are read next: twice as many as the n before, unless rows like those take too much. What a file
// says of its size does not tell: what it has once in a dictionary is here in every row.
func (r *groupReader) pace(n, given int, bytes int64) {
	fit := int64(r.steps)
	if bytes > 0 {
		fit = min(fit, batchBytes*int64(given)/bytes)
	}
	tested := int64(0)
	for _, t := range r.tests {
		if t.current != nil {
			tested += int64(t.current.Data().SizeInBytes())
		}
	}
	if tested > 0 {
		fit = min(fit, batchBytes*int64(n)/tested)
	}
	r.step = int(max(min(fit, 2*int64(r.step)), 1))
}

func (r *groupReader) isFull() bool {
	return r.count >= batchRows || r.want.few > 0 && r.count >= r.want.few || r.size() >= batchBytes
}

// nextOf gives the next rows of some, as far as they lie within a step.
func nextOf(only []int64, step int) (first int64, wanted picks, rest []int64) {
	if len(only) == 0 {
		return 0, picks{}, only
	}
	first = only[0]
	n := 0
	for n < len(only) && only[n] < first+int64(step) {
		wanted.rows = append(wanted.rows, int32(only[n]-first))
		n++
	}
	return first, wanted, only[n:]
}

// collect adds the wanted rows of a step to the batch.
func (r *groupReader) collect(row int64, n int, wanted picks, some bool) error {
	if !r.ahead && r.want.few == 0 && !some {
		if err := r.group.prefetch(r.givenLeaves()); err != nil {
			return err
		}
	}
	r.ahead = true
	size, coming := r.size(), r.coming(row, n, wanted.count(n))
	for _, g := range r.given {
		before := g.bytes()
		if err := r.add(g, row, n, wanted, coming); err != nil {
			return err
		}
		if size += g.bytes() - before; size > largestColumn {
			return tooWide()
		}
	}
	r.count += wanted.count(n)
	if !r.want.places {
		return nil
	}
	first := r.group.firstRow() + row
	if wanted.all {
		for at := range int64(n) {
			r.places = append(r.places, first+at)
		}
		return nil
	}
	for _, at := range wanted.rows {
		r.places = append(r.places, first+int64(at))
	}
	return nil
}

// coming is about how many rows the batch gets from here on, where so many of the next n are wanted.
func (r *groupReader) coming(row int64, n, given int) int {
	size := r.size()
	if size == 0 {
		return given // how large rows are is not known
	}
	rows := int64(given) * (r.group.numRows() - row) / int64(n)
	rows = min(rows, int64(batchRows-r.count+r.steps), (batchBytes-size)*int64(r.count)/size)
	if r.want.few > 0 {
		rows = min(rows, int64(r.want.few-r.count))
	}
	return int(max(rows, int64(given)))
}

func (r *groupReader) add(g *givenColumn, row int64, n int, wanted picks, coming int) error {
	if g.shared != nil {
		all, err := r.load(g.shared, row, n)
		if err != nil {
			return err
		}
		if !wanted.all {
			if all, err = takeRows(all, wanted.rows); err != nil {
				return err
			}
		}
		g.parts = append(g.parts, all)
		g.size += int64(all.Data().SizeInBytes())
		return nil
	}
	if g.column == nil {
		var err error
		if g.column, err = g.binding.open(r.group); err != nil {
			return err
		}
	}
	g.column.room(wanted.count(n), coming)
	g.column.skip(row - g.at)
	g.at = row + int64(n)
	return g.column.read(n, wanted)
}

// bytes is what was collected of a column.
func (g *givenColumn) bytes() int64 {
	if g.column != nil {
		return g.size + g.column.bytes()
	}
	return g.size
}

func (r *groupReader) size() int64 {
	size := int64(0)
	for _, g := range r.given {
		size += g.bytes()
	}
	return size
}

// flush gives what was collected.
func (r *groupReader) flush(emit func(arrow.RecordBatch, []int64) (bool, error)) (bool, error) {
	if r.count == 0 {
		return true, nil
	}
	columns := make([]arrow.Array, len(r.given))
	for i, g := range r.given {
		var err error
		if g.shared != nil {
			columns[i], err = joined(g.parts)
			g.parts, g.size = nil, 0
		} else {
			columns[i], err = g.column.take()
		}
		if err != nil {
			return false, err
		}
	}
	batch := array.NewRecordBatch(r.want.schema, columns, int64(r.count))
	defer batch.Release()
	places := r.places
	r.places, r.count = nil, 0
	more, err := emit(batch, places)
	if err != nil {
		return false, stopped{err}
	}
	return more, nil
}

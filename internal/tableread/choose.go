package tableread

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// choose leaves out the rows that are deleted or do not pass the filter.
func (r *groupReader) choose(row int64, n int, wanted picks) (picks, error) {
	wanted = r.withoutRemoved(row, n, wanted)
	for i := range r.keys {
		if wanted.count(n) == 0 {
			return wanted, nil
		}
		var err error
		if wanted, err = r.withoutKeys(i, row, n, wanted); err != nil {
			return wanted, err
		}
	}
	filter := r.file.plan.filter
	if wanted.count(n) == 0 || filter.IsAll() {
		return wanted, nil
	}
	passing, err := filter.Select(func(id int) (arrow.Array, error) { return r.load(r.tests[id], row, n) }, n)
	if err != nil {
		return wanted, err
	}
	if wanted.all && passing.All() {
		return wanted, nil
	}
	out := picks{}
	if wanted.all {
		out.rows = make([]int32, 0, passing.Count())
		for at := range passing.Rows() {
			out.rows = append(out.rows, int32(at))
		}
		return out, nil
	}
	for _, at := range wanted.rows {
		if passing.Has(int(at)) {
			out.rows = append(out.rows, at)
		}
	}
	return out, nil
}

// withoutRemoved leaves out the rows that position deletes or a deletion vector remove.
func (r *groupReader) withoutRemoved(row int64, n int, wanted picks) picks {
	removed := r.file.removed
	if removed == nil {
		return wanted
	}
	first := uint64(r.group.firstRow() + row)
	return wanted.without(n, func(at int32) bool { return removed.Contains(first + uint64(at)) })
}

// without leaves out rows.
func (p picks) without(n int, isGone func(int32) bool) picks {
	out := picks{rows: make([]int32, 0, p.count(n))}
	if p.all {
		for at := range int32(n) {
			if !isGone(at) {
				out.rows = append(out.rows, at)
			}
		}
		out.all = len(out.rows) == n
		return out
	}
	for _, at := range p.rows {
		if !isGone(at) {
			out.rows = append(out.rows, at)
		}
	}
	return out
}

// withoutKeys leaves out the rows that one set of equality deletes removes.
func (r *groupReader) withoutKeys(set int, row int64, n int, wanted picks) (picks, error) {
	columns := make([]arrow.Array, len(r.keys[set]))
	for i, t := range r.keys[set] {
		var err error
		if columns[i], err = r.load(t, row, n); err != nil {
			return wanted, err
		}
	}
	key, err := encoders(columns)
	if err != nil {
		return wanted, err
	}
	deletes, table, sequence := r.file.plan.deletes, r.file.lookups[set].table, r.file.Sequence
	var buf []byte
	return wanted.without(n, func(at int32) bool {
		buf = key(buf[:0], int(at))
		deletedBy, ok := table[deletes.hash(buf)]
		return ok && deletedBy > sequence
	}), nil
}

// load gives the rows of a tested column.
func (r *groupReader) load(t *testedColumn, row int64, n int) (arrow.Array, error) {
	if t.current != nil && t.from == row && t.current.Len() == n {
		return t.current, nil
	}
	if t.column == nil {
		var err error
		if t.column, err = t.binding.open(r.group); err != nil {
			return nil, err
		}
	}
	t.column.skip(row - t.at)
	t.column.room(n, n)
	if err := t.column.read(n, picks{all: true}); err != nil {
		return nil, err
	}
	top, err := t.column.take()
	if err != nil {
		return nil, err
	}
	t.at, t.from, t.current = row+int64(n), row, t.path.descend(top)
	return t.current, nil
}

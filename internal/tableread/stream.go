package tableread

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// picks are the rows that are wanted of those that are read at a time: all, or these in order.
type picks struct {
	all  bool
	rows []int32
}

func (p picks) count(of int) int {
	if p.all {
		return of
	}
	return len(p.rows)
}

// valuesAtOnce is how many values of a column chunk are decoded at a time.
const valuesAtOnce = 4096

// batchReader is the reader of a column chunk, which reads no further than a page at a time.
type batchReader[P any] interface {
	HasNext() bool
	ReadBatchInPage(size int64, values []P, definitions, repetitions []int16) (int64, int, error)
	Skip(values int64) (int64, error)
	Err() error
	Close() error
}

// stream reads the values of a column chunk, NULL included, and passes over others without unpacking their pages.
type stream[P any] struct {
	from *chunk

	reader      batchReader[P]
	at          int64 // number of the next value
	target      int64 // what was to be passed over ends here
	values      []P
	definitions []int16
	repetitions []int16
}

// newStream makes a stream that reads nothing yet.
func newStream[P any](from *chunk) *stream[P] {
	size := min(max(from.values, 1), valuesAtOnce)
	s := &stream[P]{from: from, values: make([]P, size)}
	if from.leaf.descr.MaxDefinitionLevel() > 0 {
		s.definitions = make([]int16, size)
	}
	if from.leaf.descr.MaxRepetitionLevel() > 0 {
		s.repetitions = make([]int16, size)
	}
	return s
}

// part is what was read at once. Its slices are valid until the next read.
type part[P any] struct {
	size        int // values, NULL included
	values      []P // without NULL
	definitions []int16
	repetitions []int16
}

// next reads up to most values.
func (s *stream[P]) next(most int) (part[P], error) {
	if s.reader == nil {
		if err := s.open(0); err != nil {
			return part[P]{}, err
		}
	}
	if !s.reader.HasNext() {
		return part[P]{}, fmt.Errorf("%w: rows are missing: %w", errDecode, s.reader.Err())
	}
	most = min(most, len(s.values))
	size, values, err := s.reader.ReadBatchInPage(int64(most), s.values, s.definitions, s.repetitions)
	if err != nil {
		return part[P]{}, err
	}
	if size <= 0 || size > int64(most) || values < 0 || int64(values) > size {
		return part[P]{}, fmt.Errorf("%w: rows are missing", errDecode)
	}
	s.at += size
	out := part[P]{size: int(size), values: s.values[:values]}
	if s.definitions != nil {
		out.definitions = s.definitions[:size]
	}
	if s.repetitions != nil {
		out.repetitions = s.repetitions[:size]
	}
	return out, nil
}

// open starts to read at a page. The pages that were read are given back: each opening has room for its own.
func (s *stream[P]) open(page int) error {
	if s.reader != nil {
		if err := s.reader.Close(); err != nil {
			return err
		}
		s.reader = nil
	}
	r, first, before, err := s.from.open(page)
	if err != nil {
		return err
	}
	typed, ok := r.(batchReader[P])
	if !ok {
		return errType
	}
	s.reader, s.at = typed, first-before
	if before > 0 {
		_, err = s.next(int(before))
	}
	return err
}

// seek passes over what was to be, of a column that is in no list: values are rows.
func (s *stream[P]) seek() error {
	if s.target <= s.at {
		s.target = s.at
		return nil
	}
	page, err := s.from.page(s.target)
	if err != nil {
		return err
	}
	if s.reader == nil || s.from.saves(s.at, page) {
		if err := s.open(page); err != nil {
			return err
		}
	}
	_, err = s.reader.Skip(s.target - s.at)
	s.at = s.target
	return err
}

// flat is a column that is in no list or map: a value for each row.
type flat[P any] struct {
	*stream[P]
	into    sink[P]
	present int16 // definition level of a value that is there
	spread  []P
	valid   []bool
}

func newFlat[P any](from *chunk, into sink[P]) *flat[P] {
	return &flat[P]{stream: newStream[P](from), into: into, present: from.leaf.descr.MaxDefinitionLevel()}
}

func (f *flat[P]) skip(n int64) { f.target += n }

func (f *flat[P]) room(next, coming int) { f.into.room(next, coming) }

func (f *flat[P]) bytes() int64 { return f.into.bytes() }

func (f *flat[P]) take() (arrow.Array, error) { return f.into.take(), nil }

// read implements column.
func (f *flat[P]) read(n int, wanted picks) error {
	if err := f.seek(); err != nil {
		return err
	}
	f.target = f.at + int64(n)
	if !wanted.all {
		return f.readSome(wanted.rows)
	}
	for row := 0; row < n; {
		p, err := f.next(n - row)
		if err != nil {
			return err
		}
		if err := f.all(p); err != nil {
			return err
		}
		row += p.size
	}
	return nil
}

// fewestSkipped is how many rows in a row are passed over rather than decoded.
const fewestSkipped = 24

// readSome goes on to the target, and collects some rows. Those after the last of them are passed over with what follows.
func (f *flat[P]) readSome(rows []int32) error {
	end := f.target
	for row := int32(0); len(rows) > 0; {
		if gap := rows[0] - row; gap >= fewestSkipped {
			f.target = f.at + int64(gap)
			if err := f.seek(); err != nil {
				return err
			}
			row = rows[0]
		}
		p, err := f.next(together(rows, row))
		if err != nil {
			return err
		}
		if rows, err = f.some(p, row, rows); err != nil {
			return err
		}
		row += int32(p.size)
	}
	f.target = end
	return nil
}

// together gives how many rows are read at once: up to where many are passed over.
func together(rows []int32, from int32) int {
	last := rows[0]
	for _, row := range rows[1:] {
		if row-last >= fewestSkipped || row-from >= valuesAtOnce {
			break
		}
		last = row
	}
	return int(last-from) + 1
}

// all collects every value of a part.
func (f *flat[P]) all(p part[P]) error {
	if len(p.values) == p.size {
		return f.into.append(p.values, nil)
	}
	if p.definitions == nil {
		return fmt.Errorf("%w: values are missing", errDecode)
	}
	f.grow()
	var zero P
	spread, valid, at := f.spread[:p.size], f.valid[:p.size], 0
	for i, d := range p.definitions {
		if d < f.present {
			spread[i], valid[i] = zero, false
			continue
		}
		if at >= len(p.values) {
			return fmt.Errorf("%w: values are missing", errDecode)
		}
		spread[i], valid[i] = p.values[at], true
		at++
	}
	if at != len(p.values) {
		return fmt.Errorf("%w: more values than rows", errDecode)
	}
	return f.into.append(spread, valid)
}

// some collects the rows of a part that are wanted, and gives those that are in later parts. first is the number of the
// part's first row.
func (f *flat[P]) some(p part[P], first int32, rows []int32) ([]int32, error) {
	end := 0
	for end < len(rows) && rows[end] < first+int32(p.size) {
		end++
	}
	wanted, later := rows[:end], rows[end:]
	if end == 0 {
		return later, nil
	}
	f.grow()
	spread := f.spread[:end]
	if len(p.values) == p.size {
		for i, row := range wanted {
			spread[i] = p.values[row-first]
		}
		return later, f.into.append(spread, nil)
	}
	if p.definitions == nil {
		return nil, fmt.Errorf("%w: values are missing", errDecode)
	}
	var zero P
	valid, at, next := f.valid[:end], 0, 0
	for i, d := range p.definitions {
		isWanted := next < end && wanted[next]-first == int32(i)
		switch {
		case d < f.present:
			if isWanted {
				spread[next], valid[next] = zero, false
			}
		case at >= len(p.values):
			return nil, fmt.Errorf("%w: values are missing", errDecode)
		default:
			if isWanted {
				spread[next], valid[next] = p.values[at], true
			}
			at++
		}
		if isWanted {
			next++
		}
	}
	return later, f.into.append(spread, valid)
}

func (f *flat[P]) grow() {
	if f.spread == nil {
		f.spread, f.valid = make([]P, len(f.values)), make([]bool, len(f.values))
	}
}

package rows

import (
	"bufio"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/sluice-data/sluice/internal/fault"
)

// arrowSource reads the record batches of an Arrow IPC stream. Columns that are in the table's type already are passed
// on as they are, once their values were looked at; the others are added value by value.
type arrowSource struct {
	stream *bufio.Reader
	memory *bounded
	reader *ipc.Reader // nil for a body without anything
	table  *table
	places []int // of the stream's column for each of the table, -1 for none

	batch   arrow.RecordBatch // that is being read, nil for none
	at      int               // its next row
	row     int64             // number of the last row
	columns []cells           // of the batch, for each column of the table
	keep    bool              // text of rows
}

func newArrowSource(in *input, schema *arrow.Schema, o ReadOptions, log *errorLog) (source, error) {
	t, err := newTable(schema, o, log)
	if err != nil {
		return nil, err
	}
	s := &arrowSource{stream: bufio.NewReaderSize(in, slack), table: t, keep: o.KeepText}
	if _, err := s.stream.Peek(1); errors.Is(err, io.EOF) {
		return s, nil
	}
	messages := newMessages(s.stream, o.MessageBytes)
	s.memory = messages.memory
	s.reader, err = ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(s.memory), ipc.WithEnsureNativeEndian(false))
	if errors.Is(err, io.EOF) {
		return nil, fault.Wrap(err, fault.Invalid, "The Arrow stream ends before its schema: send one stream of record batches.")
	}
	if err != nil {
		return nil, s.explain(err)
	}
	return s, s.match(s.reader.Schema())
}

func (s *arrowSource) close() {
	if s.reader != nil {
		s.reader.Release()
		s.reader = nil
	}
}

func (s *arrowSource) explain(err error) error {
	if errors.Is(err, errBounded) || errors.Is(err, errFlatLarge) {
		return tooLargeMessage(s.table.o.MessageBytes)
	}
	return err
}

// match finds each column of the stream in the table and checks that its type can be taken.
func (s *arrowSource) match(stream *arrow.Schema) error {
	if !stream.IsNativeEndian() {
		return fault.New(fault.Invalid, "The Arrow stream is big-endian: send it little-endian.")
	}
	parts := s.table.root.parts
	s.places = make([]int, len(parts))
	for i := range s.places {
		s.places[i] = -1
	}
	for i, f := range stream.Fields() {
		place, ok := s.table.root.names[f.Name]
		if !ok {
			return unknownColumn(s.table.root, f.Name)
		}
		if s.places[place] >= 0 {
			return fault.New(fault.Invalid, "The Arrow stream has the column %s twice: send each column once.", f.Name)
		}
		s.places[place] = i
		if err := s.fits(f, parts[place]); err != nil {
			return err
		}
	}
	for i, p := range parts {
		if s.places[i] < 0 && !p.field.Nullable && p.absent == nil {
			return fault.New(fault.Invalid, "The Arrow stream has no column %s, which the table requires: send it.", p.field.Name)
		}
	}
	return nil
}

func unknownColumn(root *column, name string) error {
	name = shown([]byte(name))
	if close := nearest(root, name); close != "" {
		return fault.New(fault.Invalid, "The Arrow stream has a column %q, which the table has not: did you mean %q?", name, close)
	}
	return fault.New(fault.Invalid, "The Arrow stream has a column %q, which the table has not: leave it out.", name)
}

// fits checks a type on an array without values.
func (s *arrowSource) fits(f arrow.Field, c *column) error {
	if err := supported(f.Type); err != nil {
		return fault.New(fault.Invalid, "Column %s is of type %s in the Arrow stream, which cannot be taken: cast it to %s.", f.Name, f.Type, c.field.Type)
	}
	none := array.MakeArrayOfNull(s.memory, f.Type, 0)
	defer none.Release()
	_, err := s.table.cells(none, c, f.Name)
	return err
}

func (s *arrowSource) next() (*Batch, error) {
	for s.batch == nil {
		if s.reader == nil {
			return nil, io.EOF
		}
		batch, err := s.reader.Read()
		if errors.Is(err, io.EOF) {
			return nil, s.end()
		}
		if err != nil {
			return nil, s.explain(err)
		}
		if err := s.open(batch); err != nil {
			return nil, err
		}
	}
	from := s.at
	b := s.quick()
	if b == nil {
		b = s.careful(from)
	}
	if s.at == int(s.batch.NumRows()) {
		s.batch, s.columns = nil, nil
	}
	return b, nil
}

// end checks that nothing follows the end marker.
func (s *arrowSource) end() error {
	if _, err := s.stream.Peek(1); err == nil {
		return fault.New(fault.Invalid, "Something follows the end of the Arrow stream: send one stream.")
	}
	s.close()
	return io.EOF
}

// open starts on a batch; one without rows is left out.
func (s *arrowSource) open(batch arrow.RecordBatch) error {
	if batch.NumRows() == 0 {
		return nil
	}
	s.batch, s.at = batch, 0
	s.columns = make([]cells, len(s.places))
	for i, p := range s.table.root.parts {
		if s.places[i] < 0 {
			continue
		}
		a := batch.Column(s.places[i])
		if a.Len() != int(batch.NumRows()) {
			return errFlat
		}
		var err error
		if s.columns[i], err = s.table.cells(a, p, p.field.Name); err != nil {
			return err
		}
		s.columns[i].direct = direct(a, p)
	}
	return nil
}

// quick gives the next rows where none is wrong: nil where some is, and then nothing was read.
func (s *arrowSource) quick() *Batch {
	t, n := s.table, s.fit()
	for i := range s.columns {
		if c := &s.columns[i]; c.direct && !c.clean(s.at, n, t.o.RowBytes) {
			return nil
		}
	}
	for i := 0; i < n && !t.full(); i++ {
		t.begin(s.row + int64(i) + 1)
		s.addRow(s.at+i, false)
		if len(t.errors) > 0 {
			s.restart()
			return nil
		}
		t.rows++
		t.numbers = append(t.numbers, t.number)
		t.bytes += t.o.RowBytes - t.left
	}
	columns := make([]arrow.Array, len(s.columns))
	for i, p := range t.root.parts {
		if s.columns[i].direct {
			columns[i] = retyped(s.columns[i].array, p, s.at, t.rows)
			continue
		}
		data := p.take()
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	return s.pack(columns, t.rows)
}

// restart takes back what quick began.
func (s *arrowSource) restart() {
	for _, p := range s.table.root.parts {
		p.truncate(0)
	}
	s.table.reset()
}

// careful gives the next rows one by one, so that wrong ones can be left out.
func (s *arrowSource) careful(from int) *Batch {
	t, i := s.table, from
	for ; i < int(s.batch.NumRows()) && !t.full(); i++ {
		t.begin(s.row + int64(i-from) + 1)
		s.addRow(i, true)
		t.end(func() []byte { return s.sourceText(i) })
	}
	columns := make([]arrow.Array, len(t.root.parts))
	for i, p := range t.root.parts {
		data := p.take()
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	return s.pack(columns, i-from)
}

// pack makes the batch and goes behind as many rows of the stream.
func (s *arrowSource) pack(columns []arrow.Array, n int) *Batch {
	b := s.table.pack(columns)
	s.at += n
	s.row += int64(n)
	if s.keep {
		b.texts, b.starts = textOf(b.Rows)
	}
	return b
}

// addRow adds the values of a row, those of direct columns only where all is asked for.
func (s *arrowSource) addRow(i int, all bool) {
	t := s.table
	for place, p := range t.root.parts {
		c := &s.columns[place]
		if c.direct && !all {
			continue
		}
		t.path = append(t.path[:0], step{name: p.field.Name})
		if c.array == nil {
			t.missing(p)
		} else {
			t.arrowValue(c, i)
		}
	}
}

// fit gives how many rows of direct columns make a batch.
func (s *arrowSource) fit() int {
	n := min(int(s.batch.NumRows())-s.at, s.table.o.BatchRows)
	for n > 1 {
		var size int64
		for i := range s.columns {
			if s.columns[i].direct {
				size += s.columns[i].size(s.at, n)
			}
		}
		if size <= s.table.o.BatchBytes {
			return n
		}
		n /= 2
	}
	return n
}

package rows

import (
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-data/sluice/internal/fault"
)

// slack is how far beyond a row the body may be read ahead.
const slack = 64 << 10

// syntax is how JSON is told apart into rows: what is wrong inside of a row is said of the row.
func syntax() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
}

// arraySource reads the objects of one JSON array.
type arraySource struct {
	in      *input
	decoder *jsontext.Decoder
	table   *table
	row     int64 // number of the last row
	started bool
	done    bool
}

func newArraySource(in *input, schema *arrow.Schema, o ReadOptions, log *errorLog) (source, error) {
	t, err := newTable(schema, o, log)
	if err != nil {
		return nil, err
	}
	decoder := jsontext.NewDecoder(in, syntax()...)
	return &arraySource{in: in, decoder: decoder, table: t}, nil
}

func (s *arraySource) close() {}

func (s *arraySource) next() (*Batch, error) {
	if !s.started {
		if err := s.open(); err != nil {
			return nil, err
		}
		s.started = true
	}
	for !s.done && !s.table.full() {
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	if s.table.empty() {
		return nil, io.EOF
	}
	return s.table.batch(), nil
}

// bound lets the body be read as far as one more row may reach.
func (s *arraySource) bound() { s.in.most = s.decoder.InputOffset() + s.table.o.RowBytes + slack }

// open reads the bracket that the rows are in. A body without anything is no rows.
func (s *arraySource) open() error {
	s.bound()
	token, err := s.decoder.ReadToken()
	if errors.Is(err, io.EOF) {
		s.done = true
		return nil
	}
	if err != nil {
		return s.broken(err)
	}
	if token.Kind() != '[' {
		return fault.New(fault.Invalid, "The rows must be one JSON array of objects: begin with [, or send one object a line as %s.", NDJSON)
	}
	return nil
}

// read reads a row or the end of the array.
func (s *arraySource) read() error {
	s.bound()
	if s.decoder.PeekKind() == ']' {
		s.done = true
		_, err := s.decoder.ReadToken()
		if err == nil {
			_, err = s.decoder.ReadToken()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if s.in.err != nil {
			return s.in.err
		}
		return fault.New(fault.Invalid, "Something follows the JSON array of the rows at byte %d: send one array.", s.decoder.InputOffset())
	}
	s.row++
	text, err := s.decoder.ReadValue()
	if err != nil {
		return s.broken(err)
	}
	s.table.begin(s.row)
	s.table.jsonRow(text)
	s.table.end(func() []byte { return text })
	return nil
}

// broken explains JSON that cannot be told apart into rows any more.
func (s *arraySource) broken(err error) error {
	row := max(s.row, 1)
	if errors.Is(err, errBeyond) {
		return fault.New(fault.TooLarge, "Row %d %s.", row, s.table.tooLarge())
	}
	if s.in.err != nil {
		return s.in.err
	}
	offset := s.decoder.InputOffset()
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = syntactic.ByteOffset
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(err, fault.Invalid, "The JSON array of the rows ends at byte %d, inside or after row %d: close it with ].", offset, row)
	}
	return fault.Wrap(err, fault.Invalid, "The JSON of row %d is malformed at byte %d: %s.", row, offset, syntaxMessage(err))
}

// syntaxMessage gives what the JSON reader says is wrong, without where.
func syntaxMessage(err error) string {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok && syntactic.Err != nil {
		return strings.ToValidUTF8(strings.TrimPrefix(syntactic.Err.Error(), "jsontext: "), "\ufffd")
	}
	return "it is no JSON"
}

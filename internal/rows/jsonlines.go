package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/go-json-experiment/json/jsontext"
)

// lineSource reads one JSON object a line. Blank lines are none.
type lineSource struct {
	in     *input
	lines  *bufio.Reader
	line   []byte // that was gathered of several reads
	table  *table
	syntax []jsontext.Options
	row    int64
	done   bool
}

func newLineSource(in *input, schema *arrow.Schema, o ReadOptions, log *errorLog) (source, error) {
	t, err := newTable(schema, o, log)
	if err != nil {
		return nil, err
	}
	return &lineSource{in: in, lines: bufio.NewReaderSize(in, slack), table: t, syntax: syntax()}, nil
}

func (s *lineSource) close() {}

func (s *lineSource) next() (*Batch, error) {
	for !s.done && !s.table.full() {
		line, whole, err := s.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		s.done = err != nil
		line = bytes.TrimSpace(line)
		if len(line) > 0 || !whole {
			s.row++
			s.take(line, whole)
		}
	}
	if s.table.empty() {
		return nil, io.EOF
	}
	return s.table.batch(), nil
}

// take adds the row of a line. Of one that is not whole, the text is its beginning.
func (s *lineSource) take(line []byte, whole bool) {
	t := s.table
	t.begin(s.row)
	switch {
	case !whole:
		t.fail(t.tooLarge())
	case !jsontext.Value(line).IsValid(s.syntax...):
		t.fail(s.malformed(line))
	default:
		t.jsonRow(line)
	}
	t.end(func() []byte { return line })
}

func (s *lineSource) malformed(line []byte) string {
	decoder := jsontext.NewDecoder(bytes.NewReader(line), s.syntax...)
	_, err := decoder.ReadValue()
	if err == nil { // what is wrong comes after the first value
		return fmt.Sprintf("has something behind its object, at byte %d of the line: send one object a line", decoder.InputOffset())
	}
	offset := decoder.InputOffset()
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = syntactic.ByteOffset
	}
	return fmt.Sprintf("is malformed JSON at byte %d of the line: %s", offset, syntaxMessage(err))
}

// readLine gives the next line; of one that is longer than a row may be only the beginning, and whole is false. The
// error is io.EOF with the last line.
func (s *lineSource) readLine() (line []byte, whole bool, err error) {
	most := int(s.table.o.RowBytes)
	s.line = s.line[:0]
	whole = true
	for {
		part, err := s.lines.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) && len(s.line) == 0 && whole && len(part) <= most {
			return part, true, err
		}
		if room := most - len(s.line); len(part) > room {
			part, whole = part[:room], false
		}
		s.line = append(s.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return s.line, whole, err
		}
	}
}

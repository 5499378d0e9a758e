package rows

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/fault"
)

// What a Reader does where ReadOptions do not say.
const (
	defaultBatchRows    = 8192
	defaultBatchBytes   = 8 << 20
	defaultRowBytes     = 4 << 20
	defaultMessageBytes = 64 << 20
	defaultMostErrors   = 100
	mostErrorsOfRow     = 20
	mostBatchBytes      = 1 << 30 // offsets into values have 31 bits
	mostRowBytes        = 1 << 29
)

// ReadOptions bound what a Reader holds and keeps. Zero fields are given sensible values.
type ReadOptions struct {
	BatchRows    int   // rows of a batch at most
	BatchBytes   int64 // about what the values of a batch take at most
	RowBytes     int64 // of one row
	MessageBytes int64 // of one message of an Arrow stream, inflated; of all its dictionaries together
	MostErrors   int   // how many errors Errors keeps
	KeepText     bool  // whether batches know their rows as JSON
	// Defaults are what rows get that do not have an optional or required member, by field id, as Iceberg metadata
	// writes them in JSON. Without one a member that is missing is NULL.
	Defaults map[int][]byte
}

func (o ReadOptions) filled() ReadOptions {
	fill(&o.BatchRows, defaultBatchRows)
	fill(&o.BatchBytes, defaultBatchBytes)
	fill(&o.RowBytes, defaultRowBytes)
	fill(&o.MessageBytes, defaultMessageBytes)
	fill(&o.MostErrors, defaultMostErrors)
	o.BatchBytes, o.RowBytes = min(o.BatchBytes, mostBatchBytes), min(o.RowBytes, mostRowBytes)
	return o
}

func fill[N int | int64](n *N, value N) {
	if *n <= 0 {
		*n = value
	}
}

// RowError says what is wrong with one value of one row, or with the row where Field is empty.
type RowError struct {
	Row     int64  `json:"row"`             // 1 for the first that was sent
	Field   string `json:"field,omitempty"` // such as address.city or tags[2]
	Message string `json:"message"`
}

// BadRow is a row that cannot land.
type BadRow struct {
	Number int64
	Errors []RowError // the first of them
	Text   []byte     // JSON of the row as it was sent, or what there is of it; only with KeepText
}

// Batch is some rows in the order they were sent, without those that are in Bad.
type Batch struct {
	Rows    arrow.RecordBatch
	Numbers []int64 // of each row, 1 for the first that was sent
	Bad     []BadRow

	texts  []byte
	starts []int // of each row in texts, and the end
}

// Text gives row i of Rows as JSON: as it was sent, or what an Arrow row is in JSON. It is nil without KeepText.
func (b *Batch) Text(i int) []byte {
	if b.starts == nil {
		return nil
	}
	return b.texts[b.starts[i]:b.starts[i+1]]
}

// Release gives the rows back.
func (b *Batch) Release() { b.Rows.Release() }

// Reader reads rows as batches of at most a stated size.
type Reader struct {
	source source
	input  *input
	log    *errorLog
	err    error
}

// source is one format.
type source interface {
	next() (*Batch, error)
	close()
}

// NewReader makes a reader of rows of a table's Arrow schema. Errors: fault.Invalid when the stream does not begin as
// the format does or has columns that the table has not.
func NewReader(from io.Reader, f Format, schema *arrow.Schema, o ReadOptions) (*Reader, error) {
	o = o.filled()
	in, log := &input{from: from}, &errorLog{most: o.MostErrors}
	r := &Reader{input: in, log: log}
	err := guarded(func() (err error) {
		r.source, err = newSource(in, f, schema, o, log)
		return err
	})
	if err != nil {
		return nil, r.explain(err)
	}
	return r, nil
}

func newSource(in *input, f Format, schema *arrow.Schema, o ReadOptions, log *errorLog) (source, error) {
	switch f {
	case JSON:
		return newArraySource(in, schema, o, log)
	case NDJSON:
		return newLineSource(in, schema, o, log)
	case ArrowStream:
		return newArrowSource(in, schema, o, log)
	}
	return nil, fault.New(fault.Invalid, "%q is no format for rows: use one of %v.", f, Formats())
}

// Next gives the next batch, which is the caller's to release; io.EOF when all was read. After any other error the
// reading is over.
func (r *Reader) Next() (*Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	var batch *Batch
	err := guarded(func() (err error) {
		batch, err = r.source.next()
		return err
	})
	if err != nil {
		r.err = r.explain(err)
		r.source.close()
		return nil, r.err
	}
	return batch, nil
}

// explain turns what ended the reading into what the client is told. What the body itself failed with goes first.
func (r *Reader) explain(err error) error {
	if r.input.err != nil {
		if _, ok := errors.AsType[*fault.Error](r.input.err); ok {
			return r.input.err
		}
		return fault.Wrap(r.input.err, fault.Invalid, "The rows broke off after %d bytes: send them again.", r.input.bytes)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, io.EOF) {
		return err
	}
	return fault.Wrap(err, fault.Invalid, "The rows could not be decoded: check that they are written in the format that Content-Type says.")
}

// Close ends the reading early. It is not needed after an error or io.EOF.
func (r *Reader) Close() {
	if r.err == nil {
		r.err = fault.New(fault.Invalid, "The reading of rows was ended.")
		r.source.close()
	}
}

// Errors gives the first errors of rows that were read so far, in order.
func (r *Reader) Errors() []RowError { return r.log.kept }

// Invalid gives how many rows could not be taken so far.
func (r *Reader) Invalid() int64 { return r.log.rows }

// Bytes gives how many bytes were read so far.
func (r *Reader) Bytes() int64 { return r.input.bytes }

// errorLog keeps the first errors of a stream and counts the rows that have any.
type errorLog struct {
	most int
	kept []RowError
	rows int64
}

func (l *errorLog) add(bad BadRow) {
	l.rows++
	if room := l.most - len(l.kept); room > 0 {
		l.kept = append(l.kept, bad.Errors[:min(room, len(bad.Errors))]...)
	}
}

// input counts what is read of the body and keeps the error that it ended with.
type input struct {
	from  io.Reader
	bytes int64
	most  int64 // where reading must stop, 0 for nowhere
	err   error // nil and not io.EOF
}

// errBeyond stops a reading that would go beyond the bound.
var errBeyond = errors.New("rows: beyond the bound of a row")

func (in *input) Read(p []byte) (int, error) {
	if in.most > 0 {
		left := in.most - in.bytes
		if left <= 0 {
			return 0, errBeyond
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := in.from.Read(p)
	in.bytes += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = err
	}
	return n, err
}

var errDecode = errors.New("rows: decoder failed")

// guarded makes an error of a panic: decoders of what strangers send have bugs.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", errDecode, p)
		}
	}()
	return do()
}

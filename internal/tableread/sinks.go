package tableread

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
)

// sink collects values that a file has in the type P as an array of the table's type.
type sink[P any] interface {
	collected
	// append adds a value for each row; valid is nil when none is NULL, and values of those that are mean nothing.
	append(values []P, valid []bool) error
	// room says how many rows are added next, and about how many with those that follow before the next take.
	room(next, coming int)
}

// collected is what was collected since the last take.
type collected interface {
	bytes() int64
	take() arrow.Array
}

// fixedSink collects values of one width.
type fixedSink[P any, T arrow.FixedWidthType] struct {
	kind    arrow.DataType
	convert func(out []T, values []P) error // values may hold anything where a row is NULL
	values  []T
	valid   validity
	guess   int
}

func (s *fixedSink[P, T]) room(next, coming int) { s.values = roomFor(s.values, next, coming) }

// roomFor grows a slice that has no room for what is added next, and then for all that is coming.
func roomFor[T any](s []T, next, coming int) []T {
	if len(s)+next <= cap(s) {
		return s
	}
	return slices.Grow(s, max(next, coming))
}

func (s *fixedSink[P, T]) append(values []P, valid []bool) error {
	if s.values == nil {
		s.values = make([]T, 0, max(s.guess, len(values)))
	}
	at := len(s.values)
	if need := at + len(values); need <= cap(s.values) {
		s.values = s.values[:need]
	} else {
		s.values = append(s.values, make([]T, len(values))...)
	}
	s.valid.append(len(values), valid)
	return s.convert(s.values[at:], values)
}

func (s *fixedSink[P, T]) bytes() int64 { return int64(len(s.values)) * int64(s.width()) }

func (s *fixedSink[P, T]) width() int {
	return s.kind.(arrow.FixedWidthDataType).BitWidth() / 8
}

func (s *fixedSink[P, T]) take() arrow.Array {
	rows := len(s.values)
	s.guess = rows
	bits, nulls := s.valid.take()
	data := array.NewData(s.kind, rows, []*memory.Buffer{bits, memory.NewBufferBytes(arrow.GetBytes(s.values))}, nil, nulls, 0)
	defer data.Release()
	s.values = nil
	return array.MakeFromData(data)
}

// boolSink collects booleans.
type boolSink struct {
	values []byte
	count  int
	valid  validity
}

func (s *boolSink) room(int, int) {}

func (s *boolSink) append(values []bool, valid []bool) error {
	need := int(bitutil.BytesForBits(int64(s.count + len(values))))
	if more := need - len(s.values); more > 0 {
		s.values = append(s.values, make([]byte, more)...)
	}
	for i, v := range values {
		if v {
			bitutil.SetBit(s.values, s.count+i)
		}
	}
	s.count += len(values)
	s.valid.append(len(values), valid)
	return nil
}

func (s *boolSink) bytes() int64 { return int64(len(s.values)) }

func (s *boolSink) take() arrow.Array {
	bits, nulls := s.valid.take()
	data := array.NewData(arrow.FixedWidthTypes.Boolean, s.count, []*memory.Buffer{bits, memory.NewBufferBytes(s.values)}, nil, nulls, 0)
	defer data.Release()
	s.values, s.count = nil, 0
	return array.MakeFromData(data)
}

// largestColumn bounds the bytes that a column of one batch may take, so that a few bytes of a file, which stand for large
// values over and over, do not take the memory of all others.
const largestColumn = 256 << 20

func tooWide() error {
	return fault.New(fault.TooLarge, "The rows are too large to be read here: those of one batch take more than %d MB in a column. Leave the column out of the selection.", largestColumn>>20)
}

// bytesSink collects texts and binary values.
type bytesSink[P ~[]byte] struct {
	kind    arrow.DataType
	offsets []int32
	data    []byte
	valid   validity
	guess   int
	guessed int
	coming  int // rows, as far as that is known
}

func (s *bytesSink[P]) room(next, coming int) {
	if s.offsets != nil {
		s.offsets = roomFor(s.offsets, next, coming)
	}
	s.coming = coming
}

func (s *bytesSink[P]) append(values []P, valid []bool) error {
	if s.offsets == nil {
		s.offsets = append(make([]int32, 0, max(s.guess, len(values))+1), 0)
		s.data = make([]byte, 0, s.guessed)
	}
	size := len(s.data)
	for i, v := range values {
		if valid == nil || valid[i] {
			size += len(v)
		}
	}
	if size > largestColumn {
		return tooWide()
	}
	if size > cap(s.data) {
		grown := make([]byte, len(s.data), s.larger(size, len(values)))
		copy(grown, s.data)
		s.data = grown
	}
	s.coming = max(s.coming-len(values), 0)
	data, offsets := s.data, s.offsets
	if valid == nil {
		for _, v := range values {
			data = append(data, v...)
			offsets = append(offsets, int32(len(data)))
		}
	} else {
		for i, v := range values {
			if valid[i] {
				data = append(data, v...)
			}
			offsets = append(offsets, int32(len(data)))
		}
	}
	s.data, s.offsets = data, offsets
	s.valid.append(len(values), valid)
	return nil
}

// larger gives how many bytes to make room for, where those so far and of the next rows are of that size: for about as
// many in the rows to come, or twice as many as there were.
func (s *bytesSink[P]) larger(size, next int) int {
	if s.coming > next {
		const spare = 32 // one in so many, since rows differ
		rows := len(s.offsets) - 1
		all := int64(size) * int64(rows+s.coming) / int64(rows+next)
		if all = min(all+all/spare, batchBytes); all >= int64(size) {
			return int(all)
		}
	}
	return max(size, min(2*cap(s.data), largestColumn))
}

func (s *bytesSink[P]) bytes() int64 { return int64(len(s.data)) + 4*int64(len(s.offsets)) }

func (s *bytesSink[P]) take() arrow.Array {
	if s.offsets == nil {
		s.offsets = []int32{0}
	}
	rows := len(s.offsets) - 1
	s.guess, s.guessed = rows, len(s.data)
	bits, nulls := s.valid.take()
	data := array.NewData(s.kind, rows, []*memory.Buffer{
		bits, memory.NewBufferBytes(arrow.GetBytes(s.offsets)), memory.NewBufferBytes(s.data),
	}, nil, nulls, 0)
	defer data.Release()
	s.offsets, s.data = nil, nil
	return array.MakeFromData(data)
}

// widthSink collects binary values of one length, UUIDs among them.
type widthSink[P ~[]byte] struct {
	kind  arrow.DataType
	width int
	data  []byte
	count int
	valid validity
}

func (s *widthSink[P]) room(next, coming int) {
	if len(s.data)+next*s.width > largestColumn {
		return // append says so
	}
	s.data = roomFor(s.data, next*s.width, coming*s.width)
}

func (s *widthSink[P]) append(values []P, valid []bool) error {
	if len(s.data)+len(values)*s.width > largestColumn {
		return tooWide()
	}
	for i, v := range values {
		switch {
		case valid != nil && !valid[i]:
			s.data = append(s.data, make([]byte, s.width)...)
		case len(v) != s.width:
			return errDecode
		default:
			s.data = append(s.data, v...)
		}
	}
	s.count += len(values)
	s.valid.append(len(values), valid)
	return nil
}

func (s *widthSink[P]) bytes() int64 { return int64(len(s.data)) }

func (s *widthSink[P]) take() arrow.Array {
	bits, nulls := s.valid.take()
	data := array.NewData(s.kind, s.count, []*memory.Buffer{bits, memory.NewBufferBytes(s.data)}, nil, nulls, 0)
	defer data.Release()
	s.data, s.count = nil, 0
	return array.MakeFromData(data)
}

package tableread

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/sluice-data/sluice/internal/metadata"
)

// errType says that a file has a column in a type that the table's cannot be made of.
var errType = fmt.Errorf("%w: a column of another type", errDecode)

// integer is how files keep numbers, dates, times and small decimals.
type integer interface{ int32 | int64 }

func copied[P any](out, values []P) error {
	copy(out, values)
	return nil
}

// integerSink makes the sink of a column that a file keeps as integers.
func integerSink[P integer](f metadata.Field, kind arrow.DataType, descr *schema.Column) (sink[P], error) {
	switch {
	case strings.HasPrefix(f.Type, "decimal("):
		if !sameScale(kind, descr) {
			return nil, errType
		}
		return &fixedSink[P, decimal128.Num]{kind: kind, convert: func(out []decimal128.Num, values []P) error {
			for i, v := range values {
				out[i] = decimal128.FromI64(int64(v))
			}
			return nil
		}}, nil
	case f.Type == "int" || f.Type == "date":
		return narrowSink[P](kind)
	}
	multiply, divide := int64(1), int64(1)
	if f.Type != "long" {
		if multiply, divide = scaleOf(f.Type, descr); multiply == 0 {
			return nil, errType
		}
	}
	return longSink[P](kind, multiply, divide, isUnsigned(descr)), nil
}

// narrowSink collects integers of 32 bits.
func narrowSink[P integer](kind arrow.DataType) (sink[P], error) {
	if s, ok := any(&fixedSink[int32, int32]{kind: kind, convert: copied[int32]}).(sink[P]); ok {
		return s, nil
	}
	return nil, errType
}

// longSink collects integers of 64 bits, scaled.
func longSink[P integer](kind arrow.DataType, multiply, divide int64, unsigned bool) sink[P] {
	if multiply == 1 && divide == 1 {
		if s, ok := any(&fixedSink[int64, int64]{kind: kind, convert: copied[int64]}).(sink[P]); ok {
			return s
		}
	}
	return &fixedSink[P, int64]{kind: kind, convert: func(out []int64, values []P) error {
		for i, v := range values {
			n := int64(v)
			if unsigned {
				n &= math.MaxUint32
			}
			scaled, ok := scale(n, multiply, divide)
			if !ok {
				return fmt.Errorf("%w: a time out of range", errDecode)
			}
			out[i] = scaled
		}
		return nil
	}}
}

// scale changes the unit of a time, towards the past where it becomes coarser.
func scale(v, multiply, divide int64) (int64, bool) {
	if divide > 1 {
		q := v / divide
		if v%divide < 0 {
			q--
		}
		return q, true
	}
	out := v * multiply
	return out, out/multiply == v
}

func isUnsigned(descr *schema.Column) bool {
	of, ok := descr.LogicalType().(schema.IntLogicalType)
	return ok && !of.IsSigned() && descr.PhysicalType() == parquet.Types.Int32
}

// unitsOf gives how many units of a type a second has; 0 for those of no time.
func unitsOf(typ string) int64 {
	switch typ {
	case "time", "timestamp", "timestamptz":
		return 1_000_000
	case "timestamp_ns", "timestamptz_ns":
		return 1_000_000_000
	}
	return 0
}

const secondsPerDay = 86_400

// scaleOf gives what a file's times are multiplied and divided by; 0 when they are none of the table's type. Dates became
// timestamps in some tables.
func scaleOf(typ string, descr *schema.Column) (multiply, divide int64) {
	units := unitsOf(typ)
	if units == 0 {
		return 0, 0
	}
	logical := descr.LogicalType()
	if logical.Equals(schema.DateLogicalType{}) {
		if typ == "time" {
			return 0, 0
		}
		return secondsPerDay * units, 1
	}
	has := int64(1_000_000)
	if timed, ok := logical.(interface{ TimeUnit() schema.TimeUnitType }); ok {
		switch timed.TimeUnit() {
		case schema.TimeUnitMillis:
			has = 1_000
		case schema.TimeUnitNanos:
			has = 1_000_000_000
		case schema.TimeUnitMicros:
		default:
			return 0, 0
		}
	}
	if has > units {
		return 1, has / units
	}
	return units / has, 1
}

// int96Sink collects the timestamps of old writers: nanoseconds of a day, and the Julian day.
func int96Sink(typ string, kind arrow.DataType) (sink[parquet.Int96], error) {
	units := unitsOf(typ)
	if units == 0 || typ == "time" {
		return nil, errType
	}
	const epoch = 2_440_588 // the Julian day of 1970-01-01
	return &fixedSink[parquet.Int96, int64]{kind: kind, convert: func(out []int64, values []parquet.Int96) error {
		for i, v := range values {
			nanos := int64(binary.LittleEndian.Uint64(v[:8]))
			day := int64(binary.LittleEndian.Uint32(v[8:])) - epoch
			whole, ok := scale(day, secondsPerDay*units, 1)
			if part := nanos / (1_000_000_000 / units); ok && (part <= 0 || whole <= math.MaxInt64-part) {
				out[i] = whole + part
				continue
			}
			if v != (parquet.Int96{}) { // what stands for NULL is of no time
				return fmt.Errorf("%w: a time out of range", errDecode)
			}
		}
		return nil
	}}, nil
}

// sameScale tells whether a file's decimals have the scale of the table's, which never changes.
func sameScale(kind arrow.DataType, descr *schema.Column) bool {
	table, ok := kind.(*arrow.Decimal128Type)
	of, isDecimal := descr.LogicalType().(schema.DecimalLogicalType)
	return ok && isDecimal && of.Scale() == table.Scale
}

// byteSink makes the sink of a column that a file keeps as bytes.
func byteSink[P ~[]byte](f metadata.Field, kind arrow.DataType, descr *schema.Column) (sink[P], error) {
	switch {
	case strings.HasPrefix(f.Type, "decimal("):
		if !sameScale(kind, descr) {
			return nil, errType
		}
		return &fixedSink[P, decimal128.Num]{kind: kind, convert: decimals[P]}, nil
	case f.Type == "string", f.Type == "binary":
		return &bytesSink[P]{kind: kind}, nil
	case f.Type == "uuid":
		return &widthSink[P]{kind: kind, width: 16}, nil
	case strings.HasPrefix(f.Type, "fixed["):
		return &widthSink[P]{kind: kind, width: kind.(*arrow.FixedSizeBinaryType).ByteWidth}, nil
	}
	return nil, errType
}

// decimals reads numbers in two's complement, the highest byte first.
func decimals[P ~[]byte](out []decimal128.Num, values []P) error {
	for i, v := range values {
		n, ok := decimalOf(v)
		if !ok {
			return errDecode
		}
		out[i] = n
	}
	return nil
}

func decimalOf(b []byte) (decimal128.Num, bool) {
	for len(b) > 16 && (b[0] == 0 && b[1] < 128 || b[0] == 255 && b[1] > 127) {
		b = b[1:]
	}
	if len(b) > 16 {
		return decimal128.Num{}, false
	}
	if len(b) <= 8 {
		return decimal128.FromI64(signed(b)), true
	}
	low := len(b) - 8
	return decimal128.New(signed(b[:low]), binary.BigEndian.Uint64(b[low:])), true
}

// signed reads up to 8 bytes. Byte by byte: a copy of so few that is read as one number waits for itself.
func signed(b []byte) int64 {
	switch len(b) {
	case 0:
		return 0
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	n := int64(int8(b[0]))
	for _, more := range b[1:] {
		n = n<<8 | int64(more)
	}
	return n
}

// floatSink makes the sink of a column that a file keeps in single precision.
func floatSink(typ string, kind arrow.DataType) (sink[float32], error) {
	switch typ {
	case "float":
		return &fixedSink[float32, float32]{kind: kind, convert: copied[float32]}, nil
	case "double":
		return &fixedSink[float32, float64]{kind: kind, convert: func(out []float64, values []float32) error {
			for i, v := range values {
				out[i] = float64(v)
			}
			return nil
		}}, nil
	}
	return nil, errType
}

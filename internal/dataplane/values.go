package dataplane

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// values reads an array of a simple type. Nil members: the type has no such thing.
type values struct {
	bytes   func(i int) []byte // that differ where values do, good until the next call
	compare func(a, b int) int
	isNaN   func(i int) bool
}

// valuesOf gives what reads an array; nothing for a nested type.
func valuesOf(of arrow.Array) values {
	switch a := of.(type) {
	case *array.Boolean:
		return integers(func(i int) int64 {
			if a.Value(i) {
				return 1
			}
			return 0
		})
	case *array.Int32:
		return integers(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Int64:
		return integers(a.Value)
	case *array.Date32:
		return integers(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Time64:
		return integers(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Timestamp:
		return integers(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Float32:
		return floats(func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		return floats(a.Value)
	case *array.Decimal128:
		return decimals(a)
	case *array.String:
		return values{
			bytes:   func(i int) []byte { return []byte(a.Value(i)) },
			compare: func(x, y int) int { return strings.Compare(a.Value(x), a.Value(y)) },
		}
	case *array.Binary:
		return octets(a.Value)
	case *array.FixedSizeBinary:
		return octets(a.Value)
	case array.ExtensionArray:
		return valuesOf(a.Storage())
	}
	return values{}
}

func integers(at func(i int) int64) values {
	var buffer [8]byte
	return values{
		bytes: func(i int) []byte {
			binary.LittleEndian.PutUint64(buffer[:], uint64(at(i))) //nolint:gosec // the bits are what counts
			return buffer[:]
		},
		compare: func(x, y int) int { return cmp.Compare(at(x), at(y)) },
	}
}

func floats(at func(i int) float64) values {
	v := integers(func(i int) int64 { return int64(math.Float64bits(at(i))) }) //nolint:gosec // likewise
	v.compare = func(x, y int) int { return cmp.Compare(at(x), at(y)) }
	v.isNaN = func(i int) bool { return math.IsNaN(at(i)) }
	return v
}

func decimals(a *array.Decimal128) values {
	var buffer [16]byte
	return values{
		bytes: func(i int) []byte {
			n := a.Value(i)
			binary.LittleEndian.PutUint64(buffer[:8], n.LowBits())
			binary.LittleEndian.PutUint64(buffer[8:], uint64(n.HighBits())) //nolint:gosec // likewise
			return buffer[:]
		},
		compare: func(x, y int) int { return a.Value(x).Cmp(a.Value(y)) },
	}
}

func octets(at func(i int) []byte) values {
	return values{bytes: at, compare: func(x, y int) int { return bytes.Compare(at(x), at(y)) }}
}

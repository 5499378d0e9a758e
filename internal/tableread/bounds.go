package tableread

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// span is what the keys of the rows of a file, or of a part of one, lie in.
type span struct{ lower, upper []byte }

// isBelow tells whether all keys are below one.
func (s span) isBelow(key []byte) bool { return bytes.Compare(s.upper, key) < 0 }

// known is what is known of the values of a column in a file, or in a part of one. Bounds are as manifests write them.
type known struct {
	lower, upper []byte
	hasNull      bool // may have
	onlyNull     bool // certainly
	hasNaN       bool // may have
}

// spanOf puts together what is known of the order columns, in their order.
func spanOf(columns []columnPath, of func(columnPath) known) span {
	var s span
	low, high := true, true // no bound ended before all columns
	for _, c := range columns {
		k := of(c)
		if low {
			s.lower, low = appendLower(s.lower, c.leaf, k)
		}
		if high {
			s.upper, high = appendUpper(s.upper, c.leaf, k)
		}
	}
	return s
}

// appendLower appends the lowest value there may be; false when what follows in a key cannot be compared any more.
func appendLower(out []byte, f metadata.Field, k known) ([]byte, bool) {
	if k.hasNull {
		return append(out, keyNull), true
	}
	out = append(out, keyValue)
	if key, ok := boundKey(out, f, k.lower, false); ok {
		return key, true
	}
	return out, false
}

func appendUpper(out []byte, f metadata.Field, k known) ([]byte, bool) {
	if k.onlyNull {
		return append(out, keyNull), true
	}
	if !k.hasNaN {
		if key, ok := boundKey(append(out, keyValue), f, k.upper, true); ok {
			return key, true
		}
	}
	return append(out, keyAbove), false
}

// boundKey appends a bound as keys have values of the type; false when it is none that can be trusted.
func boundKey(out []byte, f metadata.Field, raw []byte, isUpper bool) ([]byte, bool) {
	switch {
	case raw == nil:
		return nil, false
	case f.Type == "string", f.Type == "binary":
		return appendText(out, raw), true
	case f.Type == "boolean":
		return appendBool(out, len(raw) > 0 && raw[0] != 0), len(raw) == 1
	case f.Type == "float", f.Type == "double":
		return floatBound(out, raw, isUpper)
	case f.Type == "uuid":
		return uuidBound(out, raw, isUpper)
	case strings.HasPrefix(f.Type, "decimal("):
		n, ok := decimalOf(raw)
		return appendHuge(out, n.HighBits(), n.LowBits()), ok && len(raw) > 0
	case strings.HasPrefix(f.Type, "fixed["):
		return nil, false
	}
	v, ok := longBound(f.Type, raw)
	return appendLong(out, v), ok
}

// longBound reads a bound of an integer, a date or a time. Files of before a promotion have that of the narrower type.
func longBound(typ string, raw []byte) (int64, bool) {
	switch len(raw) {
	case 8:
		return int64(binary.LittleEndian.Uint64(raw)), typ != "int" && typ != "date"
	case 4:
		v := int64(int32(binary.LittleEndian.Uint32(raw)))
		if units := unitsOf(typ); units > 0 {
			return scale(v, secondsPerDay*units, 1)
		}
		return v, true
	}
	return 0, false
}

// floatBound takes for 0 whichever zero is further out: writers differ in which they name.
func floatBound(out, raw []byte, isUpper bool) ([]byte, bool) {
	var v float64
	switch len(raw) {
	case 4:
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	case 8:
		v = math.Float64frombits(binary.LittleEndian.Uint64(raw))
	default:
		return nil, false
	}
	if v == 0 {
		v = 0
		if !isUpper {
			v = math.Copysign(0, -1)
		}
	}
	return appendDouble(out, v), v == v
}

// uuidBound trusts the first half of bounds that are below the sign: older writers ordered UUIDs as two signed numbers.
func uuidBound(out, raw []byte, isUpper bool) ([]byte, bool) {
	if len(raw) != 16 || raw[0] > 127 {
		return nil, false
	}
	out = append(out, raw[:8]...)
	for range 8 {
		if isUpper {
			out = append(out, 0xff)
		} else {
			out = append(out, 0)
		}
	}
	return out, true
}

// spanOfFile takes what a manifest says of a data file.
func spanOfFile(f *scan.DataFile, columns []columnPath) span {
	return spanOf(columns, func(c columnPath) known {
		id := c.leaf.ID
		k := known{lower: f.Lower[id], upper: f.Upper[id], hasNull: true, hasNaN: isFloating(c.leaf.Type)}
		if c.leaf.Type == "uuid" && (k.lower == nil || k.upper == nil || k.lower[0] > 127 || k.upper[0] > 127) {
			k.lower, k.upper = nil, nil
		}
		if nulls, ok := f.Nulls[id]; ok {
			values, counted := f.Values[id]
			k.hasNull, k.onlyNull = nulls != 0, counted && nulls == values && nulls == f.Records
		}
		if nans, ok := f.NaNs[id]; ok && nans == 0 {
			k.hasNaN = false
		}
		return k
	})
}

func isFloating(typ string) bool { return typ == "float" || typ == "double" }

// spanOfGroup takes what a file says of a row group.
func spanOfGroup(g *rowGroup, columns []columnPath, bindings []*binding) span {
	at := -1
	return spanOf(columns, func(c columnPath) known {
		at++
		k := known{hasNull: true, hasNaN: isFloating(c.leaf.Type)}
		b := bindings[at].descend(len(c.down))
		if b == nil {
			return k
		}
		described, err := g.footer.meta.RowGroup(g.index).ColumnChunk(b.node.column)
		if err != nil {
			return k
		}
		stats, err := described.Statistics()
		if err != nil || stats == nil {
			return k
		}
		if stats.HasNullCount() {
			k.hasNull, k.onlyNull = stats.NullCount() != 0, stats.NullCount() == g.numRows()
		}
		if stats.HasMinMax() && c.leaf.Type != "uuid" {
			lower, isLower := boundBytes(b.field, b.node, stats.EncodeMin())
			upper, isUpper := boundBytes(b.field, b.node, stats.EncodeMax())
			if isLower && isUpper {
				k.lower, k.upper = lower, upper
			}
		}
		return k
	})
}

// descend gives the leaf within so many structs, nil when the file lacks it.
func (b *binding) descend(structs int) *binding {
	for range structs {
		if b.node == nil || len(b.children) != 1 {
			return nil
		}
		b = b.children[0]
	}
	if b.node == nil || b.node.kind != leafNode {
		return nil
	}
	return b
}

// meets tells whether one of some keys, which are in order, lies in the span.
func (s span) meets(keys []string) bool {
	low, high := 0, len(keys)
	for low < high {
		if mid := (low + high) / 2; keys[mid] < string(s.lower) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low < len(keys) && keys[low] <= string(s.upper)
}

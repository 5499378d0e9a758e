package tableread

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/metadata"
)

type summary = expression.Summary

// summaryOf gives what the file says of a column in the row group.
func (g *rowGroup) summaryOf(t *testedColumn) summary {
	b := t.binding.descend(len(t.path.down))
	if b == nil {
		return expression.Unknown()
	}
	typ := expression.TypeNamed(b.field.Type)
	s := summary{HasNull: true, HasNaN: typ.IsFloat()}
	described, err := g.footer.meta.RowGroup(g.index).ColumnChunk(b.node.column)
	if err != nil {
		return s
	}
	stats, err := described.Statistics()
	if err != nil || stats == nil {
		return s
	}
	if stats.HasNullCount() {
		s.HasNull = stats.NullCount() > 0
		s.OnlyNull = stats.NullCount() == described.NumValues()
	}
	if stats.HasMinMax() {
		lower, isLower := boundBytes(b.field, b.node, stats.EncodeMin())
		upper, isUpper := boundBytes(b.field, b.node, stats.EncodeMax())
		if isLower && isUpper {
			s.SetBounds(typ.Bound(lower), typ.Bound(upper))
			// Bounds of texts may be cut.
			s.Exact = s.Exact && b.node.descr.PhysicalType() != parquet.Types.ByteArray
		}
	}
	return s
}

// boundBytes gives a bound of a column chunk as manifests write one of the table's type.
func boundBytes(f metadata.Field, n *node, raw []byte) ([]byte, bool) {
	descr := n.descr
	switch descr.PhysicalType() {
	case parquet.Types.Boolean, parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return raw, true
	case parquet.Types.Int32, parquet.Types.Int64:
		return integerBound(f, n, raw)
	case parquet.Types.Float:
		if len(raw) != 4 {
			return nil, false
		}
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		if f.Type == "double" {
			raw = binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
		}
		return raw, v == v
	case parquet.Types.Double:
		return raw, len(raw) == 8 && !math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	}
	return nil, false
}

func integerBound(f metadata.Field, n *node, raw []byte) ([]byte, bool) {
	var v int64
	switch len(raw) {
	case 4:
		v = int64(int32(binary.LittleEndian.Uint32(raw)))
	case 8:
		v = int64(binary.LittleEndian.Uint64(raw))
	default:
		return nil, false
	}
	switch {
	case isUnsigned(n.descr):
		return nil, false
	case strings.HasPrefix(f.Type, "decimal("):
		return binary.BigEndian.AppendUint64(nil, uint64(v)), true
	case f.Type == "int", f.Type == "date":
		return binary.LittleEndian.AppendUint32(nil, uint32(v)), v == int64(int32(v))
	case f.Type != "long":
		multiply, divide := scaleOf(f.Type, n.descr)
		if multiply == 0 {
			return nil, false
		}
		var ok bool
		if v, ok = scale(v, multiply, divide); !ok {
			return nil, false
		}
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(v)), true
}

package expression

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow/array"
)

type offset interface{ ~int32 | ~int64 }

// spans are byte strings one after the other.
type spans[O offset] struct {
	data    []byte
	offsets []O // one more than there are
}

func (s spans[O]) len() int { return len(s.offsets) - 1 }

func (s spans[O]) at(i int) []byte { return s.data[s.offsets[i]:s.offsets[i+1]] }

func fixedSpans(a *array.FixedSizeBinary) spans[int64] {
	width, from := int64(a.DataType().(interface{ Bytes() int }).Bytes()), int64(a.Data().Offset())
	out := spans[int64]{buffer(a, 1), make([]int64, a.Len()+1)}
	for i := range out.offsets {
		out.offsets[i] = (from + int64(i)) * width
	}
	return out
}

// textsOf tests texts and bytes, by their bytes.
func textsOf[O offset](values spans[O], base op, p *predicate, fits bool) (Bitmap, bool) {
	if !fits {
		return Bitmap{}, false
	}
	out := NewBitmap(values.len(), false)
	switch base {
	case opLess, opLessEqual:
		limit, most := []byte(p.values[0].(string)), 0
		if base == opLess {
			most = -1
		}
		for i := range values.len() {
			if bytes.Compare(values.at(i), limit) <= most {
				out.Add(i)
			}
		}
	case opStartsWith:
		prefix := []byte(p.values[0].(string))
		for i := range values.len() {
			if bytes.HasPrefix(values.at(i), prefix) {
				out.Add(i)
			}
		}
	case opIn:
		addTextsAmong(out, values, p.values)
	default:
		return Bitmap{}, false
	}
	return out, true
}

func addTextsAmong[O offset](out Bitmap, values spans[O], members []any) {
	if len(members) <= fewMembers {
		for _, m := range members {
			member := m.(string)
			for i := range values.len() {
				if string(values.at(i)) == member {
					out.Add(i)
				}
			}
		}
		return
	}
	set := make(map[string]struct{}, len(members))
	for _, m := range members {
		set[m.(string)] = struct{}{}
	}
	for i := range values.len() {
		if _, ok := set[string(values.at(i))]; ok {
			out.Add(i)
		}
	}
}

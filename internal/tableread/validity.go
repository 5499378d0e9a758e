package tableread

import (
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// validity collects which rows have a value. Nothing is kept until the first has none.
type validity struct {
	bits  []byte
	rows  int
	nulls int
}

// append adds rows; valid is nil when all of them have a value.
func (v *validity) append(rows int, valid []bool) {
	if valid == nil {
		v.fill(rows)
		return
	}
	for i, ok := range valid {
		if !ok {
			v.spread(rows)
			v.nulls++
			bitutil.ClearBit(v.bits, v.rows+i)
		}
	}
	v.fill(rows)
}

// spread makes bits for the rows so far and some more, all with a value.
func (v *validity) spread(more int) {
	need := int(bitutil.BytesForBits(int64(v.rows + more)))
	if len(v.bits) >= need {
		return
	}
	old := len(v.bits)
	v.bits = append(v.bits, make([]byte, need-old)...)
	for i := old; i < need; i++ {
		v.bits[i] = 0xff
	}
}

// fill counts rows, which have a value unless they were cleared.
func (v *validity) fill(rows int) {
	if v.nulls > 0 {
		v.spread(rows)
	}
	v.rows += rows
}

// take gives the bits and how many are not set, and starts anew.
func (v *validity) take() (bits *memory.Buffer, nulls int) {
	nulls = v.nulls
	if nulls > 0 {
		bits = memory.NewBufferBytes(v.bits)
	}
	*v = validity{}
	return bits, nulls
}

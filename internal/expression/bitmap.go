package expression

import (
	"iter"
	"math/bits"
)

// Bitmap is a set of rows of a batch.
type Bitmap struct {
	words []uint64 // bits beyond rows are zero
	rows  int
}

// NewBitmap makes a set of none or all of a number of rows.
func NewBitmap(rows int, all bool) Bitmap {
	b := Bitmap{words: make([]uint64, (rows+63)/64), rows: rows}
	if all {
		for i := range b.words {
			b.words[i] = ^uint64(0)
		}
		b.trim()
	}
	return b
}

// trim clears the bits beyond the last row.
func (b Bitmap) trim() {
	if rest := b.rows % 64; rest > 0 {
		b.words[len(b.words)-1] &= 1<<rest - 1
	}
}

// Len is the number of rows, in the set or not.
func (b Bitmap) Len() int { return b.rows }

// Has tells whether a row is in the set.
func (b Bitmap) Has(row int) bool { return b.words[row/64]&(1<<(row%64)) != 0 }

// Add puts a row into the set.
func (b Bitmap) Add(row int) { b.words[row/64] |= 1 << (row % 64) }

// Remove takes a row out of the set.
func (b Bitmap) Remove(row int) { b.words[row/64] &^= 1 << (row % 64) }

// Count gives the number of rows in the set.
func (b Bitmap) Count() int {
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All tells whether every row is in the set.
func (b Bitmap) All() bool { return b.Count() == b.rows }

// None tells whether no row is in the set.
func (b Bitmap) None() bool {
	for _, w := range b.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// And keeps the rows that are in the other set of as many rows too.
func (b Bitmap) And(other Bitmap) {
	for i, w := range other.words {
		b.words[i] &= w
	}
}

// Or adds the rows of the other set of as many rows.
func (b Bitmap) Or(other Bitmap) {
	for i, w := range other.words {
		b.words[i] |= w
	}
}

// Rows gives the rows in the set, in order.
func (b Bitmap) Rows() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b.words {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// invert takes the rows that are not in the set.
func (b Bitmap) invert() {
	for i := range b.words {
		b.words[i] = ^b.words[i]
	}
	b.trim()
}

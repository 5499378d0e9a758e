package reconcile

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
)

// key stands for the values of a row in the columns of an equality delete, and for whatever else is told apart by a hash. Its
// seeds are the process's, so that nobody can aim for a collision, and by chance there is none.
type key struct{ hi, lo uint64 }

func compareKeys(a, b key) int {
	if a.hi != b.hi {
		return cmp.Compare(a.hi, b.hi)
	}
	return cmp.Compare(a.lo, b.lo)
}

// plus and minus make sums of keys, which do not depend on the order.
func (k key) plus(o key) key  { return key{k.hi + o.hi, k.lo + o.lo} }
func (k key) minus(o key) key { return key{k.hi - o.hi, k.lo - o.lo} }

type hasher struct{ hi, lo maphash.Seed }

func newHasher() hasher { return hasher{maphash.MakeSeed(), maphash.MakeSeed()} }

func (h hasher) sum(b []byte) key { return key{maphash.Bytes(h.hi, b), maphash.Bytes(h.lo, b)} }

// bitset is a set of row numbers. It grows with what is put in.
type bitset []uint64

func (b *bitset) add(row int64) {
	at := int(row >> 6)
	if at >= len(*b) {
		*b = append(*b, make([]uint64, at+1-len(*b))...)
	}
	(*b)[at] |= 1 << (row & 63)
}

func (b bitset) has(row int64) bool {
	at := int(row >> 6)
	return at < len(b) && b[at]&(1<<(row&63)) != 0
}

// rowKeys are the keys of a data file's rows that no delete removed yet, sorted, and which of them one did since. They
// are shared and never changed.
type rowKeys struct {
	columns string // text of the columnSet
	sorted  []key
	dead    bitset // by place in sorted
	gone    int    // how many are dead
}

// keyBytes is what a remembered row takes in memory.
const keyBytes = 16

func (k *rowKeys) bytes() int64 {
	if k == nil {
		return 0
	}
	return int64(len(k.sorted))*keyBytes + int64(len(k.dead))*8
}

// without gives the keys with those removed that a delete has, and how many rows had them. isDeleted is asked about keys, and
// deleted gives all that there are to ask about, some in number; the cheaper way is taken.
func (k *rowKeys) without(some int, deleted func(yield func(key) bool), isDeleted func(key) bool) (*rowKeys, int64) {
	left := &rowKeys{columns: k.columns, sorted: k.sorted, dead: slices.Clone(k.dead), gone: k.gone}
	remove := func(at int) {
		if !left.dead.has(int64(at)) {
			left.dead.add(int64(at))
			left.gone++
		}
	}
	const lookup = 8 // about what finding one key costs, in keys read one after the other
	if some > len(k.sorted)/lookup {
		for at, one := range k.sorted {
			if isDeleted(one) {
				remove(at)
			}
		}
	} else {
		deleted(func(one key) bool {
			for at := k.find(one); at < len(k.sorted) && k.sorted[at] == one; at++ {
				remove(at)
			}
			return true
		})
	}
	removed := int64(left.gone - k.gone)
	if left.gone > len(left.sorted)/2 {
		left.compact()
	}
	return left, removed
}

// find gives the first place of a key, or where it would be. Hashes are spread evenly, so that it is looked for near the
// place that its value has among all.
func (k *rowKeys) find(one key) int {
	guess, _ := bits.Mul64(one.hi, uint64(len(k.sorted)))
	first, last := int(guess), int(guess)
	for step := 16; first > 0 && compareKeys(k.sorted[first-1], one) >= 0; step *= 2 {
		first = max(first-step, 0)
	}
	for step := 16; last < len(k.sorted) && compareKeys(k.sorted[last], one) < 0; step *= 2 {
		last = min(last+step, len(k.sorted))
	}
	at, _ := slices.BinarySearchFunc(k.sorted[first:last], one, compareKeys)
	return first + at
}

// compact drops the dead keys.
func (k *rowKeys) compact() {
	sorted := make([]key, 0, len(k.sorted)-k.gone)
	for at, one := range k.sorted {
		if !k.dead.has(int64(at)) {
			sorted = append(sorted, one)
		}
	}
	k.sorted, k.dead, k.gone = sorted, nil, 0
}

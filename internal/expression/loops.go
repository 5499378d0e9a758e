package expression

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// fewMembers is how many members of a set are looked for one after the other: of more, each value is looked up.
const fewMembers = 8

type number interface {
	~int32 | ~int64 | ~float32 | ~float64
}

// numbersOf tests values as the wider type W, of which the predicate's literals are. NaN is below nothing, and so above
// everything once inverted. The loops are written out: a function called for each value would cost more than the
// comparison.
func numbersOf[S, W number](values []S, base op, p *predicate, fits bool) (Bitmap, bool) {
	if !fits {
		return Bitmap{}, false
	}
	literals := make([]W, len(p.values))
	for i, v := range p.values {
		literals[i] = v.(W)
	}
	switch base {
	case opIsNaN:
		return notANumber(values), true
	case opLess:
		return below(values, literals[0]), true
	case opLessEqual:
		return upTo(values, literals[0]), true
	case opIn:
		return among(values, literals), true
	}
	return Bitmap{}, false
}

func below[S, W number](values []S, limit W) Bitmap {
	out := NewBitmap(len(values), false)
	for at := range out.words {
		var word uint64
		for i, v := range values[at*64 : min(at*64+64, len(values))] {
			var bit uint64
			if W(v) < limit {
				bit = 1
			}
			word |= bit << (i & 63)
		}
		out.words[at] = word
	}
	return out
}

func upTo[S, W number](values []S, limit W) Bitmap {
	out := NewBitmap(len(values), false)
	for at := range out.words {
		var word uint64
		for i, v := range values[at*64 : min(at*64+64, len(values))] {
			var bit uint64
			if W(v) <= limit {
				bit = 1
			}
			word |= bit << (i & 63)
		}
		out.words[at] = word
	}
	return out
}

func notANumber[S number](values []S) Bitmap {
	out := NewBitmap(len(values), false)
	for i, v := range values {
		if v != v { //nolint:gocritic,staticcheck // only NaN is
			out.Add(i)
		}
	}
	return out
}

func among[S, W number](values []S, members []W) Bitmap {
	out := NewBitmap(len(values), false)
	if len(members) <= fewMembers {
		for _, m := range members {
			addEqual(out, values, m)
		}
		return out
	}
	set := make(map[W]struct{}, len(members))
	for _, m := range members {
		set[m] = struct{}{}
	}
	for i, v := range values {
		if _, ok := set[W(v)]; ok {
			out.Add(i)
		}
	}
	return out
}

func addEqual[S, W number](out Bitmap, values []S, member W) {
	for at := range out.words {
		word := out.words[at]
		for i, v := range values[at*64 : min(at*64+64, len(values))] {
			var bit uint64
			if W(v) == member {
				bit = 1
			}
			word |= bit << (i & 63)
		}
		out.words[at] = word
	}
}

// booleans tests false and true once, and picks.
func (p *predicate) booleans(a *array.Boolean, base op) Bitmap {
	out := bitmapOf(a.Data().Buffers()[1].Bytes(), a.Data().Offset(), a.Len())
	ofFalse, ofTrue := p.passes(base, false), p.passes(base, true)
	switch {
	case ofFalse == ofTrue:
		return NewBitmap(a.Len(), ofTrue)
	case ofFalse:
		out.invert()
	}
	return out
}

// decimals tests unscaled values: the literals are scaled once, to the whole numbers around them.
func (p *predicate) decimals(a *array.Decimal128, base op) Bitmap {
	values := a.Values()
	scale := int(a.DataType().(interface{ GetScale() int32 }).GetScale())
	if base == opIn {
		return decimalsAmong(values, p.values, scale)
	}
	low, exact := scaled(p.values[0].(*big.Rat), scale)
	if base == opLess && exact {
		low.Sub(low, big.NewInt(1))
	}
	if low.BitLen() > 127 { // beyond what there can be
		return NewBitmap(len(values), low.Sign() > 0)
	}
	limit := decimal128.FromBigInt(low)
	out := NewBitmap(len(values), false)
	for i, v := range values {
		if v.LessEqual(limit) {
			out.Add(i)
		}
	}
	return out
}

func decimalsAmong(values []decimal128.Num, members []any, scale int) Bitmap {
	out := NewBitmap(len(values), false)
	set := make(map[decimal128.Num]struct{}, len(members))
	for _, m := range members {
		if n, exact := scaled(m.(*big.Rat), scale); exact && n.BitLen() <= 127 {
			set[decimal128.FromBigInt(n)] = struct{}{}
		}
	}
	for i, v := range values {
		if _, ok := set[v]; ok {
			out.Add(i)
		}
	}
	return out
}

// scaled gives a number as a count of the scale's smallest unit, rounded down.
func scaled(r *big.Rat, scale int) (low *big.Int, exact bool) {
	num := new(big.Int).Mul(r.Num(), pow10(scale))
	low, rest := num.DivMod(num, r.Denom(), new(big.Int)) // the denominator is positive, so that it rounds down
	return low, rest.Sign() == 0
}

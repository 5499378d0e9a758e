package masking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	hashPrefix = "hmac:"
	hashBytes  = 16 // of an HMAC that are shown
	// memoTrial is after how many values it is seen whether remembering hashes pays: where fewer than half of them were
	// met again it does not.
	memoTrial = 1024
)

// texter writes the text of values as answers have them.
type texter func(arrow.Array) (write func(to []byte, i int) []byte, ok bool)

// hasher shows values as hashes of their text.
type hasher struct {
	key, prefix []byte
	canonical   texter
}

func (h hasher) apply(in arrow.Array) (arrow.Array, error) {
	write, ok := h.canonical(in)
	if !ok {
		return nil, fault.New(fault.Internal, "what is to be hashed is held as %T", in)
	}
	mac := hmac.New(sha256.New, h.key)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(in.Len())
	b.ReserveData(in.Len() * (len(hashPrefix) + 2*hashBytes))
	memo := map[string]string{}
	var text, out, sum []byte
	seen, met := 0, 0
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		text = write(text[:0], i)
		if known, ok := memo[string(text)]; ok {
			met++
			seen++
			b.Append(known)
			continue
		}
		mac.Reset()
		_, _ = mac.Write(h.prefix)
		_, _ = mac.Write(text)
		sum = mac.Sum(sum[:0])
		out = hex.AppendEncode(append(out[:0], hashPrefix...), sum[:hashBytes])
		b.BinaryBuilder.Append(out)
		if seen++; seen < memoTrial || met > seen/2 {
			memo[string(text)] = string(out)
		}
	}
	return b.NewArray(), nil
}

// canonicalText gives how the values of a type are written to be hashed, nil for a type that is not.
func canonicalText(t arrow.DataType) texter {
	switch t := t.(type) {
	case *arrow.StringType:
		return texts(func(to []byte, v string) []byte { return append(to, v...) })
	case *arrow.Int32Type:
		return texts(func(to []byte, v int32) []byte { return strconv.AppendInt(to, int64(v), 10) })
	case *arrow.Int64Type:
		return texts(func(to []byte, v int64) []byte { return strconv.AppendInt(to, v, 10) })
	case *arrow.Decimal128Type:
		return func(in arrow.Array) (func([]byte, int) []byte, bool) {
			values, ok := in.(*array.Decimal128)
			return func(to []byte, i int) []byte { return append(to, values.Value(i).ToString(t.Scale)...) }, ok
		}
	case *arrow.Date32Type:
		return texts(func(to []byte, v arrow.Date32) []byte { return v.ToTime().AppendFormat(to, "2006-01-02") })
	case *arrow.BinaryType, *arrow.FixedSizeBinaryType:
		return texts(base64.StdEncoding.AppendEncode)
	case *extensions.UUIDType:
		return func(in arrow.Array) (func([]byte, int) []byte, bool) {
			values, ok := in.(*extensions.UUIDArray)
			return func(to []byte, i int) []byte { return append(to, values.Value(i).String()...) }, ok
		}
	}
	return nil
}

func texts[T any](write func([]byte, T) []byte) texter {
	return func(in arrow.Array) (func([]byte, int) []byte, bool) {
		values, ok := in.(numbers[T])
		return func(to []byte, i int) []byte { return write(to, values.Value(i)) }, ok
	}
}

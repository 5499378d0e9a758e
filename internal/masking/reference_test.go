package masking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
)

// reference says in texts, one value at a time and in another way than the package, what is shown of a value; NULL is nil.
func reference(t *testing.T, m policy.Mask, column arrow.Array, i int, path string) any {
	t.Helper()
	text, isText := column.(*array.String)
	if m.Kind == policy.MaskRedact && isText {
		return "***"
	}
	if m.Kind == policy.MaskNull || m.Kind == policy.MaskRedact || column.IsNull(i) {
		return nil
	}
	switch m.Kind {
	case policy.MaskPartial:
		if isText {
			return slowPartial(m.Tag, text.Value(i))
		}
	case policy.MaskTruncate:
		return slowTruncate(t, m.Tag, column, i)
	case policy.MaskHash:
		if text, ok := slowText(column, i); ok {
			name := m.Tag
			if name == "" {
				name = path
			}
			mac := hmac.New(sha256.New, testKey())
			fmt.Fprintf(mac, "%s\x00%s", name, text)
			return "hmac:" + hex.EncodeToString(mac.Sum(nil))[:32]
		}
	}
	return nil
}

func slowPartial(tag, v string) string {
	runes := []rune(v)
	if tag == policy.TagEmail {
		at := strings.LastIndex(v, "@")
		if at < 1 {
			return "***"
		}
		return string(runes[0]) + "***" + v[at:]
	}
	if len(runes) < 8 {
		return "***"
	}
	return "***" + string(runes[len(runes)-4:])
}

func slowTruncate(t *testing.T, tag string, column arrow.Array, i int) any {
	t.Helper()
	switch a := column.(type) {
	case *array.String:
		if tag == policy.TagIP {
			if addr, err := netip.ParseAddr(a.Value(i)); err == nil {
				if addr = addr.Unmap(); addr.Is4() {
					b := addr.As4()
					return fmt.Sprintf("%d.%d.0.0", b[0], b[1])
				}
				b := addr.As16()
				clear(b[4:])
				return netip.AddrFrom16(b).String()
			}
		}
		runes := []rune(a.Value(i))
		return string(runes[:min(3, len(runes))]) + "***"
	case *array.Int32:
		return slowLeading(fmt.Sprint(a.Value(i)))
	case *array.Int64:
		return slowLeading(fmt.Sprint(a.Value(i)))
	case *array.Decimal128:
		of, ok := column.DataType().(*arrow.Decimal128Type)
		require.True(t, ok)
		unscaled, ok := new(big.Int).SetString(slowLeading(a.Value(i).BigInt().String()), 10)
		require.True(t, ok)
		f := new(big.Rat).SetFrac(unscaled, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Scale)), nil))
		return f.FloatString(int(of.Scale))
	case *array.Float32:
		return slowFloat(t, float64(a.Value(i)), 32)
	case *array.Float64:
		return slowFloat(t, a.Value(i), 64)
	case *array.Date32:
		return fmt.Sprintf("%04d-01-01", a.Value(i).ToTime().Year())
	case *array.Timestamp:
		of, ok := column.DataType().(*arrow.TimestampType)
		require.True(t, ok)
		return fmt.Sprintf("%04d-01-01T00:00:00", a.Value(i).ToTime(of.Unit).Year())
	}
	return nil
}

// slowLeading puts 0 in the place of all digits but two.
func slowLeading(number string) string {
	out, digits := "", 0
	for _, c := range number {
		if c >= '0' && c <= '9' {
			if digits++; digits > 2 {
				c = '0'
			}
		}
		out += string(c)
	}
	return out
}

func slowFloat(t *testing.T, f float64, bits int) any {
	t.Helper()
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	var text string
	if bits == 32 {
		text = fmt.Sprint(float32(f))
	} else {
		text = fmt.Sprint(f)
	}
	exact, ok := new(big.Rat).SetString(text)
	require.True(t, ok, text)
	// The power of ten that leaves two digits before the point.
	ten, scale := big.NewRat(10, 1), big.NewRat(1, 1)
	abs := new(big.Rat).Abs(exact)
	for abs.Cmp(big.NewRat(100, 1)) >= 0 {
		abs.Quo(abs, ten)
		scale.Mul(scale, ten)
	}
	for abs.Cmp(ten) < 0 {
		abs.Mul(abs, ten)
		scale.Quo(scale, ten)
	}
	whole := new(big.Int).Quo(abs.Num(), abs.Denom())
	cut := new(big.Rat).Mul(new(big.Rat).SetInt(whole), scale)
	if f < 0 {
		cut.Neg(cut)
	}
	if bits == 32 {
		v, _ := cut.Float32()
		return fmt.Sprint(v)
	}
	v, _ := cut.Float64()
	return fmt.Sprint(v)
}

// slowText is the text of a value as answers have it, for the types that are hashed.
func slowText(column arrow.Array, i int) (string, bool) {
	switch a := column.(type) {
	case *array.String:
		return a.Value(i), true
	case *array.Int32, *array.Int64, *extensions.UUIDArray:
		return a.ValueStr(i), true
	case *array.Decimal128:
		of, _ := column.DataType().(*arrow.Decimal128Type)
		return a.Value(i).ToString(of.Scale), true
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly), true
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(a.Value(i)), true
	case *array.FixedSizeBinary:
		return base64.StdEncoding.EncodeToString(a.Value(i)), true
	}
	return "", false
}

// shown is what an answer has of a value, in texts that the reference writes too.
func shown(column arrow.Array, i int) any {
	if column.IsNull(i) {
		return nil
	}
	switch a := column.(type) {
	case *array.String:
		return a.Value(i)
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Timestamp:
		of, _ := column.DataType().(*arrow.TimestampType)
		return a.Value(i).ToTime(of.Unit).Format("2006-01-02T15:04:05.999999999")
	case *array.Float32:
		return fmt.Sprint(a.Value(i))
	case *array.Float64:
		return fmt.Sprint(a.Value(i))
	case *array.Decimal128:
		of, _ := column.DataType().(*arrow.Decimal128Type)
		return a.Value(i).ToString(of.Scale)
	}
	return column.ValueStr(i)
}

func testKey() []byte { return []byte(strings.Repeat("k", 32)) }

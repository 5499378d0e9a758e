package tableio

import (
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"
)

func TestBoundsOfTexts(t *testing.T) {
	const last = "\U0010FFFF"
	for name, c := range map[string]struct{ text, low, high string }{
		"empty":                        {"", "", ""},
		"short":                        {"orders", "orders", "orders"},
		"as long as a bound":           {"0123456789abcdef", "0123456789abcdef", "0123456789abcdef"},
		"longer":                       {"0123456789abcdefg", "0123456789abcdef", "0123456789abcdeg"},
		"characters and not bytes":     {strings.Repeat("ü", 17), strings.Repeat("ü", 16), strings.Repeat("ü", 15) + "ý"},
		"the last character is raised": {"0123456789abcde" + last + "z", "0123456789abcde" + last, "0123456789abcdf"},
		"before the surrogates":        {"0123456789abcde\uD7FFz", "0123456789abcde\uD7FF", "0123456789abcde\uE000"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.low, cut(c.text, 16))
			high, ok := cutUp(c.text, 16)
			require.True(t, ok)
			require.Equal(t, c.high, high)
			require.GreaterOrEqual(t, high, c.text)
			require.LessOrEqual(t, c.low, c.text)
		})
	}
	_, ok := cutUp(strings.Repeat(last, 17), 16)
	require.False(t, ok, "nothing is greater")
}

func TestBoundsOfBytes(t *testing.T) {
	require.Equal(t, []byte{1, 3}, raised([]byte{1, 2}))
	require.Equal(t, []byte{2}, raised([]byte{1, 0xff, 0xff}))
	require.Nil(t, raised([]byte{0xff, 0xff}))
}

// The digits of a decimal are as short as can be, and read back.
func FuzzUnscaled(f *testing.F) {
	f.Add(int64(0), uint64(0))
	f.Add(int64(0), uint64(127))
	f.Add(int64(0), uint64(128))
	f.Add(int64(-1), ^uint64(0))
	f.Add(int64(-1), ^uint64(127))
	f.Add(int64(-1), ^uint64(128))
	f.Fuzz(func(t *testing.T, high int64, low uint64) {
		n := decimal128.New(high, low)
		raw := unscaled(n)
		require.Equal(t, n, decimalOf(string(raw)))
		// One byte less would not do: the sign needs a bit.
		if most := new(big.Int).Lsh(big.NewInt(1), uint(8*(len(raw)-1))); len(raw) > 1 {
			half := new(big.Int).Rsh(most, 1)
			require.False(t, n.BigInt().Cmp(half) < 0 && n.BigInt().Cmp(new(big.Int).Neg(half)) >= 0)
		}
	})
}

package rows

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// number is an exact decimal: ±digits·10^exponent, with neither leading nor trailing zeros in digits; zero has none.
type number struct {
	negative bool
	digits   []byte
	exponent int
}

// farExponent stands for exponents beyond anything that a column can hold.
const farExponent = 1 << 20

// parseNumber reads a number as JSON writes it. The digits are kept in room when they fit.
func parseNumber(s []byte, room []byte) (n number, ok bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		n.negative = true
		i++
	}
	n.digits = room[:0]
	whole := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		n.digits = append(n.digits, s[i])
	}
	if i == whole {
		return n, false
	}
	if i < len(s) && s[i] == '.' {
		point := i + 1
		for i = point; i < len(s) && isDigit(s[i]); i++ {
			n.digits = append(n.digits, s[i])
			n.exponent--
		}
		if i == point {
			return n, false
		}
	}
	exponent, rest, ok := parseExponent(s[i:])
	if !ok || len(rest) > 0 {
		return n, false
	}
	n.exponent += exponent
	n.normalise()
	return n, true
}

// parseExponent reads what may follow the digits of a number.
func parseExponent(s []byte) (exponent int, rest []byte, ok bool) {
	if len(s) == 0 || (s[0] != 'e' && s[0] != 'E') {
		return 0, s, true
	}
	i, sign := 1, 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		if s[i] == '-' {
			sign = -1
		}
		i++
	}
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		exponent = min(exponent*10+int(s[i]-'0'), farExponent)
	}
	return sign * exponent, s[i:], i > start
}

func (n *number) normalise() {
	for len(n.digits) > 0 && n.digits[0] == '0' {
		n.digits = n.digits[1:]
	}
	for len(n.digits) > 0 && n.digits[len(n.digits)-1] == '0' {
		n.digits = n.digits[:len(n.digits)-1]
		n.exponent++
	}
	if len(n.digits) == 0 {
		n.exponent = 0
	}
}

// integer gives the number in units of 10^-scale where it is whole and has at most precision digits. The message says
// why it is not.
func (n number) integer(precision, scale int) (v decimal128.Num, message string) {
	shift := n.exponent + scale
	if shift < 0 {
		return v, tooFine(scale)
	}
	if len(n.digits) > 0 && len(n.digits)+shift > precision {
		return v, "has more digits than the column can hold: at most " + strconv.Itoa(precision-scale) + " before the point"
	}
	var hi, lo uint64
	for _, d := range n.digits {
		hi, lo = timesTen(hi, lo, uint64(d-'0'))
	}
	if len(n.digits) > 0 {
		for range shift {
			hi, lo = timesTen(hi, lo, 0)
		}
	}
	v = decimal128.New(int64(hi), lo)
	if n.negative {
		v = v.Negate()
	}
	return v, ""
}

func tooFine(scale int) string {
	if scale == 0 {
		return "has a fraction, and the column takes none"
	}
	return "is finer than the column can hold: it takes " + strconv.Itoa(scale) + " digits after the point"
}

// timesTen gives 10·(hi,lo)+digit. It does not overflow below 39 digits.
func timesTen(hi, lo, digit uint64) (uint64, uint64) {
	carry, low := bits.Mul64(lo, 10)
	low, over := bits.Add64(low, digit, 0)
	return hi*10 + carry + over, low
}

// parseInteger reads a whole number of 32 or 64 bits, such as 12, -7, 1e3 or 5.0.
func parseInteger(s []byte, size int) (v int64, message string) {
	const plain = 18 // digits that always fit
	start := 0
	if len(s) > 0 && s[0] == '-' {
		start = 1
	}
	if len(s)-start > plain || !allDigits(s[start:]) {
		return parseOddInteger(s, size)
	}
	for _, d := range s[start:] {
		v = v*10 + int64(d-'0')
	}
	if start == 1 {
		v = -v
	}
	if size == 32 && (v < math.MinInt32 || v > math.MaxInt32) {
		return 0, outside(size)
	}
	return v, ""
}

func parseOddInteger(s []byte, size int) (int64, string) {
	const most = 19
	var room [64]byte
	n, ok := parseNumber(s, room[:0])
	if !ok {
		return 0, "is no whole number"
	}
	if n.exponent < 0 {
		return 0, tooFine(0)
	}
	wide, message := n.integer(most, 0)
	if message != "" {
		return 0, outside(size)
	}
	v := int64(wide.LowBits())
	if (v < 0) != (wide.HighBits() < 0) || (size == 32 && (v < math.MinInt32 || v > math.MaxInt32)) {
		return 0, outside(size)
	}
	return v, ""
}

func outside(size int) string {
	if size == 32 {
		return "is outside of what an int can hold: from -2147483648 to 2147483647"
	}
	return "is outside of what a long can hold: from -9223372036854775808 to 9223372036854775807"
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return len(s) > 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// appendDecimal writes an integer in units of 10^-scale with all digits of the scale.
func appendDecimal(dst []byte, v decimal128.Num, scale int) []byte {
	if v.Sign() < 0 {
		dst = append(dst, '-')
		v = v.Negate()
	}
	const chunk = 1e19
	var digits [60]byte
	text := digits[:0]
	hi, lo := uint64(v.HighBits()), v.LowBits()
	if hi == 0 {
		text = strconv.AppendUint(text, lo, 10)
	} else {
		most, low := bits.Div64(hi, lo, chunk) // hi has 63 bits, which are less than chunk
		text = strconv.AppendUint(text, most, 10)
		text = appendChunk(text, low)
	}
	start := len(dst)
	for range scale + 1 - len(text) {
		dst = append(dst, '0')
	}
	dst = append(dst, text...)
	if scale == 0 {
		return dst
	}
	point := max(len(dst)-scale, start+1)
	dst = append(dst, 0)
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

func appendChunk(dst []byte, v uint64) []byte {
	const width = 19
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], v, 10)
	for range width - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

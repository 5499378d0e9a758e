package rows

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	secondsOfDay = 24 * 60 * 60
	daysOfEra    = 146097 // 400 years
	epochOfEra   = 719468 // days from 0000-03-01 to 1970-01-01
)

// unitDigits gives how many digits after the second a unit has.
func unitDigits(unit arrow.TimeUnit) int {
	switch unit {
	case arrow.Second:
		return 0
	case arrow.Millisecond:
		return 3
	case arrow.Microsecond:
		return 6
	}
	return 9
}

func power10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// floorDiv divides towards minus infinity; the rest is never negative.
func floorDiv(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}

// civil gives year, month and day of a day counted from 1970-01-01, of the proleptic Gregorian calendar.
func civil(day int64) (year, month, dayOfMonth int64) {
	era, inEra := floorDiv(day+epochOfEra, daysOfEra)
	yearOfEra := (inEra - inEra/1460 + inEra/36524 - inEra/146096) / 365
	dayOfYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100) // from the first of March
	shifted := (5*dayOfYear + 2) / 153
	month = shifted + 3
	if month > 12 {
		month -= 12
	}
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, dayOfYear - (153*shifted+2)/5 + 1
}

// dayOf is the inverse of civil.
func dayOf(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era, yearOfEra := floorDiv(year, 400)
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*daysOfEra + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - epochOfEra
}

func daysOfMonth(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func appendPadded(dst []byte, v int64, width int) []byte {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], v, 10)
	for range width - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

// appendDate writes a day as 2026-01-31, with a sign where the year has not four digits.
func appendDate(dst []byte, day int64) []byte {
	year, month, dayOfMonth := civil(day)
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	} else if year > 9999 {
		dst = append(dst, '+')
	}
	dst = append(appendPadded(dst, year, 4), '-')
	dst = append(appendPadded(dst, month, 2), '-')
	return appendPadded(dst, dayOfMonth, 2)
}

// appendClock writes a time of day that is counted in units of so many digits after the second.
func appendClock(dst []byte, v int64, digits int) []byte {
	seconds, fraction := floorDiv(v, power10(digits))
	dst = append(appendPadded(dst, seconds/3600, 2), ':')
	dst = append(appendPadded(dst, seconds/60%60, 2), ':')
	dst = appendPadded(dst, seconds%60, 2)
	if digits > 0 {
		dst = appendPadded(append(dst, '.'), fraction, digits)
	}
	return dst
}

// appendMoment writes a moment that is counted from 1970 in units of so many digits after the second.
func appendMoment(dst []byte, v int64, digits int) []byte {
	day, rest := floorDiv(v, secondsOfDay*power10(digits))
	return appendClock(append(appendDate(dst, day), 'T'), rest, digits)
}

// parseDate reads 2026-01-31, also with a sign and up to seven digits of the year. The message says what is wrong.
func parseDate(s string) (day int64, message string) {
	day, rest, ok := cutDate(s)
	if !ok || rest != "" {
		return 0, "is no date as 2026-01-31"
	}
	if day < math.MinInt32 || day > math.MaxInt32 {
		return 0, "is a date outside of what the column can hold"
	}
	return day, ""
}

// parseClock reads 12:34:56.123456 in units of so many digits after the second.
func parseClock(s string, digits int) (v int64, message string) {
	v, rest, message := cutClock(s, digits)
	if message == "" && rest != "" {
		message = clockForm
	}
	return v, message
}

const clockForm = "is no time as 12:34:56.123456"

// parseMoment reads 2026-01-31T12:34:56.123456, with a zone where the column is of instants and without elsewhere.
func parseMoment(s string, digits int, zoned bool) (v int64, message string) {
	form := "is no timestamp as 2026-01-31T12:34:56.123456"
	if zoned {
		form = "is no timestamp as 2026-01-31T12:34:56.123456Z"
	}
	day, rest, ok := cutDate(s)
	if !ok || len(rest) == 0 || (rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ') {
		return 0, form
	}
	clock, rest, message := cutClock(rest[1:], digits)
	if message == clockForm {
		return 0, form
	} else if message != "" {
		return 0, message
	}
	offset, hasZone, ok := parseZone(rest)
	switch {
	case !ok:
		return 0, form
	case zoned && !hasZone:
		return 0, "has no time zone, and the column is of instants: add Z or an offset such as +02:00"
	case !zoned && hasZone:
		return 0, "has a time zone, and the column has none: leave it out"
	}
	unit := power10(digits)
	v, ok = sum(day, secondsOfDay*unit, clock-offset*unit)
	if !ok {
		return 0, "is a timestamp outside of what the column can hold"
	}
	return v, ""
}

// sum gives a*b+c, false where that is more than an int64 holds. b is positive.
func sum(a, b, c int64) (int64, bool) {
	if a < 0 { // so that the day before the first whole day can be had
		a, c = a+1, c-b
	}
	if a > math.MaxInt64/b || a < math.MinInt64/b {
		return 0, false
	}
	product := a * b
	if (c > 0 && product > math.MaxInt64-c) || (c < 0 && product < math.MinInt64-c) {
		return 0, false
	}
	return product + c, true
}

func cutDate(s string) (day int64, rest string, ok bool) {
	sign, text := int64(1), s
	most := 4
	if s != "" && (s[0] == '-' || s[0] == '+') {
		most = 7
		if s[0] == '-' {
			sign = -1
		}
		text = s[1:]
	}
	year, text, n := cutDigits(text, most)
	if n < 4 || !startsWith(text, '-') {
		return 0, "", false
	}
	month, text, n := cutDigits(text[1:], 2)
	if n != 2 || month < 1 || month > 12 || !startsWith(text, '-') {
		return 0, "", false
	}
	dayOfMonth, text, n := cutDigits(text[1:], 2)
	year *= sign
	if n != 2 || dayOfMonth < 1 || dayOfMonth > daysOfMonth(year, month) {
		return 0, "", false
	}
	return dayOf(year, month, dayOfMonth), text, true
}

func cutClock(s string, digits int) (v int64, rest, message string) {
	hour, s, n := cutDigits(s, 2)
	if n != 2 || hour > 23 || !startsWith(s, ':') {
		return 0, "", clockForm
	}
	minute, s, n := cutDigits(s[1:], 2)
	if n != 2 || minute > 59 || !startsWith(s, ':') {
		return 0, "", clockForm
	}
	second, s, n := cutDigits(s[1:], 2)
	if n != 2 || second > 59 {
		return 0, "", clockForm
	}
	fraction, s, message := cutFraction(s, digits)
	return ((hour*60+minute)*60+second)*power10(digits) + fraction, s, message
}

// cutFraction reads what may follow the second, in units of so many digits.
func cutFraction(s string, digits int) (v int64, rest, message string) {
	if !startsWith(s, '.') {
		return 0, s, ""
	}
	s = s[1:]
	n := 0
	for ; n < len(s) && isDigit(s[n]); n++ {
		if n < digits {
			v = v*10 + int64(s[n]-'0')
		} else if s[n] != '0' {
			return 0, "", "is finer than the column can hold: it takes " + strconv.Itoa(digits) + " digits after the second"
		}
	}
	if n == 0 {
		return 0, "", clockForm
	}
	return v * power10(max(digits-n, 0)), s[n:], ""
}

// parseZone reads "", Z, +02:00, +0200 or +02; offset is in seconds.
func parseZone(s string) (offset int64, has, ok bool) {
	if s == "" {
		return 0, false, true
	}
	if s == "Z" || s == "z" {
		return 0, true, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false, false
	}
	hours, rest, n := cutDigits(s[1:], 2)
	if n != 2 || hours > 18 {
		return 0, false, false
	}
	minutes := int64(0)
	if rest != "" {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		minutes, rest, n = cutDigits(rest, 2)
		if n != 2 || minutes > 59 || rest != "" {
			return 0, false, false
		}
	}
	offset = (hours*60 + minutes) * 60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true, true
}

func cutDigits(s string, most int) (v int64, rest string, n int) {
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int64(s[n]-'0')
		n++
	}
	return v, s[n:], n
}

func startsWith(s string, c byte) bool { return s != "" && s[0] == c }

package classify

import "slices"

// The fewest and the most digits of a card's number.
const (
	leastCard = 13
	mostCard  = 19
)

// card finds a card's number: 13 to 19 digits that begin as those of an issuer that gives numbers of that length, with
// a right last digit (Luhn). Grouped by single spaces or hyphens, four digits first, it counts by itself; as bare digits
// it is weak, for one number in twenty-five looks so.
func (r *run) card(f *found, g int) {
	switch n := r.size(g); {
	case n == 4:
		r.groupedCard(f, g)
	case n >= leastCard && n <= mostCard && r.alone(g) && validCard(r.digits(g)):
		r.found(f, pan, false, r.groups[g].start, r.groups[g].end)
	}
}

func (r *run) groupedCard(f *found, g int) {
	by := r.sep(g + 1)
	switch {
	case by == "-" && r.joinedBefore(g, '-'), by != "-" && by != " ", r.sep(g) == by && r.size(g-1) == 4:
		return
	}
	var number [mostCard]byte
	n := copy(number[:], r.digits(g))
	for k := g + 1; r.sep(k) == by && r.size(k) >= 3 && r.size(k) <= 7 && n+r.size(k) <= mostCard; k++ {
		n += copy(number[n:], r.digits(k))
		if n >= leastCard && (by == " " || !r.joinedAfter(k, '-')) && validCard(string(number[:n])) {
			r.found(f, pan, true, r.groups[g].start, r.groups[k].end)
		}
	}
}

func validCard(number string) bool { return luhn(number) && issued(number) }

// issuer gives numbers whose first four digits are from one number to another.
type issuer struct {
	from, to int
	lengths  [4]int // of its numbers
}

func issuers() [17]issuer {
	long := [4]int{16, 17, 18, 19}
	return [...]issuer{
		{2200, 2204, long},               // Mir
		{2221, 2720, [4]int{16}},         // Mastercard
		{3000, 3059, [4]int{14, 16}},     // Diners Club
		{3400, 3499, [4]int{15}},         // American Express
		{3528, 3589, long},               // JCB
		{3600, 3699, [4]int{14, 16}},     // Diners Club
		{3700, 3799, [4]int{15}},         // American Express
		{3800, 3999, [4]int{14, 16}},     // Diners Club
		{4000, 4999, [4]int{13, 16, 19}}, // Visa
		{5000, 5099, long},               // Maestro
		{5100, 5599, [4]int{16}},         // Mastercard
		{5600, 5899, long},               // Maestro
		{6011, 6011, long},               // Discover
		{6200, 6399, long},               // UnionPay, Maestro
		{6440, 6599, long},               // Discover
		{6700, 6799, long},               // Maestro
		{8100, 8199, long},               // UnionPay
	}
}

// issued tells whether an issuer gives numbers that begin so and are so long.
func issued(number string) bool {
	first := 0
	for i := range 4 {
		first = first*10 + int(number[i]-'0')
	}
	for _, of := range issuers() {
		if first >= of.from && first <= of.to && slices.Contains(of.lengths[:], len(number)) {
			return true
		}
	}
	return false
}

// luhn checks the last digit of a number.
func luhn(number string) bool {
	sum, double := 0, false
	for i := len(number) - 1; i >= 0; i-- {
		d := int(number[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}

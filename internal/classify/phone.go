package classify

// mostPhone is the most digits of a phone number with its country's code (E.164).
const mostPhone = 15

// phone finds a phone number. These count by themselves:
//
//   - "+" and the code of a country, with up to 15 digits in all, grouped in any way;
//   - North American ones grouped as (212) 555-0123, 212-555-0123, 212.555.0123 or 212 555 0123, after a 1 or not;
//   - five pairs of digits, the first of which begins with a single 0;
//   - nine to twelve digits that begin with an area code of three to five, which begins with a single 0, and go on in one to
//     three groups of three or more: 020 7946 0958, (030) 1234567, 030/1234567.
//
// Bare digits are weak: ten of North America, after a 1 or not, or nine to twelve after a single 0.
func (r *run) phone(f *found, g int) {
	if r.international(f, g) || r.northAmerican(f, g) || r.pairs(f, g) || r.trunk(f, g) {
		return
	}
	if n := r.digits(g); r.alone(g) && (northAmerican(n) || len(n) == 11 && n[0] == '1' && northAmerican(n[1:]) || area(n) && len(n) >= 9 && len(n) <= 12) {
		r.found(f, phone, false, r.groups[g].start, r.groups[g].end)
	}
}

// international takes as many groups as make a number.
func (r *run) international(f *found, g int) bool {
	start := r.groups[g].start - 1
	if start >= 1 && r.text[start] == '(' {
		start--
	}
	if start < 0 || r.text[start] != '+' {
		return false
	}
	var number [mostPhone]byte
	n, end := 0, 0
	for k := g; k < len(r.groups) && n+r.size(k) <= mostPhone; k++ {
		n += copy(number[n:], r.digits(k))
		if reachable(string(number[:n])) {
			end = r.groups[k].end
		}
	}
	if end > 0 {
		r.found(f, phone, true, start, end)
	}
	return end > 0
}

// reachable tells whether a number begins with the code of a country, and is long enough for it.
func reachable(number string) bool {
	n := len(number)
	if n < 9 {
		return false
	}
	switch number[0] {
	case '1':
		return n == 11 && northAmerican(number[1:])
	case '7':
		return n == 11
	}
	switch number[:2] {
	case "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49",
		"51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86",
		"90", "91", "92", "93", "94", "95", "98": // of two digits
		return true
	case "21", "22", "23", "24", "25", "26", "29", "35", "37", "38", "42", "50", "59", "67", "68", "69", "80", "85", "87", "88",
		"96", "97", "99": // of three
		return true
	}
	return false
}

// northAmerican tells whether ten digits are a number of North America: neither area nor exchange begin with 0 or 1, or are
// those of services.
func northAmerican(n string) bool {
	return len(n) == 10 && n[0] >= '2' && n[1] != '9' && n[1:3] != "11" && n[3] >= '2' && n[4:6] != "11"
}

func (r *run) northAmerican(f *found, g int) bool {
	start, ok := r.areaOf(g)
	if !ok || r.chainedAfter(g+2) || r.sep(g+1) == " " && r.sep(g+3) == " " {
		return false
	}
	if before := r.sep(g); before != "" && before != "/" && r.digits(g-1) == "1" {
		start = r.groups[g-1].start
	} else if before == "-" || before == "." || before == " " && r.sep(g+1) == " " {
		return false
	}
	r.found(f, phone, true, start, r.groups[g+2].end)
	return true
}

// areaOf gives where a North American number begins whose area code is a group, with its bracket; false where the two groups
// that follow do not make it one, or are joined as those of no number are.
func (r *run) areaOf(g int) (start int, ok bool) {
	if r.size(g) != 3 || r.size(g+1) != 3 || r.size(g+2) != 4 || !northAmerican(r.digits(g)+r.digits(g+1)+r.digits(g+2)) {
		return 0, false
	}
	switch r.sep(g+1) + "|" + r.sep(g+2) {
	case ")|-", ") |-", ")-|-", ") | ", ")| ", ") |.":
		return r.opened(g)
	case "-|-", ".|.", " | ", " |-", "-| ":
		return r.groups[g].start, true
	}
	return 0, false
}

// opened gives where a group begins that is in brackets.
func (r *run) opened(g int) (start int, ok bool) {
	start = r.groups[g].start - 1
	return start, start >= 0 && r.text[start] == '('
}

// area tells whether digits begin with a single 0.
func area(n string) bool { return len(n) >= 2 && n[0] == '0' && n[1] != '0' }

func (r *run) pairs(f *found, g int) bool {
	by := r.sep(g + 1)
	if by != " " && by != "." && by != "-" || r.size(g) != 2 || !area(r.digits(g)) || r.sep(g) == by || r.sep(g+5) == by {
		return false
	}
	for k := g + 1; k < g+5; k++ {
		if r.size(k) != 2 || r.sep(k) != by {
			return false
		}
	}
	r.found(f, phone, true, r.groups[g].start, r.groups[g+4].end)
	return true
}

func (r *run) trunk(f *found, g int) bool {
	n := r.size(g)
	if n < 3 || n > 5 || !area(r.digits(g)) || r.chainedBefore(g) {
		return false
	}
	start, ok := r.groups[g].start, true
	by, loose := r.sep(g+1), true // loose: what is behind the area code is grouped by itself
	switch by {
	case " ", "-":
		loose = false
	case "/":
	case ")", ") ", ")-":
		start, ok = r.opened(g)
	default:
		return false
	}
	end := r.endOfTrunk(g, by, loose)
	if ok = ok && end > 0; ok {
		r.found(f, phone, true, start, end)
	}
	return ok
}

// endOfTrunk gives where a number ends whose area code is a group, 0 where it is too short or too long.
func (r *run) endOfTrunk(g int, by string, loose bool) (end int) {
	n := r.size(g)
	for k := g + 1; k <= g+3 && r.size(k) >= 3; k++ {
		if s := r.sep(k); k > g+1 && s != by && (!loose || s != " " && s != "-") {
			break
		}
		if n += r.size(k); n >= leastPhone && n <= 12 && !r.chainedAfter(k) {
			end = r.groups[k].end
		}
	}
	return end
}

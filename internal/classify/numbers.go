package classify

// mostGroups bounds a run; what is longer is looked at in pieces.
const mostGroups = 24

// run is groups of digits in a text that at most two of the characters " -./()" are between.
type run struct {
	text   string
	groups []group
}

type group struct{ start, end int }

// findNumbers looks at the run that begins with the digit at i, and gives where to go on.
func findNumbers(f *found, text string, i int) int {
	if end, ok := findIBAN(f, text, i); ok {
		return end
	}
	first := group{i, endOfDigits(text, i)}
	if first.end-i < leastDNI && (first.end == len(text) || !isSeparator(text[first.end])) {
		return first.end
	}
	var room [mostGroups]group
	r := run{text: text, groups: append(room[:0], first)}
	digits := first.end - i
	for next := r.next(); next > 0 && len(r.groups) < mostGroups; next = r.next() {
		end := endOfDigits(text, next)
		r.groups = append(r.groups, group{next, end})
		digits += end - next
	}
	last := len(r.groups) - 1
	if digits >= leastPhone || last >= 3 {
		r.look(f)
	}
	findDNI(f, text, r.groups[last])
	return r.groups[last].end
}

// The fewest digits of what a number may be: of a NIE, and of all else but an IPv4 address.
const (
	leastDNI   = 7
	leastPhone = 9
)

// endOfDigits gives the end of the digits that are at i.
func endOfDigits(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

// next gives where the group begins that follows the last one, 0 where there is none.
func (r *run) next() int {
	end := r.groups[len(r.groups)-1].end
	for i := end; i < len(r.text) && i <= end+2; i++ {
		if isDigit(r.text[i]) {
			return i
		}
		if !isSeparator(r.text[i]) {
			break
		}
	}
	return 0
}

func (r *run) look(f *found) {
	for g := range r.groups {
		r.ipv4(f, g)
		r.card(f, g)
		r.phone(f, g)
		r.ssn(f, g)
		r.nir(f, g)
	}
}

func isSeparator(c byte) bool {
	return c == ' ' || c == '-' || c == '.' || c == '/' || c == '(' || c == ')'
}

// digits is the text of a group.
func (r *run) digits(g int) string { return r.text[r.groups[g].start:r.groups[g].end] }

// size is how many digits a group has, 0 where there is no such group.
func (r *run) size(g int) int {
	if g < 0 || g >= len(r.groups) {
		return 0
	}
	return r.groups[g].end - r.groups[g].start
}

// sep is what is between a group and the one before, "" where there is none.
func (r *run) sep(g int) string {
	if g < 1 || g >= len(r.groups) {
		return ""
	}
	return r.text[r.groups[g-1].end:r.groups[g].start]
}

// joinedBefore tells whether c joins a group to a word or number before it.
func (r *run) joinedBefore(g int, c byte) bool {
	at := r.groups[g].start
	return at >= 2 && r.text[at-1] == c && isWord(r.text[at-2])
}

// joinedAfter tells whether c joins a group to a word or number after it.
func (r *run) joinedAfter(g int, c byte) bool {
	at := r.groups[g].end
	return at < len(r.text) && r.text[at] == c && wordAt(r.text, at+1)
}

// alone tells whether a group is a number by itself.
func (r *run) alone(g int) bool { return !r.chainedBefore(g) && !r.chainedAfter(g) }

// chainedBefore tells whether anything joins a group to a word or number before it.
func (r *run) chainedBefore(g int) bool {
	return r.joinedBefore(g, '-') || r.joinedBefore(g, '.') || r.joinedBefore(g, '/')
}

// chainedAfter tells whether anything joins a group to a word or number after it.
func (r *run) chainedAfter(g int) bool {
	return r.joinedAfter(g, '-') || r.joinedAfter(g, '.') || r.joinedAfter(g, '/')
}

// found adds what lies between two places, unless a word goes on there.
func (r *run) found(f *found, tag tagSet, strong bool, start, end int) {
	if !wordAt(r.text, start-1) && !wordAt(r.text, end) {
		f.add(tag, strong, start, end, r.text)
	}
}

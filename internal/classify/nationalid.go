package classify

// ssn finds a social security number of the United States: three, two and four digits joined by hyphens, but no area 000,
// 666 or above 899, no group 00 and no serial 0000. Without hyphens nearly every number of nine digits would be one.
func (r *run) ssn(f *found, g int) {
	if r.size(g) != 3 || r.size(g+1) != 2 || r.size(g+2) != 4 || r.sep(g+1) != "-" || r.sep(g+2) != "-" {
		return
	}
	area := r.digits(g)
	if area == "000" || area == "666" || area[0] == '9' || r.digits(g+1) == "00" || r.digits(g+2) == "0000" {
		return
	}
	if !r.joinedBefore(g, '-') && !r.joinedAfter(g+2, '-') {
		r.found(f, nationalID, true, r.groups[g].start, r.groups[g+2].end)
	}
}

// sizesOfNIR are those of the groups that a NIR is written in.
const sizesOfNIR = "1222332"

// nir finds a French social security number (NIR): sex, year, month, place of birth, serial and two check digits that fit
// the others. In its groups it counts by itself, as 15 bare digits it is weak. Those of Corsica have a letter and are not
// found.
func (r *run) nir(f *found, g int) {
	if r.size(g) == 15 && r.alone(g) && validNIR(r.digits(g)) {
		r.found(f, nationalID, false, r.groups[g].start, r.groups[g].end)
	}
	var number [15]byte
	n := 0
	for k := range len(sizesOfNIR) {
		if r.size(g+k) != int(sizesOfNIR[k]-'0') || k > 0 && r.sep(g+k) != " " {
			return
		}
		n += copy(number[n:], r.digits(g+k))
	}
	if validNIR(string(number[:])) {
		r.found(f, nationalID, true, r.groups[g].start, r.groups[g+len(sizesOfNIR)-1].end)
	}
}

func validNIR(n string) bool {
	if n[0] < '1' || n[0] > '8' || n[0] == '5' || n[0] == '6' {
		return false
	}
	month := int(n[3]-'0')*10 + int(n[4]-'0')
	if month == 0 || month > 12 && month < 20 || month > 42 && month < 50 {
		return false
	}
	rest := 0
	for i := range 13 {
		rest = (rest*10 + int(n[i]-'0')) % 97
	}
	return 97-rest == int(n[13]-'0')*10+int(n[14]-'0')
}

// findDNI looks for a Spanish DNI at a group of digits, eight of them and a letter that fits, or a NIE, which has X, Y or Z in
// the place of the first. After a hyphen the letter counts by itself; without one it is weak, for one in twenty-three fits.
func findDNI(f *found, text string, g group) {
	start, value := g.start, 0
	switch g.end - g.start {
	case 8:
	case 7:
		if start--; start < 0 || text[start] < 'X' || text[start] > 'Z' {
			return
		}
		value = int(text[start] - 'X')
	default:
		return
	}
	end := g.end
	hyphen := end < len(text) && text[end] == '-'
	if hyphen {
		end++
	}
	if end >= len(text) || wordAt(text, start-1) || wordAt(text, end+1) {
		return
	}
	for i := g.start; i < g.end; i++ {
		value = value*10 + int(text[i]-'0')
	}
	if text[end] == "TRWAGMYFPDXBNJZSQVHLCKE"[value%23] {
		f.add(nationalID, hyphen, start, end+1, text)
	}
}

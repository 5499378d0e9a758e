package classify

import (
	"net/netip"
	"strings"
)

// mostIPv6 is the bytes of the longest address, one that ends as one of IPv4.
const mostIPv6 = 45

// findIPv6 looks for an IPv6 address around a ':': one as it is written, with a digit at least and neither zone nor port,
// that does not go on as a word. It gives where to go on.
func findIPv6(f *found, text string, i int) int {
	start := i
	for start > 0 && i-start <= mostIPv6 && isHexOrDot(text[start-1]) {
		start--
	}
	end := start
	for end < len(text) && end-start <= mostIPv6 && (text[end] == ':' || isHexOrDot(text[end])) {
		end++
	}
	address := strings.TrimRight(text[start:end], ".")
	stop := start + len(address)
	if wordAt(text, start-1) || wordAt(text, stop) || start > 0 && text[start-1] == ':' || !isIPv6(address) {
		return i + 1
	}
	f.add(ip, true, start, stop, text)
	return end
}

func isIPv6(text string) bool {
	if strings.Count(text, ":") < 2 || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	addr, err := netip.ParseAddr(text)
	return err == nil && !addr.IsUnspecified()
}

func isHexOrDot(c byte) bool {
	return c == '.' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// ipv4 finds an IPv4 address: four numbers up to 255 without leading zeros, joined by dots, that are not part of a longer
// chain or of a word.
func (r *run) ipv4(f *found, g int) {
	if g+4 > len(r.groups) || r.joinedBefore(g, '.') || r.joinedAfter(g+3, '.') {
		return
	}
	for k := g; k < g+4; k++ {
		text := r.digits(k)
		if len(text) > 3 || len(text) > 1 && text[0] == '0' || len(text) == 3 && text > "255" || k > g && r.sep(k) != "." {
			return
		}
	}
	r.found(f, ip, true, r.groups[g].start, r.groups[g+3].end)
}

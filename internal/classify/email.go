package classify

import "strings"

const (
	mostLocal  = 64  // bytes before the '@'
	mostDomain = 253 // bytes after it
	mostLabel  = 63
)

// findEmail looks for an e-mail address around an '@': a local part of letters, digits, characters that are not ASCII and
// .!#$%&'*+/=?^_`{|}~- without a dot at an end or two in a row, and a domain of two labels at least, the last of
// which is two letters or more, or begins with xn--. Quoted local parts and addresses of hosts are none.
func findEmail(f *found, text string, at int) {
	start := at
	for start > 0 && at-start <= mostLocal && isLocal(text[start-1]) {
		start--
	}
	local := strings.TrimLeft(text[start:at], ".'")
	start = at - len(local)
	if local == "" || len(local) > mostLocal || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
		return
	}
	end := at + 1
	for end < len(text) && end-at <= mostDomain+1 && isDomain(text[end]) {
		end++
	}
	domain := strings.TrimRight(text[at+1:end], ".-")
	if len(domain) > mostDomain || !validDomain(domain) {
		return
	}
	f.add(email, true, start, at+1+len(domain), text)
}

func isLocal(c byte) bool {
	return isWord(c) || strings.IndexByte(".!#$%&'*+/=?^`{|}~-", c) >= 0
}

func isDomain(c byte) bool { return c == '.' || c == '-' || isDigit(c) || isLetter(c) || c >= 0x80 }

func validDomain(domain string) bool {
	labels, last := 0, ""
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > mostLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		last = label
		labels++
	}
	if labels < 2 || len(last) < 2 {
		return false
	}
	if strings.HasPrefix(strings.ToLower(last), "xn--") {
		return true
	}
	for i := range len(last) {
		if c := last[i]; !isLetter(c) && c < 0x80 {
			return false
		}
	}
	return true
}

package wire

import "strings"

// People paste tokens where they do not belong: into a path in the place of an id, into a request id, into the name of
// their client. Logs, the ledger and the audit keep what is written to them for long and show it to many.
const (
	// Redacted stands where a secret was.
	Redacted = "[redacted]"
	// secretLength is the length from which what looks like a token is one; whole ones have 43 characters.
	secretLength = 20
	// jwtStart is how the header of every JSON Web Token begins: {" in base64.
	jwtStart = "eyJ"
)

// Scrubbed gives the text without tokens, and without what follows "Bearer".
func Scrubbed(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		keep, drop := secretAt(text[i:])
		if drop == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(text[i:i+keep] + Redacted)
		i += keep + drop
	}
	return b.String()
}

// secretAt finds a secret at the start of a text: after keep bytes that may stay, drop bytes that may not; 0 for none.
func secretAt(text string) (keep, drop int) {
	const bearer = "bearer"
	switch {
	case strings.HasPrefix(text, "slc_"), strings.HasPrefix(text, jwtStart):
	case len(text) > len(bearer) && strings.EqualFold(text[:len(bearer)], bearer):
		keep = len(text) - len(strings.TrimLeft(text[len(bearer):], " \t+:="))
		if keep == len(bearer) {
			return 0, 0
		}
	default:
		return 0, 0
	}
	for keep+drop < len(text) && inToken(text[keep+drop]) {
		drop++
	}
	if drop < secretLength {
		return 0, 0
	}
	return keep, drop
}

func inToken(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-_.~+/=", b) >= 0
}

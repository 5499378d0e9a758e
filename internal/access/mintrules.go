package access

import (
	"unicode"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
)

// maxTokenName is the longest name of a token, in characters: it is shown in lists and kept in the audit for ever.
const maxTokenName = 256

// checkMint refuses what no token may be asked for as.
func checkMint(in MintInput) error {
	switch {
	case in.ExpiresIn < 0:
		return fault.New(fault.Invalid, "expiresIn must be positive, or absent for a token that does not expire.")
	case in.CanGovern && !in.CanWrite:
		return fault.New(fault.Invalid, "canGovern needs canWrite: a read-only token changes nothing, governance included.")
	case !utf8.ValidString(in.Name) || utf8.RuneCountInString(in.Name) > maxTokenName:
		return fault.New(fault.Invalid, "The name of a token is at most %d characters long. Choose a shorter one.", maxTokenName)
	}
	for _, r := range in.Name {
		if !unicode.IsPrint(r) {
			return fault.New(fault.Invalid, "The name of a token has printable characters and spaces only. Choose another.")
		}
	}
	return nil
}

package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// engineTokenPrefix tells people, and secret scanners, what a leaked string is.
const (
	engineTokenPrefix = "slc_"
	secretBytes       = 32
	hintLength        = 10
)

// newSecret gives prefix plus 256 random bits. crypto/rand never fails on the platforms Go supports.
func newSecret(prefix string) string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b)
	return prefix + base64.RawURLEncoding.EncodeToString(b)
}

// NewClientSecret gives a client secret for a principal, to be shown once.
func NewClientSecret() string { return newSecret("") }

// NewClientID gives a client id: 16 hexadecimal digits.
func NewClientID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// HashSecret gives the hex SHA-256 that is stored. A slow hash would add nothing: every secret has 256 random bits.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func secretMatches(secret, hash string) bool {
	return hash != "" && subtle.ConstantTimeCompare([]byte(HashSecret(secret)), []byte(hash)) == 1
}

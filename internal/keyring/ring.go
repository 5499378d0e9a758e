package keyring

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	keySize  = 32 // bytes
	idLength = 32 // characters at most
)

// Ring holds keys. It prints as its keys' ids.
type Ring struct{ keys []key }

type key struct {
	id     string
	secret []byte
}

// Parse reads keys written id:base64, separated by commas, each of 32 bytes. Ids are of a-z, 0-9 and -, 32 characters at
// most, and differ. The first key encrypts. Errors are fault.Invalid; they name keys by their place and never show what
// was written, because what stands in the place of an id may be a key.
func Parse(text string) (*Ring, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fault.New(fault.Invalid, "there is no encryption key: write id:base64 of 32 random bytes, as `openssl rand -base64 32` makes them")
	}
	r := &Ring{}
	for i, entry := range strings.Split(text, ",") {
		k, err := parseKey(i+1, strings.TrimSpace(entry))
		if err != nil {
			return nil, err
		}
		if err := r.add(k); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func parseKey(place int, entry string) (key, error) {
	id, encoded, found := strings.Cut(entry, ":")
	switch {
	case entry == "":
		return key{}, fault.New(fault.Invalid, "encryption key %d is empty: remove the comma too many", place)
	case !found:
		return key{}, fault.New(fault.Invalid, "encryption key %d has no id: write id:base64", place)
	case !isID(id):
		return key{}, fault.New(fault.Invalid, "the id of encryption key %d must be 1 to %d characters of a-z, 0-9 and -", place, idLength)
	}
	// Both alphabets, with or without padding.
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(encoded, "="))
	secret, err := base64.RawStdEncoding.Strict().DecodeString(plain)
	switch {
	case err != nil: // the cause would show a character of the key
		return key{}, fault.New(fault.Invalid, "encryption key %d is not base64 after its id", place)
	case len(secret) != keySize:
		return key{}, fault.New(fault.Invalid, "encryption key %d has %d bytes and must have %d", place, len(secret), keySize)
	case bytes.Count(secret, secret[:1]) == keySize:
		return key{}, fault.New(fault.Invalid, "encryption key %d is one byte repeated: make a random one, as by `openssl rand -base64 32`", place)
	}
	return key{id, secret}, nil
}

func isID(id string) bool {
	for _, c := range id {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return id != "" && len(id) <= idLength
}

func (r *Ring) add(k key) error {
	for i, other := range r.keys {
		if other.id == k.id {
			return fault.New(fault.Invalid, "encryption keys %d and %d have the same id: give the newer one another", i+1, len(r.keys)+1)
		}
		if bytes.Equal(other.secret, k.secret) {
			return fault.New(fault.Invalid, "encryption keys %d and %d are the same key under two ids: make a new one, or remove one", i+1, len(r.keys)+1)
		}
	}
	r.keys = append(r.keys, k)
	return nil
}

// Generate makes one fresh key as Parse reads it. Its id is today's date in UTC and four random characters.
func Generate() string {
	random := make([]byte, 2+keySize)
	_, _ = rand.Read(random) // never fails: the program ends if the system has no randomness
	id := time.Now().UTC().Format(time.DateOnly) + "-" + hex.EncodeToString(random[:2])
	return id + ":" + base64.StdEncoding.EncodeToString(random[2:])
}

// IDs gives the ids of the keys; the first encrypts.
func (r *Ring) IDs() []string {
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

// Format implements fmt.Formatter, so that no verb prints a key.
func (r Ring) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "keyring(%s)", strings.Join(r.IDs(), ", "))
}

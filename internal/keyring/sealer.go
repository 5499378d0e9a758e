package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/sluice-data/sluice/internal/fault"
)

// What Seal writes: version, length of the key id, key id, salt, nonce, ciphertext with its tag. Each message has a key
// of its own, derived from the salt, because nonces drawn at random under one AES-GCM key run out after 2^32 messages,
// which busy workflows reach within weeks.
const (
	version   = 1
	saltSize  = 12
	nonceSize = 12
	tagSize   = 16
)

// Sealer encrypts for one purpose: what it seals, no sealer of another purpose opens. It is safe for concurrent use.
type Sealer struct {
	purpose string
	keys    []key // of the purpose; the first encrypts
}

// For gives the sealer of a purpose, a fixed name such as "temporal". It is made once and kept.
func (r *Ring) For(purpose string) *Sealer {
	s := &Sealer{purpose: purpose}
	for _, k := range r.keys {
		derived, err := hkdf.Key(sha256.New, k.secret, nil, "sluice keyring 1 "+purpose, keySize)
		if err != nil {
			panic(err) // only for lengths that HKDF cannot give
		}
		s.keys = append(s.keys, key{k.id, derived})
	}
	return s
}

// KeyID is the id of the key that Seal uses.
func (s *Sealer) KeyID() string { return s.keys[0].id }

// Format implements fmt.Formatter, so that no verb prints a key.
func (s Sealer) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "sealer(%s)", s.purpose) }

// Seal encrypts plain. Only Open with the same associated data gives it back: let it name what plain belongs to, such as
// the id of its row, so that nobody can put it elsewhere.
func (s *Sealer) Seal(plain, associated []byte) ([]byte, error) {
	k := s.keys[0]
	random := make([]byte, saltSize+nonceSize)
	_, _ = rand.Read(random) // never fails: the program ends if the system has no randomness
	aead, err := k.cipher(random[:saltSize])
	if err != nil {
		return nil, err
	}
	header := append([]byte{version, byte(len(k.id))}, k.id...)
	sealed := make([]byte, 0, len(header)+len(random)+len(plain)+tagSize)
	sealed = append(append(sealed, header...), random...)
	return aead.Seal(sealed, random[saltSize:], plain, s.bound(header, associated)), nil
}

// Open gives what Seal was given. It answers fault.Unavailable when the ring lacks the key, whose id the message names,
// and fault.Internal when the bytes were altered, or sealed for something else.
func (s *Sealer) Open(sealed, associated []byte) ([]byte, error) {
	id, rest, ok := split(sealed)
	if !ok {
		return nil, fault.New(fault.Internal, "what is to be decrypted was never encrypted by Sluice, or is cut off")
	}
	k, found := s.key(id)
	if !found {
		return nil, fault.New(fault.Unavailable, "this was encrypted with the key %q, which is not among the encryption keys: add it to encryption-keys, after the first", id)
	}
	aead, err := k.cipher(rest[:saltSize])
	if err != nil {
		return nil, err
	}
	header := sealed[:len(sealed)-len(rest)]
	plain, err := aead.Open(nil, rest[saltSize:saltSize+nonceSize], rest[saltSize+nonceSize:], s.bound(header, associated))
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "what was encrypted with the key %q cannot be decrypted: it was altered, belongs elsewhere, or another key has that id", id)
	}
	return plain, nil
}

// split gives the key id and what follows it.
func split(sealed []byte) (id string, rest []byte, ok bool) {
	if len(sealed) < 2 || sealed[0] != version {
		return "", nil, false
	}
	header := 2 + int(sealed[1])
	if len(sealed) < header+saltSize+nonceSize+tagSize {
		return "", nil, false
	}
	id = string(sealed[2:header])
	return id, sealed[header:], isID(id)
}

func (s *Sealer) key(id string) (key, bool) {
	for _, k := range s.keys {
		if k.id == id {
			return k, true
		}
	}
	return key{}, false
}

// cipher makes the cipher of one message.
func (k key) cipher(salt []byte) (cipher.AEAD, error) {
	own, err := hkdf.Expand(sha256.New, k.secret, string(salt), keySize)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "encryption does not work on this machine")
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "encryption does not work on this machine")
	}
	return cipher.NewGCM(block)
}

// bound is what a message is authenticated together with. Lengths keep its parts apart.
func (s *Sealer) bound(header, associated []byte) []byte {
	all := make([]byte, 0, len(header)+4+len(s.purpose)+len(associated))
	all = append(all, header...)
	all = binary.BigEndian.AppendUint32(all, uint32(len(s.purpose))) //nolint:gosec // a name in our own code
	all = append(all, s.purpose...)
	return append(all, associated...)
}

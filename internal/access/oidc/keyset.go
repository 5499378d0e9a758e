package oidc

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/go-jose/go-jose/v4"
)

// leastRSA is the smallest RSA key that counts, in bits.
const leastRSA = 2048

// algorithms gives those that tokens may be signed with: all are asymmetric, so that no key that is published can sign.
func algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// keySet is the keys that an issuer published at one time. It is immutable.
type keySet struct {
	keys        []jose.JSONWebKey
	fingerprint [sha256.Size]byte
}

// newKeySet keeps the keys that can verify signatures. Others, and those of a kind that is not known, are passed over:
// issuers publish keys for encryption, and of new kinds, in the same set.
func newKeySet(raw []json.RawMessage) (*keySet, error) {
	set := &keySet{}
	digest := sha256.New()
	for _, text := range raw {
		var key jose.JSONWebKey
		if json.Unmarshal(text, &key) != nil || !verifies(key) {
			continue
		}
		set.keys = append(set.keys, key)
		_, _ = digest.Write(text)
		_, _ = digest.Write([]byte{0})
	}
	if len(set.keys) == 0 {
		return nil, errors.New("there is no key for signatures among them")
	}
	digest.Sum(set.fingerprint[:0])
	return set, nil
}

func verifies(key jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" || !key.Valid() || !key.IsPublic() {
		return false
	}
	if public, ok := key.Key.(*rsa.PublicKey); ok {
		return public.N.BitLen() >= leastRSA
	}
	return true
}

// trial verifies one token with those keys of a set that its header allows. go-oidc asks it by the interface KeySet.
type trial struct {
	set      *keySet
	head     header
	verified bool // the signature is right
}

// VerifySignature gives the payload that was signed.
func (t *trial) VerifySignature(_ context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(t.head.Algorithm)})
	if err != nil {
		return nil, err
	}
	for _, key := range t.set.keys {
		if t.head.KeyID != "" && key.KeyID != t.head.KeyID || key.Algorithm != "" && key.Algorithm != t.head.Algorithm {
			continue
		}
		if payload, err := signed.Verify(&key); err == nil {
			t.verified = true
			return payload, nil
		}
	}
	return nil, errors.New("no key of the issuer verifies the signature")
}

package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// maxChecked bounds the access tokens whose signatures are known to be right.
const maxChecked = 20_000

// checked keeps what was verified, by the SHA-256 of the token: a signature costs more than all else of a request.
type checked struct {
	mu     sync.Mutex
	tokens map[[sha256.Size]byte]checkedToken
}

type checkedToken struct {
	claims claims
	kid    string
}

func newChecked() *checked { return &checked{tokens: map[[sha256.Size]byte]checkedToken{}} }

func (c *checked) get(sum [sha256.Size]byte) (checkedToken, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tokens[sum]
	return t, ok
}

// put keeps a token; when there are too many, those go that have expired, and all when that is not enough.
func (c *checked) put(sum [sha256.Size]byte, t checkedToken, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tokens) >= maxChecked {
		for s, old := range c.tokens {
			if !now.Before(old.claims.expiry()) {
				delete(c.tokens, s)
			}
		}
		if len(c.tokens) > maxChecked/2 { // or the next would look through them all again
			clear(c.tokens)
		}
	}
	c.tokens[sum] = t
}

// verify reads an access token that was signed here. Of one that is genuine and no longer good the claims are given with
// the error, which is fault.Unauthenticated.
func (k *TokenKeys) verify(ctx context.Context, version int64, bearer string) (claims, error) {
	set, err := k.at(ctx, version)
	if err != nil {
		return claims{}, err
	}
	now := k.now()
	sum := sha256.Sum256([]byte(bearer))
	t, known := k.checked.get(sum)
	if known {
		if _, err := set.accepting(t.kid, now); err != nil {
			return t.claims, err
		}
	} else {
		t.claims, t.kid, err = verified(bearer, func(kid string) (*ecdsa.PublicKey, error) { return set.accepting(kid, now) })
		if err != nil {
			return claims{}, err
		}
		k.checked.put(sum, t, now)
	}
	return t.claims, k.valid(t.claims, now)
}

func (k *TokenKeys) valid(c claims, now time.Time) error {
	switch {
	case c.Issuer != k.settings.Issuer:
		return fault.New(fault.Unauthenticated, "The token names another issuer than this installation. Ask its token endpoint for one.")
	case !now.Before(c.expiry()):
		return expired(c.expiry())
	case c.NotBefore > 0 && now.Before(time.Unix(c.NotBefore, 0)):
		return fault.New(fault.Unauthenticated, "The token is not good yet. Check the clock of the machine that made it.")
	}
	return nil
}

// accepting gives the key that verifies tokens of the kid.
func (s *keySet) accepting(kid string, now time.Time) (*ecdsa.PublicKey, error) {
	for _, row := range s.keys {
		if public := s.public[kid]; row.ID == kid && public != nil && now.Before(row.ForgottenAt) {
			return public, nil
		}
	}
	return nil, fault.New(fault.Unauthenticated, "The token was signed with a key that is not in use here, or not any more. Ask the token endpoint for another token.")
}

func expired(at time.Time) error {
	return fault.New(fault.Unauthenticated, "The token has expired, at %s. Ask the token endpoint for another, or mint one that lasts longer.", at.UTC().Format(time.RFC3339))
}

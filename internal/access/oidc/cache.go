package oidc

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/access"
)

// mostVerified bounds the tokens that are remembered. One takes less than a kilobyte, mostly.
const mostVerified = 10_000

// verified remembers tokens whose signature and claims were right, by their hashes, so that a request with one costs no
// cryptography twice. Only what an issuer signed gets in.
type verified struct {
	most int

	mu     sync.Mutex
	tokens map[[sha256.Size]byte]known
}

// known is a token that was right.
type known struct {
	who    access.External
	source *source
	set    *keySet // whose key verified it
}

func newVerified(most int) *verified {
	return &verified{most: most, tokens: map[[sha256.Size]byte]known{}}
}

// find gives the token unless it has expired since.
func (v *verified) find(hash [sha256.Size]byte, now time.Time) (known, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k, ok := v.tokens[hash]
	if ok && !now.Before(k.who.ExpiresAt) {
		delete(v.tokens, hash)
		return known{}, false
	}
	return k, ok
}

// keep remembers the token. When there are too many, those that have expired go, and else any one.
func (v *verified) keep(hash [sha256.Size]byte, k known, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, there := v.tokens[hash]; !there && len(v.tokens) >= v.most {
		v.makeRoom(now)
	}
	v.tokens[hash] = k
}

// makeRoom looks at a few tokens, in the map's random order, so that a full cache costs no request much.
func (v *verified) makeRoom(now time.Time) {
	const look = 16
	var looked int
	for hash, k := range v.tokens {
		if looked++; looked > look {
			break
		}
		if looked == 1 || !now.Before(k.who.ExpiresAt) {
			delete(v.tokens, hash)
		}
	}
}

package dataplane

import (
	"context"
	"crypto/rand"
	"sync"
)

// Purposes of the keys that data is hashed with.
const (
	identityPurpose = "identity" // identity hashes of rows
	maskPurpose     = "mask"     // masked values
)

const dataKeySize = 32 // bytes

// keys gives the keys that data is hashed with. Each is made once in an installation, and never changes.
type keys struct {
	store   Store
	secrets Sealer

	mu    sync.Mutex
	known map[string][]byte
}

// get gives the key of a purpose.
func (k *keys) get(ctx context.Context, purpose string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, ok := k.known[purpose]; ok {
		return key, nil
	}
	fresh := make([]byte, dataKeySize)
	_, _ = rand.Read(fresh) // never fails: the program ends if the system has no randomness
	associated := []byte("data key " + purpose)
	sealed, err := k.secrets.Seal(fresh, associated)
	if err != nil {
		return nil, err
	}
	row, err := k.store.DataKey(ctx, purpose, sealed)
	if err != nil {
		return nil, err
	}
	key, err := k.secrets.Open(row.Sealed, associated)
	if err != nil {
		return nil, err
	}
	k.known[purpose] = key
	return key, nil
}

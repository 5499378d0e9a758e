package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Keys gives the key that checkpoints are signed with. It makes it once; its private half is in the database, sealed by
// encryption keys that are not. It is safe for concurrent use.
type Keys struct {
	store KeyStore
	vault Vault
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	id      string
	private ed25519.PrivateKey
}

// NewKeys makes a Keys. Without a vault, nil, there is no key and nothing is signed.
func NewKeys(store KeyStore, vault Vault, now func() time.Time, log *slog.Logger) *Keys {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Keys{store: store, vault: vault, now: now, log: log}
}

// Checkpoint signs a place. fault.Unavailable: this process has no encryption keys.
func (k *Keys) Checkpoint(ctx context.Context, seq int64, hash string, pruned bool) (models.AuditCheckpoint, error) {
	id, private, err := k.signer(ctx)
	if err != nil {
		return models.AuditCheckpoint{}, err
	}
	return newCheckpoint(seq, hash, pruned, k.now(), id, private)
}

func (k *Keys) signer(ctx context.Context) (string, ed25519.PrivateKey, error) {
	if k.vault == nil {
		return "", nil, fault.New(fault.Unavailable, "Checkpoints of the audit cannot be signed: set encryption-keys, the same for every process.")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.private != nil {
		return k.id, k.private, nil
	}
	keys, err := k.store.AuditKeys(ctx)
	if err != nil {
		return "", nil, err
	}
	if len(keys) == 0 {
		return k.make(ctx, "")
	}
	newest, err := openKey(k.vault, keys[0])
	if err != nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Internal) {
		return "", nil, err
	}
	k.reseal(ctx, keys)
	if err != nil {
		k.log.WarnContext(ctx, "the key that signs checkpoints of the audit cannot be decrypted; a new one is made", "key", keys[0].ID, "error", err)
		return k.make(ctx, keys[0].ID)
	}
	k.id, k.private = keys[0].ID, newest
	return k.id, k.private, nil
}

// reseal encrypts keys with what encrypts now, so that an encryption key can be retired without the proof that Sluice made
// them. What cannot be written is written by the next start: that is no reason to sign with another key.
func (k *Keys) reseal(ctx context.Context, keys []models.AuditKey) {
	for _, key := range keys {
		private, err := openKey(k.vault, key)
		if err != nil {
			continue
		}
		sealed, err := k.vault.Seal(private.Seed(), []byte(key.ID))
		if err == nil {
			err = k.store.ResealAuditKey(ctx, key.ID, sealed)
		}
		if err != nil {
			k.log.WarnContext(ctx, "a key that signs checkpoints of the audit is not encrypted anew", "key", key.ID, "error", err)
		}
	}
}

// make makes a key that follows the newest, or takes the one that another process made meanwhile.
func (k *Keys) make(ctx context.Context, newest string) (string, ed25519.PrivateKey, error) {
	fresh, private, err := k.generate()
	if err != nil {
		return "", nil, err
	}
	kept, err := k.store.AddAuditKey(ctx, fresh, newest)
	if err != nil {
		return "", nil, err
	}
	if kept.ID != fresh.ID {
		if private, err = openKey(k.vault, kept); err != nil {
			return "", nil, err
		}
	}
	k.id, k.private = kept.ID, private
	return k.id, k.private, nil
}

func (k *Keys) generate() (models.AuditKey, ed25519.PrivateKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return models.AuditKey{}, nil, err
	}
	id := uuid.NewString()
	sealed, err := k.vault.Seal(private.Seed(), []byte(id))
	return models.AuditKey{ID: id, Public: public, Private: sealed, CreatedAt: k.now().UTC()}, private, err
}

// openKey decrypts a private key and holds it against the public one. fault.Internal: it was not made by Sluice.
func openKey(vault Vault, key models.AuditKey) (ed25519.PrivateKey, error) {
	seed, err := vault.Open(key.Private, []byte(key.ID))
	if err != nil {
		return nil, err
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fault.New(fault.Internal, "the key %s that signs checkpoints is damaged", key.ID)
	}
	private := ed25519.NewKeyFromSeed(seed)
	if public, ok := private.Public().(ed25519.PublicKey); !ok || !bytes.Equal(public, key.Public) {
		return nil, fault.New(fault.Internal, "the public half of the key %s that signs checkpoints is not its own", key.ID)
	}
	return private, nil
}

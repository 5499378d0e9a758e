package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const (
	// keyGrace is how much longer than its last token a key is kept, for clocks that differ.
	keyGrace = 5 * time.Minute
	// keyTries bounds how often a key is made that another process was faster to make.
	keyTries = 8
)

// Sealer encrypts what is kept at rest. What was sealed with associated data opens only with the same.
type Sealer interface {
	Seal(plain, associated []byte) ([]byte, error)
	Open(sealed, associated []byte) ([]byte, error)
}

// KeySettings say how access tokens are signed.
type KeySettings struct {
	Issuer        string        // the iss of access tokens, the same in every process of an installation
	TokenLifetime time.Duration // of access tokens
	KeyLifetime   time.Duration // from one signing key to the next
}

// TokenKeys signs access tokens and verifies them, with keys that all processes share through the store. A key signs
// until it retires and verifies until the last token that it signed has expired. A new key signs at once, because every
// process sees it with the version that it reads for each request.
type TokenKeys struct {
	store    Store
	sealer   Sealer
	settings KeySettings
	now      func() time.Time
	log      *slog.Logger

	versions *versions
	sets     *memory[struct{}, *keySet]
	checked  *checked
	told     sync.Map // ids of the keys whose trouble is in the log
}

// NewTokenKeys makes a TokenKeys over the store; sealer encrypts private keys at rest. log may be nil.
func NewTokenKeys(store Store, sealer Sealer, settings KeySettings, now func() time.Time, log *slog.Logger) *TokenKeys {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &TokenKeys{
		store: store, sealer: sealer, settings: settings, now: now, log: log,
		versions: newVersions(store.AccessVersion), sets: newMemory[struct{}, *keySet](1),
		checked: newChecked(),
	}
}

// keySet is every key as of a version. It is immutable.
type keySet struct {
	keys    []models.SigningKey // newest first
	public  map[string]*ecdsa.PublicKey
	private map[string]*ecdsa.PrivateKey // of those that can be opened
}

func (s *keySet) newest() string {
	if len(s.keys) == 0 {
		return ""
	}
	return s.keys[0].ID
}

// signer gives the newest key that can be opened, signs still, and stays until a token of the lifetime has expired.
func (s *keySet) signer(now time.Time, lifetime time.Duration) (string, *ecdsa.PrivateKey) {
	for _, k := range s.keys {
		private := s.private[k.ID]
		if private != nil && now.Before(k.RetiresAt) && now.Add(lifetime).Before(k.ForgottenAt) {
			return k.ID, private
		}
	}
	return "", nil
}

// at gives the keys as of the version or newer.
func (k *TokenKeys) at(ctx context.Context, version int64) (*keySet, error) {
	return k.sets.get(ctx, version, struct{}{}, func(ctx context.Context, _ int64) (*keySet, error) { return k.load(ctx) })
}

func (k *TokenKeys) load(ctx context.Context) (*keySet, error) {
	rows, err := k.store.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	set := &keySet{keys: rows, public: map[string]*ecdsa.PublicKey{}, private: map[string]*ecdsa.PrivateKey{}}
	for _, row := range rows {
		public, err := parsePublic(row)
		if err != nil {
			k.tell(ctx, row.ID, "a signing key cannot be read; its tokens are refused", err)
			continue
		}
		set.public[row.ID] = public
		private, err := k.open(row, public)
		if err != nil {
			k.tell(ctx, row.ID, "a signing key cannot be opened; its tokens are accepted, another signs", err)
			continue
		}
		set.private[row.ID] = private
	}
	return set, nil
}

// tell logs the trouble with a key once: keys are read again after every change of anyone's rights.
func (k *TokenKeys) tell(ctx context.Context, id, trouble string, err error) {
	if _, known := k.told.LoadOrStore(id, true); !known {
		k.log.WarnContext(ctx, trouble, "key", id, "error", err)
	}
}

func parsePublic(row models.SigningKey) (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(row.Public)
	if err != nil {
		return nil, err
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() || row.Algorithm != string(jose.ES256) {
		return nil, fault.New(fault.Internal, "the key is not one for ES256")
	}
	return public, nil
}

func (k *TokenKeys) open(row models.SigningKey, public *ecdsa.PublicKey) (*ecdsa.PrivateKey, error) {
	der, err := k.sealer.Open(row.Private, []byte(row.ID))
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !private.PublicKey.Equal(public) {
		return nil, fault.New(fault.Internal, "the private key is not that of the public one")
	}
	return private, nil
}

// sign gives the claims as a JWT under the key that signs now.
func (k *TokenKeys) sign(ctx context.Context, c claims) (string, error) {
	kid, private, err := k.signer(ctx)
	if err != nil {
		return "", err
	}
	c.Issuer = k.settings.Issuer
	return sign(private, kid, c)
}

// signer gives the key that signs now, and makes it when there is none. Of several processes that do so one makes it.
func (k *TokenKeys) signer(ctx context.Context) (string, *ecdsa.PrivateKey, error) {
	var made string
	for range keyTries {
		version, err := k.versions.current(ctx)
		if err != nil {
			return "", nil, err
		}
		set, err := k.at(ctx, version)
		if err != nil {
			return "", nil, err
		}
		now := k.now()
		if kid, private := set.signer(now, k.settings.TokenLifetime); private != nil {
			return kid, private, nil
		}
		if made != "" && set.newest() == made {
			break
		}
		// Others that are good stay so: they may be those of processes with other encryption keys.
		key, err := k.add(ctx, set.newest(), now.Add(k.settings.KeyLifetime), policy.Caller{Principal: platformName}, now)
		if err != nil && !fault.Is(err, fault.Conflict) {
			return "", nil, err
		}
		made = key.ID
	}
	return "", nil, fault.New(fault.Unavailable, "No key can be made to sign access tokens with. Tell the operators; they find the cause in the log.")
}

// add makes a key after the newest one, "" for none; fault.Conflict when another is the newest by now.
func (k *TokenKeys) add(ctx context.Context, newest string, retireOthers time.Time, by policy.Caller, now time.Time) (models.SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return models.SigningKey{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		return models.SigningKey{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return models.SigningKey{}, err
	}
	id := uuid.NewString()
	sealed, err := k.sealer.Seal(der, []byte(id))
	if err != nil {
		return models.SigningKey{}, err
	}
	retires := now.Add(k.settings.KeyLifetime)
	key := models.SigningKey{
		ID: id, Algorithm: string(jose.ES256), Public: public, Private: sealed,
		CreatedAt: now, RetiresAt: retires, ForgottenAt: retires.Add(k.settings.TokenLifetime + keyGrace),
	}
	event := auditEvent(by, models.AuditSigningKeyCreated, "", now, map[string]any{"key": id, "retiresAt": retires.UTC().Format(time.RFC3339)})
	return key, k.store.AddSigningKey(ctx, key, newest, retireOthers, event)
}

// Rotate makes a key that signs from now on. With revokeOld the others are removed, and with them every access token that
// there is; else tokens that they signed stay good until they expire. It is the operators': nobody's rights are asked, and
// by is whom the audit names.
func (k *TokenKeys) Rotate(ctx context.Context, by policy.Caller, revokeOld bool) (KeyView, error) {
	var key models.SigningKey
	err := error(fault.New(fault.Conflict, ""))
	for try := 0; try < keyTries && fault.Is(err, fault.Conflict); try++ {
		var rows []models.SigningKey
		if rows, err = k.store.SigningKeys(ctx); err != nil {
			return KeyView{}, err
		}
		now := k.now()
		key, err = k.add(ctx, (&keySet{keys: rows}).newest(), now, by, now)
	}
	if err != nil {
		return KeyView{}, err
	}
	if revokeOld {
		event := auditEvent(by, models.AuditSigningKeysRevoked, "", k.now(), map[string]any{"kept": key.ID})
		if err := k.store.RevokeSigningKeys(ctx, key.ID, event); err != nil {
			return KeyView{}, err
		}
	}
	return viewOf(key, true, false), nil
}

// List gives the keys, newest first.
func (k *TokenKeys) List(ctx context.Context) ([]KeyView, error) {
	set, err := k.load(ctx)
	if err != nil {
		return nil, err
	}
	signer, _ := set.signer(k.now(), k.settings.TokenLifetime)
	views := make([]KeyView, len(set.keys))
	for i, row := range set.keys {
		views[i] = viewOf(row, row.ID == signer, set.private[row.ID] == nil)
	}
	return views, nil
}

func viewOf(row models.SigningKey, signs, sealed bool) KeyView {
	return KeyView{
		ID: row.ID, Algorithm: row.Algorithm, CreatedAt: row.CreatedAt, RetiresAt: row.RetiresAt, ForgottenAt: row.ForgottenAt,
		Signs: signs, Sealed: sealed,
	}
}

// JWKS gives the public keys whose tokens are accepted, as a JSON Web Key Set.
func (k *TokenKeys) JWKS(ctx context.Context) ([]byte, error) {
	version, err := k.versions.current(ctx)
	if err != nil {
		return nil, err
	}
	set, err := k.at(ctx, version)
	if err != nil {
		return nil, err
	}
	published := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, row := range set.keys {
		public := set.public[row.ID]
		if public == nil || !k.now().Before(row.ForgottenAt) {
			continue
		}
		published.Keys = append(published.Keys, jose.JSONWebKey{Key: public, KeyID: row.ID, Algorithm: row.Algorithm, Use: "sig"})
	}
	return json.Marshal(published)
}

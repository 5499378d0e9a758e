package delegation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/models"
)

// modeProperty tells an engine, and who reads its log, which way in it was given: it may be another than it asked for.
const modeProperty = "sluice.access-delegation"

// defaultLifetime is that of keys where none is configured.
const defaultLifetime = 15 * time.Minute

// Deps is what Keys needs.
type Deps struct {
	Profiles Profiles
	S3       *vending.S3
	Signer   *signing.Signer
	// Vendors open the stores of other types; of a type without one no keys are given.
	Vendors  map[models.StorageType]OpenVendor
	Lifetime time.Duration // of keys; 0 is 15 minutes
	// Unconditional: the installation's S3 stores know no conditional writes.
	Unconditional bool
}

// Keys implements catalog.StorageKeys. It is safe for concurrent use.
type Keys struct {
	profiles Profiles
	s3       *vending.S3
	signer   *signing.Signer
	vendors  *vendors
	life     time.Duration
	plain    bool
}

var _ catalog.StorageKeys = (*Keys)(nil)

// New makes Keys.
func New(d Deps) *Keys {
	k := &Keys{
		profiles: d.Profiles, s3: d.S3, signer: d.Signer, vendors: newVendors(d.Vendors),
		life: d.Lifetime, plain: d.Unconditional,
	}
	if k.life <= 0 {
		k.life = defaultLifetime
	}
	return k
}

// Choose implements catalog.StorageKeys. The store is not asked anything. Signs is left out where keys are what is liked best
// and there.
func (k *Keys) Choose(ctx context.Context, cat models.Catalog, asked []catalog.Delegation) (catalog.StorageChoice, error) {
	choice := catalog.StorageChoice{Life: k.life}
	p, err := k.profiles.Vending(ctx, cat)
	if err != nil {
		return choice, err
	}
	choice.Store = printOf(p)
	w := ways{vends: k.vends(p)}.allowed(cat)
	if w.vends && len(asked) > 0 && asked[0] == catalog.Vending {
		choice.Mode, choice.Able = catalog.Vending, true
		return choice, nil
	}
	if _, w.signs, err = k.signingProfile(ctx, cat); err != nil {
		return choice, err
	}
	choice.Mode, choice.Able, choice.Signs = w.choose(asked), w.vends || w.signs, w.signs
	return choice, nil
}

// printOf tells a store and the keys to it from others.
func printOf(p objects.Profile) string {
	text, _ := json.Marshal([]any{p.Config, p.Secrets}) // of strings and flags: cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// vends tells whether a store gives keys at all.
func (k *Keys) vends(p objects.Profile) bool {
	if p.Config.Type == models.S3Storage {
		return k.s3 != nil && vendingProfile(p).Offers()
	}
	return k.vendors.know(p.Config.Type)
}

func vendingProfile(p objects.Profile) vending.Profile {
	return vending.Profile{Config: p.Config, Secrets: p.Secrets, SessionToken: p.Secrets.SessionToken, MinLifetime: p.MinLifetime}
}

// signingProfile gives what requests to a catalog's store are signed with; signs is false when they are not, because of
// the store or of what the catalog allows.
func (k *Keys) signingProfile(ctx context.Context, cat models.Catalog) (p objects.Profile, signs bool, err error) {
	if k.signer == nil || !(ways{signs: true}).allowed(cat).signs {
		return p, false, nil
	}
	p, err = k.profiles.Signing(ctx, cat)
	signs = err == nil && p.Config.Type == models.S3Storage && p.Secrets.AccessKey != "" && p.Secrets.SecretKey != ""
	return p, signs, err
}

// Open implements catalog.StorageKeys. Where the store gives no keys for the table, requests are signed if that is allowed,
// and else nothing is given.
func (k *Keys) Open(ctx context.Context, use catalog.StorageUse, at catalog.StorageRoutes) (catalog.StorageOpening, error) {
	if p, err := k.profiles.Vending(ctx, use.Catalog); err != nil || !holds(p, use.Location) {
		return catalog.StorageOpening{}, err
	}
	if use.Choice.Mode == catalog.Vending {
		list, err := k.vend(ctx, use, at, false)
		if err == nil && len(list) > 0 {
			return catalog.StorageOpening{Mode: catalog.Vending, Config: firstOf(list), Credentials: list}, nil
		}
		if err != nil && !noKeys(err) {
			return catalog.StorageOpening{}, err
		}
	}
	p, signs, err := k.signingProfile(ctx, use.Catalog)
	if err != nil || !signs {
		return catalog.StorageOpening{}, err
	}
	config := signing.ClientConfig(p.Config, at.URI, at.Sign)
	if at.URI == "" {
		delete(config, "signer.uri")
		delete(config, "s3.signer.uri")
	}
	config[modeProperty] = string(catalog.Signing)
	return catalog.StorageOpening{Mode: catalog.Signing, Config: config}, nil
}

// holds tells whether a store is the one that a location is in: a catalog may allow locations in several, such as a local
// folder beside a bucket, of which only one is reached as its profile says.
func holds(p objects.Profile, location string) bool {
	at, err := objects.Parse(location)
	if err != nil {
		return false
	}
	switch p.Config.Type {
	case models.S3Storage:
		return at.IsS3()
	case models.GCSStorage:
		return at.Scheme() == "gs"
	case models.AzureStorage:
		return at.Scheme() == "abfss"
	case models.FileStorage:
	}
	return false // of a local folder there is nothing to give
}

// noKeys tells whether a store gives no keys for a table, whoever asks and however often.
func noKeys(err error) bool {
	return errors.Is(err, vending.ErrNoSTS) || errors.Is(err, objects.ErrNoScopedKeys) || fault.Is(err, fault.Unprocessable)
}

// firstOf gives the properties for clients that read no list: those of the first, which is the outermost.
func firstOf(list []catalog.StorageCredential) map[string]string {
	config := maps.Clone(list[0].Config)
	config[modeProperty] = string(catalog.Vending)
	return config
}

// Renew implements catalog.StorageKeys.
func (k *Keys) Renew(ctx context.Context, use catalog.StorageUse, at catalog.StorageRoutes) ([]catalog.StorageCredential, error) {
	list, err := k.vend(ctx, use, at, true)
	if err != nil && noKeys(err) {
		return nil, nil
	}
	return list, err
}

// vend asks the store for keys; none where the catalog gives none. fresh: not those again that were given before.
func (k *Keys) vend(ctx context.Context, use catalog.StorageUse, at catalog.StorageRoutes, fresh bool) ([]catalog.StorageCredential, error) {
	p, err := k.profiles.Vending(ctx, use.Catalog)
	if err != nil || !holds(p, use.Location) || !(ways{vends: k.vends(p)}).allowed(use.Catalog).vends {
		return nil, err
	}
	if p.Config.Type != models.S3Storage {
		return k.vendors.vend(ctx, p, use.Access, objects.VendOptions{Lifetime: k.life, RefreshEndpoint: at.Credentials})
	}
	keys, err := k.s3.Vend(ctx, vendingProfile(p), vending.Ask{
		Access: use.Access, Lifetime: k.life, Session: use.Caller.Principal, Caller: use.Caller.TokenID, Fresh: fresh,
	})
	if err != nil {
		return nil, err
	}
	return []catalog.StorageCredential{{Prefix: use.Location, Config: keys.ClientConfig(p.Config, at.Credentials)}}, nil
}

// Sign implements catalog.StorageKeys.
func (k *Keys) Sign(ctx context.Context, use catalog.StorageUse, in catalog.SignInput) (catalog.SignedRequest, error) {
	p, err := k.toSign(ctx, use.Catalog, in)
	if err != nil {
		return catalog.SignedRequest{}, err
	}
	signed, err := k.signer.Sign(p, use.Access, requestOf(in)) //nolint:contextcheck // it waits for nothing
	return catalog.SignedRequest{URI: signed.URI, Headers: signed.Headers, Cacheable: signed.Cacheable}, err
}

// Locate implements catalog.StorageKeys.
func (k *Keys) Locate(ctx context.Context, cat models.Catalog, in catalog.SignInput) (string, error) {
	p, err := k.toSign(ctx, cat, in)
	if err != nil {
		return "", err
	}
	return signing.Locate(p, requestOf(in))
}

// toSign finds the store of a request, if requests to it are signed.
func (k *Keys) toSign(ctx context.Context, cat models.Catalog, in catalog.SignInput) (signing.Profile, error) {
	p, signs, err := k.signingProfile(ctx, cat)
	switch {
	case err != nil:
		return signing.Profile{}, err
	case !signs:
		return signing.Profile{}, catalog.SignsNot(cat)
	case in.Provider != "" && in.Provider != "s3":
		return signing.Profile{}, fault.New(fault.Unsupported, "Requests to the provider %q are not signed, only to s3.", in.Provider)
	}
	return signing.Profile{Config: p.Config, Secrets: p.Secrets, SessionToken: p.Secrets.SessionToken, Unconditional: k.plain}, nil
}

func requestOf(in catalog.SignInput) signing.Request {
	return signing.Request{Region: in.Region, Method: in.Method, URI: in.URI, Headers: in.Headers, Body: in.Body}
}

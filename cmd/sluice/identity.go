package main

import (
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/access/oidc"
	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/validation"
	"github.com/sluice-data/sluice/internal/objects/vending"
)

// identity is what an API needs to know who asks.
type identity struct {
	auth  *access.Authenticator
	oauth *access.OAuth
	keys  *access.TokenKeys
}

// newIdentity makes it from the settings; it fails on a wrong file of issuers.
func (b *base) newIdentity(r *keyring.Ring) (identity, error) {
	var issuers access.Issuers
	known, configured, err := configuredIssuers(b.cfg)
	if err != nil {
		return identity{}, err
	}
	if configured {
		issuers = oidc.New(known, b.log, time.Now)
	}
	keys := b.newTokenKeys(r)
	auth := access.NewAuthenticator(b.store, keys, issuers, time.Now)
	return identity{auth: auth, oauth: access.NewOAuth(b.store, auth, time.Now), keys: keys}, nil
}

// configuredIssuers reads the file of issuers, where one is set. What is wrong with it is said before anything starts.
func configuredIssuers(cfg *config.Config) (known oidc.Config, configured bool, err error) {
	if cfg.Tokens.OIDCFile == "" {
		return oidc.Config{}, false, nil
	}
	known, err = oidc.Load(cfg.Tokens.OIDCFile)
	return known, err == nil, err
}

func (b *base) newTokenKeys(r *keyring.Ring) *access.TokenKeys {
	t := b.cfg.Tokens
	return access.NewTokenKeys(b.store, r.For(signingPurpose), access.KeySettings{
		Issuer: t.Issuer, TokenLifetime: t.Access, KeyLifetime: t.SigningKey,
	}, time.Now, b.log)
}

func (b *base) newTokens() *access.Tokens { return access.NewTokens(b.store, time.Now) }

func (b *base) newManagement(r *keyring.Ring) (*management.Service, error) {
	rules := objects.Rules{}
	roots := make([]string, len(b.roots))
	for i, root := range b.roots {
		var err error
		if roots[i], err = rules.Normalize(root); err != nil {
			return nil, err
		}
	}
	return management.New(management.Deps{
		Store: b.store, Locations: rules, Secrets: secrets{}, Warehouses: roots, SecretOverlap: b.cfg.Tokens.SecretOverlap, Now: time.Now,
		OtherStorage: b.cfg.Storage.AllowOther, Sealer: r.For(storagePurpose),
		Validator: validation.New(validation.Deps{
			Profiles: b.profiles, Files: b.files, S3: vending.NewS3(time.Now), Signer: signing.New(time.Now), Now: time.Now,
		}),
	}), nil
}

// secrets makes credentials as access checks them.
type secrets struct{}

// NewClientID implements management.Secrets, as do the methods below.
func (secrets) NewClientID() string { return access.NewClientID() }

// NewClientSecret gives 256 random bits.
func (secrets) NewClientSecret() string { return access.NewClientSecret() }

// Hash gives what is stored of a secret.
func (secrets) Hash(secret string) string { return access.HashSecret(secret) }

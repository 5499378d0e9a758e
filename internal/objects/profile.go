package objects

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Profile is how the objects of one catalog are reached, with keys: what vending and signing are given.
type Profile struct {
	Catalog string // name
	// Config says where the store is for engines (Endpoint) and for Sluice (EndpointInternal, else Endpoint), and by which
	// role it gives temporary keys.
	Config  models.StorageConfig
	Secrets models.StorageSecrets
	// MinLifetime is the shortest life that the store gives temporary keys; 0 where it is not known.
	MinLifetime time.Duration
	// Own: the catalog brings its storage; other profiles are the installation's.
	Own bool
}

// LogValue keeps the keys out of logs.
func (p Profile) LogValue() slog.Value {
	return slog.GroupValue(slog.String("catalog", p.Catalog), slog.String("endpoint", p.Config.Endpoint), slog.Bool("own", p.Own))
}

// Format implements fmt.Formatter, so that no verb prints a key.
func (p Profile) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "storage profile of catalog %s", p.Catalog)
}

// Installation is the storage that the operator configured, for all catalogs that bring none.
type Installation struct {
	Config
	// STSEndpoint, RoleARN, ExternalID and STSUnavailable of it say how temporary keys of the S3 store are had.
	Storage models.StorageConfig
	// MinLifetime is the shortest life that the S3 store gives temporary keys; 0 where it is not known.
	MinLifetime time.Duration
	// OtherStorage lets catalogs bring storage of their own.
	OtherStorage bool
}

// CloudFunc makes the opener of a catalog's own store in a cloud other than S3.
type CloudFunc func(config models.StorageConfig, secrets models.StorageSecrets) OpenFunc

// profile is how one catalog is stored, as of a row, and the stores that were opened by it.
type profile struct {
	id, name string
	config   models.StorageConfig
	sealed   []byte
	own      bool  // reached by keys or a role of its own
	wrong    error // why nothing of it can be reached, nil where it can
	print    [sha256.Size]byte
	stores   stores
}

// newProfile reads a catalog's row. inside tells whether all of its locations are in the installation's roots.
func newProfile(cat models.Catalog, inside bool, in Installation) *profile {
	p := &profile{id: cat.ID, name: cat.Name, config: cat.Storage.V, sealed: cat.StorageSecrets}
	p.config.Type = storageType(cat)
	p.own = p.config.Type != models.FileStorage && (len(p.sealed) > 0 || !inside)
	if p.own {
		p.wrong = p.unusable(in.OtherStorage)
	}
	if p.own && inside {
		p.config = amongInstalled(p.config, in)
	}
	text, _ := json.Marshal([]any{p.name, p.config, p.sealed, p.own, p.wrong != nil}) // of strings and flags: cannot fail
	p.print = sha256.Sum256(text)
	return p
}

// amongInstalled is the configuration of a catalog that has keys of its own within the installation's roots: without an
// address of its own it is in the installation's store.
func amongInstalled(c models.StorageConfig, in Installation) models.StorageConfig {
	if c.Type != models.S3Storage || c.Endpoint != "" || c.EndpointInternal != "" {
		return c
	}
	c.Endpoint = in.S3.Endpoint
	c.Region = cmp.Or(c.Region, in.S3.Region)
	c.PathStyleAccess = c.PathStyleAccess || in.S3.PathStyle
	c.STSEndpoint = cmp.Or(c.STSEndpoint, in.Storage.STSEndpoint)
	c.STSUnavailable = c.STSUnavailable || in.Storage.STSUnavailable
	return c
}

// storageType tells the kind of a catalog's store: the catalog of a fresh installation names none.
func storageType(cat models.Catalog) models.StorageType {
	if cat.Storage.V.Type != "" {
		return cat.Storage.V.Type
	}
	loc, err := Parse(cat.BaseLocation)
	switch {
	case err != nil:
		return ""
	case loc.IsS3():
		return models.S3Storage
	case loc.IsAzure():
		return models.AzureStorage
	case loc.IsGCS():
		return models.GCSStorage
	}
	return models.FileStorage
}

// unusable says why storage of its own cannot be used. The installation's keys alone never open what is outside of its
// roots: there the catalog has keys, or a role that the installation's keys may assume.
func (p *profile) unusable(allowed bool) error {
	switch {
	case !allowed && len(p.sealed) == 0:
		return fault.New(fault.Unavailable, "Catalog %s lies outside this installation's warehouses. Ask its operators to add the location to warehouse, or to set allow-other-storage.", p.name)
	case !allowed:
		return fault.New(fault.Unavailable, "Catalog %s has storage of its own, which this installation does not use. Ask its operators to set allow-other-storage.", p.name)
	case len(p.sealed) == 0 && !p.assumes():
		return fault.New(fault.Unavailable, "Catalog %s lies outside this installation's warehouses and has no keys for its storage. Set them with `sluice storage set-secrets`.", p.name)
	}
	return nil
}

// assumes tells whether Sluice takes on a role to reach the storage.
func (p *profile) assumes() bool {
	return p.config.Type == models.S3Storage && p.config.RoleARN != "" || p.config.Type == models.GCSStorage && p.config.GCSServiceAccount != ""
}

// secrets opens the sealed ones; zero where there are none.
func (p *profile) secrets(sealer Opener) (models.StorageSecrets, error) {
	var s models.StorageSecrets
	if len(p.sealed) == 0 {
		return s, nil
	}
	plain, err := sealer.Open(p.sealed, []byte(p.id))
	if err == nil {
		err = json.Unmarshal(plain, &s)
	}
	if err != nil {
		return models.StorageSecrets{}, fault.Wrap(err, fault.Unavailable, "The storage keys of catalog %s cannot be decrypted. Look at encryption-keys, or set the keys again.", p.name)
	}
	return s, nil
}

// s3 says how Sluice reaches the catalog's own S3 store. With a role alone it is the installation's store: its keys go to
// no address that a catalog names.
func (p *profile) s3(in Installation, secrets models.StorageSecrets) S3Config {
	if len(p.sealed) == 0 {
		c := in.S3
		c.Region = cmp.Or(p.config.Region, c.Region)
		c.Role = &S3Role{ARN: p.config.RoleARN, ExternalID: p.config.ExternalID, STSEndpoint: in.Storage.STSEndpoint}
		return c
	}
	return S3Config{
		Endpoint: cmp.Or(p.config.EndpointInternal, p.config.Endpoint), Region: p.config.Region, PathStyle: p.config.PathStyleAccess,
		AccessKey: secrets.AccessKey, SecretKey: secrets.SecretKey,
	}
}

// installed is the configuration of a catalog that is reached with the installation's keys, for engines and for asking for
// keys. Those keys are sent to the installation's addresses alone, whatever the catalog says.
func (p *profile) installed(in Installation) models.StorageConfig {
	c := p.config
	if c.Type != models.S3Storage {
		return c
	}
	c.EndpointInternal = in.S3.Endpoint
	if c.Endpoint == "" {
		c.Endpoint = in.S3.Endpoint
	} else if c.EndpointInternal == "" {
		c.EndpointInternal = amazonEndpoint
	}
	c.STSEndpoint = in.Storage.STSEndpoint
	c.Region = cmp.Or(c.Region, in.S3.Region)
	c.PathStyleAccess = c.PathStyleAccess || in.S3.PathStyle
	c.STSUnavailable = c.STSUnavailable || in.Storage.STSUnavailable
	if c.RoleARN == "" {
		c.RoleARN, c.ExternalID = in.Storage.RoleARN, in.Storage.ExternalID
	}
	return c
}

// Opener decrypts what was sealed with the same associated data; internal/keyring does.
type Opener interface {
	Open(sealed, associated []byte) ([]byte, error)
}

// Catalogs lists the catalogs there are.
type Catalogs interface {
	Catalogs(ctx context.Context) ([]models.Catalog, error)
}

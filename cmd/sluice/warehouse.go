package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/delegation"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/objects/azure"
	"github.com/sluice-data/sluice/internal/objects/gcs"
	"github.com/sluice-data/sluice/internal/objects/signing"
	"github.com/sluice-data/sluice/internal/objects/vending"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// storagePurpose is what the keys of catalogs' own stores are sealed for.
const storagePurpose = "storage"

// warehouse is where tables lie and how they are reached.
type warehouse struct {
	roots        []string // as URIs
	founding     []string // those of the first catalog of a fresh installation, which lies in the first of them
	files        *objects.Router
	installation objects.Installation
}

// configuredWarehouse is the warehouse of the roots, reached as the settings say.
func configuredWarehouse(ctx context.Context, cfg *config.Config, roots []string) (warehouse, error) {
	s := cfg.Storage
	w := warehouse{roots: roots, founding: roots}
	w.installation = objects.Installation{
		Config: objectsConfig(cfg, w.roots), OtherStorage: s.AllowOther,
		Storage: models.StorageConfig{
			STSEndpoint: s.S3STSEndpoint, RoleARN: s.S3RoleARN, ExternalID: s.S3ExternalID, STSUnavailable: s.S3STSUnavailable,
		},
	}
	var err error
	w.files, err = objects.Open(ctx, w.installation.Config)
	return w, err
}

func objectsConfig(cfg *config.Config, roots []string) objects.Config {
	s := cfg.Storage
	return objects.Config{
		Roots: roots,
		S3: objects.S3Config{
			Endpoint: s.S3Endpoint, Region: s.S3Region, PathStyle: s.S3PathStyle,
			AccessKey: s.S3AccessKey.Reveal(), SecretKey: s.S3SecretKey.Reveal(),
		},
		// With what the surroundings have: a workload's or the machine's identity.
		Clouds: map[string]objects.OpenFunc{"abfss": azure.Opener(azure.Config{}), "gs": gcs.Opener(gcs.Config{})},
	}
}

// warehouses gives the configured roots as URIs.
func warehouses(cfg *config.Config) []string {
	roots := make([]string, len(cfg.Storage.Warehouses))
	for i, root := range cfg.Storage.Warehouses {
		if filepath.IsAbs(root) {
			root = "file://" + root
		}
		roots[i] = root
	}
	return roots
}

// openProfiles makes what reaches the stores that catalogs bring, beside the installation's. r may be nil where no secrets
// are to be opened.
func (b *base) openProfiles(w warehouse, r *keyring.Ring) error {
	if r == nil {
		r = &keyring.Ring{}
	}
	var err error
	b.profiles, err = objects.NewProfiles(objects.ProfilesDeps{
		Installation: w.installation, Catalogs: b.store, Version: b.storageVersion, Sealer: r.For(storagePurpose),
		Clouds: map[string]objects.CloudFunc{
			"abfss": func(c models.StorageConfig, s models.StorageSecrets) objects.OpenFunc {
				return azure.Opener(azureConfig(c, s))
			},
			"gs": func(c models.StorageConfig, s models.StorageSecrets) objects.OpenFunc {
				return gcs.Opener(gcsConfig(c, s))
			},
		},
	})
	if err != nil {
		return err
	}
	b.files = b.profiles.Router(w.files)
	return nil
}

// storageVersion is the number under which how catalogs are stored is kept: that of the request, where there is one.
func (b *base) storageVersion(ctx context.Context) (int64, error) {
	if version, known := policy.AsOf(ctx); known {
		return version, nil
	}
	return b.store.AccessVersion(ctx)
}

// newStorageKeys makes what opens tables' files for engines.
func (b *base) newStorageKeys() *delegation.Keys {
	return delegation.New(delegation.Deps{
		Profiles: b.profiles, S3: vending.NewS3(time.Now), Signer: signing.New(time.Now), Lifetime: b.cfg.Storage.CredentialLifetime,
		Vendors: map[models.StorageType]delegation.OpenVendor{
			models.AzureStorage: func(c models.StorageConfig, s models.StorageSecrets, root objects.Location) (delegation.Vendor, error) {
				return azure.NewVendor(azureConfig(c, s), root, time.Now)
			},
			models.GCSStorage: func(c models.StorageConfig, s models.StorageSecrets, root objects.Location) (delegation.Vendor, error) {
				return gcs.NewVendor(gcsConfig(c, s), root)
			},
		},
	})
}

func azureConfig(c models.StorageConfig, s models.StorageSecrets) azure.Config {
	return azure.Config{
		Endpoint: c.Endpoint, Hierarchical: c.Hierarchical, AccountKey: s.AccountKey,
		TenantID: c.TenantID, ClientID: s.ClientID, ClientSecret: s.ClientSecret,
	}
}

func gcsConfig(c models.StorageConfig, s models.StorageSecrets) gcs.Config {
	return gcs.Config{Endpoint: c.Endpoint, ServiceKey: s.ServiceKey, ServiceAccount: c.GCSServiceAccount}
}

package management

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// maxStorageSecret bounds one storage secret, in bytes; the longest is the JSON of a service account.
const maxStorageSecret = 16 << 10

// SetStorageSecrets gives a catalog the keys that its object store is reached with, in place of those it had. They count for
// the next request of every process. The event names which there are.
func (s *Service) SetStorageSecrets(ctx context.Context, caller policy.Caller, name string, secrets models.StorageSecrets) error {
	cat, err := s.storedCatalog(ctx, caller, name, "change storage secrets")
	if err != nil {
		return err
	}
	if !s.other {
		return fault.New(fault.Forbidden, "This installation does not let catalogs have storage of their own. Ask its operators to set allow-other-storage.")
	}
	if err := checkStorageSecrets(typeOf(cat), secrets); err != nil {
		return err
	}
	plain, err := json.Marshal(secrets) //nolint:gosec // to be sealed
	if err != nil {
		return err
	}
	sealed, err := s.sealer.Seal(plain, []byte(cat.ID))
	if err != nil {
		return err
	}
	return s.setStorageSecrets(ctx, caller, cat, sealed, secrets.Names())
}

// RemoveStorageSecrets takes a catalog's keys away. Without any it is reached as its storage and the installation say.
func (s *Service) RemoveStorageSecrets(ctx context.Context, caller policy.Caller, name string) error {
	cat, err := s.storedCatalog(ctx, caller, name, "change storage secrets")
	if err != nil || len(cat.StorageSecrets) == 0 {
		return err
	}
	return s.setStorageSecrets(ctx, caller, cat, nil, []string{})
}

func (s *Service) setStorageSecrets(ctx context.Context, caller policy.Caller, cat models.Catalog, sealed []byte, names []string) error {
	event := s.event(caller, models.AuditStorageSecretsChanged, cat.Name, map[string]any{"keys": names})
	return s.store.SetStorageSecrets(ctx, cat.ID, cat.Version, sealed, event)
}

// ValidateStorage tries what is needed of a catalog's object store and says of each step how it went. It writes to the store,
// so that no read-only token will do.
func (s *Service) ValidateStorage(ctx context.Context, caller policy.Caller, name string) ([]models.StorageStep, error) {
	if caller.ReadOnly {
		return nil, fault.New(fault.Forbidden, "This token is read-only and may not validate storage, which writes to it. Use a token minted with canWrite.")
	}
	cat, err := s.catalogNamed(ctx, caller, name)
	if err != nil {
		return nil, err
	}
	if err := onService(caller, policy.UpdateCatalogStorage); err != nil {
		return nil, err
	}
	if s.validator == nil {
		return nil, fault.New(fault.Unsupported, "This installation does not validate storage.")
	}
	return s.validator.Validate(ctx, cat)
}

// storedCatalog finds a catalog for a change of how it is stored.
func (s *Service) storedCatalog(ctx context.Context, caller policy.Caller, name, what string) (models.Catalog, error) {
	if err := mayGovern(caller, what); err != nil {
		return models.Catalog{}, err
	}
	cat, err := s.catalogNamed(ctx, caller, name)
	if err != nil {
		return models.Catalog{}, err
	}
	return cat, onService(caller, policy.UpdateCatalogStorage)
}

// typeOf is the kind of a catalog's store: the catalog of a fresh installation names none.
func typeOf(cat models.Catalog) models.StorageType {
	storage := cat.Storage.V
	_ = fitStorage(&storage, cat.BaseLocation) // which it fits, as it was placed so
	return storage.Type
}

// checkStorageSecrets holds secrets against the kind of store that they are for.
func checkStorageSecrets(kind models.StorageType, secrets models.StorageSecrets) error {
	var fits [][]string // sets of which exactly one is to be given
	switch kind {
	case models.S3Storage:
		fits = [][]string{{"accessKey", "secretKey"}}
	case models.AzureStorage:
		fits = [][]string{{"accountKey"}, {"clientId", "clientSecret"}}
	case models.GCSStorage:
		fits = [][]string{{"serviceKey"}}
	default:
		return fault.New(fault.Invalid, "The catalog lies in local folders, which have no keys.")
	}
	names := secrets.Names()
	if !slices.ContainsFunc(fits, func(set []string) bool { return slices.Equal(set, names) }) {
		wanted := make([]string, len(fits))
		for i, set := range fits {
			wanted[i] = strings.Join(set, " and ")
		}
		return fault.New(fault.Invalid, "Storage of type %s is reached with %s, and nothing else.", kind, strings.Join(wanted, ", or "))
	}
	if slices.ContainsFunc([]string{secrets.AccessKey, secrets.SecretKey, secrets.AccountKey, secrets.ClientID, secrets.ClientSecret}, unprintable) {
		return fault.New(fault.Invalid, "A storage secret has a space or a character that is no printable ASCII one. Give it as the store showed it.")
	}
	if len(secrets.ServiceKey) > maxStorageSecret || secrets.ServiceKey != "" && !json.Valid([]byte(secrets.ServiceKey)) {
		return fault.New(fault.Invalid, "The serviceKey is not the JSON of a service account's key. Give the file as Google made it.")
	}
	return nil
}

func unprintable(secret string) bool {
	return len(secret) > maxStorageSecret || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' })
}

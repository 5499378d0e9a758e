package management

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// ListCatalogs gives the catalogs that the caller knows of: on which or in which it holds anything, or all of them. Of
// those that it may not get, it learns the name and the location, and no more than that.
func (s *Service) ListCatalogs(ctx context.Context, caller policy.Caller) ([]models.Catalog, error) {
	all, err := s.store.Catalogs(ctx)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(all, func(c models.Catalog) bool { return hidesCatalog(caller, c) != "" })
	for i, c := range known {
		if !caller.May(policy.GetCatalog, catalogPath(c)) {
			known[i].Properties, known[i].AllowedLocations = keptProperties(nil), models.JSON[[]string]{}
			known[i].Storage.V = models.StorageConfig{Type: c.Storage.V.Type}
		}
	}
	return known, nil
}

// CreateCatalog makes a catalog. Engines may write nothing to its tables until somebody says otherwise. Its role
// catalog_admin holds all but TABLE_GOVERN on it and is given to service_admin.
func (s *Service) CreateCatalog(ctx context.Context, caller policy.Caller, in NewCatalog) (models.Catalog, error) {
	if err := changesService(caller, policy.CreateCatalog, "create catalogs"); err != nil {
		return models.Catalog{}, err
	}
	if err := checkCatalogName(in.Name); err != nil {
		return models.Catalog{}, err
	}
	if err := checkProperties(in.Properties); err != nil {
		return models.Catalog{}, err
	}
	// Before the locations: a catalog that is made twice is taken, not in its own way.
	if _, err := s.store.CatalogByName(ctx, in.Name); err == nil {
		return models.Catalog{}, fault.About(fault.AlreadyExists, fault.Catalog, "Catalog %q exists already: choose another name.", in.Name)
	} else if !fault.Is(err, fault.NotFound) {
		return models.Catalog{}, err
	}
	now := s.now()
	row := models.Catalog{
		ID: uuid.NewString(), Name: in.Name, DefaultWritePolicy: models.GovernedOnly, Properties: catalogProperties(in.Properties),
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.place(&row, in.BaseLocation, in.AllowedLocations, in.Storage); err != nil {
		return models.Catalog{}, err
	}
	details := map[string]any{
		"baseLocation": row.BaseLocation, "allowedLocations": row.AllowedLocations.V, "storageType": row.Storage.V.Type,
		"defaultWritePolicy": row.DefaultWritePolicy,
	}
	notePropertyKeys(details, nil, row.Properties.V)
	event := s.event(caller, models.AuditCatalogCreated, row.Name, details)
	err := s.store.PlaceCatalog(ctx, func(at Places) error {
		if err := s.checkApart(at, row, placesOf(row)); err != nil {
			return err
		}
		return at.CreateCatalog(row, policy.AdminPrivileges(), event)
	})
	if err != nil {
		return models.Catalog{}, err
	}
	return s.store.CatalogByName(ctx, row.Name)
}

// catalogProperties is the properties that are kept: the base location has a column of its own.
func catalogProperties(properties map[string]string) models.JSON[map[string]string] {
	kept := keptProperties(properties)
	delete(kept.V, baseLocationKey)
	return kept
}

// GetCatalog gives a catalog.
func (s *Service) GetCatalog(ctx context.Context, caller policy.Caller, name string) (models.Catalog, error) {
	return s.catalogFor(ctx, caller, policy.GetCatalog, name)
}

// UpdateCatalog replaces what is given of a catalog. Where its files may lie and how they are reached takes the right to
// administer the installation besides. What was read before somebody else's change is fault.Conflict.
func (s *Service) UpdateCatalog(ctx context.Context, caller policy.Caller, name string, in CatalogChange) (models.Catalog, error) {
	cat, err := s.changedCatalog(ctx, caller, policy.UpdateCatalog, name, "change catalogs")
	if err != nil {
		return models.Catalog{}, err
	}
	if cat.Version != in.Version {
		return models.Catalog{}, staleVersion("catalog", name, cat.Version, in.Version)
	}
	next, moved, err := s.changedPlaces(caller, cat, in)
	if err != nil {
		return models.Catalog{}, err
	}
	if in.Properties != nil {
		if err := checkProperties(in.Properties); err != nil {
			return models.Catalog{}, err
		}
		next.Properties = catalogProperties(in.Properties)
	}
	if !moved && maps.Equal(cat.Properties.V, next.Properties.V) {
		return cat, nil
	}
	event := s.event(caller, models.AuditCatalogUpdated, cat.Name, catalogChanges(cat, next))
	err = s.store.PlaceCatalog(ctx, func(at Places) error {
		if err := s.checkApart(at, next, s.added(cat, next)); err != nil {
			return err
		}
		return at.UpdateCatalog(next, event)
	})
	if err != nil {
		return models.Catalog{}, err
	}
	return s.store.CatalogByName(ctx, cat.Name)
}

// changedPlaces gives the catalog with the locations and the storage of the change, and whether any is another one.
func (s *Service) changedPlaces(caller policy.Caller, cat models.Catalog, in CatalogChange) (next models.Catalog, moved bool, err error) {
	next = cat
	if in.BaseLocation == "" && in.AllowedLocations == nil && in.Storage == nil {
		return next, false, nil
	}
	base, allowed, storage := cat.BaseLocation, cat.AllowedLocations.V, cat.Storage.V
	if in.BaseLocation != "" {
		base = in.BaseLocation
	}
	if in.AllowedLocations != nil {
		allowed = in.AllowedLocations
	}
	if in.Storage != nil {
		storage = *in.Storage
	}
	asked := s.spelled(append([]string{base}, allowed...))
	if slices.Equal(asked, s.spelled(placesOf(cat))) && sameStorage(storage, cat.Storage.V) {
		return cat, false, nil
	}
	if err := onService(caller, policy.UpdateCatalogStorage); err != nil {
		return next, false, err
	}
	return next, true, s.place(&next, base, allowed, storage)
}

// sameStorage: a catalog of before there was a storage type has none, and is not changed by naming it.
func sameStorage(next, before models.StorageConfig) bool {
	if before.Type == "" {
		before.Type = next.Type
	}
	a, errA := json.Marshal(next)
	b, errB := json.Marshal(before)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func catalogChanges(before, after models.Catalog) map[string]any {
	details := map[string]any{}
	notePropertyKeys(details, before.Properties.V, after.Properties.V)
	noteChange(details, "baseLocation", before.BaseLocation, after.BaseLocation)
	if !slices.Equal(before.AllowedLocations.V, after.AllowedLocations.V) {
		details["allowedLocations"] = map[string]any{"from": before.AllowedLocations.V, "to": after.AllowedLocations.V}
	}
	if !sameStorage(after.Storage.V, before.Storage.V) {
		details["storage"] = map[string]any{"from": before.Storage.V, "to": after.Storage.V}
	}
	return details
}

// DeleteCatalog removes a catalog with its roles, grants and tokens; fault.NotEmpty while it holds anything.
func (s *Service) DeleteCatalog(ctx context.Context, caller policy.Caller, name string) error {
	if err := mayGovern(caller, "delete catalogs"); err != nil {
		return err
	}
	cat, err := s.catalogNamed(ctx, caller, name)
	if err != nil {
		return err
	}
	if err := onService(caller, policy.DeleteCatalog); err != nil {
		return err
	}
	event := s.event(caller, models.AuditCatalogDeleted, cat.Name, map[string]any{"baseLocation": cat.BaseLocation})
	return s.store.DeleteCatalog(ctx, cat.ID, event)
}

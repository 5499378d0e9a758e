package store

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func noPrincipal() error {
	return fault.About(fault.NotFound, fault.Principal, "The principal does not exist.")
}

// PrincipalByID implements access.Store.
func (s *Store) PrincipalByID(ctx context.Context, id string) (models.Principal, error) {
	return s.principalBy(ctx, "id", id)
}

// PrincipalByName implements access.Store.
func (s *Store) PrincipalByName(ctx context.Context, name string) (models.Principal, error) {
	return s.principalBy(ctx, "name", name)
}

// PrincipalByClientID implements access.Store.
func (s *Store) PrincipalByClientID(ctx context.Context, clientID string) (models.Principal, error) {
	return s.principalBy(ctx, "client_id", clientID)
}

func (s *Store) principalBy(ctx context.Context, column, value string) (models.Principal, error) {
	if value == "" || !storable(value) {
		return models.Principal{}, noPrincipal()
	}
	return one[models.Principal](ctx, s.query(ctx).Where(column+" = ?", value), noPrincipal())
}

// PrincipalRoleNames implements access.Store, in order of names.
func (s *Store) PrincipalRoleNames(ctx context.Context, principalID string) ([]string, error) {
	names := []string{}
	err := s.query(ctx).Model(&models.PrincipalRole{}).
		Joins("JOIN principal_role_members m ON m.principal_role_id = principal_roles.id").
		Where("m.principal_id = ?", principalID).Order("principal_roles.name").Pluck("principal_roles.name", &names).Error
	return names, translate(ctx, err)
}

// PrincipalGrants implements access.Store.
func (s *Store) PrincipalGrants(ctx context.Context, principalID string) ([]models.Grant, error) {
	return all[models.Grant](ctx, s.query(ctx).Where(`catalog_role_id IN (
		SELECT c.catalog_role_id FROM catalog_role_members c
		JOIN principal_role_members p ON p.principal_role_id = c.principal_role_id
		WHERE p.principal_id = ?)`, principalID).Order("id"))
}

// Bootstrap implements access.Store.
func (s *Store) Bootstrap(ctx context.Context, b access.Bootstrap) error {
	root := b.Root
	s.stamp(&root.CreatedAt, &root.UpdatedAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		row := root
		if err := tx.Create(&row).Error; isDuplicate(err) {
			return fault.About(fault.AlreadyExists, fault.Principal,
				"Principal %q exists already: this installation is set up.", root.Name)
		} else if err != nil {
			return err
		}
		admin := models.PrincipalRole{
			ID: uuid.NewString(), Name: models.ServiceAdminRole,
			Version: 1, CreatedAt: root.CreatedAt, UpdatedAt: root.CreatedAt,
		}
		if err := tx.Create(&admin).Error; err != nil {
			return err
		}
		if err := tx.Create(&models.PrincipalRoleMember{PrincipalID: root.ID, PrincipalRoleID: admin.ID}).Error; err != nil {
			return err
		}
		if err := s.insertCatalog(tx, b.Catalog, b.AdminPrivileges); err != nil {
			return err
		}
		return s.insertAudit(tx, b.Events...)
	})
}

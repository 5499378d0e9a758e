package store

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Bootstrap implements access.Store. The root principal may see everything where it names no clearance.
func (s *Store) Bootstrap(ctx context.Context, b access.Bootstrap) error {
	root := b.Root
	s.stamp(&root.CreatedAt, &root.UpdatedAt)
	return s.write(ctx, func(tx *gorm.DB) error {
		err := s.insertPrincipal(tx, root, models.Restricted)
		if fault.Is(err, fault.AlreadyExists) {
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

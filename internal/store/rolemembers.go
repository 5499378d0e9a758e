package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// RolesOfPrincipal implements access.Store and management.Store.
func (s *Store) RolesOfPrincipal(ctx context.Context, principalID string) ([]models.PrincipalRole, error) {
	return all[models.PrincipalRole](ctx, s.query(ctx).
		Where("id IN (SELECT principal_role_id FROM principal_role_members WHERE principal_id = ?)", principalID).Order("name"))
}

// PrincipalsWithRole implements management.Store.
func (s *Store) PrincipalsWithRole(ctx context.Context, principalRoleID string) ([]models.Principal, error) {
	return all[models.Principal](ctx, s.query(ctx).
		Where("id IN (SELECT principal_id FROM principal_role_members WHERE principal_role_id = ?)", principalRoleID).Order("name"))
}

// AssignPrincipalRole implements management.Store.
func (s *Store) AssignPrincipalRole(ctx context.Context, m models.PrincipalRoleMember, event models.AuditEvent) (bool, error) {
	return addMember(ctx, s, m, principalRoleKey(m), event, "The principal or the principal role does not exist any more.")
}

// RevokePrincipalRole implements management.Store.
func (s *Store) RevokePrincipalRole(ctx context.Context, m models.PrincipalRoleMember, event models.AuditEvent) (bool, error) {
	return removeMember[models.PrincipalRoleMember](ctx, s, principalRoleKey(m), event)
}

// CatalogRolesOf implements management.Store.
func (s *Store) CatalogRolesOf(ctx context.Context, principalRoleID, catalogID string) ([]models.CatalogRole, error) {
	query := s.query(ctx).
		Where("id IN (SELECT catalog_role_id FROM catalog_role_members WHERE principal_role_id = ?)", principalRoleID).
		Order("name, catalog_id")
	if catalogID != "" {
		query = query.Where("catalog_id = ?", catalogID)
	}
	return all[models.CatalogRole](ctx, query)
}

// PrincipalRolesWith implements management.Store.
func (s *Store) PrincipalRolesWith(ctx context.Context, catalogRoleID string) ([]models.PrincipalRole, error) {
	return all[models.PrincipalRole](ctx, s.query(ctx).
		Where("id IN (SELECT principal_role_id FROM catalog_role_members WHERE catalog_role_id = ?)", catalogRoleID).Order("name"))
}

// AssignCatalogRole implements management.Store.
func (s *Store) AssignCatalogRole(ctx context.Context, m models.CatalogRoleMember, event models.AuditEvent) (bool, error) {
	return addMember(ctx, s, m, catalogRoleKey(m), event, "The principal role or the catalog role does not exist any more.")
}

// RevokeCatalogRole implements management.Store.
func (s *Store) RevokeCatalogRole(ctx context.Context, m models.CatalogRoleMember, event models.AuditEvent) (bool, error) {
	return removeMember[models.CatalogRoleMember](ctx, s, catalogRoleKey(m), event)
}

// addMember adds a row that is nothing but its key. It looks first: on PostgreSQL a statement that changes no row raises
// the version of access all the same.
func addMember[T any](ctx context.Context, s *Store, member T, key map[string]any, event models.AuditEvent, gone string) (added bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		added = false
		there, err := exists(tx.Model(new(T)).Where(key))
		if err != nil || there {
			return err
		}
		row := member
		result := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if isOrphan(result.Error) {
			return fault.About(fault.NotFound, fault.Role, "%s", gone)
		}
		if result.Error != nil || result.RowsAffected == 0 {
			return result.Error
		}
		added = true
		return s.insertAudit(tx, event)
	})
	return added && err == nil, err
}

// removeMember takes such a row away.
func removeMember[T any](ctx context.Context, s *Store, key map[string]any, event models.AuditEvent) (removed bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		removed = false
		there, err := exists(tx.Model(new(T)).Where(key))
		if err != nil || !there {
			return err
		}
		result := tx.Where(key).Delete(new(T))
		if result.Error != nil || result.RowsAffected == 0 {
			return result.Error
		}
		removed = true
		return s.insertAudit(tx, event)
	})
	return removed && err == nil, err
}

func principalRoleKey(m models.PrincipalRoleMember) map[string]any {
	return map[string]any{"principal_id": m.PrincipalID, "principal_role_id": m.PrincipalRoleID}
}

func catalogRoleKey(m models.CatalogRoleMember) map[string]any {
	return map[string]any{"principal_role_id": m.PrincipalRoleID, "catalog_role_id": m.CatalogRoleID}
}

package policy

import "github.com/sluice-data/sluice/models"

// AdminPrivileges is what the role catalog_admin of a new catalog holds on it. TABLE_GOVERN is not among them: a steward
// is named.
func AdminPrivileges() []models.Privilege {
	return []models.Privilege{
		models.CatalogManageAccess, models.CatalogManageContent, models.CatalogManageMetadata,
		models.CatalogReadProperties, models.CatalogWriteProperties,
		models.AuditRead, models.DataRead, models.DataWrite,
	}
}

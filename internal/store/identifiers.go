package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// nameAttempts bounds how often a name is tried for that others let go of and take again in between.
const nameAttempts = 5

// IdentifierByName implements catalog.Store.
func (s *Store) IdentifierByName(ctx context.Context, namespaceID, name string) (models.Identifier, error) {
	free := fault.New(fault.NotFound, "Nothing is named %q.", name)
	if !storable(name) {
		return models.Identifier{}, free
	}
	return one[models.Identifier](ctx, s.query(ctx).Where("namespace_id = ? AND name = ?", namespaceID, name), free)
}

// takeName makes a name an entity's. Whoever is taking it at the same time is waited for; when it is taken the answer
// is AlreadyExists about the kind that has it.
func takeName(tx *gorm.DB, id models.Identifier) error {
	for range nameAttempts {
		row := id
		result := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if isOrphan(result.Error) {
			return namespaceGone()
		}
		if result.Error != nil || result.RowsAffected > 0 {
			return result.Error
		}
		var holder models.Identifier
		err := tx.Where("namespace_id = ? AND name = ?", id.NamespaceID, id.Name).Take(&holder).Error
		switch {
		case err == nil && holder.Kind == models.ViewIdentifier:
			return viewExists(id.Name)
		case err == nil:
			return tableExists(id.Name)
		case !isAbsent(err):
			return err
		}
	}
	return fault.New(fault.Unavailable, "The name %q changes hands all the time: nothing was written, try again.", id.Name)
}

// leaveName frees the name of an entity.
func leaveName(tx *gorm.DB, entityID string) error {
	return tx.Where("entity_id = ?", entityID).Delete(&models.Identifier{}).Error
}

// changeName frees an entity's name and takes another.
func changeName(tx *gorm.DB, id models.Identifier) error {
	if err := leaveName(tx, id.EntityID); err != nil {
		return err
	}
	return takeName(tx, id)
}

func identifierOf(t models.Table) models.Identifier {
	return models.Identifier{NamespaceID: t.NamespaceID, Name: t.Name, Kind: models.TableIdentifier, EntityID: t.ID}
}

func identifierOfView(v models.View) models.Identifier {
	return models.Identifier{NamespaceID: v.NamespaceID, Name: v.Name, Kind: models.ViewIdentifier, EntityID: v.ID}
}

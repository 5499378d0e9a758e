package store

import (
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// stillNamed holds a table or view under the name by which its event knows it, and answers fault.Conflict when it has
// another by now: who asked for a name to be dropped or renamed does not mean what was moved away from it meanwhile.
// It locks the row of the entity itself: that of its name is another one after each rename.
func stillNamed[T models.Table | models.View](tx *gorm.DB, id string, event models.AuditEvent, kind fault.Subject) error {
	if event.Table == "" {
		return nil
	}
	var now []struct{ NamespaceID, Name string }
	err := locking(tx.Model(new(T)), "UPDATE").Select("namespace_id", "name").Where("id = ?", id).Scan(&now).Error
	if err != nil || len(now) == 0 { // what is gone is found by the effect itself
		return err
	}
	var ns models.Namespace
	if err := tx.Select("name_key").Where("id = ?", now[0].NamespaceID).Take(&ns).Error; err != nil {
		return err
	}
	ident := models.TableIdent{Namespace: ns.Key.Levels(), Name: now[0].Name}
	if ident.String() != event.Table {
		return fault.About(fault.Conflict, kind, "%s was renamed meanwhile: look at the current names and try again.", event.Table)
	}
	return nil
}

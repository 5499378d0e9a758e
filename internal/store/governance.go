package store

import (
	"context"
	"database/sql/driver"
	"maps"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// UpdateGovernance implements catalog.Store. It raises the version: a commit that was judged under the old policy
// loses its swap and is judged again.
func (s *Store) UpdateGovernance(ctx context.Context, before, after models.Table, event models.AuditEvent) error {
	was, err := governanceOf(before)
	if err != nil {
		return err
	}
	values, err := governanceOf(after)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		var row models.Table
		err := locking(tx, "UPDATE").Where("id = ?", after.ID).Take(&row).Error
		if isAbsent(err) {
			return tableGone()
		}
		if err != nil {
			return err
		}
		// The version would not do: commits raise it too, and a busy table could not be governed.
		is, err := governanceOf(row)
		if err != nil {
			return err
		}
		if !maps.Equal(was, is) {
			return fault.About(fault.Conflict, fault.Table, "The governance of table %q was changed meanwhile: load it and try again.", row.Name)
		}
		changes := maps.Clone(values)
		changes["version"] = gorm.Expr("version + 1")
		if err := tx.Model(&models.Table{}).Where("id = ?", row.ID).UpdateColumns(changes).Error; err != nil {
			return err
		}
		return s.insertAudit(tx, event)
	})
}

// governanceOf gives what governance says of a table, by column, as it is stored.
func governanceOf(t models.Table) (map[string]any, error) {
	out := map[string]any{"write_policy": string(t.WritePolicy), "classification": string(t.Classification), "known_column": t.KnownColumn}
	for column, v := range map[string]driver.Valuer{"identity_columns": t.IdentityColumns, "columns": t.Columns, "row_filters": t.RowFilters} {
		text, err := v.Value()
		if err != nil {
			return nil, err
		}
		out[column] = text
	}
	return out, nil
}

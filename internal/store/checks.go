package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/models"
)

// checkPage is how many tables are read at once, of which most are as they were.
const checkPage = 500

// checkRow is a table with how far it was looked at.
type checkRow struct {
	models.Table   `gorm:"embedded"`
	CatalogName    string
	NamespaceKey   models.NamespaceKey
	CheckedVersion *int64 // nil: never
	CheckedStamp   *string
	CheckedAt      *time.Time
}

// last gives the last look at the table, nil for none.
func (r checkRow) last() *models.TableCheck {
	if r.CheckedVersion == nil || r.CheckedStamp == nil || r.CheckedAt == nil {
		return nil
	}
	return &models.TableCheck{TableID: r.ID, Version: *r.CheckedVersion, Stamp: *r.CheckedStamp, CheckedAt: *r.CheckedAt}
}

// TablesToCheck implements activities.CheckLedger. It reads on, page by page, until it has as many as are wanted.
func (s *Store) TablesToCheck(ctx context.Context, before time.Time, after string, limit int) ([]activities.TableToCheck, error) {
	out := []activities.TableToCheck{}
	for {
		rows, err := all[checkRow](ctx, s.stateQuery(ctx).
			Select(`tables.*, catalogs.name AS catalog_name, namespaces.name_key AS namespace_key,
				ch.version AS checked_version, ch.stamp AS checked_stamp, ch.checked_at`).
			Joins("LEFT JOIN table_checks ch ON ch.table_id = tables.id").
			Where("tables.id > ?", after).Order("tables.id").Limit(checkPage))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			after = r.ID
			stamp, err := governanceStamp(r.Table)
			if err != nil {
				return nil, err
			}
			last := r.last()
			changed := last == nil || last.Version != r.Version || last.Stamp != stamp
			if changed || last.CheckedAt.Before(before) {
				out = append(out, activities.TableToCheck{
					Table: r.Table, Catalog: r.CatalogName, Stamp: stamp, Changed: changed, Last: last,
					Name: models.TableIdent{Namespace: r.NamespaceKey.Levels(), Name: r.Name}.String(),
				})
			}
			if limit > 0 && len(out) == limit {
				return out, nil
			}
		}
		if len(rows) < checkPage {
			return out, nil
		}
	}
}

// governanceStamp is of what governance says of a table, whatever the table is at.
func governanceStamp(t models.Table) (string, error) {
	text, err := json.Marshal([]any{t.WritePolicy, t.Classification, t.IdentityColumns.V, t.Columns.V})
	return models.SubjectKey(string(text)), err
}

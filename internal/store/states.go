package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// stateRow is a table joined with the names of what it is in.
type stateRow struct {
	models.Table `gorm:"embedded"`
	CatalogName  string
	NamespaceKey models.NamespaceKey `gorm:"column:namespace_key"`
}

// dotted gives the table's name with its namespace.
func (r stateRow) dotted() string {
	return models.TableIdent{Namespace: r.NamespaceKey.Levels(), Name: r.Name}.String()
}

func (s *Store) stateQuery(ctx context.Context) *gorm.DB {
	return s.query(ctx).Table("tables").
		Select("tables.*, catalogs.name AS catalog_name, namespaces.name_key AS namespace_key").
		Joins("JOIN catalogs ON catalogs.id = tables.catalog_id").
		Joins("JOIN namespaces ON namespaces.id = tables.namespace_id")
}

// TableStates gives tables with their reconciliation lag, in order of id.
func (s *Store) TableStates(ctx context.Context, f models.TableFilter) ([]models.TableState, error) {
	query := limited(s.stateQuery(ctx), f.Limit).Where("tables.id > ?", f.After).Order("tables.id")
	if f.CatalogID != "" {
		query = query.Where("tables.catalog_id = ?", f.CatalogID)
	}
	rows, err := all[stateRow](ctx, query)
	if err != nil {
		return nil, err
	}
	return s.withLag(ctx, rows)
}

// TableState gives one table with its reconciliation lag.
func (s *Store) TableState(ctx context.Context, tableID string) (models.TableState, error) {
	row, err := one[stateRow](ctx, s.stateQuery(ctx).Where("tables.id = ?", tableID), tableGone())
	if err != nil {
		return models.TableState{}, err
	}
	states, err := s.withLag(ctx, []stateRow{row})
	if err != nil {
		return models.TableState{}, err
	}
	return states[0], nil
}

type lagRow struct {
	TableID     string
	Pending     int64
	CommittedAt time.Time
}

// lagSQL joins the oldest pending commit for its time, which would lose its type in an aggregate on SQLite.
const lagSQL = `SELECT p.table_id, p.pending, c.committed_at
	FROM (SELECT table_id, count(*) AS pending, min(id) AS oldest FROM commits
		WHERE ` + isPending + ` AND table_id IN ? GROUP BY table_id) AS p
	JOIN commits c ON c.id = p.oldest`

func (s *Store) withLag(ctx context.Context, rows []stateRow) ([]models.TableState, error) {
	states := make([]models.TableState, len(rows))
	ids := make([]string, len(rows))
	for i, r := range rows {
		states[i] = models.TableState{Table: r.Table, CatalogName: r.CatalogName, NamespaceKey: r.NamespaceKey}
		ids[i] = r.ID
	}
	if len(ids) == 0 {
		return states, nil
	}
	var lags []lagRow
	if err := s.query(ctx).Raw(lagSQL, ids).Scan(&lags).Error; err != nil {
		return nil, translate(ctx, err)
	}
	byTable := make(map[string]lagRow, len(lags))
	for _, l := range lags {
		byTable[l.TableID] = l
	}
	for i := range states {
		if l, ok := byTable[ids[i]]; ok {
			states[i].PendingCommits, states[i].OldestPending = l.Pending, &l.CommittedAt
		}
	}
	return states, nil
}

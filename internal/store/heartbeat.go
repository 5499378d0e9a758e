package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/models"
)

// heartbeatName is of the one row that every process writes.
const heartbeatName = "readiness"

// Heartbeat writes a row, so that a database that can be read and not written shows: its disk is full, or it is a standby.
func (s *Store) Heartbeat(ctx context.Context) error {
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		beat := models.Heartbeat{Name: heartbeatName, At: s.clock()}
		return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, UpdateAll: true}).Create(&beat).Error
	})
}

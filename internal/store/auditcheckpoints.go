package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/models"
)

var _ audit.Ledger = (*Store)(nil)

// AuditCheckpoints implements audit.Chain.
func (s *Store) AuditCheckpoints(ctx context.Context) ([]models.AuditCheckpoint, error) {
	return all[models.AuditCheckpoint](ctx, s.query(ctx).Order("seq, id"))
}

// CheckpointPage implements audit.CheckpointStore.
func (s *Store) CheckpointPage(ctx context.Context, before string, limit int) ([]models.AuditCheckpoint, error) {
	query := limited(s.query(ctx), limit).Order("id DESC")
	if before != "" {
		query = query.Where("id < ?", clean(before))
	}
	return all[models.AuditCheckpoint](ctx, query)
}

// LastCheckpoint implements audit.Ledger.
func (s *Store) LastCheckpoint(ctx context.Context) (models.AuditCheckpoint, error) {
	return lastCheckpoint(ctx, s.query(ctx))
}

func lastCheckpoint(ctx context.Context, query *gorm.DB) (models.AuditCheckpoint, error) {
	rows, err := all[models.AuditCheckpoint](ctx, query.Order("seq DESC, id DESC").Limit(1))
	if err != nil || len(rows) == 0 {
		return models.AuditCheckpoint{}, err
	}
	return rows[0], nil
}

// lockChain holds the row that every change of the chain takes.
func lockChain(tx *gorm.DB) (models.AuditState, error) {
	var state models.AuditState
	err := locking(tx, "UPDATE").Where("id = 1").Take(&state).Error
	if isAbsent(err) {
		err = noAuditState()
	}
	return state, err
}

// AddCheckpoint implements audit.Ledger.
func (s *Store) AddCheckpoint(ctx context.Context, c models.AuditCheckpoint, since time.Time) (bool, error) {
	added := false
	err := s.writeAlone(ctx, func(tx *gorm.DB) error {
		added = false
		if _, err := lockChain(tx); err != nil {
			return err
		}
		newest, err := lastCheckpoint(ctx, tx)
		// A clock that was ahead may have signed in the future. Waiting for that time would leave the audit unsigned.
		age := c.At.Sub(since)
		if err != nil || newest.Seq >= c.Seq || newest.At.After(since) && newest.At.Before(c.At.Add(age)) {
			return err
		}
		row := c
		added = true
		return tx.Create(&row).Error
	})
	return added && err == nil, err
}

// AuditKeys implements audit.KeyStore.
func (s *Store) AuditKeys(ctx context.Context) ([]models.AuditKey, error) {
	return all[models.AuditKey](ctx, s.query(ctx).Order(newestKeyFirst))
}

// AddAuditKey implements audit.KeyStore.
func (s *Store) AddAuditKey(ctx context.Context, key models.AuditKey, newest string) (models.AuditKey, error) {
	s.stamp(&key.CreatedAt)
	var last models.AuditKey
	err := s.writeAlone(ctx, func(tx *gorm.DB) error {
		if _, err := lockChain(tx); err != nil {
			return err
		}
		keys, err := all[models.AuditKey](ctx, tx.Order(newestKeyFirst).Limit(1))
		if err != nil {
			return err
		}
		row := key
		if len(keys) > 0 {
			if last = keys[0]; last.ID != newest {
				return nil
			}
			if !row.CreatedAt.After(last.CreatedAt) { // a clock that runs behind
				row.CreatedAt = last.CreatedAt.Add(time.Microsecond)
			}
		}
		last = row
		return tx.Create(&row).Error
	})
	return last, err
}

// ResealAuditKey implements audit.KeyStore.
func (s *Store) ResealAuditKey(ctx context.Context, id string, private []byte) error {
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.AuditKey{}).Where("id = ?", id).UpdateColumn("private", private).Error
	})
}

// PrunableAudit implements audit.PruneLedger. It reads as many rows as there are to prune.
func (s *Store) PrunableAudit(ctx context.Context, before time.Time, exported bool) (seq int64, hash string, err error) {
	state, err := s.AuditState(ctx)
	if err != nil {
		return 0, "", err
	}
	last := state.Seq
	if exported {
		last = min(last, state.ExportedSeq)
	}
	var found struct{ Seq int64 }
	// The first that is to stay: places follow time only roughly.
	err = s.query(ctx).Raw("SELECT seq FROM audit_events WHERE seq > ? AND seq <= ? AND at >= ? ORDER BY seq LIMIT 1", state.PrunedSeq, last, stored(before)).Scan(&found).Error
	if err != nil {
		return 0, "", translate(ctx, err)
	}
	if found.Seq > 0 {
		last = found.Seq - 1
	}
	if last <= state.PrunedSeq {
		return 0, "", nil
	}
	err = s.AuditRecords(ctx, last-1, last, func(r *audit.Record) error {
		hash = r.Hash
		return nil
	})
	if err == nil && hash == "" {
		err = fmt.Errorf("the event at place %d of the audit is gone", last)
	}
	return last, hash, err
}

// PruneAudit implements audit.PruneLedger.
func (s *Store) PruneAudit(ctx context.Context, c models.AuditCheckpoint, event models.AuditEvent) (bool, error) {
	pruned := false
	err := s.writeAlone(ctx, func(tx *gorm.DB) error {
		state, err := lockChain(tx)
		if pruned = err == nil && state.PrunedSeq < c.Seq && c.Seq <= state.Seq; !pruned {
			return err
		}
		row := c
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		if err := tx.Model(&models.AuditState{}).Where("id = 1").UpdateColumn("pruned_seq", c.Seq).Error; err != nil {
			return err
		}
		event.Details.V["events"] = c.Seq - state.PrunedSeq
		return s.insertAudit(tx, event)
	})
	return pruned && err == nil, err
}

// RemovePruned implements audit.PruneLedger. What is at no place of a chain was put there by somebody else, and stays to be
// seen.
func (s *Store) RemovePruned(ctx context.Context, limit int) (int, error) {
	there, err := exists(s.query(ctx).Table("audit_events").Where("seq > 0 AND seq <= (SELECT pruned_seq FROM audit_states WHERE id = 1)"))
	if err != nil || !there {
		return 0, translate(ctx, err)
	}
	removed := 0
	err = s.writeAlone(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(`DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events
			WHERE seq > 0 AND seq <= (SELECT pruned_seq FROM audit_states WHERE id = 1) ORDER BY seq LIMIT ?)`, limit)
		removed = int(result.RowsAffected)
		return result.Error
	})
	return removed, err
}

// SetExported notes up to which place the exported table has the audit; it never goes back.
func (s *Store) SetExported(ctx context.Context, seq int64) error {
	return s.writeAlone(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.AuditState{}).Where("id = 1 AND exported_seq < ?", seq).UpdateColumn("exported_seq", seq).Error
	})
}

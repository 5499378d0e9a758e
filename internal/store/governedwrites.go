package store

import (
	"context"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// auditBlockBatch bounds the blocks of one INSERT: some 300 KB each.
	auditBlockBatch = 16
	// ownedBatch bounds the snapshots that are asked about at once.
	ownedBatch = 500
)

// insertWrites adds governed writes with the audit of their rows. The rows outlive their table, as the audit of events does:
// dropping, purging or forgetting it leaves them.
func (s *Store) insertWrites(tx *gorm.DB, writes []models.GovernedWrite) error {
	for i := range writes {
		row := s.writeRow(writes[i])
		if err := tx.Create(&row).Error; isDuplicate(err) {
			return fault.New(fault.AlreadyExists, "The governed write %s has landed already.", row.ID)
		} else if err != nil {
			return err
		}
		blocks := slices.Clone(writes[i].Blocks)
		for n := range blocks {
			blocks[n].WriteID, blocks[n].TableID, blocks[n].Place = row.ID, row.TableID, n
		}
		if len(blocks) == 0 {
			continue
		}
		if err := tx.CreateInBatches(&blocks, auditBlockBatch).Error; err != nil {
			return err
		}
	}
	return nil
}

// writeRow completes a write and makes its text storable.
func (s *Store) writeRow(w models.GovernedWrite) models.GovernedWrite {
	s.stamp(&w.CommittedAt)
	for _, text := range []*string{&w.TableName, &w.Principal, &w.TokenID, &w.RequestID, &w.Digest, &w.QuarantineTable} {
		*text = clean(*text)
	}
	return w
}

// GovernedWrites gives governed writes without the audit of their rows, newest first.
func (s *Store) GovernedWrites(ctx context.Context, f models.GovernedWriteFilter) ([]models.GovernedWrite, error) {
	if !storable(f.Before) || !storable(f.Principal) || !storable(f.TableID) {
		return []models.GovernedWrite{}, nil
	}
	query := limited(s.query(ctx), f.Limit).Order("id DESC")
	if f.CatalogID != "" {
		query = query.Where("catalog_id = ?", f.CatalogID)
	}
	if f.TableID != "" {
		query = query.Where("table_id = ?", f.TableID)
	}
	if f.Principal != "" {
		query = query.Where("principal = ?", f.Principal)
	}
	if f.Before != "" {
		query = query.Where("id < ?", f.Before)
	}
	return all[models.GovernedWrite](ctx, query)
}

// GovernedWrite gives one governed write without the audit of its rows; fault.NotFound when there is none.
func (s *Store) GovernedWrite(ctx context.Context, id string) (models.GovernedWrite, error) {
	absent := fault.New(fault.NotFound, "There is no governed write with the id %q.", id)
	if !storable(id) {
		return models.GovernedWrite{}, absent
	}
	return one[models.GovernedWrite](ctx, s.query(ctx).Where("id = ?", id), absent)
}

// RowAuditBlocks gives blocks of the audit of rows. A table's are those of its writes.
func (s *Store) RowAuditBlocks(ctx context.Context, f models.RowAuditFilter) ([]models.RowAuditBlock, error) {
	if !storable(f.WriteID) || !storable(f.TableID) || !storable(f.AfterWrite) {
		return []models.RowAuditBlock{}, nil
	}
	query := limited(s.query(ctx), f.Limit).Order("write_id, place")
	if f.TableID != "" { // a table that is registered again has its writes from before, see moveWrites
		query = query.Where("write_id IN (SELECT id FROM governed_writes WHERE table_id = ?)", f.TableID)
	}
	if f.WriteID != "" {
		query = query.Where("write_id = ?", f.WriteID)
	}
	if len(f.Hash) > 0 {
		query = query.Where("first_hash <= ? AND last_hash >= ?", f.Hash, f.Hash)
	}
	if f.AfterWrite != "" {
		query = query.Where("(write_id, place) > (?, ?)", f.AfterWrite, f.AfterPlace)
	}
	return all[models.RowAuditBlock](ctx, query)
}

// HasOwned implements catalog.OwnershipStore.
func (s *Store) HasOwned(ctx context.Context, tableID string) (bool, error) {
	found, err := exists(s.query(ctx).Model(&models.GovernedWrite{}).Where(isUpsert+" AND table_id = ?", tableID))
	return found, translate(ctx, err)
}

// isUpsert is spelled as in the partial index, which databases use for a constant alone.
const isUpsert = "mode = 'upsert'"

// OwnedSnapshots implements catalog.OwnershipStore.
func (s *Store) OwnedSnapshots(ctx context.Context, tableID string, ids []int64) ([]int64, error) {
	var owned []int64
	for part := range slices.Chunk(ids, ownedBatch) {
		var found []int64
		err := s.query(ctx).Model(&models.GovernedWrite{}).Distinct("snapshot_id").
			Where(isUpsert+" AND table_id = ? AND snapshot_id IN ?", tableID, part).Scan(&found).Error
		if err != nil {
			return nil, translate(ctx, err)
		}
		owned = append(owned, found...)
	}
	return owned, nil
}

// moveWrites makes the writes of a table those of another row, which is the same table registered again: what the platform
// owns in it stays the platform's. Blocks are found by their writes.
func moveWrites(tx *gorm.DB, from, to string) error {
	return tx.Model(&models.GovernedWrite{}).Where("table_id = ?", from).UpdateColumn("table_id", to).Error
}

// DataKey gives the key of a purpose. Where there is none, sealed becomes it: whoever asks, in whatever process, is given the
// first one.
func (s *Store) DataKey(ctx context.Context, purpose string, sealed []byte) (models.DataKey, error) {
	query := func() *gorm.DB { return s.query(ctx).Where("purpose = ?", purpose) }
	absent := fault.New(fault.NotFound, "There is no data key for %q.", purpose)
	row, err := one[models.DataKey](ctx, query(), absent)
	if !fault.Is(err, fault.NotFound) || len(sealed) == 0 {
		return row, err
	}
	fresh := models.DataKey{Purpose: purpose, Sealed: sealed}
	s.stamp(&fresh.CreatedAt)
	err = s.writeAlone(ctx, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "purpose"}}, DoNothing: true}).Create(&fresh).Error
	})
	if err != nil {
		return models.DataKey{}, err
	}
	return one[models.DataKey](ctx, query(), absent)
}

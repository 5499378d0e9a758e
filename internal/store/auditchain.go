package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// AuditState implements audit.Chain.
func (s *Store) AuditState(ctx context.Context) (models.AuditState, error) {
	return one[models.AuditState](ctx, s.query(ctx).Where("id = 1"), noAuditState())
}

func noAuditState() error {
	return fault.New(fault.Internal, "The state of the audit's chain is gone: restore the row of audit_states from a backup.")
}

// SealAudit implements audit.Ledger. Where nothing waits it writes nothing.
func (s *Store) SealAudit(ctx context.Context, limit int, seal func(models.AuditState, []audit.Record) []string) (audit.Sealing, error) {
	waits, err := exists(s.query(ctx).Table("audit_events").Where("seq IS NULL"))
	if err != nil {
		return audit.Sealing{}, translate(ctx, err)
	}
	if !waits {
		state, err := s.AuditState(ctx)
		return audit.Sealing{State: state}, err
	}
	var done audit.Sealing
	err = s.writeAlone(ctx, func(tx *gorm.DB) error {
		done = audit.Sealing{}
		held, err := s.takeChain(tx, &done.State)
		if err != nil || !held {
			done.Held = err == nil
			return err
		}
		records, err := unsealed(ctx, tx, s.auditColumns(), limit)
		if err != nil || len(records) == 0 {
			return err
		}
		hashes := seal(done.State, records)
		if err := s.place(tx, done.State, records, hashes); err != nil {
			return err
		}
		done.Events = len(records)
		done.State.Seq += int64(len(records))
		done.State.Hash = hashes[len(hashes)-1]
		return tx.Model(&models.AuditState{}).Where("id = 1").
			UpdateColumns(map[string]any{"seq": done.State.Seq, "hash": done.State.Hash}).Error
	})
	if err == nil && done.Held {
		done.State, err = s.AuditState(ctx)
	}
	return done, err
}

// takeChain locks the state, unless another process has it.
func (s *Store) takeChain(tx *gorm.DB, state *models.AuditState) (bool, error) {
	err := tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).Where("id = 1").Take(state).Error
	if isAbsent(err) {
		return false, nil
	}
	return err == nil, err
}

// unsealed reads what has no place yet.
func unsealed(ctx context.Context, tx *gorm.DB, columns string, limit int) ([]audit.Record, error) {
	rows, err := tx.Statement.ConnPool.QueryContext(ctx,
		fmt.Sprintf("SELECT %s FROM audit_events WHERE seq IS NULL ORDER BY id LIMIT %d", columns, limit))
	if err != nil {
		return nil, err
	}
	var records []audit.Record
	err = eachRecord(rows, func(r *audit.Record) error {
		records = append(records, *r)
		return nil
	})
	return records, err
}

// The statements that give events their places, all of a page at once. They look for the rows by id: what is unsealed may be
// a backlog of millions. A trigger refuses those that are sealed.
const (
	placeOnPostgres = `UPDATE audit_events AS e SET seq = v.seq, prev_hash = v.prev_hash, hash = v.hash
FROM (SELECT id, $1::bigint + ord AS seq, COALESCE(lag(hash) OVER (ORDER BY ord), $2) AS prev_hash, hash
	FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS u (id, hash, ord)) AS v
WHERE e.id = ANY ($3::bigint[]) AND e.id = v.id`
	placeOnSQLite = `UPDATE audit_events SET seq = v.seq, prev_hash = v.prev_hash, hash = v.hash
FROM (SELECT value ->> 0 AS id, value ->> 1 AS seq, value ->> 2 AS prev_hash, value ->> 3 AS hash FROM json_each(?)) AS v
WHERE audit_events.id = v.id`
)

func (s *Store) place(tx *gorm.DB, state models.AuditState, records []audit.Record, hashes []string) error {
	if len(hashes) != len(records) {
		return fmt.Errorf("%d hashes for %d events", len(hashes), len(records))
	}
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	var result sql.Result
	var err error
	ctx := tx.Statement.Context
	if s.one != nil {
		result, err = tx.Statement.ConnPool.ExecContext(ctx, placeOnPostgres, state.Seq, state.Hash, ids, hashes)
	} else {
		var text []byte
		if text, err = json.Marshal(placesOf(state, ids, hashes)); err == nil {
			result, err = tx.Statement.ConnPool.ExecContext(ctx, placeOnSQLite, string(text))
		}
	}
	if err != nil {
		return err
	}
	placed, err := result.RowsAffected()
	if err == nil && placed != int64(len(records)) {
		err = fmt.Errorf("%d of %d events were sealed", placed, len(records))
	}
	return err
}

func placesOf(state models.AuditState, ids []int64, hashes []string) [][4]any {
	places := make([][4]any, len(ids))
	prev := state.Hash
	for i, id := range ids {
		places[i] = [4]any{id, state.Seq + int64(i) + 1, prev, hashes[i]}
		prev = hashes[i]
	}
	return places
}

// auditColumns are those of an audit.Record, as they are stored.
func (s *Store) auditColumns() string {
	const most = "id, event_id, type, %s, principal, token_id, catalog, namespace, table_name, table_uuid, %s, %s, reason, request_id, address, details, dedupe_key, seq, prev_hash, hash"
	if s.one != nil {
		return fmt.Sprintf(most, "at", "snapshot_id", "allowed::int")
	}
	return fmt.Sprintf(most, "CAST(at AS INTEGER)", "CAST(snapshot_id AS INTEGER)", "CAST(allowed AS INTEGER)")
}

// microTime reads a time as microseconds: from a time on PostgreSQL, from the stored number on SQLite.
type microTime int64

// Scan implements sql.Scanner.
func (m *microTime) Scan(src any) error {
	switch v := src.(type) {
	case time.Time:
		*m = microTime(v.UnixMicro())
	case int64:
		*m = microTime(v)
	default:
		return fmt.Errorf("cannot read a time from %T", src)
	}
	return nil
}

// eachRecord calls each for every row of auditColumns, with one record that it fills anew, and closes the rows.
func eachRecord(rows *sql.Rows, each func(*audit.Record) error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	var r audit.Record
	var seq sql.NullInt64
	var prev, hash sql.NullString
	into := []any{
		&r.ID, &r.EventID, &r.Type, (*microTime)(&r.At), &r.Principal, &r.TokenID, &r.Catalog, &r.Namespace, &r.Table, &r.TableUUID,
		&r.SnapshotID, &r.Allowed, &r.Reason, &r.RequestID, &r.Address, &r.Details, &r.DedupeKey, &seq, &prev, &hash,
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		r.Seq, r.PrevHash, r.Hash = seq.Int64, prev.String, hash.String
		if err := each(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// AuditRecords implements audit.Chain.
func (s *Store) AuditRecords(ctx context.Context, after, through int64, each func(*audit.Record) error) error {
	rows, err := s.pool.QueryContext(ctx, //nolint:sqlclosecheck // eachRecord closes them
		fmt.Sprintf("SELECT %s FROM audit_events WHERE seq > %d AND seq <= %d ORDER BY seq, id", s.auditColumns(), after, through))
	if err != nil {
		return translate(ctx, err)
	}
	return translate(ctx, eachRecord(rows, each))
}

// auditEndsSQL looks at one moment. Each part is by an index and most often empty.
const auditEndsSQL = `SELECT (SELECT count(*) FROM audit_events WHERE seq IS NULL) AS unsealed,
	COALESCE((SELECT min(id) FROM audit_events WHERE seq IS NULL), 0) AS oldest_id,
	(SELECT min(seq) FROM audit_events WHERE seq > s.seq) AS beyond,
	(SELECT min(seq) FROM audit_events WHERE seq <= s.pruned_seq) AS below
	FROM audit_states AS s WHERE s.id = 1`

// AuditEnds implements audit.Chain.
func (s *Store) AuditEnds(ctx context.Context) (audit.Ends, error) {
	var found struct {
		Unsealed, OldestID int64
		Beyond, Below      *int64 // whoever inserts events may give them any place, 0 too
	}
	if err := s.query(ctx).Raw(auditEndsSQL).Scan(&found).Error; err != nil {
		return audit.Ends{}, translate(ctx, err)
	}
	ends := audit.Ends{Unsealed: found.Unsealed, OldestID: found.OldestID}
	if found.OldestID != 0 {
		var rows []models.AuditEvent
		if err := s.query(ctx).Select("id", "at").Where("id = ?", found.OldestID).Find(&rows).Error; err != nil {
			return ends, translate(ctx, err)
		}
		for _, row := range rows {
			ends.Oldest = row.At
		}
	}
	var err error
	if ends.Beyond, err = s.placeOf(ctx, found.Beyond); err == nil {
		ends.Below, err = s.placeOf(ctx, found.Below)
	}
	return ends, err
}

// placeOf names the event of a place; nil for none.
func (s *Store) placeOf(ctx context.Context, seq *int64) (*audit.Place, error) {
	if seq == nil {
		return nil, nil //nolint:nilnil // no place is no error
	}
	p := &audit.Place{Seq: *seq}
	var rows []models.AuditEvent
	err := s.query(ctx).Select("id", "event_id").Where("seq = ?", p.Seq).Order("id").Limit(1).Find(&rows).Error
	for _, row := range rows {
		p.ID, p.EventID = row.ID, row.EventID
	}
	return p, translate(ctx, err)
}

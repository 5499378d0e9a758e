package store

import (
	"context"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// one gives the row that the query finds, or absent.
func one[T any](ctx context.Context, query *gorm.DB, absent error) (T, error) {
	var row T
	err := query.Take(&row).Error
	if isAbsent(err) {
		return row, absent
	}
	return row, translate(ctx, err)
}

// all gives the rows that the query finds, never nil.
func all[T any](ctx context.Context, query *gorm.DB) ([]T, error) {
	rows := []T{}
	if err := query.Find(&rows).Error; err != nil {
		return nil, translate(ctx, err)
	}
	return rows, nil
}

// exists tells whether the query finds a row.
func exists(query *gorm.DB) (bool, error) {
	var found []int
	err := query.Select("1").Limit(1).Scan(&found).Error
	return len(found) > 0, err
}

// maxPadded is the most values that padded is for.
const maxPadded = 512

// padded repeats the last value up to the next power of two, so that an IN of any length is one of a few statements,
// which stay prepared.
func padded(values []string) []string {
	if len(values) == 0 {
		return values
	}
	length := 1
	for length < len(values) {
		length *= 2
	}
	out := append(make([]string, 0, length), values...)
	for len(out) < length {
		out = append(out, values[len(values)-1])
	}
	return out
}

// limited applies a limit, 0 for none.
func limited(query *gorm.DB, limit int) *gorm.DB {
	if limit > 0 {
		return query.Limit(limit)
	}
	return query
}

// locking adds a row lock on PostgreSQL; SQLite's single writer needs none.
func locking(tx *gorm.DB, strength string) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: strength})
}

// changed judges an UPDATE or DELETE of one row by key and version: without effect the row is gone or newer.
func changed[T any](tx, result *gorm.DB, id string, gone, newer error) error {
	if result.Error != nil || result.RowsAffected > 0 {
		return result.Error
	}
	var rows int64
	if err := tx.Model(new(T)).Where("id = ?", id).Count(&rows).Error; err != nil {
		return err
	}
	if rows == 0 {
		return gone
	}
	return newer
}

// deleteOne deletes a row by its id with its event.
func deleteOne[T any](ctx context.Context, s *Store, id string, absent error, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		result := tx.Where("id = ?", id).Delete(new(T))
		if result.Error != nil {
			return result.Error
		}
		if result.RowsAffected == 0 {
			return absent
		}
		return s.insertAudit(tx, event)
	})
}

// storable tells whether both dialects can keep the text: it is UTF-8 without NUL.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// checkNames refuses names that are not storable.
func checkNames(names ...string) error {
	for _, n := range names {
		if !storable(n) {
			return fault.New(fault.Invalid, "The name %q is not UTF-8 text without NUL: choose another.", n)
		}
	}
	return nil
}

// clean makes text from a client storable, so that a stray byte in a header cannot fail the commit it is noted with.
func clean(s string) string {
	if storable(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

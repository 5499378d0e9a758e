package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/migrations"
)

// Migrate brings the schema to this build's version. Several processes may do so at once: on PostgreSQL a session
// lock lets one through at a time. A schema that is newer than this build is refused, as CheckSchema does.
func Migrate(ctx context.Context, s *Store) error {
	current, want, err := s.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if current > want {
		return tooNew(current, want)
	}
	db, err := s.migrator()
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = db.Close() }()
	options, err := lockOptions(s.dialect)
	if err != nil {
		return err
	}
	provider, err := newProvider(s.dialect, db, options...)
	if err != nil {
		return err
	}
	if err = s.up(ctx, provider, want); err == nil {
		return nil
	}
	return fault.Wrap(translate(ctx, err), fault.Unavailable,
		"The database schema could not be migrated: the log has the reason; the failed version was rolled back.")
}

const (
	// migrateTries bounds how often a migration that failed is tried while nobody else gets on with it either.
	migrateTries = 20
	migratePause = 50 * time.Millisecond
)

// up applies what is missing. On SQLite nothing keeps two processes from doing so at once: who comes second to a version
// fails there, and goes on from where the other has come to.
func (s *Store) up(ctx context.Context, provider *goose.Provider, want int64) error {
	last := int64(-1)
	for tries := 0; ; tries++ {
		_, err := provider.Up(ctx)
		if err == nil || s.dialect != goose.DialectSQLite3 {
			return err
		}
		now, _, checkErr := s.SchemaVersion(ctx)
		switch {
		case checkErr != nil:
			return err
		case now >= want:
			return nil
		case now > last:
			last, tries = now, 0
		case tries >= migrateTries:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(migratePause):
		}
	}
}

// SchemaVersion gives the version the database has, 0 before the first migration, and the one this build needs.
func (s *Store) SchemaVersion(ctx context.Context) (current, want int64, err error) {
	provider, err := newProvider(s.dialect, s.pool)
	if err != nil {
		return 0, 0, err
	}
	sources := provider.ListSources()
	want = sources[len(sources)-1].Version
	probe := "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"
	if s.dialect == goose.DialectPostgres {
		probe = "SELECT to_regclass(?) IS NOT NULL"
	}
	var migrated bool
	if err := s.query(ctx).Raw(probe, goose.DefaultTablename).Scan(&migrated).Error; err != nil {
		return 0, want, translate(ctx, err)
	}
	if !migrated {
		return 0, want, nil
	}
	err = s.query(ctx).Raw("SELECT COALESCE(MAX(version_id), 0) FROM " + goose.DefaultTablename).Scan(&current).Error
	return current, want, translate(ctx, err)
}

// CheckSchema answers fault.Unavailable when the schema is not the one this build was made for.
func (s *Store) CheckSchema(ctx context.Context) error {
	current, want, err := s.SchemaVersion(ctx)
	switch {
	case err != nil:
		return err
	case current < want:
		return fault.New(fault.Unavailable, "The database schema is version %d, this build needs %d: run `sluice migrate`.", current, want)
	case current > want:
		return tooNew(current, want)
	}
	return nil
}

func tooNew(current, want int64) error {
	return fault.New(fault.Unavailable,
		"The database was written by a newer Sluice (schema %d; this build knows %d): use that version or a newer one.", current, want)
}

func newProvider(dialect goose.Dialect, db *sql.DB, options ...goose.ProviderOption) (*goose.Provider, error) {
	folder := "sqlite"
	if dialect == goose.DialectPostgres {
		folder = "postgres"
	}
	files, err := fs.Sub(migrations.Files, folder)
	if err != nil {
		return nil, err
	}
	// No global registry, and silence: what goose would log is returned.
	options = append(options, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	return goose.NewProvider(dialect, db, files, options...)
}

func lockOptions(dialect goose.Dialect) ([]goose.ProviderOption, error) {
	if dialect != goose.DialectPostgres {
		return nil, nil
	}
	const everySecond, tenMinutes = 1, 600
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(everySecond, tenMinutes))
	if err != nil {
		return nil, errors.Join(errors.New("make the migration lock"), err)
	}
	return []goose.ProviderOption{goose.WithSessionLocker(locker)}, nil
}

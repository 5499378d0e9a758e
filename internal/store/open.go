package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
)

// Config says which database to open and how.
type Config struct {
	// URL is postgres://…, or sqlite:///absolute/path, or the path of a SQLite file alone. A SQLite URL may end
	// in ?synchronous=normal, which is faster and may lose the last commits when the machine (not the process) dies.
	URL string
	// MaxConns bounds the connections: all of them on PostgreSQL, the readers on SQLite. 0: a default.
	MaxConns int
	// StatementTimeout bounds each statement on PostgreSQL. 0: 30 s. A statement_timeout in the URL wins.
	StatementTimeout time.Duration
	Logger           *slog.Logger     // nil: slog.Default()
	Now              func() time.Time // nil: time.Now
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	read     *gorm.DB // for queries
	writes   writer
	one      *oneSwap // nil on SQLite, where a statement is no round trip
	pool     *sql.DB  // behind read
	version  versionQuery
	dialect  goose.Dialect
	migrator func() (*sql.DB, error) // opens a connection of its own for schema work
	now      func() time.Time
	closers  []func() error
}

// writer runs mutations, each as one transaction: everything fn writes is committed when it answers nil, nothing
// otherwise. fn may be called more than once and must not keep tx.
type writer interface {
	write(ctx context.Context, fn func(tx *gorm.DB) error) error
}

// Open opens the database without touching its schema: see Migrate and CheckSchema. Errors are fault.Invalid for a
// bad URL and fault.Unavailable for a database that cannot be reached.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.StatementTimeout == 0 {
		cfg.StatementTimeout = 30 * time.Second
	}
	scheme, _, _ := strings.Cut(cfg.URL, ":")
	switch {
	case cfg.URL == "":
		return nil, fault.New(fault.Invalid, "No database is configured: give a postgres:// URL or the path of a SQLite file.")
	case scheme == "postgres" || scheme == "postgresql":
		return openPostgres(ctx, cfg)
	case scheme == "sqlite" || !strings.Contains(cfg.URL, "://"):
		return openSQLite(ctx, cfg)
	}
	return nil, fault.New(fault.Invalid, "The database URL's scheme is %q: use postgres:// or sqlite://.", scheme)
}

// Close waits for the mutation that is running and closes every connection.
func (s *Store) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Ping answers fault.Unavailable when the database cannot be reached.
func (s *Store) Ping(ctx context.Context) error {
	return translate(ctx, s.pool.PingContext(ctx))
}

// clock gives the time as the database keeps it: UTC, in whole microseconds.
func (s *Store) clock() time.Time { return stored(s.now()) }

func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// query gives a handle for reads.
func (s *Store) query(ctx context.Context) *gorm.DB { return s.read.WithContext(ctx) }

// write runs a mutation. A claim on an idempotency key that ctx carries is settled in the same transaction.
func (s *Store) write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	claim := idempotency.From(ctx)
	if claim == nil {
		return s.writeAlone(ctx, fn)
	}
	err := s.writeAlone(ctx, func(tx *gorm.DB) error {
		if err := insertKey(tx, claim.Row(s.clock())); err != nil {
			return err
		}
		return fn(tx)
	})
	if err == nil {
		claim.MarkWritten()
	}
	return err
}

// writeAlone is write for what is no effect of the request in ctx, such as the record of a refusal.
func (s *Store) writeAlone(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return translate(ctx, s.writes.write(ctx, fn))
}

// gormConfig makes a new configuration: GORM writes into it, so that two databases must never share one.
func gormConfig(cfg Config, prepare bool) *gorm.Config {
	now := cfg.Now
	return &gorm.Config{
		PrepareStmt:            prepare,
		PrepareStmtMaxSize:     256,
		SkipDefaultTransaction: true,
		TranslateError:         true,
		DisableAutomaticPing:   true,
		Logger:                 slowLog{log: cfg.Logger},
		NowFunc:                func() time.Time { return stored(now()) },
	}
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	defaultMaxConns = 16
	// transactionTimeout bounds a whole transaction, its commit included, so that a silent network cannot hold one.
	transactionTimeout = time.Minute
	// maxAttempts is how often a transaction is tried that deadlocks or cannot be serialised.
	maxAttempts = 5
)

// openPostgres opens a pool. Prepared statements are pgx's own, cached per connection: GORM's cache above it would
// prepare every statement of a transaction anew.
func openPostgres(ctx context.Context, cfg Config) (*Store, error) {
	conf, err := pgx.ParseConfig(cfg.URL)
	if err != nil { // the cause may quote the URL with its password, so it is dropped
		return nil, fault.New(fault.Invalid, "The PostgreSQL URL cannot be read: use postgres://user:password@host:port/database?sslmode=….")
	}
	setDefault(conf.RuntimeParams, "application_name", "sluice")
	setDefault(conf.RuntimeParams, "statement_timeout", strconv.FormatInt(cfg.StatementTimeout.Milliseconds(), 10))
	setDefault(conf.RuntimeParams, "idle_in_transaction_session_timeout", strconv.FormatInt(transactionTimeout.Milliseconds(), 10))
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 10 * time.Second
	}
	pool := stdlib.OpenDB(*conf, stdlib.OptionAfterConnect(readTimesInUTC))
	s := &Store{
		pool:    pool,
		dialect: goose.DialectPostgres,
		now:     cfg.Now,
		closers: []func() error{pool.Close},
		migrator: func() (*sql.DB, error) {
			c := conf.Copy()
			c.RuntimeParams["statement_timeout"] = "0" // a migration may take its time
			return stdlib.OpenDB(*c), nil
		},
	}
	conns := cfg.MaxConns
	if conns <= 0 {
		conns = defaultMaxConns
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	pool.SetConnMaxLifetime(time.Hour)
	s.read, err = gorm.Open(postgres.New(postgres.Config{Conn: pool}), gormConfig(cfg, false))
	if err != nil {
		return nil, errors.Join(translate(ctx, err), s.Close())
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.writes = &postgresWriter{pool: pool, db: s.read}
	if s.one, err = newOneSwap(pool, s.read.NamingStrategy); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func setDefault(params map[string]string, key, value string) {
	if _, ok := params[key]; !ok {
		params[key] = value
	}
}

func readTimesInUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

// postgresWriter runs each mutation as a transaction at READ COMMITTED: mutations lock what they depend on.
type postgresWriter struct {
	pool *sql.DB
	db   *gorm.DB
}

func (w *postgresWriter) write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	for attempt := 1; ; attempt++ {
		err := w.transact(ctx, fn)
		if attempt == maxAttempts || !retryable(err) {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(attempt) * int64(5*time.Millisecond))) //nolint:gosec // jitter
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// transact runs fn in one transaction. The transaction itself does not hang on ctx: cancelling ctx stops fn's
// statements, and is seen before the commit; a commit that has begun is never interrupted.
func (w *postgresWriter) transact(ctx context.Context, fn func(tx *gorm.DB) error) (err error) {
	conn, err := w.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), transactionTimeout)
	defer cancel()
	sqlTx, err := conn.BeginTx(bounded, nil)
	if err != nil {
		return err
	}
	committing := false
	defer func() {
		if !committing {
			_ = sqlTx.Rollback()
		}
	}()
	tx := w.db.Session(&gorm.Session{NewDB: true, Context: ctx})
	tx.Statement.ConnPool = sqlTx
	if err := fn(tx); err != nil {
		return err
	}
	if err := errors.Join(ctx.Err(), bounded.Err()); err != nil {
		return err
	}
	committing = true
	return postgresCommitError(sqlTx.Commit())
}

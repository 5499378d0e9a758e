package store

import (
	"context"
	"database/sql"
	"sync"

	"github.com/pressly/goose/v3"
)

const accessVersionSQL = "SELECT version FROM access_states WHERE id = 1"

// AccessVersion implements access.Store. It is read for every request, so it goes around GORM and is prepared once: on
// PostgreSQL by pgx for each connection.
func (s *Store) AccessVersion(ctx context.Context) (version int64, err error) {
	if s.dialect == goose.DialectPostgres {
		err = s.pool.QueryRowContext(ctx, accessVersionSQL).Scan(&version)
		return version, translate(ctx, err)
	}
	statement, err := s.version.prepared(ctx, s.pool)
	if err == nil {
		err = statement.QueryRowContext(ctx).Scan(&version)
	}
	return version, translate(ctx, err)
}

// versionQuery prepares the query when it is first asked: at Open the schema may not be there. Closing the pool closes
// it.
type versionQuery struct {
	mu        sync.Mutex
	statement *sql.Stmt
}

func (q *versionQuery) prepared(ctx context.Context, pool *sql.DB) (*sql.Stmt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.statement == nil {
		statement, err := pool.PrepareContext(ctx, accessVersionSQL)
		if err != nil {
			return nil, err
		}
		q.statement = statement
	}
	return q.statement, nil
}

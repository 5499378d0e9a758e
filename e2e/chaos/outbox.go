package chaos

import (
	"context"
	"database/sql"
	"errors"

	"github.com/libtnb/sqlite"
)

// CountOutbox counts the waiting events in the database file of a stopped server. It writes nothing.
func CountOutbox(ctx context.Context, file string) (n int64, err error) {
	db, err := sql.Open(sqlite.DriverName, "file:"+file+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return n, db.QueryRowContext(ctx, "SELECT count(*) FROM outbox_events").Scan(&n)
}

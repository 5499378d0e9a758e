package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sluice-data/sluice/internal/fault"
)

// PostgreSQL's codes that are told apart, and classes of codes by their first two characters.
const (
	pgSerializationFailure = "40001"
	pgDeadlock             = "40P01"
	pgBadCharacter         = "22021"
	pgReadOnly             = "25006"
	pgDiskFull             = "53100"
	pgLockNotAvailable     = "55P03"
	pgClassConnection      = "08"
	pgClassAuthorization   = "28"
	pgClassResources       = "53"
	pgClassLimits          = "54"
	pgClassOperator        = "57" // cancelled by a timeout, shutting down, starting up
)

// translate turns a driver's error into one of ours. Errors of ours and of an ended context pass through.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return translatePostgres(pg, err)
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return translateSQLite(lite, err)
	}
	if isConnectionLoss(err) {
		return fault.Wrap(err, fault.Unavailable, "The database cannot be reached: nothing was written, try again.")
	}
	return err
}

func translatePostgres(pg *pgconn.PgError, err error) error {
	switch pg.Code {
	case pgSerializationFailure, pgDeadlock, pgLockNotAvailable:
		return fault.Wrap(err, fault.Unavailable, "The database is busy with competing changes: nothing was written, try again.")
	case pgBadCharacter:
		return fault.Wrap(err, fault.Invalid, "A name or value has a character that cannot be stored: remove NUL characters.")
	case pgDiskFull:
		return fault.Wrap(err, fault.Unavailable, "The database's disk is full: nothing was written, ask the operators to free space.")
	case pgReadOnly:
		return fault.Wrap(err, fault.Unavailable, "The database is read-only, perhaps after a failover: nothing was written, try again.")
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case pgClassLimits:
		return fault.Wrap(err, fault.Invalid, "A name or location is too long to be stored: shorten it.")
	case pgClassConnection, pgClassAuthorization, pgClassResources, pgClassOperator:
		return fault.Wrap(err, fault.Unavailable, "The database cannot serve the request now: nothing was written, try again.")
	}
	return err
}

func translateSQLite(lite *sqlite.Error, err error) error {
	switch lite.Code() & 0xff { // the primary code below an extended one
	case sqlite3.SQLITE_FULL:
		return fault.Wrap(err, fault.Unavailable, "The database's disk is full: nothing was written, ask the operators to free space.")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fault.Wrap(err, fault.Unavailable, "The database file is read-only: nothing was written, ask the operators to check its permissions.")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.Wrap(err, fault.Unavailable, "The database is locked by another process: nothing was written, try again.")
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fault.Wrap(err, fault.Unavailable, "The database file cannot be read: ask the operators to check it.")
	case sqlite3.SQLITE_IOERR:
		return fault.Wrap(err, fault.Unavailable, "The database's disk failed: nothing was written, ask the operators to check it.")
	}
	return err
}

func isConnectionLoss(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// retryable tells whether the transaction may succeed if it is simply run again: it was rolled back for another's
// sake, or its connection was found dead before anything was sent.
func retryable(err error) bool {
	if _, ours := errors.AsType[*fault.Error](err); ours {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == pgSerializationFailure || pg.Code == pgDeadlock
	}
	return errors.Is(err, driver.ErrBadConn)
}

// postgresCommitError judges an error of COMMIT. Only the server's own word that it rolled back is believed.
func postgresCommitError(err error) error {
	if err == nil || errors.Is(err, pgx.ErrTxCommitRollback) {
		return err
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.SeverityUnlocalized == "ERROR" {
		return err
	}
	return unknownState(err)
}

// sqliteCommitError judges an error of COMMIT: without space, permission or the lock nothing reached the log, and
// the transaction is rolled back; after a failed write or sync the log may hold it or not.
func sqliteCommitError(err error) error {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY:
			return err
		}
	}
	return unknownState(err)
}

func unknownState(err error) error {
	return fault.Wrap(err, fault.UnknownState,
		"The database did not confirm the commit, which may or may not be in effect: load the current state before trying again.")
}

func isAbsent(err error) bool    { return errors.Is(err, gorm.ErrRecordNotFound) }
func isDuplicate(err error) bool { return errors.Is(err, gorm.ErrDuplicatedKey) }
func isOrphan(err error) bool    { return errors.Is(err, gorm.ErrForeignKeyViolated) }

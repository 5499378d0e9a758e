package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

func TestTranslation(t *testing.T) {
	pg := func(code string) error {
		return fmt.Errorf("insert: %w", &pgconn.PgError{Code: code, Severity: "ERROR"})
	}
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"ours passes":          {fault.New(fault.NotEmpty, "x"), fault.NotEmpty},
		"serialization":        {pg("40001"), fault.Unavailable},
		"deadlock":             {pg("40P01"), fault.Unavailable},
		"too many connections": {pg("53300"), fault.Unavailable},
		"disk full":            {pg("53100"), fault.Unavailable},
		"shutting down":        {pg("57P01"), fault.Unavailable},
		"starting":             {pg("57P03"), fault.Unavailable},
		"statement timeout":    {pg("57014"), fault.Unavailable},
		"read-only standby":    {pg("25006"), fault.Unavailable},
		"password":             {pg("28P01"), fault.Unavailable},
		"index row too large":  {pg("54000"), fault.Invalid},
		"NUL":                  {pg("22021"), fault.Invalid},
		"missing table":        {pg("42P01"), fault.Internal},
		"bad connection":       {driver.ErrBadConn, fault.Unavailable},
		"end of file":          {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), fault.Unavailable},
		"anything else":        {errors.New("x"), fault.Internal},
	} {
		assert.Equal(t, c.want, fault.CodeOf(translate(t.Context(), c.err)), name)
	}
	require.NoError(t, translate(t.Context(), nil))
	assert.False(t, retryable(unknownState(driver.ErrBadConn)), "a commit in doubt is never run again")
	assert.True(t, retryable(driver.ErrBadConn))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, translate(ended, pg("57014")), context.Canceled)
}

func TestCommitErrorsOfPostgres(t *testing.T) {
	pg := func(severity, code string) error {
		return &pgconn.PgError{Code: code, Severity: severity, SeverityUnlocalized: severity}
	}
	require.NoError(t, postgresCommitError(nil))
	for name, c := range map[string]struct {
		err     error
		unknown bool
	}{
		"the server rolled back":       {pg("ERROR", "40001"), false},
		"a deferred constraint":        {pg("ERROR", "23503"), false},
		"the server ended the session": {pg("FATAL", "57P01"), true},
		"the connection broke":         {io.ErrUnexpectedEOF, true},
		"the deadline of the commit":   {context.DeadlineExceeded, true},
		"a connection that was lost":   {driver.ErrBadConn, true},
	} {
		assert.Equal(t, c.unknown, fault.Is(postgresCommitError(c.err), fault.UnknownState), name)
	}
}

// TestDeadlockIsTriedAgain lets two mutations lock two rows in opposite order, each waiting for the other's first.
func TestDeadlockIsTriedAgain(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: pgtest.Database(t)})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, Migrate(t.Context(), s))
	ids := []string{uuid.NewString(), uuid.NewString()}
	for _, id := range ids {
		require.NoError(t, s.CreateCatalog(t.Context(), models.Catalog{ID: id, Name: id}, nil, models.AuditEvent{}))
	}
	var both, done sync.WaitGroup
	both.Add(2)
	runs := make([]int, 2)
	for i := range 2 {
		done.Go(func() {
			assert.NoError(t, s.write(t.Context(), func(tx *gorm.DB) error {
				runs[i]++
				for step := range 2 {
					err := tx.Exec("UPDATE catalogs SET version = version + 1 WHERE id = ?", ids[(i+step)%2]).Error
					if err != nil {
						return err
					}
					if step == 0 && runs[i] == 1 {
						both.Done()
						both.Wait()
					}
				}
				return nil
			}))
		})
	}
	done.Wait()
	assert.Equal(t, 3, runs[0]+runs[1], "one of the two was tried again")
	catalogs, err := s.Catalogs(t.Context())
	require.NoError(t, err)
	for _, c := range catalogs {
		assert.EqualValues(t, 2, c.Version, "each mutation is in effect once")
	}
}

func TestRetriesEnd(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: pgtest.Database(t)})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	runs := 0
	began := time.Now()
	err = s.write(t.Context(), func(*gorm.DB) error { runs++; return &pgconn.PgError{Code: pgSerializationFailure} })
	assert.Equal(t, fault.Unavailable, fault.CodeOf(err))
	assert.Equal(t, maxAttempts, runs)
	assert.Less(t, time.Since(began), 10*time.Second)
}

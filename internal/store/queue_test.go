package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func openForQueue(t *testing.T) (*Store, *writeQueue) {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: filepath.Join(t.TempDir(), "queue.db")})
	require.NoError(t, err)
	require.NoError(t, Migrate(t.Context(), s))
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s, s.writes.(*writeQueue)
}

func (s *Store) note(name string) func(tx *gorm.DB) error {
	return func(tx *gorm.DB) error { return s.insertAudit(tx, models.AuditEvent{Principal: name}) }
}

func noted(t *testing.T, s *Store) []string {
	t.Helper()
	events, err := s.AuditEvents(t.Context(), models.AuditFilter{})
	require.NoError(t, err)
	names := []string{}
	for _, e := range events {
		names = append(names, e.Principal)
	}
	return names
}

// grouped runs the functions as one group: they queue up behind a mutation that waits for all of them.
func grouped(t *testing.T, s *Store, fns ...func(tx *gorm.DB) error) []error {
	t.Helper()
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		assert.NoError(t, s.write(t.Context(), func(*gorm.DB) error { close(entered); <-leave; return nil }))
	})
	<-entered
	errs := make([]error, len(fns))
	for i, fn := range fns {
		wg.Go(func() { errs[i] = s.write(t.Context(), fn) })
		time.Sleep(5 * time.Millisecond) // keeps the order
	}
	close(leave)
	wg.Wait()
	return errs
}

func TestGroupKeepsOneFailureApart(t *testing.T) {
	s, _ := openForQueue(t)
	mine := fault.New(fault.Conflict, "Mine alone.")
	errs := grouped(t, s,
		s.note("first"),
		func(tx *gorm.DB) error { _ = s.note("undone")(tx); return mine },
		s.note("last"),
	)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], mine)
	require.NoError(t, errs[2])
	assert.ElementsMatch(t, []string{"first", "last"}, noted(t, s))
}

func TestPanicReachesItsCallerAlone(t *testing.T) {
	s, _ := openForQueue(t)
	var caught any
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() { caught = recover() }()
		_ = s.write(t.Context(), func(tx *gorm.DB) error { _ = s.note("undone")(tx); panic("mine") })
	})
	wg.Wait()
	assert.Equal(t, "mine", caught)
	require.NoError(t, s.write(t.Context(), s.note("next")))
	assert.Equal(t, []string{"next"}, noted(t, s))
}

func TestWaitingCallerMayGiveUp(t *testing.T) {
	s, _ := openForQueue(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.write(t.Context(), func(*gorm.DB) error { close(entered); <-leave; return nil })
	})
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.write(ctx, s.note("late")), context.DeadlineExceeded)
	close(leave)
	wg.Wait()
	require.NoError(t, s.write(t.Context(), s.note("next")))
	assert.Equal(t, []string{"next"}, noted(t, s))
}

func TestRunningMutationIsSeenThrough(t *testing.T) {
	s, _ := openForQueue(t)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, s.write(ctx, func(tx *gorm.DB) error { cancel(); return s.note("kept")(tx) }))
	assert.Equal(t, []string{"kept"}, noted(t, s))
}

func TestFullDiskIsUnavailableAndPasses(t *testing.T) {
	s, q := openForQueue(t)
	require.NoError(t, q.exec("PRAGMA max_page_count = 1")) // SQLite keeps it at the file's size: no page more
	filled := func() error {
		for range 200 {
			if err := s.AppendAudit(t.Context(), models.AuditEvent{Reason: string(make([]byte, 4096))}); err != nil {
				return err
			}
		}
		return nil
	}()
	require.Equal(t, fault.Unavailable, fault.CodeOf(filled), "%v", filled)
	assert.Regexp(t, "disk is full: nothing was written", fault.PublicMessage(filled))
	kept := len(noted(t, s))
	errs := grouped(t, s, s.note("small"), func(tx *gorm.DB) error {
		return s.insertAudit(tx, models.AuditEvent{Reason: string(make([]byte, 1<<20))})
	})
	require.Error(t, errs[1])
	if errs[0] == nil {
		kept++
	}
	assert.Len(t, noted(t, s), kept, "what was said to be written is, and nothing else")
	require.NoError(t, q.exec("PRAGMA max_page_count = 1000000"))
	require.NoError(t, s.write(t.Context(), s.note("room again")))
	assert.Len(t, noted(t, s), kept+1)
}

func TestCommitErrorsOfSQLite(t *testing.T) {
	assert.Equal(t, fault.UnknownState, fault.CodeOf(sqliteCommitError(errors.New("the driver broke"))))
}

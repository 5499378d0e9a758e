package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// wholeReads is a store that counts what is read whole.
type wholeReads struct {
	reads int
	data  []byte
	err   error
}

func (c *wholeReads) ReadFile(context.Context, string) ([]byte, error) {
	c.reads++
	return c.data, c.err
}

func (c *wholeReads) ReadFileUpTo(ctx context.Context, location string, _ int64) ([]byte, error) {
	return c.ReadFile(ctx, location)
}

func (c *wholeReads) OpenFile(context.Context, string) (objects.File, error) { return nil, c.err }

func (c *wholeReads) Stat(context.Context, string) (objects.Info, error) {
	return objects.Info{}, c.err
}

func TestAFileIsReadOnceInAMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	store := &wholeReads{data: []byte("manifest")}
	files := reconcile.NewRecent(store, func() time.Time { return now })
	for range 3 {
		data, err := files.ReadFileUpTo(t.Context(), "m.avro", 100)
		require.NoError(t, err)
		require.Equal(t, "manifest", string(data))
		data, err = files.ReadFile(t.Context(), "m.avro")
		require.NoError(t, err)
		require.Equal(t, "manifest", string(data))
	}
	require.Equal(t, 1, store.reads)
	now = now.Add(11 * time.Second)
	_, err := files.ReadFile(t.Context(), "m.avro")
	require.NoError(t, err)
	require.Equal(t, 2, store.reads)
}

func TestAFileThatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	store := &wholeReads{err: errors.New("no")}
	files := reconcile.NewRecent(store, nil)
	_, err := files.ReadFile(t.Context(), "m.avro")
	require.Error(t, err)
	store.err = nil
	_, err = files.ReadFile(t.Context(), "m.avro")
	require.NoError(t, err)
}

func TestLargeFilesAreNotKept(t *testing.T) {
	t.Parallel()
	store := &wholeReads{data: make([]byte, 300<<10)}
	files := reconcile.NewRecent(store, nil)
	for range 2 {
		_, err := files.ReadFile(t.Context(), "m.avro")
		require.NoError(t, err)
	}
	require.Equal(t, 2, store.reads)
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	store := &wholeReads{data: make([]byte, 200<<10)}
	files := reconcile.NewRecent(store, nil)
	const some = 100 // 20 MB, more than is kept
	for i := range some {
		_, err := files.ReadFile(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
	}
	for i := range some {
		_, err := files.ReadFile(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
	}
	require.Greater(t, store.reads, some)
}

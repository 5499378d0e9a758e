package contend

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestKeysAreLockedWithoutADeadlock(t *testing.T) {
	l := NewLocks()
	done := make(chan struct{})
	for _, ids := range [][]string{{"a", "b"}, {"b", "a"}, {"a", "a"}} {
		go func() {
			for range 200 {
				unlock, err := l.Lock(context.Background(), ids...)
				if err == nil {
					unlock()
				}
			}
			done <- struct{}{}
		}()
	}
	for range 3 {
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("it hangs")
		}
	}
	require.Empty(t, l.locks)
	unlock, err := l.Lock(t.Context(), "a")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = l.Lock(ctx, "0", "a")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	unlock()
	require.Empty(t, l.locks, "what was taken before the wait is free again")
}

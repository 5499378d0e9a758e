package contend

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits between two attempts, or until the context ends, whose error it then gives: a random part of first, doubled with
// each attempt from 0 on and last at the most.
func Pause(ctx context.Context, attempt int, first, last time.Duration) error {
	limit := last
	if doubled := first << min(attempt, 16); doubled < last { // further on it would overflow
		limit = doubled
	}
	timer := time.NewTimer(rand.N(limit) + time.Millisecond) //nolint:gosec // no secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

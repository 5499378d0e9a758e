package catalog

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/contend"
	"github.com/sluice-data/sluice/internal/fault"
)

const (
	maxAttempts = 8 // of a lost swap whose requirements still hold, before the client is asked to refresh
	firstPause  = 5 * time.Millisecond
	lastPause   = 200 * time.Millisecond
)

// retryLost tries again what lost a race, against the new state.
func retryLost(ctx context.Context, try func() error) error {
	for attempt := 0; ; attempt++ {
		err := try()
		if !fault.Is(err, fault.Conflict) || attempt == maxAttempts {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// pause waits a jittered, doubling time before another attempt, or until the client is gone.
func pause(ctx context.Context, attempt int) error {
	return contend.Pause(ctx, attempt, firstPause, lastPause)
}

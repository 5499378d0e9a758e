package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-data/sluice/models"
)

// slots bound the batches under way: what Temporal has been given is worked on in the order it came, so that a commit
// which comes later would wait for all of it. What waits in the outbox can be passed.
type slots struct {
	most     int
	patience time.Duration // how long a batch keeps its slot at most: one that waits for a store that is down stops no other
	freed    chan struct{} // a batch has ended since the last look

	mu      sync.Mutex
	busy    int
	waiting sync.WaitGroup
}

func newSlots(most int, patience time.Duration, freed chan struct{}) *slots {
	return &slots{most: most, patience: patience, freed: freed}
}

// free is how many batches may be started now.
func (s *slots) free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.most-s.busy)
}

// take gives a slot to a started batch until it has ended, or ctx has.
func (s *slots) take(ctx context.Context, starter Starter, events []models.OutboxEvent) {
	s.mu.Lock()
	s.busy++
	s.mu.Unlock()
	s.waiting.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, s.patience)
		defer cancel()
		_ = starter.AwaitReconcileBatch(ctx, events) // ended or not, it had its time
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
		select {
		case s.freed <- struct{}{}:
		default:
		}
	})
}

// wait returns when no batch is waited for any more.
func (s *slots) wait() { s.waiting.Wait() }

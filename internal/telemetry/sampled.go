package telemetry

import (
	"context"
	"sync"
	"time"
)

const (
	// sampledEvery bounds how often a value is read: the page of metrics asks nobody who is calling.
	sampledEvery  = 10 * time.Second
	sampleTimeout = time.Second
)

// Sampled is a value that is read when the metrics are, and not more often than every ten seconds. It is safe for concurrent
// use.
type Sampled[T any] struct {
	read func(context.Context) (T, error)
	now  func() time.Time

	mu   sync.Mutex
	at   time.Time
	last T
}

// NewSampled makes a Sampled. read gets a second.
func NewSampled[T any](read func(context.Context) (T, error), now func() time.Time) *Sampled[T] {
	return &Sampled[T]{read: read, now: now}
}

// Value gives the value of now or of a moment ago, the zero one where it could not be read.
func (s *Sampled[T]) Value() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.IsZero() && s.now().Sub(s.at) < sampledEvery {
		return s.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), sampleTimeout)
	defer cancel()
	value, err := s.read(ctx)
	if err != nil {
		var none T
		value = none
	}
	s.at, s.last = s.now(), value
	return value
}

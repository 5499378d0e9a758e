package dataplane

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

// Limits is what governed reads and writes may cost; see the settings data-…
type Limits struct {
	Memory       int64         // that all reads and writes of the process hold together
	Rows         int           // of one page, and of one answer that is not a stream
	AnswerBytes  int64         // of one answer
	RequestBytes int64         // of one write, after inflation
	Timeout      time.Duration // of one read or write
	Concurrency  int           // reads and writes of one principal at a time
	SplitAfter   int64         // size of an append from which on workers share the work
}

// TooManyError refuses a read or write of a principal who has as many running as it may. Nothing was done.
type TooManyError struct {
	Message string
	Retry   time.Duration // how long to wait
}

// Error gives the public sentence.
func (t *TooManyError) Error() string { return t.Message }

// Unwrap makes it what callers may try again.
func (t *TooManyError) Unwrap() error { return fault.New(fault.Unavailable, "%s", t.Message) }

// turns counts what each principal has running.
type turns struct {
	most int

	mu      sync.Mutex
	running map[string]int // by principal id
}

func newTurns(most int) *turns { return &turns{most: most, running: map[string]int{}} }

// enter lets a principal run one more, until it calls leave.
func (t *turns) enter(principalID string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[principalID] >= t.most {
		return nil, &TooManyError{
			Retry: time.Second,
			Message: "This principal has as many governed reads and writes running as it may at a time. Nothing was done: " +
				"try again when one of them is over.",
		}
	}
	t.running[principalID]++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.running[principalID]--; t.running[principalID] == 0 {
			delete(t.running, principalID)
		}
	}), nil
}

// begin takes a principal's turn and bounds the time of a read or write.
func (s *Service) begin(ctx context.Context, principalID string) (bounded context.Context, end func(), err error) {
	leave, err := s.turns.enter(principalID)
	if err != nil {
		return nil, nil, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, s.Limits.Timeout, errTooLong(s.Limits.Timeout))
	return bounded, func() { cancel(); leave() }, nil
}

func errTooLong(limit time.Duration) error {
	return fault.New(fault.TooLarge, "This took longer than the %s that one governed read or write may take. Ask for less: select fewer columns, filter, or page; or split the rows over several writes.", limit)
}

// late gives an error of a read or write that ran out of its time a sentence that says so. A commit in doubt stays in
// doubt whatever cut it short.
func late(ctx context.Context, err error) error {
	cutShort := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || fault.Is(err, fault.Internal)
	if ctx.Err() == nil || !cutShort || fault.Is(err, fault.UnknownState) {
		return err
	}
	if cause := context.Cause(ctx); fault.Is(cause, fault.TooLarge) {
		return cause
	}
	return err
}

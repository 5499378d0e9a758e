package dataplane

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/contend"
	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// smallBody is up to what size a write is a small one, in bytes of its body.
	smallBody = 1 << 20
	// smallWrite is what a small write takes: its rows, and the file that they become.
	smallWrite = 16 << 20
	// largeWrite is what any other takes at most, before the audit of its rows.
	largeWrite = 96 << 20
	// growFor is how long a write under way waits for what others hold. They may wait for it in their turn, and its client
	// cannot send meanwhile: soon one gives up.
	growFor = 2 * time.Second
)

// writeState is what the writes of a process share.
type writeState struct {
	most    int64 // bytes of all writes together
	locks   *contend.Locks
	lookFor time.Duration // for a write of which it is not known whether it landed
	growFor time.Duration
	keepFor time.Duration
	chunk   int // size of a chunk of a split write, in bytes

	mu    sync.Mutex
	free  int64
	freed chan struct{} // closed when some memory is given back
}

// newWriteState shares half of the memory among writes; the other half is the readers'.
func newWriteState(l Limits) *writeState {
	most := max(l.Memory/2, smallWrite)
	return &writeState{
		most: most, free: most, freed: make(chan struct{}), locks: contend.NewLocks(), lookFor: lookFor, growFor: growFor, keepFor: keepFor, chunk: int(large(most) / 3),
	}
}

// large is what a write takes that is not small, of what all writes may: two of them leave room to grow.
func large(most int64) int64 { return min(int64(largeWrite), most/3) }

// take takes memory if there is that much, and gives what to wait for if there is not. Beside others it leaves spare.
func (s *writeState) take(n, spare int64) (ok bool, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free < n || s.free < s.most && s.free-n < spare {
		return false, s.freed
	}
	s.free -= n
	return true, nil
}

func (s *writeState) give(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += n
	close(s.freed)
	s.freed = make(chan struct{})
}

// held is what all writes hold now, in bytes.
func (s *writeState) held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most - s.free
}

// reservation is the memory that one write holds.
type reservation struct {
	from *writeState
	held int64
	base int64
}

// reserve waits until there is memory for one more write, and for those under way to grow: what waits has read next to
// nothing, and what cannot grow was sent in vain.
func (s *writeState) reserve(ctx context.Context, small bool) (*reservation, error) {
	n, spare := large(s.most), s.most/4
	if small {
		n, spare = min(int64(smallWrite), n), s.most/8
	}
	for {
		ok, freed := s.take(n, spare)
		if ok {
			return &reservation{from: s, held: n, base: n}, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// grow takes more. It does not wait long, because others may wait for what this write holds.
func (r *reservation) grow(ctx context.Context, n int64) error {
	timer := time.NewTimer(r.from.growFor)
	defer timer.Stop()
	for {
		ok, freed := r.from.take(n, 0)
		if ok {
			r.held += n
			return nil
		}
		if r.held+n > r.from.most {
			return fault.New(fault.TooLarge, "The audit of so many rows does not fit into the memory of one write. Split the rows over several writes.")
		}
		select {
		case <-freed:
		case <-timer.C:
			return fault.New(fault.Unavailable, "Other writes take the memory that this one needs. Nothing was written: send it again later.")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// batch is how large a batch of rows may be.
func (r *reservation) batch() int64 { return min(r.base/8, 8<<20) }

// files is what the writer of data files may hold.
func (r *reservation) files() int64 { return r.base / 2 }

func (r *reservation) release() {
	if r != nil && r.held > 0 {
		r.from.give(r.held)
		r.held = 0
	}
}

// peek tells whether a body is a small one. It reads no more than that takes.
func (w *writing) peek() (io.Reader, bool) {
	body := bufio.NewReaderSize(w.in.Body, smallBody)
	_, err := body.Peek(smallBody)
	return body, errors.Is(err, io.EOF)
}

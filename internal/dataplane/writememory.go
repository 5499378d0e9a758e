package dataplane

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// smallBody is up to what size a write is a small one, in bytes of its body.
	smallBody = 1 << 20
	// smallWrite is what a small write takes: its rows, and the file that they become.
	smallWrite = 16 << 20
	// largeWrite is what any other takes at most, before the audit of its rows.
	largeWrite = 96 << 20
)

// writeState is what the writes of a process share.
type writeState struct {
	most    int64 // bytes of all writes together
	locks   *tableLocks
	lookFor time.Duration // for a write of which it is not known whether it landed
	chunk   int           // size of a chunk of a split write, in bytes

	mu    sync.Mutex
	free  int64
	freed chan struct{} // closed when some memory is given back
}

// newWriteState shares half of the memory among writes; the other half is the readers'.
func newWriteState(l Limits) *writeState {
	most := max(l.Memory/2, smallWrite)
	return &writeState{
		most: most, free: most, freed: make(chan struct{}), locks: newTableLocks(), lookFor: lookFor, chunk: int(large(most) / 3),
	}
}

// large is what a write takes that is not small, of what all writes may.
func large(most int64) int64 { return min(int64(largeWrite), most/2) }

// take takes memory if there is that much, and gives what to wait for if there is not.
func (s *writeState) take(n int64) (ok bool, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free < n {
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

// reserve waits until there is memory for one more write.
func (s *writeState) reserve(ctx context.Context, small bool) (*reservation, error) {
	n := large(s.most)
	if small {
		n = min(int64(smallWrite), s.most)
	}
	for {
		ok, freed := s.take(n)
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

// grow takes more; it does not wait, because others may wait for what this write holds.
func (r *reservation) grow(n int64) error {
	if ok, _ := r.from.take(n); !ok {
		if r.held+n > r.from.most {
			return fault.New(fault.TooLarge, "The audit of so many rows does not fit into the memory of one write. Split the rows over several writes.")
		}
		return fault.New(fault.Unavailable, "Other writes take the memory that this one needs. Nothing was written: send it again later.")
	}
	r.held += n
	return nil
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

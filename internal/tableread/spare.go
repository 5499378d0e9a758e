package tableread

import (
	"math/bits"
	"sync"
)

// Sizes of memory that is used again. Of others little is asked for.
const (
	leastSpare = 1 << 10
	mostSpare  = 4 << 20
	mostUsed   = 64 << 20 // of a row group, which decoders may ask for without end
	spareSteps = 4        // sizes until one is twice as large
	// padding is behind all memory: decoders take the address of what follows the last value.
	padding = 64
)

// spares is memory that reads are done with, kept for others until the garbage is collected: what a row group is decoded
// from is needed but shortly, and is most of what a read takes.
type spares struct {
	bySize [64 * spareSteps]sync.Pool // of *[]byte
	spoil  func([]byte)               // told of what is given back; for tests
}

// spareSize gives the size of memory for so many bytes, and where it is kept.
func spareSize(size int) (rounded, place int) {
	const fraction = 2 // bits of spareSteps
	shift := bits.Len(uint(size-1)) - 1 - fraction
	steps := (size-1)>>shift + 1 // more than spareSteps, at most twice as many
	return steps << shift, shift*spareSteps + steps - spareSteps - 1
}

// get gives memory that has nothing of what it was used for before.
func (s *spares) get(size int) []byte {
	padded := size + padding
	if padded < leastSpare || padded > mostSpare {
		return make([]byte, size, padded)
	}
	rounded, place := spareSize(padded)
	if p, ok := s.bySize[place].Get().(*[]byte); ok {
		clear(*p)
		return (*p)[:size]
	}
	return make([]byte, size, rounded)
}

// put takes memory that get gave and nobody uses.
func (s *spares) put(b []byte) {
	b = b[:cap(b)]
	if s.spoil != nil {
		s.spoil(b)
	}
	if len(b) < leastSpare || len(b) > mostSpare {
		return
	}
	rounded, place := spareSize(len(b))
	if rounded == len(b) {
		s.bySize[place].Put(&b)
	}
}

// workspace is the memory that a row group is decoded with: a memory.Allocator for what becomes no part of a batch. It is
// safe for concurrent use, as decoders give some back whenever the garbage is collected.
type workspace struct {
	spares *spares
	mutex  sync.Mutex
	used   map[*byte][]byte // by their first byte; nil when all was given back
	bytes  int              // of them
}

func (r *Reader) newWorkspace() *workspace {
	return &workspace{spares: &r.spares, used: make(map[*byte][]byte)}
}

// Allocate implements memory.Allocator.
func (w *workspace) Allocate(size int) []byte {
	if size == 0 {
		return []byte{}
	}
	out := w.spares.get(size)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.used != nil && cap(out) <= mostSpare && w.bytes+cap(out) <= mostUsed { // the rest is left to the garbage collector
		w.used[&out[0]] = out
		w.bytes += cap(out)
	}
	return out
}

// Reallocate implements memory.Allocator.
func (w *workspace) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := w.Allocate(size)
	copy(out, b)
	w.Free(b)
	return out
}

// Free implements memory.Allocator. What the workspace did not give, or has back, it leaves alone.
func (w *workspace) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	first := &b[:1][0]
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if own, ok := w.used[first]; ok {
		delete(w.used, first)
		w.bytes -= cap(own)
		w.spares.put(own)
	}
}

// close gives all back. Nothing that was decoded may be read afterwards but what was copied.
func (w *workspace) close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, b := range w.used {
		w.spares.put(b)
	}
	w.used = nil
}

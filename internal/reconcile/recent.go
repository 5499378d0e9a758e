package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/objects"
)

// What Recent keeps.
const (
	recentFor   = 10 * time.Second
	recentFile  = 256 << 10 // bytes of a file at most
	recentBytes = 16 << 20  // of all
)

// Objects are the files that Recent reads from.
type Objects interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
	ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error)
	OpenFile(ctx context.Context, location string) (objects.File, error)
	Stat(ctx context.Context, location string) (objects.Info, error)
}

// Recent keeps small files for a moment after they were read whole: the steps of a reconciliation read the same manifest lists
// and manifests one after the other, and those never change. What it gives must not be written to. It is safe for
// concurrent use.
type Recent struct {
	Objects
	now func() time.Time

	mu    sync.Mutex
	kept  map[string]recentRead
	bytes int
}

type recentRead struct {
	data  []byte
	until time.Time
}

// NewRecent makes a Recent that has nothing yet; now may be nil for the system's clock.
func NewRecent(files Objects, now func() time.Time) *Recent {
	if now == nil {
		now = time.Now
	}
	return &Recent{Objects: files, now: now, kept: map[string]recentRead{}}
}

// ReadFile reads a whole file.
func (r *Recent) ReadFile(ctx context.Context, location string) ([]byte, error) {
	if data, ok := r.recall(location); ok {
		return data, nil
	}
	data, err := r.Objects.ReadFile(ctx, location)
	return r.keep(location, data, err)
}

// ReadFileUpTo reads a whole file of at most limit bytes.
func (r *Recent) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	if data, ok := r.recall(location); ok && int64(len(data)) <= limit {
		return data, nil
	}
	data, err := r.Objects.ReadFileUpTo(ctx, location, limit)
	return r.keep(location, data, err)
}

func (r *Recent) recall(location string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	read, ok := r.kept[location]
	return read.data, ok && r.now().Before(read.until)
}

func (r *Recent) keep(location string, data []byte, err error) ([]byte, error) {
	if err != nil || len(data) > recentFile {
		return data, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes+len(data) > recentBytes {
		clear(r.kept)
		r.bytes = 0
	}
	r.bytes += len(data) - len(r.kept[location].data)
	r.kept[location] = recentRead{data, r.now().Add(recentFor)}
	return data, nil
}

package tableread

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// pool is memory that reads take turns in. The reads of one owner have half of it at most, so that those of others go on
// while its clients take their answers slowly.
type pool struct {
	all  *semaphore.Weighted
	most int64 // bytes
	held *atomic.Int64

	mutex  sync.Mutex
	shares map[string]*share // of owners that hold something or wait for it
}

type share struct {
	*semaphore.Weighted
	users int
}

func newPool(bytes int64, held *atomic.Int64) *pool {
	return &pool{all: semaphore.NewWeighted(bytes), most: bytes, held: held, shares: make(map[string]*share)}
}

// hold waits for so many bytes, or for all that there are. keep gives back all but some of them.
func (p *pool) hold(ctx context.Context, owner string, bytes int64) (keep func(bytes int64), err error) {
	bytes = min(max(bytes, 1), p.most)
	own, leave := p.shareOf(owner)
	half := max(p.most/2, 1)
	if err := own.Acquire(ctx, min(bytes, half)); err != nil {
		leave()
		return nil, err
	}
	if err := p.all.Acquire(ctx, bytes); err != nil {
		own.Release(min(bytes, half))
		leave()
		return nil, err
	}
	p.held.Add(bytes)
	return func(left int64) {
		if left = max(left, 0); left >= bytes {
			return
		}
		p.held.Add(left - bytes)
		p.all.Release(bytes - left)
		own.Release(min(bytes, half) - min(left, half))
		if bytes = left; left == 0 {
			leave()
		}
	}, nil
}

// shareOf gives an owner's share, which is there until all who were given it leave. What has no owner has no limit.
func (p *pool) shareOf(owner string) (own *semaphore.Weighted, leave func()) {
	if owner == "" {
		return semaphore.NewWeighted(p.most), func() {}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s := p.shares[owner]
	if s == nil {
		s = &share{Weighted: semaphore.NewWeighted(max(p.most/2, 1))}
		p.shares[owner] = s
	}
	s.users++
	return s.Weighted, func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if s.users--; s.users == 0 {
			delete(p.shares, owner)
		}
	}
}

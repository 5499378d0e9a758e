package vending

import (
	"sync"
	"time"
)

// maxKept bounds how many keys are remembered.
const maxKept = 4096

// cache remembers keys while at least half of their life is left.
type cache struct {
	now  func() time.Time
	lock sync.Mutex
	kept map[string]entry
}

// entry is keys and until when they are given again.
type entry struct {
	keys  Credentials
	until time.Time
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, kept: map[string]entry{}}
}

func (c *cache) get(key string) (Credentials, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	e, ok := c.kept[key]
	if !ok || !c.now().Before(e.until) {
		return Credentials{}, false
	}
	return e.keys, true
}

// put remembers keys that were given just now. Where there is no room, what is over goes first, then whatever comes.
func (c *cache) put(key string, keys Credentials) {
	c.lock.Lock()
	defer c.lock.Unlock()
	now := c.now()
	if len(c.kept) >= maxKept {
		for k, e := range c.kept {
			if !now.Before(e.until) {
				delete(c.kept, k)
			}
		}
		for k := range c.kept {
			if len(c.kept) < maxKept {
				break
			}
			delete(c.kept, k)
		}
	}
	c.kept[key] = entry{keys: keys, until: now.Add(keys.ExpiresAt.Sub(now) / 2)}
}

package cache

import (
	"container/list"
	"sync"
)

// Cache keeps values by their keys, the least recently used out first. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	budget int64
	used   int64
	order  *list.List // of *entry, the last used first
	byKey  map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int64
}

// New makes a cache of so many bytes.
func New[K comparable, V any](budget int64) *Cache[K, V] {
	return &Cache[K, V]{budget: budget, order: list.New(), byKey: map[K]*list.Element{}}
}

// Get gives the value of a key, which counts as a use.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Used is how many bytes the values take.
func (c *Cache[K, V]) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// Put keeps a value that takes so many bytes, in the place of one of the same key. One that takes more than the whole
// budget is not kept.
func (c *Cache[K, V]) Put(key K, value V, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.byKey[key])
	if bytes > c.budget {
		return
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, bytes})
	for c.used += bytes; c.used > c.budget; {
		c.remove(c.order.Back())
	}
}

// Forget drops the value of a key, if there is one.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.byKey[key])
}

func (c *Cache[K, V]) remove(e *list.Element) {
	if e == nil {
		return
	}
	old := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, old.key)
	c.used -= old.bytes
}

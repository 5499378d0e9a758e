package reconcile

import (
	"container/list"
	"sync"
)

// counted is how many rows of a data file its deletes remove, up to and with those of a sequence number. It is shared and never
// changed.
type counted struct {
	deletes key   // sum of the ids of those deletes
	upTo    int64 // sequence number
	removed int64
	keys    *rowKeys // of what is left, nil when they are not held
}

// countedCache remembers data files by their paths, within a budget of bytes. What the count that asks for room used itself
// does not give way: a table that is too large for the budget has a part of it remembered, always the same, instead
// of all of it in turns.
type countedCache struct {
	mu     sync.Mutex
	budget int64
	used   int64
	turn   uint64     // of the newest count
	order  *list.List // of *countedFile, last used first
	byPath map[key]*list.Element
}

type countedFile struct {
	path  key
	value *counted
	turn  uint64 // of the last count that used it
}

// countedBytes is what remembering a data file takes without its keys.
const countedBytes = 256

func (f *countedFile) bytes() int64 { return countedBytes + f.value.keys.bytes() }

func newCountedCache(budget int64) *countedCache {
	return &countedCache{budget: budget, order: list.New(), byPath: make(map[key]*list.Element)}
}

// begin starts a count.
func (c *countedCache) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
	return c.turn
}

func (c *countedCache) get(path key, turn uint64) *counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byPath[path]
	if !ok {
		return nil
	}
	f := e.Value.(*countedFile)
	f.turn = max(f.turn, turn)
	c.order.MoveToFront(e)
	return f.value
}

// put remembers a data file; without its keys when there is no room for them, and not at all when there is none for it.
func (c *countedCache) put(path key, value *counted, turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.byPath[path]; ok {
		c.remove(old)
	}
	f := &countedFile{path, value, turn}
	if !c.room(f) {
		plain := *value
		plain.keys = nil
		f.value = &plain
		if !c.room(f) {
			return
		}
	}
	c.used += f.bytes()
	c.byPath[path] = c.order.PushFront(f)
}

// room makes room for a data file, if those of other counts take it.
func (c *countedCache) room(f *countedFile) bool {
	for c.used+f.bytes() > c.budget {
		last := c.order.Back()
		if last == nil || f.bytes() > c.budget || last.Value.(*countedFile).turn >= f.turn {
			return false
		}
		c.remove(last)
	}
	return true
}

func (c *countedCache) remove(e *list.Element) {
	f := c.order.Remove(e).(*countedFile)
	delete(c.byPath, f.path)
	c.used -= f.bytes()
}

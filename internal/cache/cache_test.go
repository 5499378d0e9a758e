package cache

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatWasUsedLastIsKept(t *testing.T) {
	c := New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	_, ok := c.Get("a")
	require.True(t, ok)
	c.Put("c", 3, 4)
	_, ok = c.Get("b")
	require.False(t, ok, "it was used least recently")
	got, ok := c.Get("a")
	require.True(t, ok)
	require.Equal(t, 1, got)

	c.Put("a", 5, 6)
	got, _ = c.Get("a")
	require.Equal(t, 5, got, "the newer value counts, and its size")
	require.EqualValues(t, 10, c.Used())

	c.Put("whole", 6, 10)
	_, ok = c.Get("a")
	require.False(t, ok)
	c.Put("whole", 7, 11)
	_, ok = c.Get("whole")
	require.False(t, ok, "neither what is too large, nor what it was to replace")
	require.Zero(t, c.Used())

	c.Put("d", 8, 1)
	c.Forget("d")
	c.Forget("d")
	_, ok = c.Get("d")
	require.False(t, ok)
	require.Zero(t, c.Used())
}

func TestTheBudgetHolds(t *testing.T) {
	c := New[int, int](100)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1)) //nolint:gosec // a test
			for range 2000 {
				key := random.IntN(40)
				switch random.IntN(5) {
				case 0:
					c.Forget(key)
				case 1, 2:
					c.Put(key, key, int64(random.IntN(30)))
				default:
					if got, ok := c.Get(key); ok && got != key {
						t.Errorf("key %d has the value %d", key, got)
					}
				}
			}
		})
	}
	all.Wait()
	sum := int64(0)
	for _, e := range c.byKey {
		sum += e.Value.(*entry[int, int]).bytes
	}
	require.Equal(t, sum, c.Used())
	require.LessOrEqual(t, c.used, int64(100))
	require.Equal(t, len(c.byKey), c.order.Len())
}

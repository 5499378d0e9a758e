package access

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A read that began before a request arrived never answers it; one that began later answers all who wait.
func TestVersionsAreNeverOlderThanTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads, counter atomic.Int64
		v := newVersions(func(context.Context) (int64, error) {
			reads.Add(1)
			seen := counter.Load()
			time.Sleep(time.Second)
			return seen, nil
		})
		ask := func(want int64) {
			if got, err := v.current(t.Context()); err != nil || got < want {
				t.Errorf("the version is %d (%v), want %d or newer", got, err, want)
			}
		}
		var wait sync.WaitGroup
		wait.Go(func() { ask(0) })
		time.Sleep(time.Millisecond)
		counter.Add(1)
		for range 100 { // they arrive after the change, while the first read runs
			wait.Go(func() { ask(1) })
		}
		wait.Wait()
		if n := reads.Load(); n != 2 {
			t.Errorf("101 requests took %d reads, want 2", n)
		}
		counter.Add(1)
		ask(2)
	})
}

func TestVersionReadsOutliveTheirRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVersions(func(ctx context.Context) (int64, error) {
			select {
			case <-time.After(time.Second):
				return 7, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		})
		gone, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Millisecond)
			cancel()
		}()
		if _, err := v.current(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("the request that went away got %v", err)
		}
		if got, err := v.current(t.Context()); err != nil || got != 7 {
			t.Errorf("the next got %d, %v", got, err)
		}
	})
}

// A database that was restored counts from further back. Nothing from before counts as newer then.
func TestVersionsGrowWhateverTheDatabaseSays(t *testing.T) {
	stored := int64(50)
	v := newVersions(func(context.Context) (int64, error) { return stored, nil })
	last := int64(-1)
	for _, stored = range []int64{50, 20, 21, 5, 50} {
		got, err := v.current(t.Context())
		if err != nil || got <= last {
			t.Fatalf("at %d the version is %d (%v) after %d", stored, got, err, last)
		}
		last = got
	}
	failing := newVersions(func(context.Context) (int64, error) { return 0, errors.New("down") })
	if _, err := failing.current(t.Context()); err == nil {
		t.Error("a failure was hidden")
	}
}

func TestMemoryKeepsByVersion(t *testing.T) {
	m := newMemory[string, int64](10)
	loads := 0
	get := func(version int64) int64 {
		value, err := m.get(t.Context(), version, "k", func(_ context.Context, at int64) (int64, error) {
			loads++
			return at, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, c := range []struct{ version, value, loads int64 }{{1, 1, 1}, {1, 1, 1}, {2, 2, 2}, {1, 2, 2}, {3, 3, 3}} {
		if got := get(c.version); got != c.value || int64(loads) != c.loads {
			t.Errorf("version %d gave %d after %d loads, want %d after %d", c.version, got, loads, c.value, c.loads)
		}
	}
	// What a late request makes others find must be as new as what they have seen.
	got, err := m.get(t.Context(), 1, "other", func(_ context.Context, at int64) (int64, error) { return at, nil })
	if err != nil || got != 3 {
		t.Errorf("a late request loaded as of %d (%v), want 3", got, err)
	}
}

func TestMemoryIsBoundedAndForgetsErrors(t *testing.T) {
	m := newMemory[int, int](10)
	for i := range 1000 {
		_, err := m.get(t.Context(), 1, i, func(context.Context, int64) (int, error) { return i, nil })
		if err != nil || len(m.entries) > 10 {
			t.Fatalf("%d are kept (%v)", len(m.entries), err)
		}
	}
	for _, fails := range []bool{true, false} {
		got, err := m.get(t.Context(), 1, 5000, func(context.Context, int64) (int, error) {
			if fails {
				return 0, errors.New("down")
			}
			return 9, nil
		})
		if (err != nil) != fails || !fails && got != 9 {
			t.Errorf("got %d, %v", got, err)
		}
	}
}

func TestMemorySharesLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory[string, int](10)
		var loads atomic.Int64
		ask := func(ctx context.Context) (int, error) {
			return m.get(ctx, 1, "k", func(ctx context.Context, _ int64) (int, error) {
				loads.Add(1)
				select {
				case <-time.After(time.Second):
					return 3, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			})
		}
		first, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { _, _ = ask(first) })
		time.Sleep(time.Millisecond)
		cancel() // others wait for what it began
		for range 20 {
			wait.Go(func() {
				if got, err := ask(t.Context()); err != nil || got != 3 {
					t.Errorf("got %d, %v", got, err)
				}
			})
		}
		wait.Wait()
		if n := loads.Load(); n != 1 {
			t.Errorf("%d loads", n)
		}
	})
}

func TestMemorySurvivesPanics(t *testing.T) {
	m := newMemory[string, int](10)
	func() {
		defer func() { _ = recover() }()
		_, _ = m.get(t.Context(), 1, "k", func(context.Context, int64) (int, error) { panic("broken") })
	}()
	got, err := m.get(t.Context(), 1, "k", func(context.Context, int64) (int, error) { return 4, nil })
	if err != nil || got != 4 {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestCheckedTokensAreBounded(t *testing.T) {
	c := newChecked()
	now := time.Unix(1000, 0)
	sum := func(i int) [32]byte { return [32]byte{byte(i), byte(i >> 8), byte(i >> 16)} }
	put := func(i int, expires int64) {
		c.put(sum(i), checkedToken{claims: claims{ExpiresAt: expires}}, now)
		if len(c.tokens) > maxChecked {
			t.Fatalf("%d are kept", len(c.tokens))
		}
		if _, ok := c.get(sum(i)); !ok {
			t.Fatal("the newest is not kept")
		}
	}
	for i := range maxChecked {
		put(i, 900+int64(i%4/3)*200) // three of four have expired
	}
	put(maxChecked, 1100)
	if _, ok := c.get(sum(3)); !ok || len(c.tokens) != maxChecked/4+1 {
		t.Errorf("%d are kept, want those that have not expired", len(c.tokens))
	}
	for i := range maxChecked * 2 {
		put(maxChecked+1+i, 1100)
	}
}

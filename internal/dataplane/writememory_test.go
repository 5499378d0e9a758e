package dataplane

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func TestWritesWaitForMemory(t *testing.T) {
	s := newWriteState(Limits{Memory: 64 << 20})
	s.growFor = 20 * time.Millisecond
	one, err := s.reserve(t.Context(), false)
	require.NoError(t, err)
	two, err := s.reserve(t.Context(), false)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.reserve(ctx, true)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, fault.Is(one.grow(t.Context(), 20<<20), fault.Unavailable), "what others hold they give back")
	require.True(t, fault.Is(one.grow(t.Context(), 64<<20), fault.TooLarge), "so much there never is")

	waited := make(chan *reservation)
	go func() {
		three, err := s.reserve(t.Context(), true)
		if err == nil {
			waited <- three
		}
	}()
	time.Sleep(10 * time.Millisecond)
	two.release()
	two.release() // once is enough
	three := <-waited
	three.release()
	require.NoError(t, one.grow(t.Context(), 20<<20))
	one.release()
	require.Equal(t, s.most, s.free)
}

// As many writes as are let in can keep the audit of some rows at least, without waiting for each other.
func TestWritesThatAreLetInCanGrow(t *testing.T) {
	for _, memory := range []int64{0, 64 << 20, 128 << 20, 512 << 20, 4 << 30} {
		for _, small := range []bool{false, true} {
			s := newWriteState(Limits{Memory: memory})
			s.growFor = 0
			var in []*reservation
			for {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				one, err := s.reserve(ctx, small)
				cancel()
				if err != nil {
					break
				}
				in = append(in, one)
			}
			require.GreaterOrEqual(t, len(in), 2)
			for _, one := range in {
				require.NoError(t, one.grow(t.Context(), s.most/int64(8*len(in))), "%d beside %d", memory, len(in))
			}
		}
	}
}

// What one gives back another grows by.
func TestGrowthWaitsAWhile(t *testing.T) {
	s := newWriteState(Limits{Memory: 64 << 20})
	one, err := s.reserve(t.Context(), false)
	require.NoError(t, err)
	two, err := s.reserve(t.Context(), false)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	require.ErrorIs(t, one.grow(ctx, 16<<20), context.Canceled)
	time.AfterFunc(10*time.Millisecond, two.release)
	require.NoError(t, one.grow(t.Context(), 16<<20))
}

// A write that is under way grows while others wait: it must not wait for them.
func TestGrowthGoesBeforeWaiting(t *testing.T) {
	s := newWriteState(Limits{Memory: 64 << 20})
	one, err := s.reserve(t.Context(), false)
	require.NoError(t, err)
	require.NoError(t, one.grow(t.Context(), 1<<20))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = s.reserve(ctx, false) }()
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, one.grow(t.Context(), 1<<20))
	cancel()
}

func TestSetsOfRows(t *testing.T) {
	var set *rowSet
	require.False(t, set.has(7))
	require.Zero(t, set.len())
	set = &rowSet{}
	for _, row := range []int64{0, 3, 63, 64, 200, 3} {
		set.add(row)
	}
	require.EqualValues(t, 5, set.len())
	require.Equal(t, []run{{1, 3}, {4, 63}, {65, 200}, {201, 300}}, runsWithout(300, set))
	require.Equal(t, []int{1, 2, 4}, withoutValues([]int{0, 1, 2, 3, 4}, set))
	part := partOf(set, 60, 10)
	require.True(t, part.has(3) && part.has(4))
	require.EqualValues(t, 2, part.len())
}

func TestWriteDefaults(t *testing.T) {
	schema := metadata.Schema{Raw: []byte(`{"type":"struct","fields":[{"id":1,"name":"a","type":"long","write-default":7,"initial-default":3},` +
		`{"id":2,"name":"b","type":{"type":"struct","fields":[{"id":3,"name":"c","type":"string","write-default":"x"}]}},` +
		`{"id":4,"name":"d","type":{"type":"list","element-id":5,"element":{"type":"struct","fields":[{"id":6,"name":"e","type":"int","write-default":null}]}}},` +
		`{"id":7,"name":"f","type":"int","initial-default":1}]}`)}
	require.Equal(t, map[int][]byte{1: []byte("7"), 3: []byte(`"x"`)}, writeDefaults(schema))
}

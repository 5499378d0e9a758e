package objectstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// window is how many bytes a sequential read of an object asks for at once; the tests read beyond it.
const window = 4 << 20

// New gives a store and an empty prefix to work in.
type New func(t *testing.T) (store objects.Store, root string)

// bounded is a store that can be told how much to read at most.
type bounded interface {
	ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error)
}

// Run is what every objects.Store must do. The odd names are those that the store refuses although others take them.
func Run(t *testing.T, newStore New, refused ...string) {
	t.Run("creates and reads", func(t *testing.T) { testCreateAndRead(t, newStore) })
	t.Run("never overwrites", func(t *testing.T) { testNeverOverwrites(t, newStore) })
	t.Run("one of many racing creators wins", func(t *testing.T) { testRace(t, newStore) })
	t.Run("tells a replaced object from the one before", func(t *testing.T) { testETag(t, newStore) })
	t.Run("says what is missing", func(t *testing.T) { testMissing(t, newStore) })
	t.Run("lists in pages", func(t *testing.T) { testList(t, newStore) })
	t.Run("opens for reading", func(t *testing.T) { testOpen(t, newStore) })
	t.Run("takes odd names literally", func(t *testing.T) { testOddNames(t, newStore, refused) })
	t.Run("refuses bad locations", func(t *testing.T) { testRefuses(t, newStore) })
	t.Run("ends with its context", func(t *testing.T) { testEndedContext(t, newStore) })
	t.Run("passes the check", func(t *testing.T) {
		s, root := newStore(t)
		require.NoError(t, objects.Check(t.Context(), s, root))
		left, err := s.List(t.Context(), root, "", 0)
		require.NoError(t, err)
		assert.Empty(t, left, "the probe is gone")
	})
	t.Run("reads no more than was asked for", func(t *testing.T) {
		store, root := newStore(t)
		require.NoError(t, store.CreateFile(t.Context(), root+"/f", []byte("0123456789")))
		s, ok := store.(bounded)
		require.True(t, ok)
		data, err := s.ReadFileUpTo(t.Context(), root+"/f", 10)
		require.NoError(t, err)
		assert.Equal(t, "0123456789", string(data))
		_, err = s.ReadFileUpTo(t.Context(), root+"/f", 9)
		assert.True(t, fault.Is(err, fault.TooLarge), "%v", err)
		_, err = s.ReadFileUpTo(t.Context(), root+"/absent", 9)
		assert.True(t, fault.Is(err, fault.NotFound), "%v", err)
	})
	t.Run("reads for iceberg-go", func(t *testing.T) { testIcebergIO(t, newStore) })
}

func testCreateAndRead(t *testing.T, newStore New) {
	s, root := newStore(t)
	for _, size := range []int{0, 1, 100_000, 6 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		loc := fmt.Sprintf("%s/ns/t/metadata/%d.metadata.json", root, size)
		require.NoError(t, s.CreateFile(t.Context(), loc, data))

		got, err := s.ReadFile(t.Context(), loc)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, got), "%d bytes come back as they were", size)
		info, err := s.Stat(t.Context(), loc)
		require.NoError(t, err)
		assert.Equal(t, loc, info.Location)
		assert.EqualValues(t, size, info.Size)
		assert.WithinDuration(t, time.Now(), info.Modified, time.Minute)

		require.NoError(t, s.DeleteFile(t.Context(), loc))
		require.NoError(t, s.DeleteFile(t.Context(), loc), "deleting twice is fine")
		_, err = s.Stat(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.NotFound), err)
	}
}

func testNeverOverwrites(t *testing.T, newStore New) {
	s, root := newStore(t)
	loc := root + "/t/x"
	require.NoError(t, s.CreateFile(t.Context(), loc, []byte("first")))
	for _, second := range []string{"second", "first"} {
		err := s.CreateFile(t.Context(), loc, []byte(second))
		require.True(t, fault.Is(err, fault.AlreadyExists), err)
		assert.Equal(t, "File already exists: "+loc, fault.PublicMessage(err))
	}
	got, err := s.ReadFile(t.Context(), loc)
	require.NoError(t, err)
	assert.Equal(t, "first", string(got))
}

func testRace(t *testing.T, newStore New) {
	s, root := newStore(t)
	loc := root + "/racing/folder/x"
	var won atomic.Int32
	var winner atomic.Value
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range 32 {
		wg.Go(func() {
			<-start
			content := bytes.Repeat([]byte{byte('A' + i)}, 4096)
			err := s.CreateFile(t.Context(), loc, content)
			if err == nil {
				won.Add(1)
				winner.Store(content)
				return
			}
			assert.True(t, fault.Is(err, fault.AlreadyExists), err)
		})
	}
	close(start)
	wg.Wait()
	require.EqualValues(t, 1, won.Load())
	got, err := s.ReadFile(t.Context(), loc)
	require.NoError(t, err)
	assert.Equal(t, winner.Load(), got)
}

func testMissing(t *testing.T, newStore New) {
	s, root := newStore(t)
	require.NoError(t, s.CreateFile(t.Context(), root+"/t/there", []byte("x")))
	for _, loc := range []string{root + "/absent", root + "/absent/too", root + "/t"} {
		_, err := s.ReadFile(t.Context(), loc)
		require.True(t, fault.Is(err, fault.NotFound), "%s: %v", loc, err)
		assert.Equal(t, "Failed to open input stream for file: "+loc, fault.PublicMessage(err))
		_, err = s.Stat(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.NotFound), "%s: %v", loc, err)
		_, err = s.OpenFile(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.NotFound), "%s: %v", loc, err)
		assert.NoError(t, s.DeleteFile(t.Context(), loc))
	}
	_, err := s.Stat(t.Context(), root+"/t/there")
	assert.NoError(t, err, "deleting a folder's name leaves what is in it")
	for _, nothingBelow := range []string{root + "/absent", root + "/t/there", root + "/t/there/x"} {
		found, err := s.List(t.Context(), nothingBelow, "", 10)
		require.NoError(t, err)
		assert.Empty(t, found)
	}
}

func testList(t *testing.T, newStore New) {
	s, root := newStore(t)
	// in byte order of whole keys: '.' < '/' < '0'
	want := []string{"t/a.txt", "t/a/b", "t/a/c/d", "t/a0", "t/b", "t/é"}
	for _, name := range append([]string{"tt/other", "u"}, want...) {
		require.NoError(t, s.CreateFile(t.Context(), root+"/"+name, []byte(name)))
	}
	for _, limit := range []int{1, 2, 3, 6, 7, 0} {
		var got []string
		for after, pages := "", 0; ; pages++ {
			page, err := s.List(t.Context(), root+"/t", after, limit)
			require.NoError(t, err)
			require.Less(t, pages, 10)
			for _, info := range page {
				got = append(got, info.Location[len(root)+1:])
				assert.EqualValues(t, len(info.Location)-len(root)-1, info.Size)
			}
			if len(page) == 0 {
				break
			}
			if limit > 0 {
				require.LessOrEqual(t, len(page), limit)
			}
			after = page[len(page)-1].Location
		}
		assert.Equal(t, want, got, "in pages of %d", limit)
	}
	middle, err := s.List(t.Context(), root+"/t", root+"/t/a/bb", 2)
	require.NoError(t, err)
	require.Len(t, middle, 2, "after need not exist")
	assert.Equal(t, root+"/t/a/c/d", middle[0].Location)
	_, err = s.List(t.Context(), root+"/t", root+"/elsewhere", 2)
	assert.True(t, fault.Is(err, fault.Invalid), err)
	everything, err := s.List(t.Context(), root, "", 0)
	require.NoError(t, err)
	assert.Len(t, everything, 8)
}

func testOpen(t *testing.T, newStore New) {
	s, root := newStore(t)
	data := make([]byte, window+1000)
	for i := range data {
		data[i] = byte(i * 7)
	}
	loc := root + "/t/data.parquet"
	require.NoError(t, s.CreateFile(t.Context(), loc, data))
	f, err := s.OpenFile(t.Context(), loc)
	require.NoError(t, err)
	assert.EqualValues(t, len(data), f.Size())

	p := make([]byte, 100)
	n, err := f.ReadAt(p, 4000)
	require.NoError(t, err)
	assert.Equal(t, data[4000:4100], p[:n])
	n, err = f.ReadAt(p, f.Size()-10)
	assert.ErrorIs(t, err, io.EOF)
	assert.Equal(t, data[len(data)-10:], p[:n])
	_, err = f.ReadAt(p, f.Size())
	assert.ErrorIs(t, err, io.EOF)

	all, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, all), "reading on from the start gives everything")
	at, err := f.Seek(-5, io.SeekEnd)
	require.NoError(t, err)
	assert.EqualValues(t, len(data)-5, at)
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, data[len(data)-5:], rest)
	_, err = f.Seek(-1, io.SeekStart)
	assert.Error(t, err)

	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			p, off := make([]byte, 1000), int64(i*5000)
			_, err := f.ReadAt(p, off)
			assert.NoError(t, err)
			assert.Equal(t, data[off:off+1000], p)
		})
	}
	wg.Wait()
	require.NoError(t, f.Close())
	_, err = f.Read(p)
	assert.Error(t, err, "a closed file gives nothing")
}

func testOddNames(t *testing.T, newStore New, refused []string) {
	s, root := newStore(t)
	for _, name := range []string{"p=a%2Fb/x", "p=50%/x", "a b/c+d=e:f", "ü/日本", "...", "..x/y..", "it's \"quoted\"&<tag>"} {
		loc := root + "/odd/" + name
		if slices.Contains(refused, name) {
			assert.True(t, fault.Is(s.CreateFile(t.Context(), loc, nil), fault.Invalid), name)
			continue
		}
		require.NoError(t, s.CreateFile(t.Context(), loc, []byte(name)), name)
		got, err := s.ReadFile(t.Context(), loc)
		require.NoError(t, err, name)
		assert.Equal(t, name, string(got))
		found, err := s.List(t.Context(), root+"/odd", "", 0)
		require.NoError(t, err)
		require.Len(t, found, 1, name)
		assert.Equal(t, loc, found[0].Location)
		require.NoError(t, s.DeleteFile(t.Context(), loc))
	}
}

func testRefuses(t *testing.T, newStore New) {
	s, root := newStore(t)
	for _, name := range []string{"/../x", "/a/../../x", "/%2e%2e/x", "/a%2F..%2F..%2Fx", "/a\x00b", "//x", "/./x", "/x?y", "/x#y", `/a\..\x`} {
		loc := root + name
		_, err := s.ReadFile(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Invalid), "%q: %v", loc, err)
		assert.True(t, fault.Is(s.CreateFile(t.Context(), loc, nil), fault.Invalid), loc)
		assert.True(t, fault.Is(s.DeleteFile(t.Context(), loc), fault.Invalid), loc)
		_, err = s.Stat(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Invalid), loc)
		_, err = s.OpenFile(t.Context(), loc)
		assert.True(t, fault.Is(err, fault.Invalid), loc)
		_, err = s.List(t.Context(), loc, "", 1)
		assert.True(t, fault.Is(err, fault.Invalid), loc)
		assert.True(t, fault.Is(s.EnsureFolder(t.Context(), loc), fault.Invalid), loc)
	}
}

func testEndedContext(t *testing.T, newStore New) {
	s, root := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.CreateFile(ctx, root+"/x", []byte("x"))
	assert.True(t, fault.Is(err, fault.Unavailable), err)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.Stat(t.Context(), root+"/x")
	assert.True(t, fault.Is(err, fault.NotFound), "nothing was done")
}

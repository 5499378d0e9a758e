package bench

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// BenchmarkObjectsRead counts what a worker asks the object store for one append to a table of 50 snapshots, beside its
// metadata: to count it exactly, and to note its files. The commits are reconciled in their order, as in a stream.
func BenchmarkObjectsRead(b *testing.B) {
	at := startAPI(b, b.TempDir(), "sqlite://"+b.TempDir()+"/sluice.db", 0)
	t := newTable(b, at.client, nil)
	for range depth {
		_, err := t.append(b.Context(), at.client)
		require.NoError(b, err)
	}
	loaded, err := at.client.LoadTable(b.Context(), namespace, t.name)
	require.NoError(b, err)
	doc, err := metadata.Parse(loaded.Metadata)
	require.NoError(b, err)
	state, err := icebergtest.Parse(loaded.Metadata)
	require.NoError(b, err)
	lineage := state.Lineage()
	base, err := objects.Parse(state.Location)
	require.NoError(b, err)
	folder, err := objects.NewFileStore(b.Context(), base)
	require.NoError(b, err)

	for name, wrap := range map[string]func(*countedFiles) reconcile.Objects{
		"plain":  func(c *countedFiles) reconcile.Objects { return c },
		"recent": func(c *countedFiles) reconcile.Objects { return reconcile.NewRecent(c, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			files := &countedFiles{FileStore: folder}
			for range b.N {
				store := wrap(files)
				counter, watcher := reconcile.NewCounter(store), maintenance.NewWatcher(store)
				for i := range lineage {
					snapshot, _ := doc.Snapshot(lineage[len(lineage)-1-i])
					_, err := counter.Count(b.Context(), doc, snapshot)
					require.NoError(b, err)
					changes, err := watcher.Changes(b.Context(), snapshot, 1000)
					require.NoError(b, err)
					require.Len(b, changes.Added, 1)
					_, err = watcher.Look(b.Context(), []string{changes.Added[0].Path}, 0)
					require.NoError(b, err)
				}
			}
			commits := float64(b.N * len(lineage))
			b.ReportMetric(float64(files.reads.Load())/commits, "reads/commit")
			b.ReportMetric(float64(files.stats.Load())/commits, "stats/commit")
			b.ReportMetric(float64(files.bytes.Load())/commits/1000, "kB/commit")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/commits, "ms/commit")
		})
	}
}

// countedFiles counts what is asked of a folder.
type countedFiles struct {
	*objects.FileStore
	reads, stats, bytes atomic.Int64
}

func (c *countedFiles) ReadFile(ctx context.Context, location string) ([]byte, error) {
	data, err := c.FileStore.ReadFile(ctx, location)
	c.reads.Add(1)
	c.bytes.Add(int64(len(data)))
	return data, err
}

func (c *countedFiles) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	data, err := c.FileStore.ReadFileUpTo(ctx, location, limit)
	c.reads.Add(1)
	c.bytes.Add(int64(len(data)))
	return data, err
}

func (c *countedFiles) Stat(ctx context.Context, location string) (objects.Info, error) {
	c.stats.Add(1)
	return c.FileStore.Stat(ctx, location)
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
)

const (
	// leastTables is how many tables a run spreads its commits over at least.
	leastTables = 20
	// depth is about how many snapshots a table gets before the run goes on with another.
	depth = 50
)

// BenchmarkCommit measures appends by one and by several engines, each on tables of its own.
func BenchmarkCommit(b *testing.B) {
	onEach(b, func(b *testing.B, at installation) {
		for _, clients := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) { commitApart(b, at, clients) })
		}
		b.Run("clients=4/one-table", func(b *testing.B) { commitTogether(b, at, 4) })
	})
}

// commitApart has each client append to its own tables, knowing their state from its last commit as engines do.
func commitApart(b *testing.B, at installation, clients int) {
	tables := make([]*table, max(leastTables, clients, b.N/depth))
	for i := range tables {
		tables[i] = newTable(b, at.client, nil)
	}
	m := startMeter(b, at)
	var next atomic.Int64
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			own := share(tables, client, clients)
			for i := 0; next.Add(1) <= int64(b.N); i++ {
				took, err := own[i%len(own)].append(b.Context(), at.client)
				if err != nil {
					b.Error(err)
					return
				}
				m.add(took)
			}
		})
	}
	wg.Wait()
	m.report(b, "commits")
}

// share gives the tables of one client.
func share(tables []*table, client, clients int) []*table {
	var own []*table
	for i := client; i < len(tables); i += clients {
		own = append(own, tables[i])
	}
	return own
}

// commitTogether has all clients append to one table; a refused client loads and tries anew until it is in.
func commitTogether(b *testing.B, at installation, clients int) {
	name := newTable(b, at.client, nil).name
	m := startMeter(b, at)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				began := time.Now()
				if err := appendUntilIn(b.Context(), at.client, name); err != nil {
					b.Error(err)
					return
				}
				m.add(time.Since(began))
			}
		})
	}
	wg.Wait()
	m.report(b, "commits")
}

func appendUntilIn(ctx context.Context, c *product.Client, name string) error {
	for {
		t, err := loadTable(ctx, c, name)
		if err != nil {
			return err
		}
		_, err = t.append(ctx, c)
		var status *product.StatusError
		if !errors.As(err, &status) || status.Code != http.StatusConflict {
			return err
		}
	}
}

// table is a table as its only writer knows it.
type table struct {
	name  string
	state icebergtest.Table
}

func newTable(b *testing.B, c *product.Client, properties map[string]string) *table {
	b.Helper()
	name := "t" + strings.ReplaceAll(uuid.NewString(), "-", "")
	loaded, err := c.CreateTable(b.Context(), namespace, name, properties)
	require.NoError(b, err)
	state, err := icebergtest.Parse(loaded.Metadata)
	require.NoError(b, err)
	return &table{name, state}
}

func loadTable(ctx context.Context, c *product.Client, name string) (*table, error) {
	loaded, err := c.LoadTable(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	state, err := icebergtest.Parse(loaded.Metadata)
	return &table{name, state}, err
}

// append writes an append's files and commits it; the time is that of the commit's request alone.
func (t *table) append(ctx context.Context, c *product.Client) (time.Duration, error) {
	files := icebergtest.LocalFiles()
	files.Data = true
	commit, err := files.Append(t.state, 1, 1000)
	if err != nil {
		return 0, err
	}
	body := commit.Body()
	began := time.Now()
	if err := c.Commit(ctx, namespace, t.name, body); err != nil {
		return 0, err
	}
	took := time.Since(began)
	t.landed(commit)
	return took, nil
}

// landed notes a commit on top of the table.
func (t *table) landed(commit icebergtest.Commit) {
	t.state.Head, t.state.HeadList = &commit.SnapshotID, commit.ManifestList
	t.state.LastSequence++
}

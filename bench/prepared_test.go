package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/e2e/chaos"
	"github.com/sluice-data/sluice/e2e/product"
	"github.com/sluice-data/sluice/internal/icebergtest"
)

// clients is how many engines commit at once.
const clients = 8

// tables makes as many tables as b.N commits need.
func (c *cluster) tables(b *testing.B) []*table {
	tables := make([]*table, max(leastTables, clients, b.N/depth))
	for i := range tables {
		tables[i] = newTable(b, c.client, nil)
	}
	return tables
}

func settle(b *testing.B, c *product.Client) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(b, chaos.Settle(ctx, c))
}

// preparedCommit is an append whose files are written.
type preparedCommit struct {
	table string
	body  []byte
}

// prepareCommits writes the files of b.N appends to tables in turn, so that the engines' own work does not take the
// machine from what is measured. The appends of each client, at its index, are to be sent in their order.
func prepareCommits(b *testing.B, tables []*table) [clients][]preparedCommit {
	b.Helper()
	var ready [clients][]preparedCommit
	files := icebergtest.LocalFiles()
	files.Data = true
	for i := range b.N {
		at := i % len(tables)
		t := tables[at]
		commit, err := files.Append(t.state, 1, 1000)
		require.NoError(b, err)
		t.landed(commit)
		ready[at%clients] = append(ready[at%clients], preparedCommit{t.name, commit.Body()})
	}
	return ready
}

// commitSteadily sends prepared commits at a rate, each at its time or, when that is missed, as soon as it can be.
func commitSteadily(b *testing.B, at installation, ready [clients][]preparedCommit, rate int) {
	b.Helper()
	begun := time.Now()
	var wg sync.WaitGroup
	for client, own := range ready {
		wg.Go(func() {
			for i, commit := range own {
				time.Sleep(time.Until(begun.Add(time.Duration(i*clients+client) * time.Second / time.Duration(rate))))
				if err := at.client.Commit(b.Context(), namespace, commit.table, commit.body); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// lags gives the time of each commit of the tables until its reconciliation.
func lags(b *testing.B, c *product.Client, tables []*table) []time.Duration {
	b.Helper()
	mine := map[string]bool{}
	for _, t := range tables {
		mine[t.state.UUID] = true
	}
	ledger, err := c.Ledger(b.Context())
	require.NoError(b, err)
	var out []time.Duration
	for _, row := range ledger {
		if mine[row.TableUUID] {
			require.NotNil(b, row.ReconciledAt)
			out = append(out, row.ReconciledAt.Sub(row.CommittedAt))
		}
	}
	return out
}

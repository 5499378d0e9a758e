package tableread_test

import (
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/tableread"
)

// However many slow reads one owner has, those of others find memory.
func TestSlowReadsOfOneLeaveMemoryToOthers(t *testing.T) {
	l := longLake(t)
	l.commit(l.data("a.parquet", longs(t, 0, 3000), parquet.WithMaxRowGroupLength(500)))
	const memory = 100 << 20 // for the row groups of two
	r := l.reader(tableread.Options{Memory: memory, Workers: 2})
	slow := l.scan()
	slow.Owner = "slow"
	let, began := make(chan struct{}), make(chan struct{}, 8)
	var all sync.WaitGroup
	for range cap(began) {
		all.Go(func() {
			first := true
			_, err := r.Scan(t.Context(), slow, func(arrow.RecordBatch) error {
				if first {
					first = false
					began <- struct{}{}
				}
				<-let
				return nil
			})
			assert.NoError(t, err)
		})
	}
	<-began
	time.Sleep(50 * time.Millisecond) // the others take what they get
	other := l.scan()
	other.Owner = "other"
	rows := int64(0)
	_, err := r.Scan(t.Context(), other, func(b arrow.RecordBatch) error { rows += b.NumRows(); return nil })
	require.NoError(t, err)
	require.EqualValues(t, 3000, rows)
	page, err := r.Page(t.Context(), other, []int{1}, nil, 10)
	require.NoError(t, err)
	page.Release()
	close(let)
	all.Wait()
	require.Zero(t, r.Held())
}

package tableread_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableread"
)

// What a lookup found in a file need not be read again when others have added files.
func TestFilesThatWereSeenAreNotReadAgain(t *testing.T) {
	l := longLake(t)
	l.commit(l.data("a.parquet", longs(t, 0, 1000)))
	store := &brokenStore{FileStore: l.store}
	r := tableread.New(store, scan.New(l.store), tableread.Options{})
	schema := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil)
	keys, seen := []arrow.RecordBatch{batchOf(t, schema, `{"id":5}`)}, &tableread.Seen{}
	locate := func(reads int64, seen *tableread.Seen) ([]tableread.Found, error) {
		store.left.Store(reads)
		return r.Locate(t.Context(), tableread.Lookup{Document: l.doc, Key: []int{1}, Keys: keys, Seen: seen})
	}
	_, err := locate(0, seen)
	require.Error(t, err, "it has to read the file")
	first, err := locate(1000, seen)
	require.NoError(t, err)
	require.Equal(t, []int64{5}, first[0].Positions)
	again, err := locate(0, seen)
	require.NoError(t, err)
	require.Equal(t, first[0].Positions, again[0].Positions)
	require.Equal(t, first[0].Matches, again[0].Matches)

	l.commit(l.data("b.parquet", longs(t, 0, 10)))
	_, err = locate(0, seen)
	require.Error(t, err, "the other has to be read")
	both, err := locate(1000, seen)
	require.NoError(t, err)
	require.Len(t, both, 2)
	_, err = locate(0, nil)
	require.Error(t, err)
}

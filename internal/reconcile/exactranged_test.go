package reconcile_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
)

// ranged is a folder that gives files in parts, and counts the bytes of data files.
type ranged struct {
	*folder
	bytes atomic.Int64
	fails bool // reads do, after the file was opened
}

func (r *ranged) OpenFile(ctx context.Context, location string) (objects.File, error) {
	raw, err := r.ReadFile(ctx, location)
	if err != nil {
		return nil, err
	}
	from := bytes.NewReader(raw)
	return objects.NewRangedFile(int64(len(raw)), func(p []byte, off int64) error {
		if r.fails {
			return fault.New(fault.Unavailable, "The store does not answer.")
		}
		if strings.HasPrefix(filepath.Base(location), "d") {
			r.bytes.Add(int64(len(p)))
		}
		_, err := from.ReadAt(p, off)
		return err
	}), nil
}

// Of a data file its end is read, and the columns of the delete.
func TestDataFilesAreReadInPartsAndInTheirKeysAlone(t *testing.T) {
	l := newTableLake(t, 2, idField+","+nameField)
	var rows []string
	for n := range 2000 {
		rows = append(rows, object("id", n, "name", strings.Repeat(string(rune('a'+n%26)), 500)+string(rune('a'+n%26))))
	}
	raw := parquetOf(t, idAndName(), rows, parquet.WithDictionaryDefault(false))
	l.write("d.parquet", raw)
	l.commit(row{status: added, path: "d.parquet", records: 2000})
	snap := l.commit(l.equality("eq.parquet", []int{1}, idColumn(), ids(0, 10)...))

	files := &ranged{folder: l.files}
	counts, err := reconcile.NewCounter(files).Count(t.Context(), l.doc, snap)
	require.NoError(t, err)
	require.Equal(t, int64(1990), counts.TotalRows, counts.Why)
	require.Less(t, files.bytes.Load(), int64(len(raw))/4)

	files.fails = true
	_, err = reconcile.NewCounter(files).Count(t.Context(), l.doc, snap)
	require.Equal(t, fault.Unavailable, fault.CodeOf(err), "the store's failure is no fault of the file")
}

package dataplane

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// run is rows from a place on, up to another.
type run struct{ from, to int64 }

// runsWithout gives the runs of n rows that are not out.
func runsWithout(n int64, out *rowSet) []run {
	if out.len() == 0 {
		return []run{{0, n}}
	}
	var runs []run
	for i := int64(0); i < n; i++ {
		if out.has(i) {
			continue
		}
		from := i
		for i < n && !out.has(i) {
			i++
		}
		runs = append(runs, run{from, i})
	}
	return runs
}

// without gives a batch without the rows that are out, for the caller to release.
func without(batch arrow.RecordBatch, out *rowSet) (arrow.RecordBatch, error) {
	runs := runsWithout(batch.NumRows(), out)
	switch len(runs) {
	case 0:
		return batch.NewSlice(0, 0), nil
	case 1:
		return batch.NewSlice(runs[0].from, runs[0].to), nil
	}
	return gathered(batch, runs)
}

// gathered copies the runs of a batch into one.
func gathered(batch arrow.RecordBatch, runs []run) (arrow.RecordBatch, error) {
	rows := int64(0)
	for _, r := range runs {
		rows += r.to - r.from
	}
	columns := make([]arrow.Array, batch.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		column, err := gather(batch.Column(i), runs)
		if err != nil {
			return nil, err
		}
		columns[i] = column
	}
	return array.NewRecordBatch(batch.Schema(), columns, rows), nil
}

// gather copies runs of an array. What it gives shares no memory with the array.
func gather(from arrow.Array, runs []run) (arrow.Array, error) {
	if ext, ok := from.(array.ExtensionArray); ok {
		storage, err := gather(ext.Storage(), runs)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(ext.ExtensionType(), storage), nil
	}
	parts := make([]arrow.Array, len(runs))
	for i, r := range runs {
		parts[i] = array.NewSlice(from, r.from, r.to)
	}
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// withoutValues is without for what there is one of for each row.
func withoutValues[T any](values []T, out *rowSet) []T {
	if out.len() == 0 {
		return values
	}
	var kept []T
	for _, r := range runsWithout(int64(len(values)), out) {
		kept = append(kept, values[r.from:r.to]...)
	}
	return kept
}

package dataplane

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/tableio"
)

// keyedRow is what a row of an upsert costs, in bytes, besides its key: see keyEntry.
const keyedRow = 24

// keyEntry is a row of an upsert by the hash of its key.
type keyEntry struct {
	hash [16]byte
	row  int64 // as in the log
}

// upsertSink keeps rows until all have arrived: of those with the same key the last one lands.
type upsertSink struct {
	w       *writing
	spool   *spool
	entries []keyEntry
	keys    []arrow.RecordBatch
	files   *tableio.FileWriter
	written *tableio.Written
}

func newUpsertSink(w *writing) *upsertSink { return &upsertSink{w: w, spool: newSpool(w.schema)} }

func (u *upsertSink) add(ctx context.Context, batch arrow.RecordBatch, hashes [][16]byte) error {
	k := u.w.keys
	if k.hasher != nil {
		var err error
		if hashes, err = k.hasher.Hash(batch); err != nil {
			return err
		}
	}
	keys, err := k.of(batch)
	if err != nil {
		return err
	}
	if err := u.w.memory.grow(ctx, batch.NumRows()*keyedRow+sizeOf(keys)); err != nil {
		keys.Release()
		return err
	}
	u.keys = append(u.keys, keys)
	for _, hash := range hashes {
		u.entries = append(u.entries, keyEntry{hash: hash, row: int64(len(u.entries))})
	}
	return u.spool.add(batch)
}

// finish writes the rows that have the last word on their keys.
func (u *upsertSink) finish(ctx context.Context) (cargo, error) {
	lost := u.lost()
	var err error
	if u.files, err = u.w.newFileWriter(ctx); err != nil {
		return cargo{}, err
	}
	row := int64(0)
	err = u.spool.each(func(batch arrow.RecordBatch) error {
		out := partOf(lost, row, batch.NumRows())
		row += batch.NumRows()
		landing, err := without(batch, out)
		if err != nil {
			return err
		}
		defer landing.Release()
		if landing.NumRows() == 0 {
			return nil
		}
		return u.files.Write(landing)
	})
	u.spool.close()
	if err != nil {
		return cargo{}, err
	}
	if err := u.dropLost(lost); err != nil {
		return cargo{}, err
	}
	if u.written, err = u.files.Close(); err != nil {
		return cargo{}, err
	}
	return cargo{adds: []*tableio.Written{u.written}, lost: lost, keys: u.keys}, nil
}

// lost gives the rows that another with the same key comes after.
func (u *upsertSink) lost() *rowSet {
	slices.SortFunc(u.entries, func(a, b keyEntry) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.row, b.row))
	})
	out := &rowSet{}
	for i := 1; i < len(u.entries); i++ {
		if u.entries[i].hash == u.entries[i-1].hash {
			out.add(u.entries[i-1].row)
		}
	}
	u.entries = nil
	return out
}

// dropLost leaves the keys of rows that land, in their order.
func (u *upsertSink) dropLost(lost *rowSet) error {
	row := int64(0)
	for i, keys := range u.keys {
		out := partOf(lost, row, keys.NumRows())
		row += keys.NumRows()
		kept, err := without(keys, out)
		if err != nil {
			return err
		}
		keys.Release()
		u.keys[i] = kept
	}
	return nil
}

func (u *upsertSink) abort(ctx context.Context) {
	if u.files != nil {
		u.files.Abort()
	}
	if u.written != nil {
		u.written.Remove(ctx)
	}
}

func (u *upsertSink) release() {
	u.spool.close()
	for _, keys := range u.keys {
		keys.Release()
	}
	u.keys = nil
}

// partOf gives the rows of a set that are among n from a place on, counted from there.
func partOf(set *rowSet, from, n int64) *rowSet {
	out := &rowSet{}
	for i := range n {
		if set.has(from + i) {
			out.add(i)
		}
	}
	return out
}

// sizeOf is about what a batch holds, in bytes.
func sizeOf(batch arrow.RecordBatch) int64 {
	size := int64(0)
	for _, column := range batch.Columns() {
		for _, buffer := range column.Data().Buffers() {
			if buffer != nil {
				size += int64(buffer.Len())
			}
		}
	}
	return size
}

package tableio

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Sizes in bytes where neither options nor the table say others.
const (
	targetProperty = "write.target-file-size-bytes"
	defaultTarget  = 128 << 20
	defaultMemory  = 256 << 20
)

// openFileCost is about what an open file takes for each of its columns besides the rows, in bytes.
const openFileCost = 256

// FileOptions say how data files are written.
type FileOptions struct {
	Name        string // what the names of the files begin with, of no other write; a random one if it is ""
	TargetBytes int64  // size of a data file; 0 for the table's
	MemoryBytes int64  // what the writer holds at most, besides two batches and the file that is being stored; 0 for 256 MB
	Sorted      bool   // rows come in the sort order of the table, and the files say so
}

// FileWriter writes rows into data files of a table. It is for one goroutine, beside which another one of its own encodes
// and stores: end it with Close or Abort, or that stays. Nothing that it writes is visible before a commit refers to it.
type FileWriter struct {
	io         *IO
	ctx        context.Context // of the write, which has many calls
	layout     *layout
	partitions *partitioner
	properties *parquet.WriterProperties
	modes      map[int]metricsMode
	name       string
	sorted     bool
	target     int64
	memory     int64
	rowGroup   int64

	behind *behind

	// The rest belongs to the goroutine behind, until that has ended.
	open   map[string]*openFile // by partition
	held   int64                // bytes in open files
	number int                  // of the next file
	done   *Written

	closed bool
}

// NewFileWriter makes a writer of data files of the table as it is, by its current schema and default partition spec.
// fault.Unsupported: the table has a column or a partition that is not written here; fault.Invalid: a property asks for
// what cannot be.
func (o *IO) NewFileWriter(ctx context.Context, doc *metadata.Document, options FileOptions) (*FileWriter, error) {
	l, err := layoutOf(doc)
	if err != nil {
		return nil, err
	}
	w := &FileWriter{
		io: o, ctx: ctx, layout: l, modes: l.metricsModes(), name: options.Name, sorted: options.Sorted, target: options.TargetBytes, memory: options.MemoryBytes,
		rowGroup: min(l.size(rowGroupProperty, mostOfRowGroup), mostOfRowGroup), open: map[string]*openFile{}, done: &Written{io: o, layout: l},
	}
	if w.name == "" {
		w.name = uuid.NewString()
	}
	if w.target <= 0 {
		w.target = l.size(targetProperty, defaultTarget)
	}
	if w.memory <= 0 {
		w.memory = defaultMemory
	}
	w.rowGroup = max(min(w.rowGroup, w.memory/2), 1)
	if w.properties, err = l.parquetProperties(); err != nil {
		return nil, err
	}
	w.behind = newBehind(w.place)
	w.partitions, err = newPartitioner(l.spec, l.arrow)
	return w, err
}

// Schema is that of the batches.
func (w *FileWriter) Schema() *arrow.Schema { return w.layout.arrow }

// Write adds rows of any partition; the batch has all columns of the table, in order. It may be released afterwards.
// fault.Invalid: a required column has a null. Errors of storing come with a later call. After an error the writer takes no
// more rows.
func (w *FileWriter) Write(batch arrow.RecordBatch) error {
	if w.closed {
		return errEnded()
	}
	if err := w.behind.failure(); err != nil || batch.NumRows() == 0 {
		return err
	}
	own, err := w.own(batch)
	if err == nil {
		err = checkRequired(w.layout.arrow, own)
	}
	if err != nil {
		w.behind.fail(err)
		return err
	}
	w.behind.take(own)
	return nil
}

// errEnded says that a writer is used after its end.
func errEnded() error { return fault.New(fault.Internal, "The data files are closed already.") }

// place puts the rows of a batch into the files of their partitions.
func (w *FileWriter) place(batch arrow.RecordBatch) error {
	for _, p := range w.partitions.split(batch) {
		if err := w.add(p, batch); err != nil {
			return err
		}
	}
	return w.relieve()
}

// own gives the batch with the writer's schema, whatever metadata its own has.
func (w *FileWriter) own(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	fields := w.layout.arrow.Fields()
	if int(batch.NumCols()) != len(fields) {
		return nil, fault.New(fault.Internal, "The rows have %d columns, and the table has %d.", batch.NumCols(), len(fields))
	}
	for i, f := range fields {
		given := batch.Schema().Field(i)
		want, _ := columnar.FieldID(f)
		id, known := columnar.FieldID(given)
		if known && id != want || !arrow.TypeEqual(given.Type, f.Type) {
			return nil, fault.New(fault.Internal, "The rows' column %s is not the table's column %s of the type %s.", given.Name, f.Name, f.Type)
		}
	}
	return array.NewRecordBatch(w.layout.arrow, batch.Columns(), batch.NumRows()), nil
}

// add puts the rows of a partition into its file.
func (w *FileWriter) add(p part, batch arrow.RecordBatch) error {
	rows, err := pick(w.ctx, batch, p.rows)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "The rows could not be divided into the table's partitions.")
	}
	f, ok := w.open[p.key]
	if !ok {
		f = newOpenFile(w, p)
		w.open[p.key] = f
	}
	before := f.size()
	f.add(rows)
	if f.pendingBytes >= w.rowGroup {
		err = f.encode()
	}
	w.held += f.size() - before
	if err == nil && int64(f.encoded()) >= w.target {
		err = w.finish(p.key)
	}
	return err
}

// relieve writes row groups, and then files, until no more is held than there may be.
func (w *FileWriter) relieve() error {
	for w.held > w.memory {
		key, largest := "", (*openFile)(nil)
		for k, f := range w.open {
			if largest == nil || f.size() > largest.size() {
				key, largest = k, f
			}
		}
		if largest.pendingBytes <= largest.size()/2 {
			if err := w.finish(key); err != nil {
				return err
			}
			continue
		}
		before := largest.size()
		if err := largest.encode(); err != nil {
			return err
		}
		w.held += largest.size() - before
	}
	return nil
}

// finish stores the open file of a partition.
func (w *FileWriter) finish(key string) error {
	f := w.open[key]
	delete(w.open, key)
	w.held -= f.size()
	defer f.release()
	location := w.layout.dataFile(fmt.Sprintf("%s-%05d.parquet", w.name, w.number))
	w.number++
	entry, err := f.finish(location)
	if err != nil {
		return err
	}
	err = w.io.files.CreateFile(w.ctx, location, f.bytes())
	if !fault.Is(err, fault.AlreadyExists) { // a file whose storing failed may be there all the same
		w.done.Paths = append(w.done.Paths, location)
	}
	if err != nil {
		return err
	}
	w.done.DataFiles = append(w.done.DataFiles, entry)
	w.done.Rows += entry.Count()
	w.done.Bytes += entry.FileSizeBytes()
	return nil
}

// Close stores what is left and gives all files. After an error nothing is left but what Abort removes.
func (w *FileWriter) Close() (*Written, error) {
	if w.closed {
		return nil, errEnded()
	}
	if err := w.behind.end(); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(w.open)) {
		if err := w.finish(key); err != nil {
			w.behind.fail(err)
			return nil, err
		}
	}
	w.closed = true
	return w.done, nil
}

// Abort removes what was written, unless Close succeeded: then it does nothing.
func (w *FileWriter) Abort() {
	if w.closed {
		return
	}
	w.closed = true
	w.behind.fail(errEnded())
	_ = w.behind.end() // it failed by that
	for key, f := range w.open {
		f.release()
		delete(w.open, key)
	}
	w.io.remove(w.ctx, w.done.Paths)
}

// sortOrder is the order that files claim.
func (w *FileWriter) sortOrder() int {
	if w.sorted {
		return w.layout.order
	}
	return 0
}

// entry describes a finished file as a manifest does.
func (w *FileWriter) entry(location string, f *openFile, foot footer) (iceberg.DataFile, error) {
	b, err := iceberg.NewDataFileBuilder(w.layout.spec, iceberg.EntryContentData, location, iceberg.ParquetFile, f.partition, nil, nil, f.stats.rows, int64(f.encoded()))
	if err != nil {
		return nil, err
	}
	f.stats.describe(b, foot.sizes)
	return b.SplitOffsets(foot.splits).SortOrderID(w.sortOrder()).Build(), nil
}

package tableio

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/sluice-data/sluice/internal/fault"
)

// The properties of a table that say how its Parquet files are written.
const (
	codecProperty      = "write.parquet.compression-codec"
	codecLevelProperty = "write.parquet.compression-level"
	rowGroupProperty   = "write.parquet.row-group-size-bytes"
	pageProperty       = "write.parquet.page-size-bytes"
	dictionaryProperty = "write.parquet.dict-size-bytes"
)

// Sizes in bytes. A row group is held as Arrow before it is encoded, so that a table's own size for it counts only where
// it is less.
const (
	mostOfRowGroup      = 16 << 20
	defaultOfPage       = 1 << 20
	defaultOfDictionary = 1 << 20
)

// parquetProperties says how a table's Parquet files are written. fault.Invalid: its properties ask for what is not there.
func (l *layout) parquetProperties() (*parquet.WriterProperties, error) {
	codec, err := codecOf(l.properties[codecProperty])
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithRootName("table"), parquet.WithStats(true), parquet.WithStoreDecimalAsInteger(true),
		parquet.WithCompression(codec), parquet.WithDataPageSize(l.size(pageProperty, defaultOfPage)),
		parquet.WithDictionaryPageSizeLimit(l.size(dictionaryProperty, defaultOfDictionary)),
	}
	if level, err := strconv.Atoi(l.properties[codecLevelProperty]); err == nil {
		options = append(options, parquet.WithCompressionLevel(level))
	}
	return parquet.NewWriterProperties(options...), nil
}

func codecOf(name string) (compress.Compression, error) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "", "zstd":
		return compress.Codecs.Zstd, nil
	case "gzip":
		return compress.Codecs.Gzip, nil
	case "snappy":
		return compress.Codecs.Snappy, nil
	case "brotli":
		return compress.Codecs.Brotli, nil
	case "lz4", "lz4_raw":
		return compress.Codecs.Lz4Raw, nil
	case "none", "uncompressed":
		return compress.Codecs.Uncompressed, nil
	}
	return 0, fault.New(fault.Invalid, "The table's property %s is %q, which is not written here. Use zstd, gzip, snappy, brotli, lz4 or uncompressed.", codecProperty, name)
}

// encoder writes one Parquet file into memory.
type encoder struct {
	schema *arrow.Schema
	buffer bytes.Buffer
	out    *pqarrow.FileWriter
}

func newEncoder(schema *arrow.Schema, properties *parquet.WriterProperties) (*encoder, error) {
	e := &encoder{schema: schema}
	var err error
	e.out, err = pqarrow.NewFileWriter(schema, &e.buffer, properties, pqarrow.NewArrowWriterProperties())
	return e, err
}

// rowGroup writes batches as one row group.
func (e *encoder) rowGroup(batches []arrow.RecordBatch) error {
	table := array.NewTableFromRecords(e.schema, batches)
	defer table.Release()
	if table.NumRows() == 0 {
		return nil
	}
	return e.out.WriteTable(table, table.NumRows())
}

// footer is what a finished file says of itself.
type footer struct {
	sizes  map[int]int64 // compressed, by field id
	splits []int64       // where the row groups begin
}

// finish ends the file, whose bytes are in the buffer then.
func (e *encoder) finish() (footer, error) {
	f := footer{sizes: map[int]int64{}}
	if err := e.out.Close(); err != nil {
		return f, err
	}
	meta, err := e.out.FileMetadata()
	if err != nil {
		return f, err
	}
	for g := range meta.NumRowGroups() {
		group := meta.RowGroup(g)
		start := int64(-1)
		for c := range group.NumColumns() {
			chunk, err := group.ColumnChunk(c)
			if err != nil {
				return f, err
			}
			at := chunk.DataPageOffset()
			if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
				at = min(at, chunk.DictionaryPageOffset())
			}
			if start < 0 || at < start {
				start = at
			}
			if id := fieldIDOf(meta.Schema.Column(c)); id >= 0 {
				f.sizes[id] += chunk.TotalCompressedSize()
			}
		}
		f.splits = append(f.splits, start)
	}
	return f, nil
}

func fieldIDOf(c *schema.Column) int { return int(c.SchemaNode().FieldID()) }

// guarded turns a panic of an encoder or a decoder into an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}

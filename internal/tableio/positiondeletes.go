package tableio

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// The columns of a position delete file, whose ids Iceberg reserves.
const (
	filePathID     = math.MaxInt32 - 101
	positionID     = math.MaxInt32 - 102
	filePathColumn = "file_path"
	positionColumn = "pos"
)

// positionsOfBatch is how many positions are written at a time.
const positionsOfBatch = 64 << 10

// positionDeletes writes a position delete file for each partition that the removals touch. They come in order of path.
func (s *staging) positionDeletes(removes []Removal) ([]iceberg.DataFile, error) {
	type key struct {
		spec      int
		partition string
	}
	groups, order := map[key][]Removal{}, []key{}
	for _, r := range removes {
		k := key{r.File.SpecID, r.File.PartitionKey}
		if len(groups[k]) == 0 {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	prefix := uuid.NewString()
	var out []iceberg.DataFile
	for i, k := range order {
		f, err := s.positionDelete(groups[k], s.layout.dataFile(fmt.Sprintf("%s-%05d-deletes.parquet", prefix, i)))
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func positionSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: filePathColumn, Type: arrow.BinaryTypes.String, Metadata: withID(filePathID)},
		{Name: positionColumn, Type: arrow.PrimitiveTypes.Int64, Metadata: withID(positionID)},
	}, nil)
}

// positionDelete writes the positions of one partition. Readers find out by the bounds which data files it is for, so
// that those of the path are whole.
func (s *staging) positionDelete(removes []Removal, location string) (iceberg.DataFile, error) {
	spec, err := specOf(s.d.Base, removes[0].File.SpecID)
	if err != nil {
		return nil, err
	}
	properties, err := s.layout.parquetProperties()
	if err != nil {
		return nil, err
	}
	whole := metricsMode{counts: true, bounds: true}
	stats := newStatistics(positionSchema(), map[int]metricsMode{filePathID: whole, positionID: whole})
	var entry iceberg.DataFile
	var data []byte
	err = guardedFault(func() error {
		e, err := newEncoder(positionSchema(), properties)
		if err != nil {
			return err
		}
		if err := eachPositions(removes, func(batch arrow.RecordBatch) error {
			stats.add(batch)
			return e.out.WriteBuffered(batch)
		}); err != nil {
			return err
		}
		foot, err := e.finish()
		if err != nil {
			return err
		}
		data = e.buffer.Bytes()
		b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentPosDeletes, location, iceberg.ParquetFile, removes[0].File.Partition, nil, nil, stats.rows, int64(len(data)))
		if err != nil {
			return err
		}
		stats.describe(b, foot.sizes)
		b.SplitOffsets(foot.splits)
		if len(removes) == 1 {
			b.ReferencedDataFile(removes[0].File.Path)
		}
		entry = b.Build()
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.counts.addPositionDeletes(stats.rows, int64(len(data)))
	return entry, s.create(location, data)
}

// eachPositions calls fn with batches of the positions, in order.
func eachPositions(removes []Removal, fn func(arrow.RecordBatch) error) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, positionSchema())
	defer b.Release()
	paths, positions := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.Int64Builder) //nolint:forcetypeassert // the schema's
	flush := func() error {
		batch := b.NewRecordBatch()
		defer batch.Release()
		return fn(batch)
	}
	for _, r := range removes {
		for _, p := range r.Positions {
			paths.Append(r.File.Path)
			positions.Append(p)
			if positions.Len() == positionsOfBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if positions.Len() == 0 {
		return nil
	}
	return flush()
}

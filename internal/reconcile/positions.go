package reconcile

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/iceberg-go"
)

// deleteFile is a live position delete file.
type deleteFile struct {
	path     string
	format   iceberg.FileFormat
	sequence int64
	records  int64
}

// applyPositions reads the position delete files and hands each position to its data file.
func (c *Counter) applyPositions(ctx context.Context, deletes []deleteFile, data map[string]*liveData) error {
	var total int64
	for _, d := range deletes {
		if d.format != iceberg.ParquetFile {
			return inexactError(fmt.Sprintf("the position delete file %s is %s, not Parquet", d.path, d.format))
		}
		if total += max(d.records, 0); total > mostPositions {
			return inexactError(fmt.Sprintf("more than %d positions are deleted", mostPositions))
		}
		raw, err := fetch(ctx, c.source.files, "position delete file", d.path)
		if err != nil {
			return err
		}
		read, err := readPositions(raw, func(path string, position int64) {
			if f, ok := data[path]; ok && f.sequence <= d.sequence {
				f.positions = append(f.positions, position)
			}
		})
		if err != nil {
			return inexactError(fmt.Sprintf("the position delete file %s cannot be read", d.path))
		}
		total += max(read-max(d.records, 0), 0)
	}
	return nil
}

// The columns of a position delete file, by the specification's names.
const (
	pathColumn     = "file_path"
	positionColumn = "pos"
)

// readPositions calls visit with every row of a position delete file and counts them. It never panics.
func readPositions(raw []byte, visit func(path string, position int64)) (rows int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder panic: %v", errDecode, p)
		}
	}()
	reader, err := file.NewParquetReader(bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	defer reader.Close() //nolint:errcheck // it reads memory
	schema := reader.MetaData().Schema
	pathAt, positionAt := schema.ColumnIndexByName(pathColumn), schema.ColumnIndexByName(positionColumn)
	if pathAt < 0 || positionAt < 0 || reader.NumRows() > mostPositions {
		return 0, fmt.Errorf("%w: not a position delete file", errDecode)
	}
	for n := range reader.NumRowGroups() {
		read, err := readGroup(reader.RowGroup(n), pathAt, positionAt, visit)
		if err != nil {
			return 0, err
		}
		rows += read
	}
	return rows, nil
}

func readGroup(group *file.RowGroupReader, pathAt, positionAt int, visit func(string, int64)) (int64, error) {
	pathReader, err := group.Column(pathAt)
	if err != nil {
		return 0, err
	}
	positionReader, err := group.Column(positionAt)
	if err != nil {
		return 0, err
	}
	paths, okPaths := pathReader.(*file.ByteArrayColumnChunkReader)
	positions, okPositions := positionReader.(*file.Int64ColumnChunkReader)
	if !okPaths || !okPositions {
		return 0, fmt.Errorf("%w: columns of other types", errDecode)
	}
	const batch = 4096
	pathBuf, positionBuf := make([]parquet.ByteArray, batch), make([]int64, batch)
	pathLevels, positionLevels := make([]int16, batch), make([]int16, batch)
	var rows int64
	for rows < group.NumRows() {
		size := min(batch, group.NumRows()-rows)
		levels, values, err := paths.ReadBatch(size, pathBuf, pathLevels, nil)
		if err != nil {
			return 0, err
		}
		if levels != size || int64(values) != size {
			return 0, fmt.Errorf("%w: a path is missing", errDecode)
		}
		names := make([]string, size)
		for i := range names {
			names[i] = string(pathBuf[i])
		}
		levels, values, err = positions.ReadBatch(size, positionBuf, positionLevels, nil)
		if err != nil {
			return 0, err
		}
		if levels != size || int64(values) != size {
			return 0, fmt.Errorf("%w: a position is missing", errDecode)
		}
		for i, name := range names {
			visit(name, positionBuf[i])
		}
		rows += size
	}
	return rows, nil
}

package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/apache/iceberg-go/table/dv"
)

// readPositions reads the position deletes that are not in what is known, and hands each position to its data file. A
// data file that is named in one is counted from its beginning, by all of its deletes.
func (x *exactCount) readPositions(ctx context.Context) error {
	all := int64(mostPositions)
	if err := x.readPositionsOf(ctx, x.targets, &all); err != nil {
		return err
	}
	var again []*target
	for _, t := range x.targets {
		if t.known != nil && len(t.positions) > 0 {
			again = append(again, t)
			x.restart(t)
		}
	}
	return x.readPositionsOf(ctx, again, &all)
}

// readPositionsOf reads position deletes for targets. left is how many positions may yet be held.
func (x *exactCount) readPositionsOf(ctx context.Context, targets []*target, left *int64) error {
	wants := make(map[*listedFile]bool)
	for n, t := range targets {
		for _, d := range x.index.positionsOf(t.listedFile, t.above()) {
			wants[d] = true
		}
		if n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for d := range wants {
		if err := readable(d, positionDelete); err != nil {
			return err
		}
		if d.records > *left {
			return inexactError(fmt.Sprintf("more than %d positions are deleted", mostPositions))
		}
		*left -= d.records
		err := x.read(ctx, positionDelete, d, func(c *content) error {
			reader, err := c.parquet()
			if err != nil {
				return err
			}
			return eachPosition(reader, d.records, func(path []byte, position int64) {
				t := x.byPath[string(path)]
				if t != nil && d.sequence > t.above() && x.index.vectorOf(t.listedFile) == nil && x.index.applies(d, t.listedFile) {
					t.positions = append(t.positions, position)
				}
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// above is the sequence number up to which deletes are in what is known.
func (t *target) above() int64 {
	if t.known == nil {
		return -1
	}
	return t.known.upTo
}

// What files are called in messages.
const (
	positionDelete = "position delete file"
	equalityDelete = "equality delete file"
	deletionVector = "deletion vector"
	dataFileKind   = "data file"
)

// The columns of a position delete file, by the specification's names, and the id of the first.
const (
	pathColumn     = "file_path"
	positionColumn = "pos"
	pathColumnID   = 2147483546
)

// eachPosition calls visit with every row of a position delete file. The path is valid during the call alone.
func eachPosition(reader *file.Reader, records int64, visit func(path []byte, position int64)) error {
	schema := reader.MetaData().Schema
	pathAt, positionAt := schema.ColumnIndexByName(pathColumn), schema.ColumnIndexByName(positionColumn)
	if pathAt < 0 || positionAt < 0 || reader.NumRows() != records {
		return fmt.Errorf("%w: not the position delete file that was listed", errDecode)
	}
	var rows int64
	for n := range reader.NumRowGroups() {
		if rows += reader.RowGroup(n).NumRows(); rows > records {
			return fmt.Errorf("%w: more rows than it has", errDecode)
		}
		if err := positionsOfGroup(reader.RowGroup(n), pathAt, positionAt, visit); err != nil {
			return err
		}
	}
	return nil
}

func positionsOfGroup(group *file.RowGroupReader, pathAt, positionAt int, visit func([]byte, int64)) error {
	pathReader, err := group.Column(pathAt)
	if err != nil {
		return err
	}
	positionReader, err := group.Column(positionAt)
	if err != nil {
		return err
	}
	paths, okPaths := pathReader.(*file.ByteArrayColumnChunkReader)
	positions, okPositions := positionReader.(*file.Int64ColumnChunkReader)
	if !okPaths || !okPositions {
		return fmt.Errorf("%w: columns of other types", errDecode)
	}
	// Values may lie in the page, which the next read replaces: paths are taken page by page.
	names := newLeaf(paths, paths.Descriptor(), group.NumRows(), func(out []byte, v parquet.ByteArray) []byte { return append(out, v...) })
	numbers := newLeaf(positions, positions.Descriptor(), group.NumRows(), nil)
	for left := group.NumRows(); left > 0; {
		size := min(batchRows, left)
		if err := names.next(size); err != nil {
			return err
		}
		if err := numbers.next(size); err != nil {
			return err
		}
		for row := range int(size) {
			path, ok := names.bytes(row)
			if !ok || numbers.null(row) {
				return fmt.Errorf("%w: a path or position is missing", errDecode)
			}
			visit(path, numbers.value(row))
		}
		left -= size
	}
	return nil
}

// removedRows tells which rows of a data file its vector or positions remove.
type removedRows struct {
	vector    *dv.RoaringPositionBitmap
	positions []int64 // in order, each once
	at        int
}

// has is asked about rows in order.
func (r *removedRows) has(row int64) bool {
	if r.vector != nil {
		return r.vector.Contains(uint64(row))
	}
	for r.at < len(r.positions) && r.positions[r.at] < row {
		r.at++
	}
	return r.at < len(r.positions) && r.positions[r.at] == row
}

// validPositions puts positions in order, each once, and leaves out those of no row.
func validPositions(positions []int64, records int64) []int64 {
	slices.Sort(positions)
	positions = slices.Compact(positions)
	first, _ := slices.BinarySearch(positions, 0)
	last, _ := slices.BinarySearch(positions, records)
	return positions[first:last]
}

// rowsRemovedOf reads what tells a target's removed rows one by one.
func (x *exactCount) rowsRemovedOf(ctx context.Context, t *target) (*removedRows, error) {
	v := x.index.vectorOf(t.listedFile)
	if v == nil {
		t.positions = validPositions(t.positions, t.records)
		return &removedRows{positions: t.positions}, nil
	}
	out := &removedRows{}
	err := x.read(ctx, deletionVector, v, func(c *content) (err error) {
		out.vector, err = readVector(c, v)
		return err
	})
	return out, err
}

// readVector reads a deletion vector, which lies in a Puffin file as it is.
func readVector(c *content, v *listedFile) (*dv.RoaringPositionBitmap, error) {
	if v.encrypted || v.size > largestVector {
		return nil, fmt.Errorf("%w: it is encrypted or too large", errDecode)
	}
	raw, err := c.part(v.offset, v.size)
	if err != nil {
		return nil, err
	}
	return dv.DeserializeDV(raw, v.records)
}

// countPositions counts the rows of a target that a vector or positions alone remove. The specification makes a vector's
// record count the number of its rows, and readers check it.
func (x *exactCount) countPositions(t *target) error {
	v := x.index.vectorOf(t.listedFile)
	if v == nil {
		t.removed = int64(len(validPositions(t.positions, t.records)))
		return nil
	}
	if v.records > t.records {
		return inexactError("a deletion vector removes more rows than its data file has")
	}
	t.removed = v.records
	return nil
}

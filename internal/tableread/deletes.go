package tableread

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go/table/dv"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// What deletes take in memory, in bytes for each row of a delete file.
const (
	positionBytes = 4
	keyBytes      = 56
	vectorCopies  = 2        // of each byte of a deletion vector: as it lies in the file, and as it is used
	largestVector = 64 << 20 // bytes
)

// deletes are the delete files of one read. Each is read once, when the first data file needs it.
type deletes struct {
	plan      *plan
	wanted    map[string]bool // data files that are read
	positions map[*scan.DeleteFile]*once[map[string]*dv.RoaringPositionBitmap]
	tables    map[tableName]*once[map[hashed]int64]
	files     map[tableName][]*scan.DeleteFile
	seed      [2]maphash.Seed
}

// tableName is what equality deletes are told apart by: where they apply, and by which columns.
type tableName struct {
	spec      int
	partition string
	columns   string
}

// hashed stands for a key. Its seeds are the read's own, so that nobody can aim for a collision, and by chance there is
// none.
type hashed struct{ a, b uint64 }

// once makes something once for all who ask.
type once[T any] struct {
	mutex sync.Mutex
	done  bool
	value T
	err   error
}

func (o *once[T]) get(make func() (T, error)) (T, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !o.done {
		o.value, o.err = make()
		o.done = true
	}
	return o.value, o.err
}

// newDeletes lists the delete files of data files. weight is what they take in memory, in bytes.
func newDeletes(p *plan, files []*scan.DataFile) (d *deletes, weight int64) {
	d = &deletes{
		plan: p, wanted: make(map[string]bool), positions: make(map[*scan.DeleteFile]*once[map[string]*dv.RoaringPositionBitmap]),
		tables: make(map[tableName]*once[map[hashed]int64]), files: make(map[tableName][]*scan.DeleteFile),
		seed: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	seen, vectors := make(map[*scan.DeleteFile]bool), int64(0)
	for _, f := range files {
		d.wanted[f.Path] = true
		for _, del := range f.Deletes {
			if !seen[del] {
				seen[del] = true
				weight = addUp(weight, d.list(del))
				if del.Content == scan.DeletionVector {
					vectors = addUp(vectors, timesOf(del.Length, vectorCopies))
				}
			}
		}
	}
	// They are read one by one with their data files, so that no table has too many: those with the most take turns.
	if most := p.reader.memory.deletes.most; weight < most {
		weight = min(addUp(weight, vectors), most)
	}
	return d, weight
}

func (d *deletes) list(del *scan.DeleteFile) (weight int64) {
	switch del.Content {
	case scan.PositionDeletes:
		d.positions[del] = &once[map[string]*dv.RoaringPositionBitmap]{}
		return timesOf(del.Records, positionBytes)
	case scan.EqualityDeletes:
		name := nameOf(del)
		if d.tables[name] == nil {
			d.tables[name] = &once[map[hashed]int64]{}
		}
		d.files[name] = append(d.files[name], del)
		return timesOf(del.Records, keyBytes)
	}
	return 0
}

// addUp and timesOf stay below what would overflow, for numbers that files claim.
func addUp(a, b int64) int64 { return min(a, mostBytes) + min(b, mostBytes) }

func timesOf(rows, bytes int64) int64 { return min(max(rows, 0), mostBytes/bytes) * bytes }

const mostBytes = int64(1) << 60

func nameOf(del *scan.DeleteFile) tableName {
	return tableName{del.SpecID, del.PartitionKey, fmt.Sprint(del.EqualityIDs)}
}

// removed gives the rows that position deletes or a deletion vector remove of a data file, nil for none.
func (d *deletes) removed(ctx context.Context, f *scan.DataFile) (*dv.RoaringPositionBitmap, error) {
	var out *dv.RoaringPositionBitmap
	for _, del := range f.Deletes {
		switch del.Content {
		case scan.DeletionVector:
			return d.vector(ctx, del, f)
		case scan.PositionDeletes:
			byPath, err := d.positions[del].get(func() (map[string]*dv.RoaringPositionBitmap, error) { return d.readPositions(ctx, del) })
			if err != nil {
				return nil, err
			}
			if rows := byPath[f.Path]; rows != nil {
				if out == nil {
					out = dv.NewRoaringPositionBitmap()
				}
				out.Or(rows)
			}
		}
	}
	return out, nil
}

// vector reads a deletion vector, which lies in a Puffin file as it is.
func (d *deletes) vector(ctx context.Context, del *scan.DeleteFile, f *scan.DataFile) (out *dv.RoaringPositionBitmap, err error) {
	if del.Encrypted {
		return nil, readable(deletionVector, del.Path, "parquet", true)
	}
	if del.Length > largestVector {
		return nil, fault.New(fault.TooLarge, "The deletion vector in %s has more than %d MB, which is not read here. Compact the table.", shown(del.Path), largestVector>>20)
	}
	s, err := d.plan.reader.openSource(ctx, deletionVector, del.Path, &d.plan.bytes)
	if err != nil {
		return nil, err
	}
	defer s.close()
	err = s.decode(func() error {
		if del.Records > f.Records {
			return fmt.Errorf("%w: it removes more rows than there are", errDecode)
		}
		raw, err := s.part(del.Offset, del.Length)
		if err != nil {
			return err
		}
		out, err = dv.DeserializeDV(raw, del.Records)
		return err
	})
	return out, err
}

// The columns of a position delete file, by the specification.
const (
	pathColumn, pathColumnID         = "file_path", 2147483546
	positionColumn, positionColumnID = "pos", 2147483545
)

// readPositions reads a position delete file, as far as it is about data files that are read.
func (d *deletes) readPositions(ctx context.Context, del *scan.DeleteFile) (map[string]*dv.RoaringPositionBitmap, error) {
	columns := []metadata.Field{
		{ID: pathColumnID, Name: pathColumn, Path: pathColumn, Type: "string", Required: true},
		{ID: positionColumnID, Name: positionColumn, Path: positionColumn, Type: "long", Required: true},
	}
	out := make(map[string]*dv.RoaringPositionBitmap)
	path, rows := "", (*dv.RoaringPositionBitmap)(nil)
	err := d.read(ctx, positionDelete, del, columns, func(read []arrow.Array) error {
		paths, isText := read[0].(*array.String)
		numbers, isLong := read[1].(*array.Int64)
		if !isText || !isLong || paths.NullN() > 0 || numbers.NullN() > 0 {
			return fmt.Errorf("%w: a path or position is missing", errDecode)
		}
		for i, number := range numbers.Int64Values() {
			if p := paths.Value(i); p != path || rows == nil {
				if !d.wanted[p] {
					continue
				}
				path = string([]byte(p))
				if rows = out[path]; rows == nil {
					rows = dv.NewRoaringPositionBitmap()
					out[path] = rows
				}
			}
			if number < 0 {
				return fmt.Errorf("%w: a position below 0", errDecode)
			}
			rows.Set(uint64(number))
		}
		return nil
	})
	return out, err
}

// lookup is a set of equality deletes that reach a data file.
type lookup struct {
	columns []columnPath
	table   map[hashed]int64 // the highest sequence number of a delete with the key
}

// lookups gives the equality deletes that reach a data file.
func (d *deletes) lookups(ctx context.Context, f *scan.DataFile) ([]lookup, error) {
	var out []lookup
	seen := make(map[tableName]bool)
	for _, del := range f.Deletes {
		name := nameOf(del)
		if del.Content != scan.EqualityDeletes || seen[name] {
			continue
		}
		seen[name] = true
		l := lookup{}
		for _, id := range del.EqualityIDs {
			path, err := d.plan.pathTo(id)
			if err != nil {
				return nil, err
			}
			l.columns = append(l.columns, path)
		}
		if len(l.columns) == 0 {
			return nil, fault.New(fault.Internal, "The equality delete file %s names no columns. Roll the table back to a snapshot without it.", shown(del.Path))
		}
		var err error
		if l.table, err = d.tables[name].get(func() (map[hashed]int64, error) { return d.readTable(ctx, d.files[name], l.columns) }); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// readTable reads the keys of equality delete files.
func (d *deletes) readTable(ctx context.Context, files []*scan.DeleteFile, columns []columnPath) (map[hashed]int64, error) {
	table := make(map[hashed]int64)
	fields := make([]metadata.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.top
	}
	for _, del := range files {
		err := d.read(ctx, equalityDelete, del, fields, func(read []arrow.Array) error {
			leaves := make([]arrow.Array, len(read))
			for i, a := range read {
				leaves[i] = columns[i].descend(a)
			}
			key, err := encoders(leaves)
			if err != nil {
				return err
			}
			var buf []byte
			for row := range leaves[0].Len() {
				buf = key(buf[:0], row)
				k := d.hash(buf)
				table[k] = max(table[k], del.Sequence)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return table, nil
}

func (d *deletes) hash(key []byte) hashed {
	return hashed{maphash.Bytes(d.seed[0], key), maphash.Bytes(d.seed[1], key)}
}

// read reads all rows of columns of a delete file. What visit is given is valid during the call.
func (d *deletes) read(ctx context.Context, kind string, del *scan.DeleteFile, columns []metadata.Field, visit func([]arrow.Array) error) error {
	if err := readable(kind, del.Path, del.Format, del.Encrypted); err != nil {
		return err
	}
	f, err := d.plan.openFile(ctx, kind, &scan.DataFile{Path: del.Path, Records: del.Records})
	if err != nil {
		return err
	}
	defer f.from.close()
	return f.from.decode(func() error {
		bindings, err := f.bindAll(columns)
		if err != nil {
			return err
		}
		for _, b := range bindings {
			if b.node == nil {
				return fmt.Errorf("%w: the column %s is missing", errDecode, b.field.Path)
			}
		}
		for group := range f.footer.meta.RowGroups {
			if err := f.eachStep(ctx, group, bindings, visit); err != nil {
				return err
			}
		}
		return nil
	})
}

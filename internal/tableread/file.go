package tableread

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go/table/dv"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// dataFile is a data file, or a delete file, that is open.
type dataFile struct {
	*scan.DataFile
	plan   *plan
	from   *source
	footer *footer
	root   *node // with ids

	removed *dv.RoaringPositionBitmap // nil for none
	lookups []lookup

	left   atomic.Int32 // row groups that are not done
	closed sync.Once
}

// close says that the file is not needed for now: what reads it later opens it again.
func (f *dataFile) close() { f.closed.Do(f.from.close) }

// openFile opens a file without its deletes.
func (p *plan) openFile(ctx context.Context, kind string, of *scan.DataFile) (*dataFile, error) {
	from, err := p.reader.openSource(ctx, kind, of.Path, &p.bytes)
	if err != nil {
		return nil, err
	}
	f := &dataFile{DataFile: of, plan: p, from: from}
	if err := f.describe(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *dataFile) describe() error {
	var err error
	if f.footer, err = f.plan.reader.footer(f.from); err != nil {
		return err
	}
	if f.footer.rows() != f.Records {
		return f.from.fault(fmt.Errorf("%w: %d rows, and %d by its manifest", errDecode, f.footer.rows(), f.Records))
	}
	f.root = f.footer.root
	if f.footer.hasIDs {
		return nil
	}
	names, ok := f.plan.names, f.plan.isNamed
	if f.from.kind == positionDelete {
		path, position := pathColumnID, positionColumnID
		names, ok = []named{{ID: &path, Names: []string{pathColumn}}, {ID: &position, Names: []string{positionColumn}}}, true
	}
	if !ok {
		return fault.New(fault.Unsupported, "The %s %s has no field ids, and the table no name mapping. Set the property schema.name-mapping.default.", f.from.kind, shown(f.Path))
	}
	f.root = f.root.withNames(names)
	return nil
}

// open opens a data file with its deletes. The plan closes it.
func (p *plan) open(ctx context.Context, of *scan.DataFile) (*dataFile, error) {
	if err := readable(dataFileKind, of.Path, of.Format, of.Encrypted); err != nil {
		return nil, err
	}
	f, err := p.openFile(ctx, dataFileKind, of)
	if err != nil {
		return nil, err
	}
	p.mutex.Lock()
	p.opened = append(p.opened, f)
	p.mutex.Unlock()
	p.read.Add(1)
	f.left.Store(int32(len(f.footer.meta.RowGroups)))
	if f.removed, err = p.deletes.removed(ctx, of); err != nil {
		return nil, err
	}
	f.lookups, err = p.deletes.lookups(ctx, of)
	return f, err
}

// done says that a row group was read; with the last the file is closed.
func (f *dataFile) done() {
	if f.left.Add(-1) > 0 {
		return
	}
	f.close()
	f.plan.mutex.Lock()
	defer f.plan.mutex.Unlock()
	for i, o := range f.plan.opened {
		if o == f {
			f.plan.opened[i] = f.plan.opened[len(f.plan.opened)-1]
			f.plan.opened = f.plan.opened[:len(f.plan.opened)-1]
			return
		}
	}
}

// bindAll finds columns in the file.
func (f *dataFile) bindAll(columns []metadata.Field) ([]*binding, error) {
	b := binder{from: f.from, partition: f.Partition}
	if f.from.kind == dataFileKind {
		b.identities = f.plan.identitiesOf(f.SpecID)
	}
	out := make([]*binding, len(columns))
	for i, c := range columns {
		var err error
		if out[i], err = b.column(c, f.root, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leavesOf gives the column chunks of several columns, each once.
func leavesOf(bindings []*binding) []*node {
	seen := make(map[*node]bool)
	var out []*node
	for _, b := range bindings {
		for _, leaf := range b.leaves() {
			if !seen[leaf] {
				seen[leaf] = true
				out = append(out, leaf)
			}
		}
	}
	return out
}

// Bounds of what is read at a time.
const (
	mostStepRows  = 16 << 10
	leastStepRows = 64
	firstStepRows = 8 // of a row group: how large rows are is seen as they are read
	stepBytes     = 4 << 20
)

// stepRows gives how many rows of a row group are read at a time.
func (g *rowGroup) stepRows(leaves []*node) (int, error) {
	_, unpacked, err := g.compressed(leaves)
	if err != nil {
		return 0, err
	}
	average := unpacked/max(g.numRows(), 1) + 1
	return int(min(max(stepBytes/average, leastStepRows), mostStepRows)), nil
}

// eachStep reads all rows of columns in a row group, some at a time.
func (f *dataFile) eachStep(ctx context.Context, index int, bindings []*binding, visit func([]arrow.Array) error) error {
	g := &rowGroup{from: f.from, footer: f.footer, index: index, memory: f.plan.reader.newWorkspace()}
	defer g.memory.close()
	leaves := leavesOf(bindings)
	step, err := g.stepRows(leaves)
	if err != nil {
		return err
	}
	if err := g.prefetch(leaves); err != nil {
		return err
	}
	columns := make([]column, len(bindings))
	for i, b := range bindings {
		if columns[i], err = b.open(g); err != nil {
			return err
		}
	}
	read := make([]arrow.Array, len(columns))
	for left := g.numRows(); left > 0; left -= int64(step) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, c := range columns {
			if err := c.read(int(min(int64(step), left)), picks{all: true}); err != nil {
				return err
			}
			if read[i], err = c.take(); err != nil {
				return err
			}
		}
		if err := visit(read); err != nil {
			return err
		}
	}
	return nil
}

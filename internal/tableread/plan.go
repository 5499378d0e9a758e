package tableread

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// plan is one read: what is read, and what its data files share.
type plan struct {
	reader  *Reader
	owner   string
	doc     *metadata.Document
	schema  metadata.Schema
	columns []metadata.Field // that are given
	arrow   *arrow.Schema    // of them
	filter  *expression.Filter
	tested  map[int]columnPath // columns of the filter
	names   []named            // of files without field ids
	isNamed bool
	files   []*scan.DataFile
	deletes *deletes
	release func() // of the memory that deletes take

	mutex      sync.Mutex
	identities map[int]map[int]int // by spec
	opened     []*dataFile

	bytes         atomic.Int64
	groups        atomic.Int64
	groupsPruned  atomic.Int64
	given         atomic.Int64
	read, skipped atomic.Int64 // data files
}

// newPlan finds what a scan reads, and no data file yet.
func (r *Reader) newPlan(s Scan) (*plan, error) {
	p := &plan{reader: r, owner: s.Owner, doc: s.Document, filter: s.Filter, identities: make(map[int]map[int]int), tested: make(map[int]columnPath), release: func() {}}
	if p.filter == nil {
		p.filter = expression.All()
	}
	if err := p.filter.Evaluable(); err != nil {
		return nil, err
	}
	schema, ok, err := s.Document.Schema(s.SchemaID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.Invalid, "The table has no schema %d. Read it with one that it has.", s.SchemaID)
	}
	p.schema = schema
	if p.columns, err = narrow(schema.Fields, s.Columns); err != nil {
		return nil, err
	}
	if p.arrow, err = columnar.FromMetadata(metadata.Schema{ID: schema.ID, Fields: p.columns}); err != nil {
		return nil, err
	}
	for _, id := range p.filter.Columns() {
		if p.tested[id], err = p.pathTo(id); err != nil {
			return nil, err
		}
	}
	p.names, p.isNamed = nameMapping(s.Document)
	return p, nil
}

// find asks the planner for the data files, and sets memory aside for their deletes.
func (p *plan) find(ctx context.Context, s Scan) error {
	files, err := p.reader.planner.Files(ctx, p.doc, s.SnapshotID, s.SchemaID, p.filter)
	if err != nil {
		return err
	}
	p.files = files
	p.skipped.Store(max(p.allFiles(s.SnapshotID)-int64(len(files)), 0))
	var weight int64
	p.deletes, weight = newDeletes(p, files)
	if weight == 0 {
		return nil
	}
	p.release, err = p.reader.memory.holdDeletes(ctx, p.owner, weight)
	return err
}

// allFiles is how many data files the snapshot says to have, 0 when it does not.
func (p *plan) allFiles(snapshot *int64) int64 {
	id, ok := p.doc.CurrentSnapshotID()
	if snapshot != nil {
		id, ok = *snapshot, true
	}
	if !ok {
		return 0
	}
	snap, _ := p.doc.Snapshot(id)
	n, _ := strconv.ParseInt(snap.Summary["total-data-files"], 10, 64)
	return n
}

// close gives back what the read held.
func (p *plan) close() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, f := range p.opened {
		f.close()
	}
	p.opened = nil
	p.release()
	p.release = func() {}
}

func (p *plan) stats() Stats {
	return Stats{
		Files: p.read.Load(), FilesPruned: p.skipped.Load(), RowGroups: p.groups.Load(), RowGroupsPruned: p.groupsPruned.Load(),
		Rows: p.given.Load(), Bytes: p.bytes.Load(),
	}
}

// identitiesOf gives the partition fields that have a column's own values.
func (p *plan) identitiesOf(spec int) map[int]int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known, ok := p.identities[spec]
	if !ok {
		known = identities(p.doc, spec)
		p.identities[spec] = known
	}
	return known
}

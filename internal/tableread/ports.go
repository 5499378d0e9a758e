package tableread

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go/table/dv"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/scan"
)

// Files opens objects by location. An absent one is fault.NotFound.
type Files interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
	OpenFile(ctx context.Context, location string) (objects.File, error)
}

// Planner tells which data files of a snapshot may hold rows that match, in order of their paths; nil is main's head.
type Planner interface {
	Files(ctx context.Context, doc *metadata.Document, snapshot *int64, schemaID int, filter *expression.Filter) ([]*scan.DataFile, error)
}

// Options bound what a Reader takes.
type Options struct {
	Memory  int64 // bytes that all reads of the Reader hold together; 0 for 512 MB
	Workers int   // of one scan; 0 for one for each CPU. With one, rows come in order of path and position
}

// Scan says what to read.
type Scan struct {
	Document   *metadata.Document
	SnapshotID *int64 // nil: main's head; a table without one has no rows
	SchemaID   int
	Columns    []string           // nil: all. A nested one, with dots, gives the top-level column narrowed to it
	Filter     *expression.Filter // nil: all rows
	Limit      int64              // 0: none
	Owner      string             // whose read it is: all reads of one together have half of the memory at most; "" for nobody's
}

// Stats tell what a read took.
type Stats struct {
	Files, FilesPruned         int64 // read, and left out by bounds
	RowGroups, RowGroupsPruned int64
	Rows                       int64 // that were given
	Bytes                      int64 // that were read of data and delete files
}

// Position is the place of a row in the order of a page: its order columns, the path of its data file and its number in
// that. It is the last row of a page, and the next page starts after it.
type Position struct {
	Key  []byte // the order columns in bytes that compare as they do; empty in the physical order
	Path string
	Row  int64
}

// Page is some rows in order.
type Page struct {
	Rows  arrow.RecordBatch // nil when there are none; fewer than were asked for where those take too much memory
	Last  Position          // of the last row
	More  bool              // rows follow
	Stats Stats

	keep func(bytes int64) // of the memory that the rows take
}

// Release gives the rows back.
func (p *Page) Release() {
	if p.Rows != nil {
		p.Rows.Release()
		p.Rows = nil
	}
	if p.keep != nil {
		p.keep(0)
	}
}

// Lookup asks where the rows with some keys are.
type Lookup struct {
	Document   *metadata.Document
	SnapshotID *int64 // nil: main's head
	SchemaID   int
	Key        []int               // field ids, in the order of the columns of Keys
	Keys       []arrow.RecordBatch // without NULL, in the table's types
	Seen       *Seen               // what earlier lookups of the same keys came to, which this one adds to; nil for none
}

// Found is a data file that has rows with the keys.
type Found struct {
	File      *scan.DataFile
	Positions []int64                   // of live rows, in order
	Matches   []int64                   // of each of these, which key it has: the number of the first row of Lookup.Keys with it, from 0 through all batches
	Deleted   *dv.RoaringPositionBitmap // rows that position deletes or a deletion vector removed before, nil for none
}

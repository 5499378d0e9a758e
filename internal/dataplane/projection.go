package dataplane

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/masking"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/tableread"
)

// projection is the columns of an answer: which are read, and how they are shown.
type projection struct {
	read   []string      // what is read; nil for all columns
	full   *arrow.Schema // of the answer before masks
	masker *masking.Masker
}

// project prepares the columns of those names, nil for all. Columns that show the same in every row are not read.
func (s *Service) project(ctx context.Context, l *lens, names []string) (*projection, error) {
	for _, name := range names {
		if _, ok := l.at.schema.FieldByName(name); !ok {
			return nil, unknownColumn(l, name)
		}
	}
	full, err := s.Reader.Schema(l.scan(names, nil))
	if err != nil {
		return nil, err
	}
	key, err := s.keys.get(ctx, maskPurpose)
	if err != nil {
		return nil, err
	}
	p := &projection{read: names, full: full}
	if p.masker, err = masking.New(key, full, l.masks); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(full.Fields(), func(f arrow.Field) bool { return l.hidden(f.Name) }) {
		p.read = l.visible(full, names)
	}
	return p, nil
}

// scan is a read of the lens's snapshot.
func (l *lens) scan(columns []string, filter *expression.Filter) tableread.Scan {
	return tableread.Scan{Document: l.table.Document, SnapshotID: l.at.id, SchemaID: l.at.schema.ID, Columns: columns, Filter: filter, Owner: l.caller.PrincipalID}
}

// visible gives the names of what is to be read for an answer with these columns. Rows are counted by some column, also
// where the answer shows of none what is in it.
func (l *lens) visible(full *arrow.Schema, names []string) []string {
	read := []string{}
	for _, f := range full.Fields() {
		switch {
		case l.hidden(f.Name):
		case names == nil:
			read = append(read, f.Name)
		default:
			read = append(read, within(l.at.schema, f.Name, names)...)
		}
	}
	if len(read) == 0 {
		read = []string{l.counter()}
	}
	return read
}

// within gives those of the names that are a top-level column or in it.
func within(schema metadata.Schema, column string, names []string) []string {
	top, _ := topLevel(schema, column)
	paths := map[string]bool{}
	metadata.Schema{Fields: []metadata.Field{top}}.Walk(func(f metadata.Field) { paths[f.Path] = true })
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !paths[name] })
}

// counter names a column that is cheap to read: one that the caller sees, if there is one.
func (l *lens) counter() string {
	fields := slices.Clone(l.at.schema.Fields)
	slices.SortStableFunc(fields, func(a, b metadata.Field) int { return l.cost(a) - l.cost(b) })
	return fields[0].Name
}

func (l *lens) cost(f metadata.Field) int {
	cost := 0
	if _, masked := l.touchesMasked(f.Name); masked {
		cost += 4
	}
	switch f.Type {
	case "boolean", "int", "date":
	case "long", "float", "double", "time", "timestamp", "timestamptz":
		cost++
	case "string", "binary":
		cost += 2
	default:
		cost += 3
	}
	return cost
}

// show gives a batch as it was read as the caller sees it. The answer is the caller's to release.
func (p *projection) show(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, p.full.NumFields())
	var made []arrow.Array
	defer func() {
		for _, a := range made {
			a.Release()
		}
	}()
	for _, f := range p.full.Fields() {
		at := batch.Schema().FieldIndices(f.Name)
		if len(at) == 1 {
			columns = append(columns, batch.Column(at[0]))
			continue
		}
		if len(at) > 1 {
			return nil, fault.New(fault.Internal, "the reader gave the column %s twice", f.Name)
		}
		empty := array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, int(batch.NumRows()))
		made, columns = append(made, empty), append(columns, empty)
	}
	whole := array.NewRecordBatch(p.full, columns, batch.NumRows())
	defer whole.Release()
	return p.masker.Apply(whole)
}

// nearest is how many names of columns a refusal lists at most.
const nearest = 3

func unknownColumn(l *lens, name string) error {
	var near []string
	l.at.schema.Walk(func(f metadata.Field) {
		if len(near) < nearest && strings.EqualFold(f.Path, name) || len(name) > 2 && len(near) < nearest && (strings.HasPrefix(f.Path, name) || strings.HasPrefix(name, f.Path)) {
			near = append(near, f.Path)
		}
	})
	hint := "Name columns as its schema does, nested ones with dots."
	if len(near) > 0 {
		hint = "Did you mean " + strings.Join(near, " or ") + "?"
	}
	return fault.New(fault.Invalid, "Table %s has no column %q. %s", l.table.Name, name, hint)
}

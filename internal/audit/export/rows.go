package export

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/metadata"
)

// events builds the rows of a page.
type events struct {
	schema  *arrow.Schema
	builder *array.RecordBuilder
	ordered bool // the table is sorted as the audit is
}

func newEvents(schema *arrow.Schema, doc *metadata.Document) (*events, error) {
	// Somebody with the right to may add columns; those are left empty. Ours have to be there as they were made.
	for i, c := range columns() {
		if i >= schema.NumFields() || schema.Field(i).Name != c.Name || schema.Field(i).Type.ID() != c.arrow() {
			return nil, fmt.Errorf("the column %s of %s.%s is gone, was moved or has another type", c.Name, Namespace, TableName)
		}
	}
	return &events{schema: schema, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema), ordered: bySeq(doc)}, nil
}

// arrow is the Arrow type that a column of the table comes as.
func (c column) arrow() arrow.Type {
	switch c.Type {
	case "long":
		return arrow.INT64
	case "timestamptz":
		return arrow.TIMESTAMP
	case "boolean":
		return arrow.BOOL
	}
	return arrow.STRING
}

// add puts an event into the page.
func (e *events) add(r *audit.Record) {
	b := e.builder
	f := filler{b: b}
	f.number(r.Seq)
	f.text(r.EventID)
	f.text(r.Type)
	b.Field(f.next()).(*array.TimestampBuilder).Append(arrow.Timestamp(r.At)) //nolint:forcetypeassert // the schema's
	for _, text := range []string{r.Principal, r.TokenID, r.Catalog, r.Namespace, r.Table, r.TableUUID} {
		f.optional(text)
	}
	if r.SnapshotID.Valid {
		f.number(r.SnapshotID.Int64)
	} else {
		b.Field(f.next()).AppendNull()
	}
	b.Field(f.next()).(*array.BooleanBuilder).Append(r.Allowed != 0) //nolint:forcetypeassert // the schema's
	for _, text := range []string{r.Reason, r.RequestID, r.Address} {
		f.optional(text)
	}
	f.text(r.Details)
	f.text(r.PrevHash)
	f.text(r.Hash)
	for f.at < e.schema.NumFields() {
		b.Field(f.next()).AppendNull()
	}
}

// rows gives the page.
func (e *events) rows() arrow.RecordBatch { return e.builder.NewRecordBatch() }

// filler appends to the builders of a row, one after the other.
type filler struct {
	b  *array.RecordBuilder
	at int
}

func (f *filler) next() int {
	f.at++
	return f.at - 1
}

func (f *filler) number(n int64) {
	f.b.Field(f.next()).(*array.Int64Builder).Append(n) //nolint:forcetypeassert // the schema's
}

func (f *filler) text(s string) {
	f.b.Field(f.next()).(*array.StringBuilder).Append(s) //nolint:forcetypeassert // the schema's
}

// optional appends what the event may lack, which the database has as "".
func (f *filler) optional(s string) {
	if s == "" {
		f.b.Field(f.next()).AppendNull()
		return
	}
	f.text(s)
}

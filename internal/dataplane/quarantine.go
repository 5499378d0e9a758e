package dataplane

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// quarantineSuffix is what the name of a table's quarantine ends with.
const quarantineSuffix = "__quarantine"

const (
	// asideRows and asideBytes are from when on rows are written to the quarantine's file.
	asideRows  = 1024
	asideBytes = 2 << 20
	// asideMemory is what the writer of that file holds.
	asideMemory = 4 << 20
)

// quarantineColumns are those of a quarantine, in order; asideRow fills them.
func quarantineColumns() []map[string]any {
	var out []map[string]any
	for i, c := range []struct{ name, kind, doc string }{
		{"write_id", "string", "audit id of the write"},
		{"row_number", "long", "1 for the first row of the write"},
		{"reason", "string", "why the row did not land"},
		{"tags", "", "what was found in it"},
		{"level", "string", "classification of the row"},
		{"payload", "string", "the row as it was sent, in JSON"},
		{"principal", "string", "who sent it"},
		{"at", "timestamptz", ""},
	} {
		field := map[string]any{"id": i + 1, "name": c.name, "required": true, "type": c.kind, "doc": c.doc}
		if c.kind == "" {
			field["required"] = false
			field["type"] = map[string]any{"type": "list", "element-id": 100, "element": "string", "element-required": true}
		}
		out = append(out, field)
	}
	return out
}

// asideRow is a row that does not land where it was sent to.
type asideRow struct {
	number  int64
	reason  string
	tags    []string
	level   models.Classification
	payload []byte // JSON
}

// quarantine takes the rows of one write that cannot land.
type quarantine struct {
	table     catalog.DataTable
	writeID   string
	principal string
	at        time.Time
	builder   *array.RecordBuilder
	pending   int // bytes of payloads in the builder
	rows      int64
	files     *tableio.FileWriter
	written   *tableio.Written
}

// openQuarantine prepares the side table of a write, which it makes where there is none. It is closed to engines and
// restricted before a row is in it, whoever made it.
func (s *Service) openQuarantine(ctx context.Context, w *writing) (*quarantine, error) {
	platform := platformFor(w.caller, w.table.Catalog.ID)
	ident := models.TableIdent{Namespace: w.table.Ident.Namespace, Name: w.table.Ident.Name + quarantineSuffix}
	table, err := s.quarantineTable(ctx, platform, w.table.Catalog, ident)
	if err != nil {
		return nil, err
	}
	schema, err := tableio.Schema(table.Document)
	if err != nil {
		return nil, err
	}
	q := &quarantine{table: table, writeID: w.id, principal: w.caller.Principal, at: s.Now(), builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}
	q.files, err = s.IO.NewFileWriter(ctx, table.Document, tableio.FileOptions{Name: w.id, MemoryBytes: asideMemory})
	return q, err
}

func (s *Service) quarantineTable(ctx context.Context, platform policy.Caller, cat models.Catalog, ident models.TableIdent) (catalog.DataTable, error) {
	view, err := s.Catalog.LoadTable(ctx, platform, cat, ident)
	if fault.Is(err, fault.NotFound) {
		view, err = s.makeQuarantine(ctx, platform, cat, ident)
	}
	if err != nil {
		return catalog.DataTable{}, err
	}
	if err := checkQuarantine(view.Document, ident); err != nil {
		return catalog.DataTable{}, err
	}
	if view.Row.WritePolicy != models.GovernedOnly {
		if _, err := s.Catalog.SetWritePolicy(ctx, platform, view.Row.UUID, models.GovernedOnly); err != nil {
			return catalog.DataTable{}, err
		}
	}
	if view.Row.Classification != models.Restricted {
		in := catalog.GovernanceInput{Level: models.Restricted}
		if _, err := s.Catalog.SetGovernance(ctx, platform, view.Row.UUID, in); err != nil {
			return catalog.DataTable{}, err
		}
	}
	return s.Catalog.FindForData(ctx, platform, policy.WriteRows, view.Row.UUID)
}

func (s *Service) makeQuarantine(ctx context.Context, platform policy.Caller, cat models.Catalog, ident models.TableIdent) (catalog.TableView, error) {
	schema, err := json.Marshal(map[string]any{"type": "struct", "schema-id": 0, "fields": quarantineColumns()})
	if err != nil {
		return catalog.TableView{}, err
	}
	view, err := s.Catalog.CreateTable(ctx, platform, cat, catalog.CreateTableInput{
		Namespace: ident.Namespace, Name: ident.Name, Schema: schema,
		Properties: map[string]string{"comment": "Rows that governed writes did not land in " + strings.TrimSuffix(ident.Name, quarantineSuffix)},
	})
	if fault.Is(err, fault.AlreadyExists) { // another write was faster, or a view has the name
		view, err = s.Catalog.LoadTable(ctx, platform, cat, ident)
		if fault.Is(err, fault.NotFound) {
			return view, noQuarantine(ident)
		}
	}
	return view, err
}

// checkQuarantine refuses a table of the name that is something else.
func checkQuarantine(doc *metadata.Document, ident models.TableIdent) error {
	schema, err := doc.CurrentSchema()
	if err != nil {
		return err
	}
	wanted := quarantineColumns()
	same := len(schema.Fields) == len(wanted)
	for i := 0; same && i < len(wanted); i++ {
		f, want := schema.Fields[i], wanted[i]
		same = f.Name == want["name"] && f.Required == want["required"]
		if kind, ok := want["type"].(string); ok {
			same = same && f.Type == kind
		} else {
			same = same && f.Type == "list" && len(f.Children) == 1 && f.Children[0].Type == "string"
		}
	}
	if !same {
		return noQuarantine(ident)
	}
	return nil
}

func noQuarantine(ident models.TableIdent) error {
	return fault.New(fault.Invalid, "Rows cannot be quarantined: %s exists and is not a quarantine as Sluice makes it. Rename it, or send on-violation reject.", ident)
}

// add takes a row.
func (q *quarantine) add(r asideRow) error {
	b := q.builder
	b.Field(0).(*array.StringBuilder).Append(q.writeID)
	b.Field(1).(*array.Int64Builder).Append(r.number)
	b.Field(2).(*array.StringBuilder).Append(strings.ToValidUTF8(r.reason, "\uFFFD"))
	tags := b.Field(3).(*array.ListBuilder)
	tags.Append(true)
	for _, tag := range r.tags {
		tags.ValueBuilder().(*array.StringBuilder).Append(tag)
	}
	b.Field(4).(*array.StringBuilder).Append(string(r.level))
	b.Field(5).(*array.StringBuilder).Append(strings.ToValidUTF8(string(r.payload), "\uFFFD"))
	b.Field(6).(*array.StringBuilder).Append(q.principal)
	b.Field(7).(*array.TimestampBuilder).Append(arrow.Timestamp(q.at.UnixMicro()))
	q.rows++
	if q.pending += len(r.payload); q.pending >= asideBytes || q.rows%asideRows == 0 {
		return q.flush()
	}
	return nil
}

func (q *quarantine) flush() error {
	batch := q.builder.NewRecordBatch()
	defer batch.Release()
	q.pending = 0
	return q.files.Write(batch)
}

// finish stores what is left.
func (q *quarantine) finish() error {
	if err := q.flush(); err != nil {
		return err
	}
	var err error
	q.written, err = q.files.Close()
	return err
}

// cargo is what the commit puts into it.
func (q *quarantine) cargo() *asideCargo {
	return &asideCargo{uuid: q.table.Row.UUID, rowID: q.table.Row.ID, fit: fitOf(q.table), adds: []*tableio.Written{q.written}}
}

// abort removes what was written.
func (q *quarantine) abort(ctx context.Context) {
	q.files.Abort()
	if q.written != nil {
		q.written.Remove(ctx)
	}
}

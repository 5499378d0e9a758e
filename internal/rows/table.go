package rows

import (
	"bytes"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/fault"
)

// fieldIDKey is where the fields of a table's Arrow schema have their Iceberg field id.
const fieldIDKey = "PARQUET:field_id"

// table gathers rows of a schema. One row at a time is begun, and kept or dropped.
type table struct {
	schema  *arrow.Schema
	root    *column // a struct of all columns
	rows    int
	texts   []byte // JSON of the rows, with keepText
	starts  []int
	numbers []int64
	bad     []BadRow
	log     *errorLog
	o       ReadOptions

	// Of the row that is being read.
	number int64
	path   []step
	errors []RowError
	more   int   // errors that are not kept
	left   int64 // bytes that its values may still take

	bytes   int64 // that the batch takes
	scanner scanner
	flags   []bool // of which members objects have
}

// step is one step of a path: a member, or a place of a list where the name is empty.
type step struct {
	name  string
	place int
}

func newTable(schema *arrow.Schema, o ReadOptions, log *errorLog) (*table, error) {
	root, err := newColumn(arrow.Field{Type: arrow.StructOf(schema.Fields()...)})
	if err != nil {
		return nil, err
	}
	t := &table{schema: schema, root: root, log: log, o: o}
	if len(o.Defaults) > 0 {
		if err := t.defaults(root); err != nil {
			return nil, err
		}
	}
	t.reset()
	return t, nil
}

// defaults gives the columns what stands in for missing members. Iceberg writes bytes as hexadecimal digits and we
// read base64; all else reads alike.
func (t *table) defaults(c *column) error {
	for _, p := range c.parts {
		if id, err := strconv.Atoi(fieldID(p.field)); err == nil && t.o.Defaults[id] != nil {
			value, err := defaultValue(p, t.o.Defaults[id])
			if err != nil {
				return err
			}
			p.absent = value
		}
		if err := t.defaults(p); err != nil {
			return err
		}
	}
	return nil
}

func fieldID(f arrow.Field) string {
	id, _ := f.Metadata.GetValue(fieldIDKey)
	return id
}

func (t *table) reset() {
	t.rows, t.bytes = 0, 0
	t.numbers, t.bad = nil, nil
	t.texts, t.starts = nil, nil
	if t.o.KeepText {
		t.starts = []int{0}
	}
}

// begin starts a row.
func (t *table) begin(number int64) {
	t.number, t.errors, t.more = number, nil, 0
	t.path = t.path[:0]
	t.left = t.o.RowBytes
}

// fail notes that the value at the path is wrong.
func (t *table) fail(message string) {
	if t.left < 0 { // what follows of a row that is too large was not looked at
		return
	}
	if len(t.errors) == mostErrorsOfRow {
		t.more++
		return
	}
	t.errors = append(t.errors, RowError{Row: t.number, Field: pathText(t.path), Message: message})
}

// spend takes n bytes off what the row may hold; false when it is too large, of which it says so once.
func (t *table) spend(n int) bool {
	if t.left < 0 {
		return false
	}
	if t.left -= int64(n); t.left >= 0 {
		return true
	}
	t.errors = []RowError{{Row: t.number, Message: t.tooLarge()}}
	return false
}

func (t *table) tooLarge() string {
	return "is larger than a row may be: at most " + strconv.FormatInt(t.o.RowBytes, 10) + " bytes"
}

// end keeps the row, or puts it to the bad ones when it has errors. text gives its JSON and is called at most once.
func (t *table) end(text func() []byte) {
	if len(t.errors) > 0 {
		t.drop()
		t.refuse(text)
		return
	}
	t.rows++
	t.bytes += t.root.cost + t.o.RowBytes - t.left
	t.numbers = append(t.numbers, t.number)
	if t.o.KeepText {
		before := len(t.texts)
		t.texts = append(t.texts, text()...)
		t.bytes += int64(len(t.texts) - before)
		t.starts = append(t.starts, len(t.texts))
	}
}

// drop takes the values of the row back.
func (t *table) drop() {
	for _, p := range t.root.parts {
		p.truncate(t.rows)
	}
}

// refuse puts the row to the bad ones with its errors.
func (t *table) refuse(text func() []byte) {
	bad := BadRow{Number: t.number, Errors: t.errors}
	if t.o.KeepText {
		bad.Text = bytes.ToValidUTF8(text(), []byte("\ufffd"))
		t.bytes += int64(len(bad.Text))
	}
	t.log.add(bad)
	t.bad = append(t.bad, bad)
}

// full tells whether the batch is as large as it may be.
func (t *table) full() bool {
	return t.rows+len(t.bad) >= t.o.BatchRows || t.bytes >= t.o.BatchBytes
}

// empty tells whether there is nothing to give.
func (t *table) empty() bool { return t.rows+len(t.bad) == 0 }

// batch gives the rows and begins anew.
func (t *table) batch() *Batch {
	columns := make([]arrow.Array, len(t.root.parts))
	for i, p := range t.root.parts {
		data := p.take()
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	return t.pack(columns)
}

// pack makes a batch of the columns and begins anew.
func (t *table) pack(columns []arrow.Array) *Batch {
	b := &Batch{
		Rows:    array.NewRecordBatch(t.schema, columns, int64(t.rows)),
		Numbers: t.numbers, Bad: t.bad, texts: t.texts, starts: t.starts,
	}
	for _, c := range columns {
		c.Release()
	}
	t.reset()
	return b
}

// pathText writes a path as address.city or tags[2].
func pathText(path []step) string {
	var text []byte
	for i, s := range path {
		switch {
		case s.name == "":
			text = append(strconv.AppendInt(append(text, '['), int64(s.place), 10), ']')
		case i == 0:
			text = append(text, s.name...)
		default:
			text = append(append(text, '.'), s.name...)
		}
	}
	return string(text)
}

func invalidDefault(c *column, why string) error {
	return fault.New(fault.Unsupported, "The write-default of column %s %s: send a value in every row.", c.field.Name, why)
}

package reconcile

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/sluice-data/sluice/internal/metadata"
)

// columnTypes knows the columns of a table by their ids. The current schema's word counts first, since types are only ever
// widened, and then that of the newest schema which has the column.
type columnTypes struct {
	doc     *metadata.Document // nil: nothing is known
	current func() map[int]tableColumn
	all     func() map[int]tableColumn
}

// tableColumn is a column, or a field of a struct.
type tableColumn struct {
	typ      string
	top      bool            // it is no field of a struct
	repeated bool            // it is within a list or map
	initial  json.RawMessage // what files without it have, nil for null
}

// newColumnTypes makes the columns of a document, which is read when they are asked for.
func newColumnTypes(doc *metadata.Document) *columnTypes {
	c := &columnTypes{doc: doc}
	c.current, c.all = sync.OnceValue(c.readCurrent), sync.OnceValue(c.readAll)
	return c
}

// now gives the type of a column of the current schema, "" when that has no such column.
func (c *columnTypes) now(id int) string { return c.current()[id].typ }

// column gives a column of any schema.
func (c *columnTypes) column(id int) (tableColumn, bool) {
	column, ok := c.all()[id]
	return column, ok
}

// typeOf gives the type of a column of any schema, "" when there is none.
func (c *columnTypes) typeOf(id int) string { return c.all()[id].typ }

func (c *columnTypes) readCurrent() map[int]tableColumn {
	out := make(map[int]tableColumn)
	if c.doc != nil {
		if schema, err := c.doc.CurrentSchema(); err == nil {
			addColumns(out, schema.Fields, true, false)
		}
	}
	return out
}

func (c *columnTypes) readAll() map[int]tableColumn {
	out := c.readCurrent()
	if c.doc == nil {
		return out
	}
	raw, _ := c.doc.Section("schemas")
	var schemas []struct {
		ID int `json:"schema-id"`
	}
	if json.Unmarshal(raw, &schemas) != nil {
		return out
	}
	for _, s := range slices.Backward(schemas) {
		if schema, ok, err := c.doc.Schema(s.ID); ok && err == nil {
			addColumns(out, schema.Fields, true, false)
		}
	}
	return out
}

func addColumns(to map[int]tableColumn, fields []metadata.Field, top, repeated bool) {
	for i := range fields {
		f := &fields[i]
		if _, ok := to[f.ID]; !ok {
			to[f.ID] = tableColumn{typ: f.Type, top: top, repeated: repeated, initial: initialOf(f.Raw)}
		}
		addColumns(to, f.Children, false, repeated || f.Type == "list" || f.Type == "map")
	}
}

func initialOf(field json.RawMessage) json.RawMessage {
	var member struct {
		Initial json.RawMessage `json:"initial-default"`
	}
	if json.Unmarshal(field, &member) != nil || string(member.Initial) == "null" {
		return nil
	}
	return member.Initial
}

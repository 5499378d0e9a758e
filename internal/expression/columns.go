package expression

import (
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Column is a field that filters may name: not one within a list or map, which has no single value in a row.
type Column struct {
	ID   int
	Path string
	Type Type
}

// Columns are the fields of a schema by name and id.
type Columns struct {
	byPath map[string]Column
	folded map[string][]Column
	byID   map[int]Column
	inside map[string]bool // fields within lists and maps
}

// NewColumns lists a schema's columns.
func NewColumns(schema metadata.Schema) Columns {
	c := Columns{
		byPath: make(map[string]Column), folded: make(map[string][]Column), byID: make(map[int]Column), inside: make(map[string]bool),
	}
	c.add(schema.Fields, false)
	return c
}

func (c Columns) add(fields []metadata.Field, inside bool) {
	for _, f := range fields {
		if inside {
			c.inside[f.Path] = true
		} else {
			col := Column{ID: f.ID, Path: f.Path, Type: TypeNamed(f.Type)}
			c.byPath[f.Path], c.byID[f.ID] = col, col
			lower := strings.ToLower(f.Path)
			c.folded[lower] = append(c.folded[lower], col)
		}
		c.add(f.Children, inside || f.Type == "list" || f.Type == "map")
	}
}

// ByID looks a column up by its field id.
func (c Columns) ByID(id int) (Column, bool) {
	col, ok := c.byID[id]
	return col, ok
}

// Find looks a column up for a filter. The error is fault.Invalid and names it.
func (c Columns) Find(name string, ignoreCase bool) (Column, error) {
	if col, ok := c.byPath[name]; ok {
		return col, nil
	}
	if ignoreCase {
		switch matches := c.folded[strings.ToLower(name)]; len(matches) {
		case 0:
		case 1:
			return matches[0], nil
		default:
			return Column{}, fault.New(fault.Invalid, "The filter names the column %q, which several columns are called but for case. Name it in the case that the schema has.", name)
		}
	}
	if c.inside[name] {
		return Column{}, fault.New(fault.Invalid, "The filter names %q, which lies within a list or map. Filter on columns that have one value a row.", name)
	}
	return Column{}, fault.New(fault.Invalid, "The filter names the column %q, which the table's schema does not have.", name)
}

package tableread

import (
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// narrow gives the fields that columns name, in the order in which their top-level columns are named first. A field of a
// struct narrows its column to what is named of it.
func narrow(fields []metadata.Field, columns []string) ([]metadata.Field, error) {
	if columns == nil {
		return fields, nil
	}
	var order []int
	wanted := make(map[int]bool) // ids that are wanted whole
	for _, name := range columns {
		chain := chainTo(fields, func(f *metadata.Field) bool { return f.Path == name })
		if chain == nil {
			return nil, fault.New(fault.Invalid, "The table has no column %q. Name columns as its schema does, nested ones with dots.", name)
		}
		if top := chain[0].ID; !slices.Contains(order, top) {
			order = append(order, top)
		}
		wanted[chain[len(chain)-1].ID] = true
	}
	out := make([]metadata.Field, 0, len(order))
	for _, id := range order {
		at := slices.IndexFunc(fields, func(f metadata.Field) bool { return f.ID == id })
		f, _ := prune(fields[at], wanted)
		out = append(out, f)
	}
	return out, nil
}

// prune leaves of a field what is wanted; false when that is nothing.
func prune(f metadata.Field, wanted map[int]bool) (metadata.Field, bool) {
	if wanted[f.ID] {
		return f, true
	}
	var kept []metadata.Field
	for _, c := range f.Children {
		if c, ok := prune(c, wanted); ok {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return f, false
	}
	if f.Type == "map" { // a map has both or is none
		value, ok := prune(f.Children[1], wanted)
		if !ok {
			value = f.Children[1]
		}
		kept = []metadata.Field{f.Children[0], value}
	}
	f.Children = kept
	return f, true
}

// chainTo gives the fields from the top to the first that matches, nil when none does.
func chainTo(fields []metadata.Field, match func(*metadata.Field) bool) []metadata.Field {
	for i := range fields {
		f := &fields[i]
		if match(f) {
			return []metadata.Field{*f}
		}
		if rest := chainTo(f.Children, match); rest != nil {
			return append([]metadata.Field{*f}, rest...)
		}
	}
	return nil
}

// columnPath is a column that is tested, with what it is nested in: the top-level column narrowed to it, and the places
// to descend by.
type columnPath struct {
	top  metadata.Field
	down []int
	leaf metadata.Field
}

// pathTo finds a column by its id, in the schema that is read or else the newest that has it: equality deletes may be by
// a column that was dropped since.
func (p *plan) pathTo(id int) (columnPath, error) {
	match := func(f *metadata.Field) bool { return f.ID == id }
	chain := chainTo(p.schema.Fields, match)
	ids := p.doc.SchemaIDs()
	for i := len(ids) - 1; i >= 0 && chain == nil; i-- {
		if s, ok, err := p.doc.Schema(ids[i]); ok && err == nil {
			chain = chainTo(s.Fields, match)
		}
	}
	if chain == nil {
		return columnPath{}, fault.New(fault.Internal, "No schema of the table has the column with the id %d, by which rows are deleted.", id)
	}
	out := columnPath{top: chain[0], leaf: chain[len(chain)-1]}
	out.top, _ = prune(chain[0], map[int]bool{id: true})
	for _, f := range chain[:len(chain)-1] {
		if f.Type != "struct" {
			return columnPath{}, fault.New(fault.Unsupported, "Column %s lies within a list or map, where it has no single value in a row.", out.leaf.Path)
		}
		out.down = append(out.down, 0) // nothing else is left beside it
	}
	return out, nil
}

// identityField is a field of a partition spec.
type identityField struct {
	SourceID  int    `json:"source-id"`
	FieldID   int    `json:"field-id"`
	Transform string `json:"transform"`
}

// identities gives the partition fields of a spec that have a column's own values, by the column.
func identities(doc *metadata.Document, spec int) map[int]int {
	raw, ok := doc.PartitionSpecRaw(spec)
	if !ok {
		return nil
	}
	var parsed struct {
		Fields []identityField `json:"fields"`
	}
	if json.Unmarshal(raw, &parsed) != nil {
		return nil
	}
	out := make(map[int]int)
	for _, f := range parsed.Fields {
		if f.Transform == "identity" {
			out[f.SourceID] = f.FieldID
		}
	}
	return out
}

// nameMapping reads the table's mapping for files without field ids; false when it has none.
func nameMapping(doc *metadata.Document) ([]named, bool) {
	text, ok := doc.Properties()["schema.name-mapping.default"]
	if !ok {
		return nil, false
	}
	var out []named
	return out, json.Unmarshal([]byte(text), &out) == nil
}

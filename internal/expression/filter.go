package expression

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// Filter is a condition on rows, bound to the columns of a schema. A row is in when the condition is TRUE, which it is
// not when it is unknown. Filters do not change and are safe for concurrent use.
type Filter struct {
	root    expression
	columns map[int]Type // that it tests
}

// Parse reads an expression of Iceberg's REST protocol in either of its forms; nothing and null mean all rows. Errors are
// fault.Invalid and name the column, or say which part is wrong.
func Parse(raw json.RawMessage, schema metadata.Schema, ignoreCase bool) (*Filter, error) {
	return ParseIn(raw, NewColumns(schema), ignoreCase)
}

// ParseIn is Parse for who has listed the columns already.
func ParseIn(raw json.RawMessage, columns Columns, ignoreCase bool) (*Filter, error) {
	if string(raw) == "null" {
		return All(), nil
	}
	root, err := parseFilter(raw, columns, ignoreCase)
	if err != nil {
		return nil, err
	}
	return newFilter(root), nil
}

func newFilter(root expression) *Filter {
	f := &Filter{root: root, columns: make(map[int]Type)}
	for p := range predicates(root) {
		f.columns[p.column.ID] = p.column.Type
		if p.other != nil {
			f.columns[p.other.ID] = p.other.Type
		}
	}
	return f
}

// All is the filter that every row passes.
func All() *Filter { return newFilter(constant(true)) }

// None is the filter that no row passes.
func None() *Filter { return newFilter(constant(false)) }

// And gives the rows that pass both filters. Nil stands for all rows.
func And(a, b *Filter) *Filter { return joined(true, a, b) }

// Or gives the rows that pass either filter. Nil stands for all rows.
func Or(a, b *Filter) *Filter { return joined(false, a, b) }

func joined(and bool, a, b *Filter) *Filter {
	if a == nil {
		a = All()
	}
	if b == nil {
		b = All()
	}
	return newFilter(join(and, a.root, b.root))
}

// IsAll tells that every row passes, whatever it has.
func (f *Filter) IsAll() bool { return f.root == constant(true) }

// IsNone tells that no row passes, whatever it has.
func (f *Filter) IsNone() bool { return f.root == constant(false) }

// Columns gives the field ids of the columns that the filter tests, sorted.
func (f *Filter) Columns() []int { return slices.Sorted(maps.Keys(f.columns)) }

// Type gives the type of a column that the filter tests.
func (f *Filter) Type(fieldID int) Type { return f.columns[fieldID] }

// JSON writes the filter with the schema's names. It binds to the same schema again, and selects the same.
func (f *Filter) JSON() json.RawMessage { return f.root.appendJSON(nil, (*predicate).appendBound) }

// Written writes the filter with each test as it was sent, for engines that know no other form than their own.
func (f *Filter) Written() json.RawMessage { return f.root.appendJSON(nil, (*predicate).appendSent) }

// May tells whether a row may pass, given what is known of each column that the filter tests. It errs on the side of
// yes, for engines of either logic. Of transforms of columns nothing is asked.
func (f *Filter) May(stats func(fieldID int) Summary) bool {
	return f.root.may(func(p *predicate) bool { return p.mayColumn(stats) })
}

// MayIn is May with what is known of partition fields, by their places; stats may be nil.
func (f *Filter) MayIn(fields []Field, known func(field int) Summary, stats func(fieldID int) Summary) bool {
	return f.root.may(func(p *predicate) bool {
		return p.mayIn(fields, known) && (stats == nil || p.mayColumn(stats))
	})
}

// Within gives what of the filter is left to test on rows of one partition.
func (f *Filter) Within(fields []Field, values []Value) *Filter {
	return newFilter(f.root.reduce(func(p *predicate) (bool, bool) { return p.decideIn(fields, values) }))
}

// Evaluable is nil when Select can tell which rows pass, and fault.Invalid when the filter has a test that only engines
// evaluate.
func (f *Filter) Evaluable() error {
	for p := range predicates(f.root) {
		if p.foreign {
			return fault.New(fault.Invalid, "The filter compares column %q with something other than a literal, which can only be planned with. Compare it with a value.", p.column.Path)
		}
	}
	return nil
}

package scan

import (
	"encoding/json"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/expression"
)

// mostResidual is how long a residual may be, in bytes: a longer one would be repeated in every task, and an engine that
// gets none checks the whole filter.
const mostResidual = 4 << 10

// candidate is a file that may match.
type candidate struct {
	entry
	spec      spec
	partition []expression.Value // in the order of the spec's fields
	residual  json.RawMessage
}

func partitionOf(file iceberg.DataFile, s spec) []expression.Value {
	raw := file.Partition()
	out := make([]expression.Value, len(s.fields))
	for i, f := range s.fields {
		value, written := raw[f.ID]
		out[i] = f.Read(value, written)
	}
	return out
}

// manifestMay tells whether a file of a manifest may match, by the ranges its list has of the partition fields.
func (w *work) manifestMay(m manifest, s spec) bool {
	ranges := m.Partitions()
	if !w.tests || len(ranges) != len(s.fields) {
		return true
	}
	known := func(i int) expression.Summary { return rangeOf(ranges[i], s.fields[i].Type) }
	return w.filter.MayIn(s.fields, known, nil)
}

func rangeOf(r iceberg.FieldSummary, t expression.Type) expression.Summary {
	s := expression.Summary{HasNull: r.ContainsNull, HasNaN: t.IsFloat() && (r.ContainsNaN == nil || *r.ContainsNaN)}
	if r.LowerBound != nil && r.UpperBound != nil {
		s.SetBounds(t.Bound(*r.LowerBound), t.Bound(*r.UpperBound))
	}
	return s
}

// match tells whether a data file may match, and what of the filter is left to check on its rows.
func (w *work) match(e entry, s spec) (candidate, bool) {
	c := candidate{entry: e, spec: s, partition: partitionOf(e.file, s)}
	if !w.tests {
		return c, true
	}
	if e.file.Count() == 0 {
		return c, false
	}
	stats := fileStats{file: e.file, filter: w.filter}
	if !w.filter.MayIn(s.fields, c.partitionSummary, stats.of) {
		return c, false
	}
	left := w.filter.Within(s.fields, c.partition)
	if left.IsNone() {
		return c, false
	}
	if w.plain {
		return c, true
	}
	if text := left.Written(); len(text) <= mostResidual {
		c.residual = text
	}
	return c, true
}

func (c *candidate) partitionSummary(field int) expression.Summary {
	return c.partition[field].Summary()
}

// fileStats are a file's column statistics, copied from the file once and only when a filter asks for them.
type fileStats struct {
	file                iceberg.DataFile
	filter              *expression.Filter
	read                bool
	values, nulls, nans map[int]int64
	lowers, uppers      map[int][]byte
	byColumn            map[int]expression.Summary
}

func (f *fileStats) of(id int) expression.Summary {
	if s, ok := f.byColumn[id]; ok {
		return s
	}
	if !f.read {
		f.read, f.byColumn = true, make(map[int]expression.Summary)
		f.values, f.nulls, f.nans = f.file.ValueCounts(), f.file.NullValueCounts(), f.file.NaNValueCounts()
		f.lowers, f.uppers = f.file.LowerBoundValues(), f.file.UpperBoundValues()
	}
	s := expression.Unknown()
	values, hasValues := f.values[id]
	nulls, hasNulls := f.nulls[id]
	nans, hasNaNs := f.nans[id]
	counted := hasValues && values > 0
	typ := f.filter.Type(id)
	s.HasNull, s.OnlyNull = !hasNulls || nulls != 0, hasNulls && counted && nulls == values
	s.HasNaN, s.OnlyNaN = typ.IsFloat() && (!hasNaNs || nans != 0), typ.IsFloat() && hasNaNs && counted && nans == values
	s.SetBounds(typ.Bound(f.lowers[id]), typ.Bound(f.uppers[id]))
	f.byColumn[id] = s
	return s
}

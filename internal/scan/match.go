package scan

import (
	"encoding/json"
	"math"

	"github.com/apache/iceberg-go"
)

// mostResidual is how long a residual may be, in bytes: a longer one would be repeated in every task, and an engine that
// gets none checks the whole filter.
const mostResidual = 4 << 10

// candidate is a file that may match.
type candidate struct {
	entry
	spec      spec
	partition partition
	residual  json.RawMessage
}

// partition is a file's partition values, in the order of its spec's fields.
type partition []partitionValue

type partitionValue struct {
	value      any // nil for null and NaN
	nan, known bool
	raw        any       // as it was read
	typ        valueType // of the field, or as the value shows when the field's is not known
}

func (v partitionValue) summary() summary {
	switch {
	case !v.known:
		return unknown()
	case v.nan:
		return summary{hasNaN: true, onlyNaN: true}
	case v.value == nil:
		return summary{hasNull: true, onlyNull: true}
	}
	return summary{lower: v.value, upper: v.value, exact: true}
}

// json writes the value; one that is not of its field's type, as it shows itself.
func (v partitionValue) json() json.RawMessage {
	switch {
	case v.nan:
		return floatJSON(math.NaN(), false)
	case !v.known && v.raw != nil:
		shown := typeOfGo(v.raw)
		value, _ := shown.stored(v.raw)
		return shown.json(value)
	}
	return v.typ.json(v.value)
}

func partitionOf(file iceberg.DataFile, s spec) partition {
	raw := file.Partition()
	out := make(partition, len(s.fields))
	for i, f := range s.fields {
		value, written := raw[f.id]
		out[i] = f.read(value, written)
	}
	return out
}

// read takes a partition value as iceberg-go has it. A field that the manifest does not have is not known.
func (f partitionField) read(raw any, written bool) partitionValue {
	v := partitionValue{raw: raw, known: written, typ: f.typ}
	if raw == nil {
		return v
	}
	if v.typ.kind == noKind {
		v.typ = typeOfGo(raw)
	}
	v.value, v.known = v.typ.stored(raw)
	if !v.known {
		v.value = nil
		return v
	}
	if x, ok := v.value.(float64); ok && math.IsNaN(x) {
		v.value, v.nan = nil, true
	}
	return v
}

// typeOfGo guesses the type of a value of a field whose source column no schema has any more.
func typeOfGo(v any) valueType {
	switch v.(type) {
	case bool:
		return typeOf(typeBoolean)
	case int, int32, int64:
		return typeOf(typeLong)
	case float32, float64:
		return typeOf(typeDouble)
	case string:
		return typeOf(typeString)
	case iceberg.Date:
		return typeOf(typeDate)
	case iceberg.Time:
		return typeOf(typeTime)
	case iceberg.Timestamp:
		return typeOf(typeTimestamp)
	case iceberg.TimestampNano:
		return typeOf(typeNanos)
	}
	return typeOf(typeBinary)
}

// manifestMay tells whether a file of a manifest may match, by the ranges its list has of the partition fields.
func (w *work) manifestMay(m manifest, s spec) bool {
	ranges := m.Partitions()
	if !w.tests || len(ranges) != len(s.fields) {
		return true
	}
	return w.filter.may(func(p *predicate) bool {
		return s.may(p, func(i int) summary { return rangeOf(ranges[i], s.fields[i].typ) })
	})
}

func rangeOf(r iceberg.FieldSummary, t valueType) summary {
	s := summary{hasNull: r.ContainsNull, hasNaN: t.kind == floatKind && (r.ContainsNaN == nil || *r.ContainsNaN)}
	if r.LowerBound != nil && r.UpperBound != nil {
		s.setBounds(t.bound(*r.LowerBound), t.bound(*r.UpperBound))
	}
	return s
}

// setBounds takes bounds that make sense together. Equal ones leave room for one value.
func (s *summary) setBounds(lower, upper any) {
	if lower == nil || upper == nil {
		s.lower, s.upper = lower, upper
		return
	}
	if order := compare(lower, upper); order <= 0 {
		s.lower, s.upper, s.exact = lower, upper, order == 0
	}
}

// may tells whether a predicate may hold by each partition field that says something about it.
func (s spec) may(p *predicate, known func(field int) summary) bool {
	for i, f := range s.fields {
		if t, ok := f.project(p); ok && !t.may(known(i)) {
			return false
		}
	}
	return true
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
	stats := fileStats{file: e.file}
	if !w.filter.may(func(p *predicate) bool { return c.partitionMay(p) && stats.may(p) }) {
		return c, false
	}
	left := w.filter.reduce(c.decide)
	if left == constant(false) {
		return c, false
	}
	if text := left.appendJSON(nil); len(text) <= mostResidual {
		c.residual = text
	}
	return c, true
}

func (c *candidate) partitionMay(p *predicate) bool {
	return c.spec.may(p, func(i int) summary { return c.partition[i].summary() })
}

// decide knows a predicate whose very column, or very transform of it, the file is partitioned by.
func (c *candidate) decide(p *predicate) (result, known bool) {
	for i, f := range c.spec.fields {
		v := c.partition[i]
		if f.source != p.column.id || !v.known || f.typ.kind != p.typ.kind {
			continue
		}
		_, identity := f.transform.(iceberg.IdentityTransform)
		if p.transform == nil && identity || p.transform != nil && p.transform.Equals(f.transform) {
			return p.decide(v.value, v.nan)
		}
	}
	return false, false
}

// fileStats are a file's column statistics, copied from the file once and only when a predicate asks for them.
type fileStats struct {
	file                iceberg.DataFile
	read                bool
	values, nulls, nans map[int]int64
	lowers, uppers      map[int][]byte
	byColumn            map[int]summary
}

// may tells whether a predicate may hold by the statistics of its column. Of transforms they say nothing here.
func (f *fileStats) may(p *predicate) bool {
	return p.transform != nil || p.test.may(f.of(p.column))
}

func (f *fileStats) of(col column) summary {
	if s, ok := f.byColumn[col.id]; ok {
		return s
	}
	if !f.read {
		f.read, f.byColumn = true, make(map[int]summary)
		f.values, f.nulls, f.nans = f.file.ValueCounts(), f.file.NullValueCounts(), f.file.NaNValueCounts()
		f.lowers, f.uppers = f.file.LowerBoundValues(), f.file.UpperBoundValues()
	}
	s := unknown()
	values, hasValues := f.values[col.id]
	nulls, hasNulls := f.nulls[col.id]
	nans, hasNaNs := f.nans[col.id]
	counted := hasValues && values > 0
	s.hasNull, s.onlyNull = !hasNulls || nulls != 0, hasNulls && counted && nulls == values
	float := col.typ.kind == floatKind
	s.hasNaN, s.onlyNaN = float && (!hasNaNs || nans != 0), float && hasNaNs && counted && nans == values
	lower, upper := f.lowers[col.id], f.uppers[col.id]
	if col.typ.kind != noKind {
		s.setBounds(col.typ.boundOrNil(lower), col.typ.boundOrNil(upper))
	}
	f.byColumn[col.id] = s
	return s
}

// boundOrNil tells an absent bound, which bounds nothing, from an empty one, which is the empty text.
func (t valueType) boundOrNil(raw []byte) any {
	if raw == nil {
		return nil
	}
	return t.bound(raw)
}

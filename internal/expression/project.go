package expression

import (
	"math"
	"slices"

	"github.com/apache/iceberg-go"
)

// project gives a test of the field's values that every row passing the predicate passes too; false when there is none.
func (f Field) project(p *predicate) (test, bool) {
	if f.Source != p.column.ID || f.Type.kind == noKind || f.IsVoid() {
		return test{}, false
	}
	if p.transform != nil {
		if !p.transform.Equals(f.Transform) {
			return test{}, false
		}
		return p.test, true
	}
	out := test{op: p.op, typ: f.Type, nulls: p.nulls}
	switch f.Transform.(type) {
	case iceberg.IdentityTransform:
		out.values = p.values
		return out, f.Type.kind == p.typ.kind
	case iceberg.BucketTransform, iceberg.TruncateTransform, iceberg.YearTransform, iceberg.MonthTransform,
		iceberg.DayTransform, iceberg.HourTransform:
	default:
		return test{}, false
	}
	switch p.op {
	case opIsNull, opNotNull:
		return out, true // only null becomes null
	case opEqual, opIn:
		out.op = opIn
		return out, f.projectMembers(p, &out)
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return out, f.projectOrder(p, &out)
	case opStartsWith:
		return out, f.projectPrefix(p, &out)
	}
	return test{}, false
}

func (f Field) projectMembers(p *predicate, out *test) bool {
	if len(p.values) > mostMembers {
		return false
	}
	for _, v := range p.values {
		w, ok := apply(f.Transform, p.typ, v)
		if !ok {
			return false
		}
		out.values = append(out.values, w)
		if n, ok := w.(int64); ok && f.isCalendar() && n < 0 {
			out.values = append(out.values, n+1)
		}
	}
	slices.SortFunc(out.values, compare)
	out.values = slices.CompactFunc(out.values, func(a, b any) bool { return compare(a, b) == 0 })
	return true
}

// isCalendar: older writers rounded times before 1970 up and not down, so that their partitions may be one too high.
func (f Field) isCalendar() bool {
	switch f.Transform.(type) {
	case iceberg.YearTransform, iceberg.MonthTransform, iceberg.DayTransform, iceberg.HourTransform:
		return true
	}
	return false
}

// projectOrder uses that all transforms but bucket keep the order.
func (f Field) projectOrder(p *predicate, out *test) bool {
	if _, bucket := f.Transform.(iceberg.BucketTransform); bucket {
		return false
	}
	v := p.values[0]
	// On whole numbers, less than x is at most x-1: tighter by a partition when x starts one.
	if n, whole := v.(int64); whole {
		switch {
		case p.op == opLess && n > math.MinInt64:
			v = n - 1
		case p.op == opGreater && n < math.MaxInt64:
			v = n + 1
		}
	}
	w, ok := apply(f.Transform, p.typ, v)
	if !ok {
		return false
	}
	out.op = opGreaterEqual
	if p.op == opLess || p.op == opLessEqual {
		out.op = opLessEqual
		if n, whole := w.(int64); whole && f.isCalendar() && n < 0 {
			w = n + 1
		}
	}
	out.values = []any{w}
	return true
}

func (f Field) projectPrefix(p *predicate, out *test) bool {
	cut, ok := f.Transform.(iceberg.TruncateTransform)
	if !ok {
		return false
	}
	prefix := p.values[0].(string)
	short := firstRunes(prefix, int64(cut.Width))
	if out.values = []any{short}; short != prefix {
		out.op = opEqual
	}
	return true
}

// mayIn tells whether a predicate may hold by each partition field that says something about it.
func (p *predicate) mayIn(fields []Field, known func(field int) Summary) bool {
	for i, f := range fields {
		if t, ok := f.project(p); ok && !t.may(known(i)) {
			return false
		}
	}
	return true
}

// decideIn knows a predicate whose very column, or very transform of it, the file is partitioned by.
func (p *predicate) decideIn(fields []Field, values []Value) (result, known bool) {
	for i, f := range fields {
		v := values[i]
		if f.Source != p.column.ID || !v.known || f.Type.kind != p.typ.kind {
			continue
		}
		_, identity := f.Transform.(iceberg.IdentityTransform)
		if p.transform == nil && identity || p.transform != nil && p.transform.Equals(f.Transform) {
			return p.decide(v.value, v.nan)
		}
	}
	return false, false
}

package scan

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/apache/iceberg-go"
)

// partitionField is a field of a partition spec.
type partitionField struct {
	id, source int
	transform  iceberg.Transform // of one source; of several it is unknown
	typ        valueType         // of the partition's values; no kind when the source is not known
	sourceType valueType
}

// isVoid: its values are null whatever the source has.
func (f partitionField) isVoid() bool {
	_, void := f.transform.(iceberg.VoidTransform)
	return void
}

// spec is a partition spec.
type spec struct {
	id     int
	fields []partitionField
}

// partitioned tells whether any field has values.
func (s spec) partitioned() bool {
	return slices.ContainsFunc(s.fields, func(f partitionField) bool { return !f.isVoid() })
}

// specJSON is a partition spec as metadata has it.
type specJSON struct {
	Fields []struct {
		SourceID  int    `json:"source-id"`
		SourceIDs []int  `json:"source-ids"`
		FieldID   *int   `json:"field-id"`
		Transform string `json:"transform"`
	} `json:"fields"`
}

// parseSpec reads a spec; typeOfSource gives the type of a source column, whichever schema has it.
func parseSpec(id int, raw json.RawMessage, typeOfSource func(id int) valueType) (spec, error) {
	var doc specJSON
	if err := json.Unmarshal(raw, &doc); err != nil {
		return spec{}, err
	}
	const firstID = 1000 // of fields that old writers gave no id
	out := spec{id: id}
	for i, f := range doc.Fields {
		field := partitionField{id: firstID + i, source: f.SourceID}
		if f.FieldID != nil {
			field.id = *f.FieldID
		}
		if len(f.SourceIDs) == 1 {
			field.source = f.SourceIDs[0]
		}
		var err error
		if field.transform, err = iceberg.ParseTransform(f.Transform); err != nil || len(f.SourceIDs) > 1 {
			field.transform = iceberg.UnknownTransform{}
		}
		field.sourceType = typeOfSource(field.source)
		field.typ, _ = resultType(field.transform, field.sourceType)
		out.fields = append(out.fields, field)
	}
	return out, nil
}

// project gives a test of the field's values that every row passing the predicate passes too; false when there is none.
func (f partitionField) project(p *predicate) (test, bool) {
	if f.source != p.column.id || f.typ.kind == noKind || f.isVoid() {
		return test{}, false
	}
	if p.transform != nil {
		if !p.transform.Equals(f.transform) {
			return test{}, false
		}
		return p.test, true
	}
	out := test{op: p.op, typ: f.typ, nulls: p.nulls}
	switch f.transform.(type) {
	case iceberg.IdentityTransform:
		out.values = p.values
		return out, f.typ.kind == p.typ.kind
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

func (f partitionField) projectMembers(p *predicate, out *test) bool {
	if len(p.values) > mostMembers {
		return false
	}
	for _, v := range p.values {
		w, ok := apply(f.transform, p.typ, v)
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
func (f partitionField) isCalendar() bool {
	switch f.transform.(type) {
	case iceberg.YearTransform, iceberg.MonthTransform, iceberg.DayTransform, iceberg.HourTransform:
		return true
	}
	return false
}

// projectOrder uses that all transforms but bucket keep the order.
func (f partitionField) projectOrder(p *predicate, out *test) bool {
	if _, bucket := f.transform.(iceberg.BucketTransform); bucket {
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
	w, ok := apply(f.transform, p.typ, v)
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

func (f partitionField) projectPrefix(p *predicate, out *test) bool {
	cut, ok := f.transform.(iceberg.TruncateTransform)
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

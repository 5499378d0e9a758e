package scan_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
)

// row has values by column name: int64, float64 or string, nil for NULL. Decimals count hundredths, dates days and
// timestamps microseconds.
type row map[string]any

// col is a column of the random tables.
type col struct {
	id   int
	name string
	typ  iceberg.Type
}

func worldColumns() []col {
	p := iceberg.PrimitiveTypes
	return []col{
		{1, "id", p.Int64}, {2, "i", p.Int32}, {3, "s", p.String}, {4, "d", p.Date}, {5, "ts", p.Timestamp}, {6, "f", p.Float64},
		{7, "dec", iceberg.DecimalTypeOf(9, 2)},
	}
}

func columnNamed(name string) col {
	all := worldColumns()
	return all[slices.IndexFunc(all, func(c col) bool { return c.name == name })]
}

func worldSchema() *iceberg.Schema {
	var fields []iceberg.NestedField
	for _, c := range worldColumns() {
		fields = append(fields, field(c.id, c.name, c.typ))
	}
	return schemaOf(fields...)
}

func randomSpec(r *rand.Rand, id, fieldID int) iceberg.PartitionSpec {
	choices := []struct {
		source    int
		transform iceberg.Transform
	}{
		{3, identity}, {2, identity}, {4, identity}, {5, identity}, {6, identity}, {7, identity},
		{1, iceberg.BucketTransform{NumBuckets: 3}}, {3, iceberg.BucketTransform{NumBuckets: 2}}, {7, iceberg.BucketTransform{NumBuckets: 3}},
		{5, iceberg.BucketTransform{NumBuckets: 3}}, {2, iceberg.BucketTransform{NumBuckets: 2}}, {4, iceberg.BucketTransform{NumBuckets: 2}},
		{2, iceberg.TruncateTransform{Width: 4}}, {3, iceberg.TruncateTransform{Width: 1}}, {7, iceberg.TruncateTransform{Width: 50}},
		{5, iceberg.DayTransform{}}, {5, iceberg.HourTransform{}}, {4, iceberg.MonthTransform{}}, {5, iceberg.YearTransform{}}, {4, iceberg.DayTransform{}},
		{3, iceberg.VoidTransform{}},
	}
	var fields []iceberg.PartitionField
	used := map[int]bool{}
	for n := r.IntN(3); n > 0; n-- {
		c := choices[r.IntN(len(choices))]
		if used[c.source] {
			continue
		}
		used[c.source] = true
		fields = append(fields, iceberg.PartitionField{
			SourceIDs: []int{c.source}, FieldID: fieldID + len(fields), Transform: c.transform, Name: fmt.Sprintf("p%d_%d", id, c.source),
		})
	}
	return specOf(id, fields...)
}

func randomRow(r *rand.Rand) row {
	out := row{}
	for _, c := range worldColumns() {
		out[c.name] = nil
		if c.name == "id" || r.IntN(5) > 0 {
			out[c.name] = c.random(r)
		}
	}
	return out
}

func (c col) random(r *rand.Rand) any {
	switch c.name {
	case "s":
		return []string{"", "a", "ab", "abc", "b", "ba", "é", "éa", "z"}[r.IntN(9)]
	case "d":
		return int64(r.IntN(120) - 60)
	case "ts":
		// Around midnights and hours before and after 1970.
		return int64(r.IntN(9)-4)*43_200_000_000 + int64(r.IntN(3)-1)
	case "f":
		if r.IntN(6) == 0 {
			return math.NaN()
		}
		return float64(r.IntN(7)-3) / 2
	case "dec":
		return int64(r.IntN(9)-4) * 25
	}
	return int64(r.IntN(15) - 7)
}

// literal is the value as iceberg-go has it.
func (c col) literal(v any) iceberg.Literal {
	switch c.name {
	case "s":
		return iceberg.StringLiteral(v.(string))
	case "i":
		return iceberg.Int32Literal(v.(int64))
	case "d":
		return iceberg.DateLiteral(v.(int64))
	case "ts":
		return iceberg.TimestampLiteral(v.(int64))
	case "f":
		return iceberg.Float64Literal(v.(float64))
	case "dec":
		lit, err := iceberg.StringLiteral(c.text(v)).To(c.typ)
		if err != nil {
			panic(err)
		}
		return lit
	}
	return iceberg.Int64Literal(v.(int64))
}

// text is the value as a filter has it, without quotes.
func (c col) text(v any) string {
	switch c.name {
	case "d":
		return time.Unix(v.(int64)*86400, 0).UTC().Format(time.DateOnly)
	case "ts":
		return time.UnixMicro(v.(int64)).UTC().Format("2006-01-02T15:04:05.000000")
	case "dec":
		return strconv.FormatFloat(float64(v.(int64))/100, 'f', 2, 64)
	}
	return fmt.Sprint(v)
}

func (c col) toJSON(v any) string {
	switch c.name {
	case "s", "d", "ts", "dec":
		raw, _ := json.Marshal(c.text(v))
		return string(raw)
	case "f":
		return strconv.FormatFloat(v.(float64), 'f', 1, 64)
	}
	return c.text(v)
}

// partitionOf transforms a row by iceberg-go.
func partitionOf(t *testing.T, spec iceberg.PartitionSpec, one row) map[int]iceberg.Literal {
	t.Helper()
	out := map[int]iceberg.Literal{}
	for _, f := range spec.Fields() {
		c := worldColumns()[f.SourceIDs[0]-1]
		in := iceberg.Optional[iceberg.Literal]{}
		if v := one[c.name]; v != nil {
			in = iceberg.Optional[iceberg.Literal]{Valid: true, Val: c.literal(v)}
		}
		out[f.FieldID] = nil
		if res := f.Transform.Apply(in); res.Valid {
			out[f.FieldID] = res.Val
		}
	}
	return out
}

// stored gives partition values as manifests take them.
func stored(partition map[int]iceberg.Literal) (values map[int]any, logical map[int]string, fixed map[int]int) {
	values, logical, fixed = map[int]any{}, map[int]string{}, map[int]int{}
	for id, lit := range partition {
		values[id] = nil
		if lit == nil {
			continue
		}
		values[id] = lit.Any()
		switch lit.(type) {
		case iceberg.DateLiteral:
			logical[id] = "date"
		case iceberg.TimestampLiteral:
			logical[id] = "timestamp-micros"
		case iceberg.DecimalLiteral:
			logical[id], fixed[id] = "decimal", 2
		}
	}
	return values, logical, fixed
}

// statsFrom counts rows as writers do.
func statsFrom(t *testing.T, rows []row) func(*iceberg.DataFileBuilder) {
	values, nulls, nans := map[int]int64{}, map[int]int64{}, map[int]int64{}
	lowers, uppers := map[int][]byte{}, map[int][]byte{}
	for _, c := range worldColumns() {
		var low, high any
		values[c.id], nulls[c.id] = int64(len(rows)), 0
		if c.name == "f" {
			nans[c.id] = 0
		}
		for _, one := range rows {
			v := one[c.name]
			f, isFloat := v.(float64)
			switch {
			case v == nil:
				nulls[c.id]++
				continue
			case isFloat && math.IsNaN(f):
				nans[c.id]++
				continue
			}
			if low == nil || order(v, low) < 0 {
				low = v
			}
			if high == nil || order(v, high) > 0 {
				high = v
			}
		}
		if low != nil {
			lowers[c.id], uppers[c.id] = bin(t, c.literal(low)), bin(t, c.literal(high))
		}
	}
	return func(b *iceberg.DataFileBuilder) {
		b.ValueCounts(values).NullValueCounts(nulls).NaNValueCounts(nans).LowerBoundValues(lowers).UpperBoundValues(uppers)
	}
}

func order(a, b any) int {
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case float64:
		return cmp.Compare(a, b.(float64))
	}
	return cmp.Compare(a.(int64), b.(int64))
}

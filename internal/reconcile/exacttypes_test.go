package reconcile_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/apache/iceberg-go"
)

func field(id int, name, typ string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"id": %d, "name": %q, "required": false, "type": %q%s}`, id, name, typ, extra)
}

// Values are equal across the widths and units that files hold them in.
func TestEqualityDeletesOfEveryType(t *testing.T) {
	micro := arrow.FixedWidthTypes.Timestamp_us
	for _, c := range []struct {
		name, typ string
		data      arrow.DataType // of the older data file
		rows      []string       // values of column v; the first and second are removed
		deletes   arrow.DataType
		keys      []string
	}{
		{"boolean", "boolean", arrow.FixedWidthTypes.Boolean, []string{"true", "null", "false"}, arrow.FixedWidthTypes.Boolean, []string{"true", "null"}},
		{"int", "int", arrow.PrimitiveTypes.Int32, []string{"-1", "7", "8"}, arrow.PrimitiveTypes.Int32, []string{"7", "-1"}},
		{"int that became long", "long", arrow.PrimitiveTypes.Int32, []string{"-1", "2147483647", "8"}, arrow.PrimitiveTypes.Int64, []string{"2147483647", "-1", "4294967304"}},
		{"float that became double", "double", arrow.PrimitiveTypes.Float32, []string{"1.5", "0.100000001490116119384765625", "2"}, arrow.PrimitiveTypes.Float64, []string{"1.5", "0.100000001490116119384765625"}},
		{"a longer float", "double", arrow.PrimitiveTypes.Float32, []string{"1.5", "2.5", "0.1"}, arrow.PrimitiveTypes.Float64, []string{"1.5", "2.5", "0.1"}},
		{"date", "date", arrow.FixedWidthTypes.Date32, []string{`"2026-01-01"`, `"1960-05-01"`, `"2026-01-02"`}, arrow.FixedWidthTypes.Date32, []string{`"1960-05-01"`, `"2026-01-01"`}},
		{"date that became timestamp", "timestamp", arrow.FixedWidthTypes.Date32, []string{`"2026-01-01"`, `"1960-05-01"`, `"2026-01-02"`}, &arrow.TimestampType{Unit: arrow.Microsecond}, []string{`"1960-05-01 00:00:00"`, `"2026-01-01 00:00:00"`, `"2026-01-02 01:00:00"`}},
		{"timestamp in milliseconds", "timestamptz", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, []string{`"2026-01-01 01:02:03.004Z"`, `"1960-05-01 00:00:00.001Z"`, `"2026-01-02 00:00:00Z"`}, micro, []string{`"2026-01-01 01:02:03.004Z"`, `"1960-05-01 00:00:00.001Z"`, `"2026-01-02 00:00:00.000001Z"`}},
		{"timestamp in nanoseconds", "timestamp_ns", &arrow.TimestampType{Unit: arrow.Nanosecond}, []string{`"2026-01-01 01:02:03.000000004"`, `"1960-05-01 00:00:00"`, `"2026-01-02 00:00:00"`}, &arrow.TimestampType{Unit: arrow.Nanosecond}, []string{`"2026-01-01 01:02:03.000000004"`, `"1960-05-01 00:00:00"`}},
		{"time", "time", arrow.FixedWidthTypes.Time64us, []string{`"01:02:03.000004"`, `"00:00:00"`, `"23:00:00"`}, arrow.FixedWidthTypes.Time64us, []string{`"00:00:00"`, `"01:02:03.000004"`}},
		{"string", "string", arrow.BinaryTypes.String, []string{`""`, `"Zürich"`, `"zürich"`}, arrow.BinaryTypes.String, []string{`"Zürich"`, `""`, `"null"`}},
		{"binary", "binary", arrow.BinaryTypes.Binary, []string{`"AAE="`, `""`, `"AA=="`}, arrow.BinaryTypes.Binary, []string{`""`, `"AAE="`}},
		{"uuid", "uuid", &arrow.FixedSizeBinaryType{ByteWidth: 16}, []string{`"AAECAwQFBgcICQoLDA0ODw=="`, "null", `"/wECAwQFBgcICQoLDA0ODw=="`}, &arrow.FixedSizeBinaryType{ByteWidth: 16}, []string{"null", `"AAECAwQFBgcICQoLDA0ODw=="`}},
		{"fixed", "fixed[2]", &arrow.FixedSizeBinaryType{ByteWidth: 2}, []string{`"AAE="`, `"//8="`, `"AQA="`}, &arrow.FixedSizeBinaryType{ByteWidth: 2}, []string{`"//8="`, `"AAE="`}},
		{"decimal of more digits", "decimal(20,2)", &arrow.Decimal128Type{Precision: 9, Scale: 2}, []string{`"-1.50"`, `"300.00"`, `"1.50"`}, &arrow.Decimal128Type{Precision: 20, Scale: 2}, []string{`"300.00"`, `"-1.50"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newTableLake(t, 3, field(1, "v", c.typ))
			values := func(raw []string) []string {
				var out []string
				for _, v := range raw {
					out = append(out, `{"v": `+v+`}`)
				}
				return out
			}
			l.commit(l.data("a.parquet", columns(nullable("v:1", c.data)), values(c.rows)...))
			snap := l.commit(l.equality("eq.parquet", []int{1}, columns(nullable("v:1", c.deletes)), values(c.keys)...))
			require.Equal(t, int64(1), l.rowsLeft(snap))
		})
	}
}

// Decimals are kept as integers by some writers.
func TestDecimalsAreEqualInEveryWidth(t *testing.T) {
	l := newTableLake(t, 2, field(1, "v", "decimal(9,2)"))
	schema := columns(nullable("v:1", &arrow.Decimal128Type{Precision: 9, Scale: 2}))
	l.write("a.parquet", parquetOf(t, schema, []string{`{"v": "-1.50"}`, `{"v": "2.00"}`, `{"v": "3.00"}`}, parquet.WithStoreDecimalAsInteger(true)))
	l.commit(row{status: added, path: "a.parquet", records: 3})
	require.Equal(t, int64(1), l.rowsLeft(l.commit(l.equality("eq.parquet", []int{1}, schema, `{"v": "2.00"}`, `{"v": "-1.50"}`))))
}

// NaN is NaN, and zero is not minus zero: engines compare so.
func TestEqualityDeletesOfFloatsThatAreNoNumbers(t *testing.T) {
	l := newTableLake(t, 2, field(1, "v", "double"))
	file := func(name string, values ...float64) row {
		b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		b.AppendValues(values, nil)
		record := array.NewRecordBatch(columns(nullable("v:1", arrow.PrimitiveTypes.Float64)), []arrow.Array{b.NewArray()}, int64(len(values)))
		l.write(name, parquetOfRecord(t, record))
		return row{status: added, path: name, records: int64(len(values))}
	}
	negative := math.Copysign(0, -1)
	l.commit(file("a.parquet", math.NaN(), 0, negative, math.Inf(1), 1))
	d := file("eq.parquet", math.Float64frombits(0x7ff8000000000123), negative)
	d.content, d.change = iceberg.EntryContentEqDeletes, func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs([]int{1}) }
	require.Equal(t, int64(3), l.rowsLeft(l.commit(d)))
}

// Columns are what their ids say: renamed, moved into structs, or younger than the file.
func TestEqualityDeletesKnowColumnsByID(t *testing.T) {
	old := columns(nullable("before:1", arrow.PrimitiveTypes.Int64))
	now := columns(nullable("note:9", arrow.BinaryTypes.String), nullable("after:1", arrow.PrimitiveTypes.Int64))
	l := newTableLake(t, 2, field(1, "after", "long")+","+field(9, "note", "string"), field(1, "before", "long"))
	l.commit(l.data("a.parquet", old, `{"before": 1}`, `{"before": 2}`), l.data("b.parquet", now, `{"after": 1}`, `{"after": 3, "note": "x"}`))
	require.Equal(t, int64(2), l.rowsLeft(l.commit(l.equality("eq.parquet", []int{1}, now, `{"after": 1}`))))
	require.Equal(t, int64(1), l.rowsLeft(l.commit(l.equality("eq2.parquet", []int{9}, now, `{"note": null}`))), "a file without the column has null in it")
}

func TestEqualityDeletesOfDefaults(t *testing.T) {
	for _, c := range []struct{ typ, initial, key string }{
		{"long", "7", "7"}, {"string", `"a"`, `"a"`}, {"date", `"2026-01-01"`, `"2026-01-01"`}, {"boolean", "true", "true"},
		{"double", "1.5", "1.5"}, {"decimal(9,2)", `"-12.50"`, `"-12.50"`}, {"decimal(9,2)", `"3"`, `"3.00"`}, {"binary", `"00ff"`, `"AP8="`},
		{"timestamp", `"2026-01-01T01:02:03.000004"`, `"2026-01-01 01:02:03.000004"`}, {"timestamptz", `"2026-01-01T02:02:03+01:00"`, `"2026-01-01 01:02:03Z"`},
		{"uuid", `"00010203-0405-0607-0809-0a0b0c0d0e0f"`, `"AAECAwQFBgcICQoLDA0ODw=="`}, {"time", `"01:02:03"`, `"01:02:03"`},
	} {
		t.Run(c.typ+" "+c.initial, func(t *testing.T) {
			types := map[string]arrow.DataType{
				"long": arrow.PrimitiveTypes.Int64, "string": arrow.BinaryTypes.String, "date": arrow.FixedWidthTypes.Date32, "boolean": arrow.FixedWidthTypes.Boolean,
				"double": arrow.PrimitiveTypes.Float64, "decimal(9,2)": &arrow.Decimal128Type{Precision: 9, Scale: 2}, "binary": arrow.BinaryTypes.Binary,
				"timestamp": &arrow.TimestampType{Unit: arrow.Microsecond}, "timestamptz": arrow.FixedWidthTypes.Timestamp_us,
				"uuid": &arrow.FixedSizeBinaryType{ByteWidth: 16}, "time": arrow.FixedWidthTypes.Time64us,
			}
			l := newTableLake(t, 3, idField+","+field(2, "v", c.typ, `"initial-default": `+c.initial))
			l.commit(l.data("a.parquet", idColumn(), ids(0, 5)...))
			v := columns(nullable("v:2", types[c.typ]))
			require.Equal(t, int64(5), l.rowsLeft(l.commit(l.equality("eq0.parquet", []int{2}, v, `{"v": null}`))), "not null")
			require.Equal(t, int64(0), l.rowsLeft(l.commit(l.equality("eq1.parquet", []int{2}, v, `{"v": `+c.key+`}`))))
		})
	}
}

func TestEqualityDeletesOfAFieldOfAStruct(t *testing.T) {
	nested := `{"id": 1, "name": "s", "required": false, "type": {"type": "struct", "fields": [` + field(2, "k", "long") + `]}}`
	l := newTableLake(t, 2, nested)
	schema := columns(nullable("s:1", arrow.StructOf(nullable("k:2", arrow.PrimitiveTypes.Int64))))
	l.commit(l.data("a.parquet", schema, `{"s": {"k": 1}}`, `{"s": null}`, `{"s": {"k": null}}`, `{"s": {"k": 2}}`))
	require.Equal(t, int64(3), l.rowsLeft(l.commit(l.equality("eq1.parquet", []int{2}, schema, `{"s": {"k": 2}}`))))
	require.Equal(t, int64(1), l.rowsLeft(l.commit(l.equality("eq2.parquet", []int{2}, schema, `{"s": null}`))), "a field of no struct is null")
}

// A column within a list has no one value.
func TestEqualityDeletesOfAListAreNotGuessed(t *testing.T) {
	list := `{"id": 1, "name": "l", "required": false, "type": {"type": "list", "element-id": 2, "element": "long", "element-required": false}}`
	l := newTableLake(t, 2, list+","+field(3, "n", "long"))
	l.commit(l.data("a.parquet", idColumn(), ids(0, 5)...))
	counts := l.count(l.commit(l.equality("eq.parquet", []int{2}, columns(nullable("x:2", arrow.PrimitiveTypes.Int64)), `{"x": 1}`)))
	require.Contains(t, counts.Why, "within a list or map")
}

// Engines of old wrote timestamps of 96 bits, which are not understood here.
func TestOldTimestampsAreNotGuessed(t *testing.T) {
	l := newTableLake(t, 2, field(1, "v", "timestamp"))
	schema := columns(nullable("v:1", &arrow.TimestampType{Unit: arrow.Nanosecond}))
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, reader(`[{"v": "2026-01-01 00:00:00"}]`))
	require.NoError(t, err)
	l.write("a.parquet", parquetOfRecordAs(t, record, pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(true))))
	l.commit(row{status: added, path: "a.parquet", records: 1})
	micros := columns(nullable("v:1", &arrow.TimestampType{Unit: arrow.Microsecond}))
	counts := l.count(l.commit(l.equality("eq.parquet", []int{1}, micros, `{"v": "2026-01-01 00:00:00"}`)))
	require.Contains(t, counts.Why, "INT96")
}

// A file that lacks the column it is partitioned by has its value from the partition: only its engine knows how to read it.
func TestAPartitionsColumnThatIsMissingIsNotGuessed(t *testing.T) {
	l := newTableLake(t, 2, idField+","+nameField).partitioned(2, idField+","+nameField)
	l.commit(l.data("a.parquet", idColumn(), ids(0, 5)...))
	counts := l.count(l.commit(l.equality("eq.parquet", []int{1, 2}, idAndName(), object("id", 1, "name", "Bern"))))
	require.Contains(t, counts.Why, "partitioned by it")
}

package tableread_test

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/tableread"
)

const idField = `{"id": 1, "name": "id", "required": true, "type": "long"}`

func optional(id, name, typ string, more ...string) string {
	out := `{"id": ` + id + `, "name": "` + name + `", "required": false, "type": "` + typ + `"`
	for _, m := range more {
		out += ", " + m
	}
	return out + "}"
}

// Values come in the table's type, whatever older writers kept them in.
func TestTypesOfOlderWriters(t *testing.T) {
	micros := &arrow.TimestampType{Unit: arrow.Microsecond}
	for _, c := range []struct {
		name, typ string
		file      arrow.DataType
		in, out   []string
		as        []pqarrow.WriterOption
	}{
		{"int that became long", "long", arrow.PrimitiveTypes.Int32, []string{"-5", "null"}, []string{"-5", "null"}, nil},
		{"unsigned int that became long", "long", arrow.PrimitiveTypes.Uint32, []string{"4294967295"}, []string{"4294967295"}, nil},
		{"short in an int", "int", arrow.PrimitiveTypes.Int16, []string{"-7"}, []string{"-7"}, nil},
		{"float that became double", "double", arrow.PrimitiveTypes.Float32, []string{"0.5", "null"}, []string{"0.5", "null"}, nil},
		{"decimal of more digits", "decimal(30,2)", &arrow.Decimal128Type{Precision: 20, Scale: 2}, []string{`"-1.50"`}, []string{`"-1.50"`}, nil},
		{"decimals of few bytes", "decimal(4,0)", &arrow.Decimal128Type{Precision: 4}, []string{`"-9999"`, `"-1"`, `"0"`, `"255"`, `"9999"`, "null"}, []string{`"-9999"`, `"-1"`, `"0"`, `"255"`, `"9999"`, "null"}, nil},
		{"decimals of eight bytes", "decimal(18,0)", &arrow.Decimal128Type{Precision: 18}, []string{`"-999999999999999999"`, `"-1"`, `"999999999999999999"`}, []string{`"-999999999999999999"`, `"-1"`, `"999999999999999999"`}, nil},
		{"decimals of nine bytes", "decimal(20,0)", &arrow.Decimal128Type{Precision: 20}, []string{`"-99999999999999999999"`, `"-18446744073709551616"`, `"18446744073709551615"`, `"0"`}, []string{`"-99999999999999999999"`, `"-18446744073709551616"`, `"18446744073709551615"`, `"0"`}, nil},
		{"decimals of sixteen bytes", "decimal(38,0)", &arrow.Decimal128Type{Precision: 38}, []string{`"-99999999999999999999999999999999999999"`, `"99999999999999999999999999999999999999"`, `"-1"`}, []string{`"-99999999999999999999999999999999999999"`, `"99999999999999999999999999999999999999"`, `"-1"`}, nil},
		{"decimal in an int", "decimal(18,2)", &arrow.Decimal128Type{Precision: 7, Scale: 2}, []string{`"-1.50"`, "null"}, []string{`"-1.50"`, "null"}, []pqarrow.WriterOption{}},
		{"date that became timestamp", "timestamp", arrow.FixedWidthTypes.Date32, []string{`"1969-12-31"`}, []string{`"1969-12-31 00:00:00"`}, nil},
		{"milliseconds", "timestamptz", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, []string{`"2026-01-01 01:02:03.004Z"`}, []string{`"2026-01-01 01:02:03.004Z"`}, nil},
		{"nanoseconds before 1970", "timestamp", &arrow.TimestampType{Unit: arrow.Nanosecond}, []string{`"1969-12-31 23:59:59.999999999"`}, []string{`"1969-12-31 23:59:59.999999"`}, nil},
		{"microseconds in nanoseconds", "timestamp_ns", micros, []string{`"2026-01-01 00:00:00.000001"`}, []string{`"2026-01-01 00:00:00.000001"`}, nil},
		{"INT96", "timestamp", &arrow.TimestampType{Unit: arrow.Nanosecond}, []string{`"2026-01-01 01:02:03.000004"`, "null", `"1969-12-31 23:59:59.5"`}, []string{`"2026-01-01 01:02:03.000004"`, "null", `"1969-12-31 23:59:59.5"`}, []pqarrow.WriterOption{pqarrow.WithDeprecatedInt96Timestamps(true)}},
		{"time in milliseconds", "time", arrow.FixedWidthTypes.Time32ms, []string{`"01:02:03.004"`}, []string{`"01:02:03.004000"`}, nil},
		{"text without annotation", "string", arrow.BinaryTypes.Binary, []string{`"WsO8cmljaA=="`}, []string{`"Zürich"`}, nil},
		{"uuid", "uuid", &arrow.FixedSizeBinaryType{ByteWidth: 16}, []string{`"AAECAwQFBgcICQoLDA0ODw=="`, "null"}, []string{`"00010203-0405-0607-0809-0a0b0c0d0e0f"`, "null"}, nil},
		{"annotated uuid", "uuid", extensions.NewUUIDType(), []string{`"00010203-0405-0607-0809-0a0b0c0d0e0f"`, "null"}, []string{`"00010203-0405-0607-0809-0a0b0c0d0e0f"`, "null"}, nil},
		{"large text", "string", arrow.BinaryTypes.LargeString, []string{`"a"`}, []string{`"a"`}, nil},
		{"fixed", "fixed[2]", &arrow.FixedSizeBinaryType{ByteWidth: 2}, []string{`"AAE="`, "null"}, []string{`"AAE="`, "null"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLake(t, 3, optional("1", "v", c.typ))
			var rows, want []string
			for _, v := range c.in {
				rows = append(rows, `{"v": `+v+`}`)
			}
			for _, v := range c.out {
				want = append(want, `{"v": `+v+`}`)
			}
			var options []parquet.WriterProperty
			if c.name == "decimal in an int" {
				options = append(options, parquet.WithStoreDecimalAsInteger(true))
			}
			batch := batchOf(t, arrow.NewSchema([]arrow.Field{col(1, "v", c.file)}, nil), rows...)
			l.write("a.parquet", parquetOf(t, batch, pqarrow.NewArrowWriterProperties(c.as...), options...))
			l.commit(entry{path: "a.parquet", records: batch.NumRows()})
			schema, err := l.reader(tableread.Options{}).Schema(l.scan())
			require.NoError(t, err)
			require.Equal(t, rowsOf(t, batchOf(t, schema, want...)), l.rows(l.scan()))
		})
	}
}

// Columns are found by id: a name that was dropped and added again is another column.
func TestColumnsAreFoundByID(t *testing.T) {
	l := newLake(t, 2, idField+","+optional("2", "name", "string"), idField+","+optional("3", "name", "string")+","+optional("2", "old", "string"))
	schema := arrow.NewSchema([]arrow.Field{col(2, "name", arrow.BinaryTypes.String), required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil)
	l.commit(l.data("a.parquet", batchOf(t, schema, `{"id": 1, "name": "a"}`)))
	require.Equal(t, []string{`{"id":1,"name":null,"old":"a"}`}, l.rows(l.scan()))
	require.Equal(t, []string{`{"old":"a"}`}, l.rows(l.where(l.scan("old"), "name IS NULL AND old = 'a'")))

	older := l.scan()
	older.SchemaID = 0
	require.Equal(t, []string{`{"id":1,"name":"a"}`}, l.rows(older))
}

// Files without ids are read by the name mapping, and by nothing else.
func TestFilesWithoutIDs(t *testing.T) {
	fields := optional("1", "a", "long") + `, {"id": 2, "name": "s", "required": false, "type": {"type": "struct", "fields": [` + optional("3", "x", "string") + `]}},
		{"id": 4, "name": "l", "required": false, "type": {"type": "list", "element-id": 5, "element-required": false, "element": "long"}}`
	schema := arrow.NewSchema([]arrow.Field{
		col(0, "l", arrow.ListOfField(col(0, "element", arrow.PrimitiveTypes.Int64))), col(0, "s", arrow.StructOf(col(0, "older", arrow.BinaryTypes.String))), col(0, "A", arrow.PrimitiveTypes.Int64),
	}, nil)
	l := newLake(t, 2, fields)
	l.commit(l.data("a.parquet", batchOf(t, schema, `{"A": 1, "s": {"older": "y"}, "l": [7, null]}`)))
	require.True(t, fault.Is(l.fails(l.scan()), fault.Unsupported))

	l.props["schema.name-mapping.default"] = `[{"field-id": 1, "names": ["a", "A"]}, {"field-id": 2, "names": ["s"], "fields": [{"field-id": 3, "names": ["x", "older"]}]},
		{"field-id": 4, "names": ["l"], "fields": [{"field-id": 5, "names": ["element"]}]}]`
	l.describe()
	require.Equal(t, []string{`{"a":1,"l":[7,null],"s":{"x":"y"}}`}, l.rows(l.scan()))
}

// A partition column that a migrated file lacks has the value of the partition.
func TestPartitionColumnThatFilesLack(t *testing.T) {
	for _, c := range []struct {
		typ   iceberg.Type
		value any
		want  string
	}{
		{iceberg.PrimitiveTypes.String, "EU", `"EU"`}, {iceberg.PrimitiveTypes.Int64, int64(7), "7"}, {iceberg.PrimitiveTypes.Int32, int32(7), "7"},
		{iceberg.PrimitiveTypes.Date, iceberg.Date(1), `"1970-01-02"`}, {iceberg.PrimitiveTypes.Bool, true, "true"}, {iceberg.PrimitiveTypes.Float64, 1.5, "1.5"},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.Timestamp(1), `"1970-01-01 00:00:00.000001"`}, {iceberg.PrimitiveTypes.String, nil, "null"},
	} {
		l := newLake(t, 2, idField+","+optional("2", "part", c.typ.String())).partitioned(2, "part", c.typ)
		e := l.data("a.parquet", batchOf(t, arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil), `{"id": 1}`))
		e.partition = c.value
		l.commit(e)
		require.Equal(t, l.written("part", c.want), l.rows(l.scan("part")), c.typ)
	}
}

// Defaults stand in for columns of after a file, of every type.
func TestInitialDefaults(t *testing.T) {
	for _, c := range []struct{ typ, value, want string }{
		{"int", "7", "7"}, {"long", "9007199254740993", "9007199254740993"}, {"double", "1.5", "1.5"}, {"float", "2", "2"}, {"boolean", "true", "true"},
		{"string", `"12"`, `"12"`}, {"decimal(9,2)", `"14.2"`, `"14.20"`}, {"date", `"2017-11-16"`, `"2017-11-16"`}, {"time", `"22:31:08.123456"`, `"22:31:08.123456"`},
		{"timestamp", `"2017-11-16T22:31:08.123456"`, `"2017-11-16 22:31:08.123456"`}, {"timestamptz", `"2017-11-16T22:31:08.123456+00:00"`, `"2017-11-16 22:31:08.123456Z"`},
		{"uuid", `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`}, {"binary", `"00ff"`, `"AP8="`}, {"fixed[2]", `"00ff"`, `"AP8="`},
	} {
		l := newLake(t, 3, idField+`,{"id": 2, "name": "v", "required": true, "type": "`+c.typ+`", "initial-default": `+c.value+`}`)
		l.commit(l.data("a.parquet", batchOf(t, arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil), `{"id": 1}`)))
		require.Equal(t, l.written("v", c.want), l.rows(l.scan("v")), c.typ)
	}
}

func TestRequiredColumnThatAFileLacks(t *testing.T) {
	l := newLake(t, 2, idField+`,{"id": 2, "name": "v", "required": true, "type": "long"}`)
	l.commit(l.data("a.parquet", batchOf(t, arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil), `{"id": 1}`)))
	err := l.fails(l.scan())
	require.Contains(t, fault.PublicMessage(err), "a.parquet lacks the column v")
	require.Equal(t, []string{`{"id":1}`}, l.rows(l.scan("id")))
}

// A struct of which a file has none of the wanted fields is still NULL where it was.
func TestStructWithoutItsFields(t *testing.T) {
	l := newLake(t, 2, `{"id": 2, "name": "s", "required": false, "type": {"type": "struct", "fields": [`+optional("3", "gone", "long")+","+optional("4", "added", "string")+`]}}`)
	schema := arrow.NewSchema([]arrow.Field{col(2, "s", arrow.StructOf(col(3, "gone", arrow.PrimitiveTypes.Int64)))}, nil)
	l.commit(l.data("a.parquet", batchOf(t, schema, `{"s": {"gone": 1}}`, `{"s": null}`, `{"s": {"gone": null}}`)))
	require.Equal(t, []string{`{"s":{"added":null}}`, `{"s":null}`, `{"s":{"added":null}}`}, l.rows(l.scan("s.added")))
	require.Len(t, l.rows(l.where(l.scan("s"), "s IS NULL")), 1)
}

// Lists of older writers have two levels.
func TestListsOfTwoLevels(t *testing.T) {
	l := newLake(t, 2, `{"id": 1, "name": "l", "required": false, "type": {"type": "list", "element-id": 2, "element-required": true, "element": "int"}}`)
	l.write("a.parquet", twoLevelList(t))
	l.commit(entry{path: "a.parquet", records: 4})
	require.Equal(t, []string{`{"l":[1,2]}`, `{"l":null}`, `{"l":[]}`, `{"l":[3]}`}, l.rows(l.scan()))
}

// Equality deletes compare as Iceberg does: NaN is itself, and 0 is not -0.
func TestEqualityDeletesOfFloats(t *testing.T) {
	l := newLake(t, 2, optional("1", "v", "double"))
	floats := func(values ...float64) arrow.RecordBatch {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		b.AppendNull()
		return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{col(1, "v", arrow.PrimitiveTypes.Float64)}, nil), []arrow.Array{b.NewArray()}, int64(len(values)+1))
	}
	l.commit(l.data("a.parquet", floats(math.NaN(), math.Copysign(0, -1), 0, 1)))
	l.commit(l.equality("eq.parquet", []int{1}, floats(math.Float64frombits(0x7ff8000000000002), 0).NewSlice(0, 2)))
	require.Equal(t, []string{`{"v":-0}`, `{"v":1}`, `{"v":null}`}, l.rows(l.scan()))

	page, err := l.reader(tableread.Options{}).Page(t.Context(), l.scan(), []int{1}, nil, 2)
	require.NoError(t, err)
	require.Equal(t, []string{`{"v":null}`, `{"v":-0}`}, rowsOf(t, page.Rows))
	require.True(t, page.More)
}

// Deletes by a column that was dropped since still count.
func TestEqualityDeletesOfADroppedColumn(t *testing.T) {
	l := newLake(t, 2, idField+","+optional("2", "name", "string"), idField)
	schema := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64)), col(2, "name", arrow.BinaryTypes.String)}, nil)
	l.commit(l.data("a.parquet", batchOf(t, schema, `{"id": 1, "name": "a"}`, `{"id": 2, "name": "b"}`, `{"id": 3, "name": null}`)))
	names := arrow.NewSchema([]arrow.Field{col(2, "name", arrow.BinaryTypes.String)}, nil)
	l.commit(l.equality("eq.parquet", []int{2}, batchOf(t, names, `{"name": "b"}`, `{"name": null}`)))
	l.commit(l.data("b.parquet", batchOf(t, schema, `{"id": 4, "name": "b"}`)))
	require.Equal(t, []string{`{"id":1}`, `{"id":4}`}, l.rows(l.scan()))
}

func TestUnknownColumnsAndSchemas(t *testing.T) {
	l := newLake(t, 2, idField)
	require.True(t, fault.Is(l.fails(l.scan("nope")), fault.Invalid))
	s := l.scan()
	s.SchemaID = 9
	require.True(t, fault.Is(l.fails(s), fault.Invalid))
	require.Empty(t, l.rows(l.scan()), "a table without a snapshot has no rows")
	page, err := l.reader(tableread.Options{}).Page(t.Context(), l.scan(), []int{1}, nil, 10)
	require.NoError(t, err)
	require.False(t, page.More)
	require.Nil(t, page.Rows)
}

// A limit ends early, and gives no row more.
func TestLimit(t *testing.T) {
	w := newWorld(t, 3, 2)
	s := w.scan("id")
	all := w.lake.rows(s)
	for _, n := range []int64{1, 17, int64(len(all)), int64(len(all)) + 5} {
		s.Limit = n
		require.Equal(t, all[:min(n, int64(len(all)))], w.lake.rows(s))
		require.Len(t, w.rows2(s, 4), int(min(n, int64(len(all)))))
	}
}

// written gives a row of one column as rows gives it.
func (l *lake) written(column, value string) []string {
	schema, err := l.reader(tableread.Options{}).Schema(l.scan(column))
	require.NoError(l.t, err)
	return rowsOf(l.t, batchOf(l.t, schema, `{"`+column+`": `+value+`}`))
}

// A delete removes rows of before it alone, whichever other deletes by the same columns reach a file.
func TestEqualityDeletesInTheirOrder(t *testing.T) {
	l := newLake(t, 2, idField)
	ids := arrow.NewSchema([]arrow.Field{required(col(1, "id", arrow.PrimitiveTypes.Int64))}, nil)
	l.commit(l.data("a.parquet", batchOf(t, ids, `{"id": 1}`, `{"id": 2}`, `{"id": 3}`)))
	l.commit(l.equality("first.parquet", []int{1}, batchOf(t, ids, `{"id": 1}`)))
	l.commit(l.data("b.parquet", batchOf(t, ids, `{"id": 1}`, `{"id": 2}`)))
	l.commit(l.equality("second.parquet", []int{1}, batchOf(t, ids, `{"id": 2}`)))
	require.Equal(t, []string{`{"id":3}`, `{"id":1}`}, l.rows(l.scan()))
}

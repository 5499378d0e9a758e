package scan_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/scan"
)

var identity = iceberg.IdentityTransform{}

// oneValue plans a table that is partitioned by the identity of a column and gives the value as answered.
func oneValue(t *testing.T, typ iceberg.Type, value any, logical string, fixed int) (string, *lake) {
	version := 2
	if _, nanos := typ.(iceberg.TimestampNsType); nanos {
		version = 3
	}
	if _, nanos := typ.(iceberg.TimestampTzNsType); nanos {
		version = 3
	}
	l := newLake(t, version, schemaOf(field(1, "v", typ)),
		specOf(0, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Transform: identity, Name: "v"}))
	f := data("1", map[int]any{1000: value}, 1)
	if logical != "" {
		f.logical = map[int]string{1000: logical}
	}
	if fixed > 0 {
		f.fixed = map[int]int{1000: fixed}
	}
	l.commit("append", l.manifest(0, l.id(), false, f))
	plan := l.plan(scan.Request{})
	decode(t, l, plan.Page)
	return string(plan.Tasks[0].DataFile.Partition[0]), l
}

func TestPartitionValuesAreWrittenAsTheProtocolSays(t *testing.T) {
	dec, err := iceberg.StringLiteral("-14.20").To(iceberg.DecimalTypeOf(9, 2))
	require.NoError(t, err)
	id := uuid.MustParse("f79c3e09-677c-4bbd-a479-3f349cb785e7")
	at := time.Date(2017, 11, 16, 22, 31, 8, 123456789, time.UTC)
	for _, c := range []struct {
		typ     iceberg.Type
		value   any
		logical string
		fixed   int
		want    string
	}{
		{iceberg.PrimitiveTypes.Bool, true, "", 0, `true`},
		{iceberg.PrimitiveTypes.Int32, int32(-7), "", 0, `-7`},
		{iceberg.PrimitiveTypes.Int64, int64(math.MaxInt64), "", 0, `9223372036854775807`},
		{iceberg.PrimitiveTypes.Float32, float32(0.1), "", 0, `0.1`},
		{iceberg.PrimitiveTypes.Float64, 1e300, "", 0, `1e+300`},
		{iceberg.PrimitiveTypes.String, "a\"é", "", 0, `"a\"é"`},
		{iceberg.PrimitiveTypes.Date, iceberg.Date(-1), "date", 0, `"1969-12-31"`},
		{iceberg.PrimitiveTypes.Time, iceberg.Time(3723000004), "time-micros", 0, `"01:02:03.000004"`},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.Timestamp(at.UnixMicro()), "timestamp-micros", 0, `"2017-11-16T22:31:08.123456"`},
		{iceberg.PrimitiveTypes.TimestampTz, iceberg.Timestamp(-1), "timestamp-micros", 0, `"1969-12-31T23:59:59.999999+00:00"`},
		{iceberg.PrimitiveTypes.TimestampNs, iceberg.TimestampNano(at.UnixNano()), "timestamp-nanos", 0, `"2017-11-16T22:31:08.123456789"`},
		{iceberg.DecimalTypeOf(9, 2), iceberg.Decimal(dec.(iceberg.DecimalLiteral)), "decimal", 2, `"-14.20"`},
		{iceberg.PrimitiveTypes.UUID, id, "uuid", 0, `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`},
		{iceberg.PrimitiveTypes.Binary, []byte{0, 0xab, 0xff}, "", 0, `"00ABFF"`},
		{iceberg.PrimitiveTypes.String, nil, "", 0, `null`},
	} {
		t.Run(c.typ.String()+" "+c.want, func(t *testing.T) {
			got, l := oneValue(t, c.typ, c.value, c.logical, c.fixed)
			assert.Equal(t, c.want, got)
			// What is written can be asked for, and finds its file and no other.
			if c.want == "null" {
				return
			}
			eq := `{"type":"eq","term":"v","value":` + got + `}`
			assert.Len(t, l.plan(filter(eq)).Tasks, 1)
			if c.typ != iceberg.PrimitiveTypes.Float32 {
				assert.JSONEq(t, "true", string(l.plan(filter(eq)).Tasks[0].Residual))
				assert.Empty(t, l.plan(filter(`{"type":"not-eq","term":"v","value":`+got+`}`)).Tasks)
			}
		})
	}
}

func TestLiteralsComeInSeveralForms(t *testing.T) {
	for _, c := range []struct {
		typ      iceberg.Type
		value    any
		logical  string
		literals string
	}{
		{iceberg.PrimitiveTypes.Date, iceberg.Date(19000), "date", `19000 "2022-01-08" {"type":"literal","value":"2022-01-08","data-type":"date"}`},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.Timestamp(60_000_000), "timestamp-micros", `60000000 "1970-01-01T00:01:00" "1970-01-01T00:01" "1970-01-01T00:01:00.000000"`},
		{iceberg.PrimitiveTypes.TimestampTz, iceberg.Timestamp(60_000_000), "timestamp-micros", `"1970-01-01T00:01:00+00:00" "1970-01-01T00:01Z" "1970-01-01T01:01:00+01:00"`},
		{iceberg.PrimitiveTypes.Int64, int64(5), "", `5 5.0 5e0`},
		{iceberg.PrimitiveTypes.Binary, []byte{0xab}, "", `"ab" "AB"`},
	} {
		_, l := oneValue(t, c.typ, c.value, c.logical, 0)
		for literal := range strings.SplitSeq(c.literals, " ") {
			assert.Len(t, l.plan(filter(`{"type":"eq","term":"v","value":`+literal+`}`)).Tasks, 1, literal)
			assert.Empty(t, l.plan(filter(`{"type":"gt","term":"v","value":`+literal+`}`)).Tasks, literal)
			assert.Empty(t, l.plan(filter(`{"type":"lt","term":"v","value":`+literal+`}`)).Tasks, literal)
		}
	}
}

// bounded is a table of one file with statistics of column v.
func bounded(t *testing.T, typ iceberg.Type, build func(*iceberg.DataFileBuilder)) *lake {
	l := newLake(t, 3, schemaOf(field(1, "v", typ), field(2, "other", iceberg.PrimitiveTypes.Int64)))
	l.commit("append", l.manifest(0, l.id(), false, data("1", nil, 10, build)))
	return l
}

func bounds(lower, upper []byte) func(*iceberg.DataFileBuilder) {
	return func(b *iceberg.DataFileBuilder) {
		b.ValueCounts(map[int]int64{1: 10}).NullValueCounts(map[int]int64{1: 0})
		b.LowerBoundValues(map[int][]byte{1: lower}).UpperBoundValues(map[int][]byte{1: upper})
	}
}

func TestStatisticsNeverLoseAFile(t *testing.T) {
	one, two := bin(t, iceberg.Float64Literal(1)), bin(t, iceberg.Float64Literal(2))
	nan := bin(t, iceberg.Float64Literal(math.NaN()))
	nans := func(n int64) func(*iceberg.DataFileBuilder) {
		return func(b *iceberg.DataFileBuilder) {
			bounds(one, two)(b)
			b.NaNValueCounts(map[int]int64{1: n})
		}
	}
	counts := func(values, nulls int64) func(*iceberg.DataFileBuilder) {
		return func(b *iceberg.DataFileBuilder) {
			b.ValueCounts(map[int]int64{1: values}).NullValueCounts(map[int]int64{1: nulls})
		}
	}
	double, long, text := iceberg.PrimitiveTypes.Float64, iceberg.PrimitiveTypes.Int64, iceberg.PrimitiveTypes.String
	signedLow, signedHigh := uuid.MustParse("f0000000-0000-0000-0000-000000000000"), uuid.MustParse("70000000-0000-0000-0000-000000000000")
	for name, c := range map[string]struct {
		typ    iceberg.Type
		build  func(*iceberg.DataFileBuilder)
		filter string
		stays  bool
	}{
		"no statistics":                     {long, nil, `{"type":"eq","term":"v","value":1}`, true},
		"NaN may be above all":              {double, nans(1), `{"type":"gt","term":"v","value":5}`, true},
		"unknown NaNs may be above all":     {double, bounds(one, two), `{"type":"gt","term":"v","value":5}`, true},
		"no NaN, nothing above":             {double, nans(0), `{"type":"gt","term":"v","value":5}`, false},
		"NaN is never below":                {double, nans(1), `{"type":"lt","term":"v","value":1}`, false},
		"bounds of NaN are none":            {double, bounds(nan, nan), `{"type":"eq","term":"v","value":7}`, true},
		"no NaN asked for NaN":              {double, nans(0), `{"type":"is-nan","term":"v"}`, false},
		"all NaN":                           {double, nans(10), `{"type":"not-nan","term":"v"}`, false},
		"minus zero is below zero for some": {double, bounds(bin(t, iceberg.Float64Literal(math.Copysign(0, -1))), two), `{"type":"lt","term":"v","value":0}`, true},
		"inexact float":                     {iceberg.PrimitiveTypes.Float32, bounds(bin(t, iceberg.Float32Literal(0.1)), bin(t, iceberg.Float32Literal(0.1))), `{"type":"eq","term":"v","value":0.1}`, true},
		"inexact timestamp":                 {iceberg.PrimitiveTypes.Timestamp, bounds(bin(t, iceberg.TimestampLiteral(1)), bin(t, iceberg.TimestampLiteral(1))), `{"type":"gt","term":"v","value":"1970-01-01T00:00:00.000000999"}`, true},
		"all null":                          {long, counts(10, 10), `{"type":"gt","term":"v","value":5}`, false},
		"all null, negated":                 {long, counts(10, 10), `{"type":"not","child":{"type":"gt","term":"v","value":5}}`, true},
		"all null is not null":              {long, counts(10, 10), `{"type":"not-null","term":"v"}`, false},
		"no null":                           {long, counts(10, 0), `{"type":"is-null","term":"v"}`, false},
		"no counts":                         {long, counts(0, 0), `{"type":"not-null","term":"v"}`, true},
		"bounds upside down":                {long, bounds(bin(t, iceberg.Int64Literal(9)), bin(t, iceberg.Int64Literal(1))), `{"type":"eq","term":"v","value":5}`, true},
		"bounds of odd length":              {long, bounds([]byte{1, 2}, []byte{3}), `{"type":"eq","term":"v","value":5}`, true},
		"bounds of the narrower type":       {long, bounds(bin(t, iceberg.Int32Literal(-5)), bin(t, iceberg.Int32Literal(5))), `{"type":"eq","term":"v","value":-6}`, false},
		"bounds of a date":                  {iceberg.PrimitiveTypes.Timestamp, bounds(bin(t, iceberg.DateLiteral(1)), bin(t, iceberg.DateLiteral(2))), `{"type":"eq","term":"v","value":"1970-01-02T00:00:00"}`, true},
		"bounds of a later date":            {iceberg.PrimitiveTypes.Timestamp, bounds(bin(t, iceberg.DateLiteral(1)), bin(t, iceberg.DateLiteral(2))), `{"type":"lt","term":"v","value":"1970-01-02T00:00:00"}`, false},
		"truncated upper bound":             {text, bounds([]byte("aa"), []byte("ab")), `{"type":"eq","term":"v","value":"aaz"}`, true},
		"prefix within":                     {text, bounds([]byte("aab"), []byte("abc")), `{"type":"starts-with","term":"v","value":"ab"}`, true},
		"prefix beyond":                     {text, bounds([]byte("aab"), []byte("abc")), `{"type":"starts-with","term":"v","value":"b"}`, false},
		"all have the prefix":               {text, bounds([]byte("aab"), []byte("aac")), `{"type":"not-starts-with","term":"v","value":"aa"}`, false},
		"some may lack it":                  {text, bounds([]byte("aab"), []byte("ab")), `{"type":"not-starts-with","term":"v","value":"aa"}`, true},
		"empty lower bound":                 {text, bounds([]byte{}, []byte("b")), `{"type":"lt","term":"v","value":"a"}`, true},
		"beyond int range":                  {iceberg.PrimitiveTypes.Int32, bounds(bin(t, iceberg.Int32Literal(1)), bin(t, iceberg.Int32Literal(9))), `{"type":"lt","term":"v","value":3000000000}`, true},
		"uuid in signed order":              {iceberg.PrimitiveTypes.UUID, bounds(signedLow[:], signedHigh[:]), `{"type":"eq","term":"v","value":"00000000-0000-0000-0000-000000000001"}`, true},
		"decimal of another scale":          {iceberg.DecimalTypeOf(9, 2), bounds([]byte{100}, []byte{120}), `{"type":"gt","term":"v","value":"1.1999"}`, true},
		"decimal beyond":                    {iceberg.DecimalTypeOf(9, 2), bounds([]byte{100}, []byte{120}), `{"type":"gt","term":"v","value":1.20}`, false},
		"negative decimal":                  {iceberg.DecimalTypeOf(9, 2), bounds([]byte{0xff}, []byte{0xff}), `{"type":"eq","term":"v","value":-0.01}`, true},
		"not equal to the only value":       {long, bounds(bin(t, iceberg.Int64Literal(5)), bin(t, iceberg.Int64Literal(5))), `{"type":"not-eq","term":"v","value":5}`, false},
		"not equal to one end":              {long, bounds(bin(t, iceberg.Int64Literal(5)), bin(t, iceberg.Int64Literal(6))), `{"type":"not-eq","term":"v","value":5}`, true},
		"other column":                      {long, bounds(bin(t, iceberg.Int64Literal(5)), bin(t, iceberg.Int64Literal(5))), `{"type":"eq","term":"other","value":5}`, true},
		"many members, none is the value":   {long, bounds(bin(t, iceberg.Int64Literal(50)), bin(t, iceberg.Int64Literal(50))), `{"type":"in","term":"v","values":[0` + manyMembers() + `]}`, false},
		"many members, range within":        {long, bounds(bin(t, iceberg.Int64Literal(50)), bin(t, iceberg.Int64Literal(60))), `{"type":"in","term":"v","values":[0` + strings.Repeat(",1", 2) + manyMembers() + `]}`, true},
	} {
		tasks := bounded(t, c.typ, func(b *iceberg.DataFileBuilder) {
			if c.build != nil {
				c.build(b)
			}
		}).plan(filter(c.filter)).Tasks
		assert.Equal(t, c.stays, len(tasks) == 1, name)
	}
}

func manyMembers() string {
	var b strings.Builder
	for i := range 300 {
		b.WriteString("," + big.NewInt(int64(1000+i)).String())
	}
	return b.String()
}

func TestStatisticsAreAnsweredWhenAskedFor(t *testing.T) {
	l := bounded(t, iceberg.PrimitiveTypes.Int64, func(b *iceberg.DataFileBuilder) {
		bounds(bin(t, iceberg.Int64Literal(1)), bin(t, iceberg.Int64Literal(-1)))(b)
		b.ColumnSizes(map[int]int64{1: 77, 2: 88}).KeyMetadata([]byte{0xde, 0xad}).SplitOffsets([]int64{4, 90}).SortOrderID(0)
	})
	without := l.plan(scan.Request{}).Tasks[0].DataFile
	raw, err := json.Marshal(without)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "counts")
	assert.NotContains(t, string(raw), "bounds")
	assert.Contains(t, string(raw), `"key-metadata":"DEAD","split-offsets":[4,90],"sort-order-id":0`)

	plan := l.plan(scan.Request{StatsFields: []string{"v", "no such column"}})
	raw, err = json.Marshal(plan.Tasks[0].DataFile)
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"column-sizes":{"keys":[1],"values":[77]}`)
	assert.Contains(t, string(raw), `"lower-bounds":{"keys":[1],"values":["0100000000000000"]}`)
	assert.Contains(t, string(raw), `"upper-bounds":{"keys":[1],"values":["FFFFFFFFFFFFFFFF"]}`)
	tasks := decode(t, l, plan.Page)
	assert.Equal(t, map[int]int64{1: 10}, tasks[0].File.ValueCounts())
}

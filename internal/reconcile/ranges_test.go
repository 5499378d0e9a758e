package reconcile_test

import (
	"bytes"
	"math"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A merged manifest whose range in the list leaves out a kept file hides it from every query that filters on the
// partition: that must be seen for each type that a table can be partitioned by, and honest ranges must pass.
func TestPartitionRangesOfEveryType(t *testing.T) {
	for _, c := range []struct {
		name      string
		typ       iceberg.Type
		low, high any
		logical   string
	}{
		{"string", iceberg.PrimitiveTypes.String, "a", "z", ""},
		{"boolean", iceberg.PrimitiveTypes.Bool, false, true, ""},
		{"int", iceberg.PrimitiveTypes.Int32, int32(-5), int32(300), ""},
		{"long", iceberg.PrimitiveTypes.Int64, int64(-5), int64(1 << 40), ""},
		{"float", iceberg.PrimitiveTypes.Float32, float32(-1.5), float32(2), ""},
		{"double", iceberg.PrimitiveTypes.Float64, -1.5, 2e10, ""},
		{"date", iceberg.PrimitiveTypes.Date, iceberg.Date(10), iceberg.Date(20000), "date"},
		{"timestamp", iceberg.PrimitiveTypes.Timestamp, iceberg.Timestamp(-1), iceberg.Timestamp(1e15), "timestamp-micros"},
		{"binary", iceberg.PrimitiveTypes.Binary, []byte{1}, []byte{200, 1}, ""},
		{"uuid", iceberg.PrimitiveTypes.UUID, uuid.MustParse("10000000-0000-0000-0000-000000000000"),
			uuid.MustParse("20000000-0000-0000-0000-000000000000"), "uuid"},
		{"decimal", iceberg.DecimalTypeOf(9, 2), iceberg.Decimal{Val: decimal128.FromI64(-700), Scale: 2},
			iceberg.Decimal{Val: decimal128.FromI64(123456), Scale: 2}, "decimal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLakeOf(t, 2, c.typ)
			rows := func(status iceberg.ManifestEntryStatus) []row {
				sequence := int64(0)
				if status == existing {
					sequence = 1
				}
				return []row{
					{status: status, path: "a", records: 1, value: c.low, logical: c.logical, snapshot: 1, sequence: sequence},
					{status: status, path: "b", records: 1, value: c.high, logical: c.logical, snapshot: 1, sequence: sequence},
				}
			}
			parent := l.snapshot(1, nil, l.manifest("m1.avro", 1, rows(added)...))
			merged := l.manifest("merged.avro", 3, rows(existing)...)
			ok, why := l.verdict(t, parent, merged)
			require.True(t, ok, why)

			narrow := merged.Partitions()
			narrow[0].UpperBound = narrow[0].LowerBound
			ok, why = l.verdict(t, parent, withRanges(merged, narrow))
			require.False(t, ok)
			require.Contains(t, why, "partition range")
			high := merged.Partitions()
			high[0].LowerBound = high[0].UpperBound
			ok, _ = l.verdict(t, parent, withRanges(merged, high))
			require.False(t, ok)
		})
	}
}

func withRanges(m iceberg.ManifestFile, ranges []iceberg.FieldSummary) iceberg.ManifestFile {
	return iceberg.NewManifestFile(2, m.FilePath(), m.Length(), m.PartitionSpecID(), 3).SequenceNum(3, 1).
		ExistingFiles(m.ExistingDataFiles()).ExistingRows(m.ExistingRows()).Partitions(ranges).Build()
}

func TestRangesOfNullAndNaN(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name  string
		value any
		forge func(*iceberg.FieldSummary)
		ok    bool
	}{
		{"null is covered", missing, func(*iceberg.FieldSummary) {}, true},
		{"null is left out", missing, func(s *iceberg.FieldSummary) { s.ContainsNull = false }, false},
		{"NaN is covered", math.NaN(), func(*iceberg.FieldSummary) {}, true},
		{"NaN may be unknown", math.NaN(), func(s *iceberg.FieldSummary) { s.ContainsNaN = nil }, true},
		{"NaN is stated", math.NaN(), func(s *iceberg.FieldSummary) { s.ContainsNaN = &yes }, true},
		{"NaN is left out", math.NaN(), func(s *iceberg.FieldSummary) { s.ContainsNaN = &no }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLakeOf(t, 2, iceberg.PrimitiveTypes.Float64)
			parent := l.snapshot(1, nil, l.manifest("m1.avro", 1, row{status: added, path: "a", records: 1, value: c.value}))
			merged := l.manifest("merged.avro", 3, row{status: existing, path: "a", records: 1, value: c.value, snapshot: 1, sequence: 1})
			ranges := merged.Partitions()
			c.forge(&ranges[0])
			ok, why := l.verdict(t, parent, withRanges(merged, ranges))
			require.Equal(t, c.ok, ok, why)
		})
	}
}

// PyIceberg writes no schema-id into a manifest's header; its merged manifests are as good as any.
func TestMergedManifestWithoutSchemaIDInItsHeader(t *testing.T) {
	l := newLake(t, 2)
	parent := l.snapshot(1, nil, l.manifest("m1.avro", 1, row{status: added, path: "a", records: 1}))
	merged := l.manifest("merged.avro", 3, row{status: existing, path: "a", records: 1, snapshot: 1, sequence: 1})
	raw, err := os.ReadFile(l.path("merged.avro"))
	require.NoError(t, err)
	headless := bytes.Replace(raw, []byte("schema-id\x02"), []byte("schema-xx\x02"), 1)
	require.NotEqual(t, raw, headless)
	require.NoError(t, os.WriteFile(l.path("merged.avro"), headless, 0o600))
	ok, why := l.verdict(t, parent, merged)
	require.True(t, ok, why)
}

package reconcile_test

import (
	"fmt"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/models"
)

// Partitions are called as paths call them.
func TestPartitionsAreCalledAsInPaths(t *testing.T) {
	for _, c := range []struct {
		typ       iceberg.Type
		transform iceberg.Transform
		value     any
		logical   string
		want      string
	}{
		{iceberg.PrimitiveTypes.String, iceberg.IdentityTransform{}, "a/b=c ü", "", "p=a%2Fb%3Dc+%C3%BC"},
		{iceberg.PrimitiveTypes.String, iceberg.IdentityTransform{}, missing, "", "p=null"},
		{iceberg.PrimitiveTypes.String, iceberg.TruncateTransform{Width: 2}, "ab", "", "p=ab"},
		{iceberg.PrimitiveTypes.Int64, iceberg.IdentityTransform{}, int64(-5), "", "p=-5"},
		{iceberg.PrimitiveTypes.Int64, iceberg.BucketTransform{NumBuckets: 8}, int32(3), "", "p=3"},
		{iceberg.PrimitiveTypes.Bool, iceberg.IdentityTransform{}, true, "", "p=true"},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.YearTransform{}, int32(56), "", "p=2026"},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.MonthTransform{}, int32(673), "", "p=2026-02"},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.MonthTransform{}, int32(-1), "", "p=1969-12"},
		{iceberg.PrimitiveTypes.Timestamp, iceberg.HourTransform{}, int32(25), "", "p=1970-01-02-01"},
		{iceberg.PrimitiveTypes.Date, iceberg.IdentityTransform{}, iceberg.Date(-1), "", "p=1969-12-31"},
		{iceberg.PrimitiveTypes.Float64, iceberg.IdentityTransform{}, 1.5, "", "p=1.5"},
	} {
		t.Run(fmt.Sprint(c.transform, " ", c.want), func(t *testing.T) {
			l := newTableLake(t, 2, field(2, "city", c.typ.String()))
			l.schema = iceberg.NewSchema(0, iceberg.NestedField{ID: 2, Name: "city", Type: c.typ})
			l.spec = iceberg.NewPartitionSpec(iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1000, Name: "p", Transform: c.transform})
			l.describe(fmt.Sprintf(`{"spec-id": 0, "fields": [{"field-id": 1000, "source-id": 2, "name": "p", "transform": %q}]}`, c.transform), field(2, "city", c.typ.String()))
			snap := l.commit(row{status: added, path: "a.parquet", records: 3, value: c.value, logical: c.logical})
			require.Equal(t, []models.PartitionChange{{Partition: c.want, AddedRows: 3, AddedFiles: 1}}, l.count(snap).Partitions)
		})
	}
}

// A commit to a thousand partitions is told by those with the most rows, in an order that is always the same.
func TestThePartitionsWithTheMostRowsAreKept(t *testing.T) {
	l := newTableLake(t, 2, nameField).partitioned(2, nameField)
	var rows []row
	for n := range 300 {
		rows = append(rows, row{status: added, path: fmt.Sprint(n), records: int64(n), city: fmt.Sprintf("%03d", n)})
	}
	m := l.manifest("m.avro", 1, rows...)
	snap := l.snapshot(1, nil, m)
	first := l.count(snap)
	require.Len(t, first.Partitions, models.MostPartitions)
	require.Equal(t, models.PartitionChange{Partition: "p=299", AddedRows: 299, AddedFiles: 1}, first.Partitions[0])
	require.Equal(t, first.Partitions, l.count(snap).Partitions)
	require.Equal(t, int64(300), first.AddedFiles)
}

func TestAnUnpartitionedTableIsOnePartition(t *testing.T) {
	l := newTableLake(t, 2, idField)
	snap := l.commit(row{status: added, path: "a.parquet", records: 3})
	require.Equal(t, []models.PartitionChange{{AddedRows: 3, AddedFiles: 1}}, l.count(snap).Partitions)
}

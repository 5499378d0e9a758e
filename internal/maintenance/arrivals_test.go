package maintenance_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/models"
)

// recorded is the files that commits brought, by the ids of their records.
type recorded []string

func (r recorded) KnownFiles(_ context.Context, ids []string) ([]models.FileRecord, error) {
	var out []models.FileRecord
	for _, id := range ids {
		if slices.Contains(r, id) {
			out = append(out, models.FileRecord{ID: id})
		}
	}
	return out, nil
}

func TestArrivalsAreFilesThatNoCommitBrought(t *testing.T) {
	l := newLake(t)
	orders := l.table("orders")
	row := models.Table{ID: "t1", Location: orders.location}
	since := time.Now().Add(-time.Hour)
	look := func(known recorded) findings.Arrivals {
		out, err := maintenance.NewArrivals(l.files, known).Arrivals(t.Context(), row, since)
		require.NoError(t, err)
		return out
	}
	require.Equal(t, findings.Arrivals{Looked: true}, look(nil), "metadata is none, however new")

	l.put("orders/data/day=1/old.parquet", 2*time.Hour)
	l.put("orders/data/day=1/a.parquet", 30*time.Minute)
	l.put("orders/data/day=2/b.parquet", 10*time.Minute)
	l.put("orders-of-others/data/c.parquet", time.Minute)
	got := look(nil)
	require.WithinDuration(t, time.Now().Add(-10*time.Minute), got.Newest, time.Minute)
	got.Newest = time.Time{}
	require.Equal(t, findings.Arrivals{Looked: true, Files: 2, Bytes: 20}, got)

	require.EqualValues(t, 1, look(recorded{models.FileRecordID("t1", orders.location+"/data/day=1/a.parquet")}).Files, "another writer committed it")
	row.Location = "file:" + l.root + "/orders/" // as some engines spell it
	require.EqualValues(t, 1, look(recorded{models.FileRecordID("t1", row.Location+"data/day=1/a.parquet")}).Files)
}

// endless is a store that has files without an end.
type endless struct{ pages int }

func (e *endless) List(_ context.Context, prefix, _ string, limit int) ([]objects.Info, error) {
	out := make([]objects.Info, limit)
	for i := range out {
		out[i] = objects.Info{Location: fmt.Sprintf("%s/data/%d-%d.parquet", prefix, e.pages, i), Size: 1, Modified: time.Now()}
	}
	e.pages++
	return out, nil
}

func TestArrivalsAreListedWithinABound(t *testing.T) {
	store := &endless{}
	out, err := maintenance.NewArrivals(store, recorded{}).Arrivals(t.Context(), models.Table{ID: "t1", Location: "s3://b/orders"}, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.True(t, out.Partial)
	require.EqualValues(t, 10_000, out.Files)
	require.Equal(t, 10, store.pages)
}

func TestArrivalsOfATableOutOfReachAreAnError(t *testing.T) {
	l := newLake(t)
	_, err := maintenance.NewArrivals(l.files, recorded{}).Arrivals(t.Context(), models.Table{ID: "t1", Location: "file:///elsewhere"}, time.Now())
	require.Error(t, err)
}

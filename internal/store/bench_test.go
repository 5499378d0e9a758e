package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

// BenchmarkSwap measures whole commits to as many tables as there are writers: pointer, ledger, outbox, audit.
// SQLite syncs every commit; what PostgreSQL does is its server's setting (SLUICE_TEST_POSTGRES_URL), off in pgtest's.
func BenchmarkSwap(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": sqliteURL, "postgres": pgtest.Database} {
		for _, writers := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				s := migrated(b, url(b))
				benchmarkSwap(b, s, benchTables(b, s, writers))
			})
		}
	}
}

func benchTables(b testing.TB, s *store.Store, n int) []models.Table {
	b.Helper()
	cat := models.Catalog{ID: uuid.NewString(), Name: "main", BaseLocation: "s3://lake", DefaultWritePolicy: models.OpenAppend}
	require.NoError(b, s.Bootstrap(b.Context(), access.Bootstrap{
		Root: models.Principal{ID: uuid.NewString(), Name: models.RootPrincipal, ClientID: "root"}, Catalog: cat,
	}))
	ns := models.Namespace{ID: uuid.NewString(), CatalogID: cat.ID, Key: "bench"}
	require.NoError(b, s.CreateNamespace(b.Context(), ns, models.AuditEvent{Type: models.AuditNamespaceCreated}))
	tables := make([]models.Table, n)
	for i := range tables {
		id := uuid.NewString()
		tables[i] = models.Table{
			ID: id, CatalogID: cat.ID, NamespaceID: ns.ID, Name: fmt.Sprint("t", i), UUID: id, FormatVersion: 2,
			Location: "s3://lake/" + id, WritePolicy: models.OpenAppend, Classification: models.Internal,
		}
		require.NoError(b, s.CreateTable(b.Context(), tables[i], catalog.Effects{}))
	}
	return tables
}

func benchmarkSwap(b *testing.B, s *store.Store, tables []models.Table) {
	var next atomic.Int64
	var writers sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	began := time.Now()
	for _, row := range tables {
		writers.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := s.SwapTables(b.Context(), []catalog.Swap{benchSwap(row, n)}); err != nil {
					b.Error(err)
					return
				}
				row.Version++
			}
		})
	}
	writers.Wait()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "swaps/s")
}

func benchSwap(row models.Table, snapshot int64) catalog.Swap {
	row.CurrentSnapshotID = &snapshot
	row.MetadataLocation = row.Location + "/metadata/" + uuid.NewString() + ".metadata.json"
	return catalog.Swap{Table: row, Effects: catalog.Effects{
		Commits: []models.Commit{{
			CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: "bench." + row.Name, SnapshotID: snapshot,
			SequenceNumber: snapshot, Ref: "main", Operation: "append", Kind: models.ExternalCommit, Status: models.CommitPending,
			Summary: models.JSON[map[string]string]{V: map[string]string{
				"added-data-files": "1", "added-records": "1000", "added-files-size": "123456", "total-records": "1000000",
				"total-files-size": "123456789", "total-data-files": "1000", "engine-name": "spark", "engine-version": "3.5.6",
			}},
			MetadataLocation: row.MetadataLocation,
			Writer:           models.JSON[models.Writer]{V: models.Writer{Principal: "job", Engine: "spark", RequestID: uuid.NewString()}},
		}},
		Audit: []models.AuditEvent{{
			EventID: uuid.NewString(), Type: models.AuditTableCommitted, Principal: "job", Catalog: "main", Namespace: "bench",
			Table: "bench." + row.Name, TableUUID: row.UUID, SnapshotID: &snapshot, Allowed: true, RequestID: uuid.NewString(),
			Details: models.JSON[map[string]any]{V: map[string]any{"operation": "append"}},
		}},
	}}
}

package store_test

import (
	"crypto/rand"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/internal/store/pgtest"
	"github.com/sluice-data/sluice/models"
)

// BenchmarkGovernedWrite measures the commit of a governed write of a million rows with their audit.
func BenchmarkGovernedWrite(b *testing.B) {
	records := make([]rowaudit.Record, 1_000_000)
	for i := range records {
		_, _ = rand.Read(records[i].Hash[:])
	}
	blocks := rowaudit.Pack(records)
	for name, url := range map[string]func(testing.TB) string{"sqlite": sqliteURL, "postgres": pgtest.Database} {
		b.Run(name, func(b *testing.B) {
			s := migrated(b, url(b))
			row := benchTables(b, s, 1)[0]
			var next int64
			for b.Loop() {
				next++
				row.CurrentSnapshotID = &next
				write := models.GovernedWrite{
					ID: uuid.NewString(), CatalogID: row.CatalogID, TableID: row.ID, SnapshotID: next, Mode: models.UpsertRows, Blocks: blocks,
				}
				require.NoError(b, s.SwapTables(b.Context(), []catalog.Swap{{Table: row, Effects: catalog.Effects{Writes: []models.GovernedWrite{write}}}}))
				row.Version++
			}
		})
	}
}

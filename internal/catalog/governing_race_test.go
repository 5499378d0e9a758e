package catalog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
)

// Processes share no lock: a row filter that one sets must not fall to what another says of the same table.
func TestTwoProcessesKeepEachOthersGovernance(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	other := catalog.New(catalog.Deps{
		Store: h.store, Reports: h.store, Files: h.objects, Locations: objects.Rules{}, Inspector: reconcile.NewInspector(h.objects, objects.WithinStrings),
		Now: time.Now, ReservedPrefix: "sluice.", CacheBytes: 1 << 20,
	})
	h.create(t, "orders", models.OpenAppend)
	const rounds = 12
	for i := range rounds {
		h.role(t, fmt.Sprint("r", i))
	}
	var wg sync.WaitGroup
	var errs [2][rounds]error
	wg.Go(func() {
		for i := range rounds {
			every := "TRUE"
			_, errs[0][i] = h.SetRowFilter(ctx, h.root, "main.db.orders", fmt.Sprint("r", i), &every)
		}
	})
	wg.Go(func() {
		for i := range rounds {
			_, errs[1][i] = other.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{Columns: map[string]models.ColumnGovernance{"email": {Tag: fmt.Sprint(i)}}})
		}
	})
	wg.Wait()
	for _, of := range errs {
		for _, err := range of {
			must(t, err)
		}
	}
	row := h.load(t, "orders").Row
	if len(row.RowFilters.V) != rounds || row.Columns.V["email"].Tag != fmt.Sprint(rounds-1) {
		t.Errorf("of %d row filters %d are kept, and the tag is %s", rounds, len(row.RowFilters.V), row.Columns.V["email"].Tag)
	}
}

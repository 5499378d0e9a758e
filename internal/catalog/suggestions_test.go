package catalog_test

import (
	"context"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

func TestWhatIsSuggestedIsAFindingUntilItIsClassified(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	table := h.create(t, "orders", models.OpenAppend)
	suggested := []findings.Suggestion{{Column: "email", Tag: "email", Matches: 25, Values: 30}}
	for range 2 {
		h.NoteSuggestions(ctx, table.Row.ID, suggested)
	}
	h.NoteSuggestions(ctx, "no table", suggested)
	open, err := h.Findings(ctx, h.root, "main.db.orders", models.FindingFilter{Kind: models.FindingSuggestedTag, Limit: 10})
	must(t, err)
	if len(open) != 1 {
		t.Fatalf("there are %d findings", len(open))
	}
	f := open[0]
	if f.Table != "db.orders" || f.Catalog != "main" || f.Subject != "column email" || f.Severity != models.Medium {
		t.Errorf("the finding is %+v", f)
	}
	for name, want := range map[string]any{"column": "email", "tag": "email", "sensitivity": "confidential", "mask": "partial", "matches": 25.0, "values": 30.0} {
		if got := f.Evidence.V[name]; got != want {
			t.Errorf("%s is %v (%T), want %v", name, got, got, want)
		}
	}
	_, err = h.ResolveFinding(ctx, h.root, f.ID, "seen")
	must(t, err)
	_, err = h.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{Columns: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Public}}})
	must(t, err)
	h.NoteSuggestions(ctx, table.Row.ID, suggested)
	if again, err := h.Findings(ctx, h.root, "main.db.orders", models.FindingFilter{Limit: 10}); err != nil || len(again) != 1 {
		t.Errorf("%d findings, %v", len(again), err)
	}
}

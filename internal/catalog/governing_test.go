package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// The principal holds every right: what is refused is refused for the token, which was minted for a job.
func TestTokensOfJobsDoNotGovern(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.create(t, "events", models.OpenAppend)
	h.create(t, "gone", models.OpenAppend)
	dropped := h.drop(t, "gone", false)
	job := h.root
	job.CanGovern = false
	governs := map[string]func() error{
		"write policy": func() error {
			_, err := h.SetWritePolicy(ctx, job, "main.db.events", models.OpenFull)
			return err
		},
		"default policy of a catalog":           func() error { return h.SetDefaultWritePolicy(ctx, job, "main", models.OpenFull) },
		"default policy of a namespace":         func() error { return h.SetDefaultWritePolicy(ctx, job, "main.db", models.OpenFull) },
		"default classification of a catalog":   func() error { return h.SetDefaultClassification(ctx, job, "main", models.Public) },
		"default classification of a namespace": func() error { return h.SetDefaultClassification(ctx, job, "main.db", models.Public) },
		"row filters": func() error {
			every := "TRUE"
			_, err := h.SetRowFilter(ctx, job, "main.db.events", models.ServiceAdminRole, &every)
			return err
		},
		"classification": func() error {
			_, err := h.SetGovernance(ctx, job, "main.db.events", catalog.GovernanceInput{Level: models.Public})
			return err
		},
		"protection": func() error {
			_, err := h.SetProtection(ctx, job, "main.db.events", true)
			return err
		},
		"finding": func() error {
			_, err := h.ResolveFinding(ctx, job, h.finding(t, "events"), "")
			return err
		},
		"undrop": func() error {
			_, err := h.UndropTable(ctx, job, dropped.ID, nil)
			return err
		},
		"forget": func() error { return h.ForgetTable(ctx, job, dropped.ID) },
	}
	for name, govern := range governs {
		t.Run(name, func(t *testing.T) {
			err := govern()
			wantCode(t, err, fault.Forbidden)
			if !strings.Contains(fault.PublicMessage(err), "canGovern") {
				t.Errorf("the refusal does not say what helps: %v", err)
			}
		})
	}
	state, err := h.TableState(ctx, job, "main.db.events")
	must(t, err)
	if state.Table.WritePolicy != models.OpenAppend || state.Table.Protected {
		t.Errorf("the table is %+v", state.Table)
	}
	_, err = h.DroppedTables(ctx, job, "main", models.DroppedFilter{Limit: 10})
	must(t, err)
	_, err = h.Reconcile(ctx, job, "main.db.events")
	wantCode(t, err, fault.Invalid) // it may ask, but there is nothing to reconcile yet
	_, err = h.commit(job, "events", h.append(t, "events", 1))
	must(t, err)
}

// What is refused and what is accepted is kept for ever, so that its record must not grow with what a client sends.
func TestCommitsAreAuditedByTheirCounts(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	job := h.with(models.TableWriteData, models.TableWriteProperties)
	update := `{"action":"set-properties","updates":{"gc.enabled":"false"}}`
	_, err := h.update(job, "events", slices.Repeat([]string{update}, 1000)...)
	wantCode(t, err, fault.Forbidden)
	denied := h.audit(t, models.AuditCommitDenied)
	if len(denied) != 1 {
		t.Fatalf("there are %d refusals", len(denied))
	}
	if got := fmt.Sprint(denied[0].Details.V["actions"]); got != "map[set-properties:1000]" {
		t.Errorf("the actions are %s", got)
	}
}

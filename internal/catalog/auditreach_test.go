package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// The audit goes by names and outlives catalogs: who reads that of a catalog learns nothing of an earlier one of its name.
func TestAuditOfACatalogBeginsWithIt(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	again := models.Catalog{
		ID: uuid.NewString(), Name: "again", BaseLocation: h.cat.BaseLocation + "-again", DefaultWritePolicy: models.GovernedOnly, Version: 1,
		CreatedAt: made, UpdatedAt: made,
	}
	at := func(typ models.AuditType, when time.Time) models.AuditEvent {
		return models.AuditEvent{EventID: uuid.NewString(), Type: typ, At: when, Catalog: "again"}
	}
	must(t, h.store.AppendAudit(ctx, at(models.AuditCatalogDeleted, made.Add(-time.Hour))))
	must(t, h.store.CreateCatalog(ctx, again, nil, at(models.AuditCatalogCreated, made)))

	reader := policy.Caller{Principal: "auditor", Held: policy.NewHeld(nil, []policy.Grant{{Privilege: models.AuditRead, ObjectID: again.ID}})}
	service := reader
	service.Held = policy.NewHeld([]models.Privilege{models.ServiceManageAccess}, []policy.Grant{{Privilege: models.AuditRead, ObjectID: again.ID}})
	bound := service
	bound.CatalogID = again.ID
	for name, c := range map[string]struct {
		caller policy.Caller
		since  time.Time
		want   int
	}{
		"a reader":                        {reader, time.Time{}, 1},
		"a reader who asks for more":      {reader, made.Add(-2 * time.Hour), 1},
		"a reader who asks for less":      {reader, made.Add(time.Hour), 0},
		"a token bound to the catalog":    {bound, time.Time{}, 1},
		"an administrator of the service": {service, time.Time{}, 2},
	} {
		events, err := h.AuditEvents(ctx, c.caller, models.AuditFilter{Catalog: "again", Since: c.since, Limit: 10})
		must(t, err)
		if len(events) != c.want {
			t.Errorf("%s sees %d events, want %d", name, len(events), c.want)
		}
	}
}

package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// Restamp makes a table's governance properties what its row says, as a commit of the platform, and gives the keys it
// changed. It adds no snapshot and touches nothing else, so a writer's append holds against it.
func (s *Service) Restamp(ctx context.Context, tableID string) ([]string, error) {
	for attempt := 0; ; attempt++ {
		keys, err := s.tryRestamp(ctx, tableID)
		if !fault.Is(err, fault.Conflict) || attempt == maxAttempts {
			return keys, err
		}
		if err := pause(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

func (s *Service) tryRestamp(ctx context.Context, tableID string) ([]string, error) {
	state, err := s.reports.TableState(ctx, tableID)
	if err != nil {
		return nil, err
	}
	row, doc, err := s.current(ctx, state.Table)
	if err != nil {
		return nil, err
	}
	updates, keys, err := stampUpdates(s.stamps, doc.Properties(), row)
	if err != nil || len(updates) == 0 {
		return nil, err
	}
	result, err := metadata.Apply(doc, updates, metadata.ApplyOptions{Now: s.now(), PreviousLocation: row.MetadataLocation})
	if err != nil {
		return nil, err
	}
	at := tablePlace{cat: models.Catalog{ID: row.CatalogID, Name: state.CatalogName}, ns: models.Namespace{ID: row.NamespaceID, Key: state.NamespaceKey}}
	event := s.tableEvent(policy.Caller{Principal: platformPrincipal}, models.AuditPropertiesRestamped, at, row, map[string]any{"keys": keys})
	p := &plan{at: at, row: row, base: doc, next: result.Document, effects: Effects{Audit: []models.AuditEvent{event}}}
	return keys, s.carryOut(ctx, []*plan{p})
}

// platformPrincipal is who the audit names for what Sluice does by itself.
const platformPrincipal = writers.Own

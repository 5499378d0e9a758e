package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

// NoteSuggestions opens a finding for each column of a table that looks like personal data and of which governance says
// nothing. What was done with the rows does not depend on it.
func (s *Service) NoteSuggestions(ctx context.Context, tableID string, suggested []findings.Suggestion) {
	if len(suggested) == 0 {
		return
	}
	state, err := s.reports.TableState(ctx, tableID)
	for _, one := range suggested {
		if err != nil {
			break
		}
		f, ok := findings.OfSuggestion(state.Table, one)
		if !ok {
			continue
		}
		f.Catalog, f.Table = state.CatalogName, models.TableIdent{Namespace: state.NamespaceKey.Levels(), Name: state.Table.Name}.String()
		f.FirstSeenAt, f.LastSeenAt = s.now(), s.now()
		err = s.store.NoteFinding(ctx, f)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a tag that is suggested for a column could not be kept", "tableId", tableID, "error", err)
	}
}

package catalog

import (
	"context"
	"strings"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// noteStaleIdentity opens a finding when a commit means a table that had this name before: its writer would go on for ever
// against 409s. The answer does not depend on it.
func (s *Service) noteStaleIdentity(ctx context.Context, caller policy.Caller, p *plan, in CommitInput) {
	claimed, ok := metadata.AssertedUUID(in.Requirements)
	if !ok || strings.EqualFold(claimed, p.base.UUID()) {
		return
	}
	w := models.Writer{
		Principal: caller.Principal, TokenID: caller.TokenID, Client: caller.Origin.Client, RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
	}
	var summary map[string]string
	if pending := metadata.PendingSnapshots(in.Updates); len(pending) > 0 {
		summary = pending[len(pending)-1].Summary
	}
	w.Engine = engineOf(summary, w.Client)
	f := findings.OfStaleIdentity(p.row, claimed, w, summary)
	f.Catalog, f.Table = p.at.cat.Name, p.at.name(p.row.Name)
	f.FirstSeenAt, f.LastSeenAt = s.now(), s.now()
	if err := s.store.NoteFinding(ctx, f); err != nil {
		s.log.WarnContext(ctx, "a finding about a writer of a replaced table could not be kept", "table", p.at.ref(p.row.Name), "error", err)
	}
}

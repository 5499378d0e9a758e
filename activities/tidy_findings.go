package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/models"
)

const (
	// unseenFor is after which time a finding that only its cause can show again is resolved.
	unseenFor = 24 * time.Hour
	// prunePage is how many records of removed files are forgotten at once.
	prunePage = 5000
)

// TidyFindingsInput says how long a file that was removed is remembered.
type TidyFindingsInput struct {
	FileMemory time.Duration `json:"fileMemory"`
}

// TidyFindingsResult counts what was tidied.
type TidyFindingsResult struct {
	Resolved  int  `json:"resolved,omitempty"`  // findings
	Forgotten int  `json:"forgotten,omitempty"` // records of files
	More      bool `json:"more,omitempty"`      // records of files are left
}

// fading gives the kinds of findings that nobody sees to be well again: they are refreshed while their cause is there, and no
// more afterwards.
func fading() []models.FindingKind {
	return []models.FindingKind{
		models.FindingStaleIdentity, models.FindingOwnership, models.FindingDualCoordinator,
		models.FindingStalledWriter, models.FindingTokenExpiring, models.FindingUndelegated, // of writers that are no more
	}
}

// TidyFindings resolves findings whose cause was not seen for a day, and forgets files that were removed from their tables
// long ago. It may run any number of times.
func (a *Activities) TidyFindings(ctx context.Context, in TidyFindingsInput) (TidyFindingsResult, error) {
	defer heartbeat(ctx)()
	out, err := a.tidyFindings(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) tidyFindings(ctx context.Context, in TidyFindingsInput) (TidyFindingsResult, error) {
	var out TidyFindingsResult
	now := a.ports.Now().UTC()
	var s FindingSettlement
	for _, kind := range fading() {
		err := a.eachOpen(ctx, kind, func(f models.Finding) {
			if now.Sub(f.LastSeenAt) > unseenFor {
				s.Resolved = append(s.Resolved, models.FindingSubject{TableID: f.TableID, Kind: kind, SubjectKey: f.SubjectKey, Note: "It was not seen for a day."})
			}
		})
		if err != nil {
			return out, err
		}
	}
	counts, err := a.settleFindings(ctx, s)
	if out.Resolved = counts.Resolved; err != nil || in.FileMemory <= 0 {
		return out, err
	}
	forgotten, err := a.ports.Files.PruneFileRecords(ctx, now.Add(-in.FileMemory), prunePage)
	out.Forgotten, out.More = forgotten, forgotten == prunePage
	return out, err
}

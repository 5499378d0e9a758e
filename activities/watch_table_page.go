package activities

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

// WatchTablePageInput asks for one page of tables that were committed to.
type WatchTablePageInput struct {
	After string `json:"after,omitempty"` // table id: the page starts behind it
	Daily bool   `json:"daily,omitempty"` // within a day, to look at the size of files; else within an hour, at snapshots
}

// WatchTablePageResult says how far the page went and what it found.
type WatchTablePageResult struct {
	Tables   int    `json:"tables,omitempty"` // looked at
	Opened   int    `json:"opened,omitempty"`
	Resolved int    `json:"resolved,omitempty"`
	Next     string `json:"next,omitempty"` // After of the next page; "" at the end
}

// WatchTablePage finds the tables of a page that get snapshots too fast or files that are too small, and resolves the
// findings about those that do no more, or got nothing. It may run any number of times.
func (a *Activities) WatchTablePage(ctx context.Context, in WatchTablePageInput) (WatchTablePageResult, error) {
	defer heartbeat(ctx)()
	out, err := a.watchTablePage(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) watchTablePage(ctx context.Context, in WatchTablePageInput) (WatchTablePageResult, error) {
	var out WatchTablePageResult
	now, t := a.ports.Now().UTC(), a.ports.Thresholds
	kind, since := models.FindingSnapshotRate, now.Add(-time.Hour)
	limits := findings.Thresholds{SnapshotsHourly: t.SnapshotsHourly}
	if in.Daily {
		kind, since = models.FindingSmallFiles, now.Add(-24*time.Hour)
		limits = findings.Thresholds{SmallFile: t.SmallFile}
	}
	rates, err := a.ports.Writers.TableRates(ctx, since, in.After, watchPage)
	if err != nil {
		return out, err
	}
	if len(rates) == watchPage {
		out.Next = rates[len(rates)-1].TableID
	}
	open, err := a.openOfKind(ctx, kind)
	if err != nil {
		return out, err
	}
	var s FindingSettlement
	still := map[string]bool{}
	for _, r := range rates {
		for _, f := range findings.OfRate(r, limits) {
			still[f.TableID] = true
			if seen, ok := open[f.TableID]; !ok || now.Sub(seen.LastSeenAt) >= refreshAfter {
				s.Found = append(s.Found, f)
			}
		}
	}
	for table, f := range open {
		if table > in.After && (out.Next == "" || table <= out.Next) && !still[table] {
			s.Resolved = append(s.Resolved, models.FindingSubject{TableID: table, Kind: kind, SubjectKey: f.SubjectKey, Note: "It is within the limit again."})
		}
	}
	counts, err := a.settleFindings(ctx, s)
	out.Tables, out.Opened, out.Resolved = len(rates), counts.Opened, counts.Resolved
	return out, err
}

// openOfKind gives the open findings of a kind of which each table has one, by table.
func (a *Activities) openOfKind(ctx context.Context, kind models.FindingKind) (map[string]models.Finding, error) {
	out := map[string]models.Finding{}
	err := a.eachOpen(ctx, kind, func(f models.Finding) { out[f.TableID] = f })
	return out, err
}

// eachOpen visits every open finding of a kind, newest first.
func (a *Activities) eachOpen(ctx context.Context, kind models.FindingKind, visit func(models.Finding)) error {
	open := true
	filter := models.FindingFilter{Kind: kind, Open: &open, Limit: watchPage}
	for {
		page, err := a.ports.Findings.Findings(ctx, filter)
		if err != nil {
			return err
		}
		for _, f := range page {
			visit(f)
		}
		if len(page) < watchPage {
			return nil
		}
		filter.Before = page[len(page)-1].ID
	}
}

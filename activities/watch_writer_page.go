package activities

import (
	"context"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/models"
)

const (
	// watchPage is how many writers, or tables, one run looks at.
	watchPage = 500
	// refreshAfter is how old the evidence of an open finding may be: what goes on for days is not written every minute.
	refreshAfter = 10 * time.Minute
)

// WatchWriterPageInput asks for one page of writers.
type WatchWriterPageInput struct {
	After string `json:"after,omitempty"` // writer id: the page starts behind it
}

// WatchWriterPageResult says how far the page went and what it found.
type WatchWriterPageResult struct {
	Writers  int    `json:"writers,omitempty"` // looked at
	Opened   int    `json:"opened,omitempty"`
	Resolved int    `json:"resolved,omitempty"`
	Next     string `json:"next,omitempty"` // After of the next page; "" at the end
}

// WatchWriterPage finds the writers of a page that owe a commit, whose token ends, or that reach the store with keys of their
// own, and resolves the findings about those that do no more. It may run any number of times: of each writer and kind one
// finding is open.
func (a *Activities) WatchWriterPage(ctx context.Context, in WatchWriterPageInput) (WatchWriterPageResult, error) {
	defer heartbeat(ctx)()
	out, err := a.watchWriterPage(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) watchWriterPage(ctx context.Context, in WatchWriterPageInput) (WatchWriterPageResult, error) {
	var out WatchWriterPageResult
	watched, err := a.ports.Writers.WatchedWriters(ctx, in.After, watchPage)
	if err != nil || len(watched) == 0 {
		return out, err
	}
	ids := make([]string, len(watched))
	for i, w := range watched {
		ids[i] = w.ID
	}
	open, err := a.ports.Findings.OpenFindingsOfWriters(ctx, ids)
	if err != nil {
		return out, err
	}
	p := newWriterPage(a, open)
	for _, w := range watched {
		if err := p.look(ctx, w); err != nil {
			return out, err
		}
	}
	counts, err := a.settleFindings(ctx, p.settle)
	out.Writers, out.Opened, out.Resolved = len(watched), counts.Opened, counts.Resolved
	if len(watched) == watchPage {
		out.Next = watched[len(watched)-1].ID
	}
	return out, err
}

// settleFindings writes what there is to write.
func (a *Activities) settleFindings(ctx context.Context, s FindingSettlement) (FindingCounts, error) {
	if len(s.Found) == 0 && len(s.Resolved) == 0 && len(s.Checks) == 0 {
		return FindingCounts{}, nil
	}
	return a.ports.Findings.SettleFindings(ctx, s)
}

// aspect is a kind of finding about a writer.
type aspect struct {
	writerID string
	kind     models.FindingKind
}

// writerPage is one page being looked at.
type writerPage struct {
	acts   *Activities
	now    time.Time
	open   map[aspect][]models.Finding
	tables map[string]*models.Table // by id, nil for one that is dropped
	settle FindingSettlement
}

func newWriterPage(a *Activities, open []models.Finding) *writerPage {
	p := &writerPage{acts: a, now: a.ports.Now().UTC(), open: map[aspect][]models.Finding{}, tables: map[string]*models.Table{}}
	for _, f := range open {
		of := aspect{f.WriterID, f.Kind}
		p.open[of] = append(p.open[of], f)
	}
	return p
}

func (p *writerPage) look(ctx context.Context, w models.NamedWriter) error {
	if err := p.lateness(ctx, w); err != nil {
		return err
	}
	token, ends := findings.OfToken(w, p.now, p.acts.ports.Thresholds.TokenWarning)
	if err := p.conclude(ctx, w, models.FindingTokenExpiring, token, ends, "The writer's token does not end soon, or is no longer waited for."); err != nil {
		return err
	}
	access, own := findings.OfAccess(w)
	if own {
		table, err := p.table(ctx, w)
		if err != nil {
			return err
		}
		own = table != nil && delegates(*table)
	}
	return p.conclude(ctx, w, models.FindingUndelegated, access, own, "The writer's access is delegated.")
}

// delegates tells whether there is anything to delegate at a table: a folder has no keys.
func delegates(t models.Table) bool {
	scheme, _, ok := strings.Cut(t.Location, ":")
	return ok && !strings.EqualFold(scheme, "file")
}

// conclude opens or refreshes a finding about a writer, or resolves what is open of its kind.
func (p *writerPage) conclude(ctx context.Context, w models.NamedWriter, kind models.FindingKind, f models.Finding, found bool, note string) error {
	if found {
		table, err := p.table(ctx, w)
		if err != nil {
			return err
		}
		if table == nil {
			found, note = false, "The table is gone."
		}
	}
	for _, open := range p.open[aspect{w.ID, kind}] {
		if !found || open.SubjectKey != f.SubjectKey {
			p.settle.Resolved = append(p.settle.Resolved, models.FindingSubject{TableID: open.TableID, Kind: kind, SubjectKey: open.SubjectKey, Note: note})
		} else if p.now.Sub(open.LastSeenAt) < refreshAfter {
			return nil
		}
	}
	if found {
		p.settle.Found = append(p.settle.Found, f)
	}
	return nil
}

// table gives the table of a writer, nil when it is dropped.
func (p *writerPage) table(ctx context.Context, w models.NamedWriter) (*models.Table, error) {
	if t, ok := p.tables[w.TableID]; ok {
		return t, nil
	}
	t, err := p.acts.ports.Ledger.TableByID(ctx, w.TableID)
	switch {
	case fault.Is(err, fault.NotFound):
		p.tables[w.TableID] = nil
	case err != nil:
		return nil, err
	default:
		p.tables[w.TableID] = &t
	}
	return p.tables[w.TableID], nil
}

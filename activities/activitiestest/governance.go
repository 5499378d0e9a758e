package activitiestest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// ReservedPrefix is what the world's governance properties begin with.
const ReservedPrefix = "sluice."

// governance is what the world knows of writers, and of what was looked at.
type governance struct {
	writers  map[string]models.NamedWriter
	refusals []findings.Refusal
	rates    []findings.TableRate
	arrivals findings.Arrivals
	checks   map[string]models.TableCheck
}

func newGovernance() governance {
	return governance{writers: map[string]models.NamedWriter{}, checks: map[string]models.TableCheck{}}
}

// CommitBy appends a snapshot with a summary to a table's main, as a writer's with its name, at a time.
func (w *World) CommitBy(table activities.Target, by models.Writer, at time.Time, summary map[string]string) activities.Target {
	target := w.Commit(table)
	w.mu.Lock()
	defer w.mu.Unlock()
	key := commitKey{table.TableID, target.SnapshotID}
	c := w.commits[key]
	c.Writer.V, c.Summary.V, c.CommittedAt = by, summary, at
	id := writers.Identify(table.TableID, c.Ref, by, summary)
	c.WriterID, c.Job, c.Unit = id.ID, id.Job, id.Unit
	w.commits[key] = c
	return target
}

// SetWriter replaces a writer.
func (w *World) SetWriter(n models.NamedWriter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.governance.writers[n.ID] = n
}

// Writer gives a writer.
func (w *World) Writer(id string) models.NamedWriter {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.governance.writers[id]
}

// SetRates sets how tables were committed to.
func (w *World) SetRates(rates ...findings.TableRate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.governance.rates = rates
}

// SetStall sets what is known of every writer that is late.
func (w *World) SetStall(arrivals findings.Arrivals, refusals ...findings.Refusal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.governance.arrivals, w.governance.refusals = arrivals, refusals
}

// Check gives the note of a table that was looked at.
func (w *World) Check(t activities.Target) (models.TableCheck, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.governance.checks[t.TableID]
	return c, ok
}

// Age lets findings have been seen last at a time.
func (w *World) Age(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.files.findings {
		w.files.findings[i].LastSeenAt = at
	}
}

// ofWriter gives the commits of a writer, newest first. The caller holds the lock.
func (w *World) ofWriter(id string) []models.Commit {
	var out []models.Commit
	for _, c := range w.commits {
		if c.WriterID == id {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b models.Commit) int { return cmp.Compare(b.ID, a.ID) })
	return out
}

// History implements activities.Ledger.
func (w *World) History(ctx context.Context, c models.Commit) (findings.History, error) {
	if err := w.called(ctx, "History", c.TableID); err != nil {
		return findings.History{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var h findings.History
	for _, other := range w.ofWriter(c.WriterID) {
		if other.ID < c.ID && other.Ref == c.Ref && len(h.Before) < findings.HistoryDepth {
			h.Before = append(h.Before, other)
		}
		if other.Unit != "" && other.Unit == c.Unit && other.ID != c.ID {
			h.SameUnit = slices.Insert(h.SameUnit, 0, other)
		}
		if other.Job == c.Job {
			h.FirstOfJob = &other
		}
	}
	if h.FirstOfJob != nil && h.FirstOfJob.ID == c.ID {
		h.FirstOfJob = nil
	}
	return h, nil
}

// LatestOf implements activities.Ledger.
func (w *World) LatestOf(ctx context.Context, writerID string, limit int) ([]models.Commit, error) {
	if err := w.called(ctx, "LatestOf", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.ofWriter(writerID)
	return out[:min(limit, len(out))], nil
}

// ExpectedWriter implements activities.WriterLedger.
func (w *World) ExpectedWriter(ctx context.Context, tableID, principal string) (models.TableWriter, bool, error) {
	if err := w.called(ctx, "ExpectedWriter", tableID); err != nil {
		return models.TableWriter{}, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, ok := w.governance.writers[writers.ExpectedID(tableID, principal)]
	return n.TableWriter, ok, nil
}

// keep writes a writer's row as the store does. The caller holds the lock.
func (w *World) keep(found []models.TableWriter) {
	for _, f := range found {
		is, ok := w.governance.writers[f.ID]
		if ok && is.LastCommitAt != nil && f.LastCommitAt.Before(*is.LastCommitAt) {
			continue
		}
		f.Commits = is.Commits + 1
		if ok {
			f.Every, f.CreatedAt = is.Every, is.CreatedAt
		}
		is.TableWriter, is.CatalogName = f, "main"
		w.governance.writers[f.ID] = is
	}
}

// WatchedWriters implements activities.WriterLedger.
func (w *World) WatchedWriters(ctx context.Context, after string, limit int) ([]models.NamedWriter, error) {
	if err := w.called(ctx, "WatchedWriters", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []models.NamedWriter
	for _, n := range w.governance.writers {
		if n.ID > after && n.State != models.WriterRetired {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b models.NamedWriter) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(limit, len(out))], nil
}

// Refusals implements activities.WriterLedger.
func (w *World) Refusals(ctx context.Context, tableUUID, _ string, _ time.Time, limit int) ([]findings.Refusal, error) {
	if err := w.called(ctx, "Refusals", tableUUID); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.governance.refusals[:min(limit, len(w.governance.refusals))], nil
}

// Arrivals implements activities.Arrivals.
func (w *World) Arrivals(ctx context.Context, t models.Table, _ time.Time) (findings.Arrivals, error) {
	if err := w.called(ctx, "Arrivals", t.ID); err != nil {
		return findings.Arrivals{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.governance.arrivals, nil
}

// TableRates implements activities.WriterLedger. A rate with a time is of that time alone.
func (w *World) TableRates(ctx context.Context, since time.Time, after string, limit int) ([]findings.TableRate, error) {
	if err := w.called(ctx, "TableRates", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []findings.TableRate
	for _, r := range w.governance.rates {
		if r.TableID > after {
			r.Since = since
			out = append(out, r)
		}
	}
	return out[:min(limit, len(out))], nil
}

// SettleFindings implements activities.FindingLedger.
func (w *World) SettleFindings(ctx context.Context, s activities.FindingSettlement) (activities.FindingCounts, error) {
	if err := w.called(ctx, "SettleFindings", ""); err != nil {
		return activities.FindingCounts{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := activities.FindingCounts{Resolved: w.closeSubjects(s.Resolved)}
	counts.Opened = w.open(s.Found)
	for _, c := range s.Checks {
		w.governance.checks[c.TableID] = c
	}
	return counts, nil
}

// closeSubjects resolves findings. The caller holds the lock.
func (w *World) closeSubjects(subjects []models.FindingSubject) int {
	closed, at := 0, time.Now()
	for _, s := range subjects {
		for i := range w.files.findings {
			f := &w.files.findings[i]
			if f.ResolvedAt == nil && f.TableID == s.TableID && f.Kind == s.Kind && (s.SubjectKey == "" || s.SubjectKey == f.SubjectKey) {
				f.ResolvedAt, f.Note = &at, s.Note
				closed++
			}
		}
	}
	return closed
}

// openWhere gives the open findings that match, oldest first.
func (w *World) openWhere(matches func(models.Finding) bool) []models.Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []models.Finding
	for _, f := range w.files.findings {
		if f.ResolvedAt == nil && matches(f) {
			out = append(out, f)
		}
	}
	return out
}

// OpenFindingsOf implements activities.FindingLedger.
func (w *World) OpenFindingsOf(ctx context.Context, tableID, after string, limit int) ([]models.Finding, error) {
	if err := w.called(ctx, "OpenFindingsOf", tableID); err != nil {
		return nil, err
	}
	out := w.openWhere(func(f models.Finding) bool { return (tableID == "" || f.TableID == tableID) && f.ID > after })
	return out[:min(limit, len(out))], nil
}

// OpenFindingsOfWriters implements activities.FindingLedger.
func (w *World) OpenFindingsOfWriters(ctx context.Context, writerIDs []string) ([]models.Finding, error) {
	if err := w.called(ctx, "OpenFindingsOfWriters", ""); err != nil {
		return nil, err
	}
	return w.openWhere(func(f models.Finding) bool { return slices.Contains(writerIDs, f.WriterID) }), nil
}

// FindingLedger gives the world as a ledger of findings.
func (w *World) FindingLedger() activities.FindingLedger { return findingLedger{w} }

// findingLedger gives World the method Findings of activities.FindingLedger, whose name World uses for tests.
type findingLedger struct{ *World }

// Findings implements activities.FindingLedger for open ones of a kind.
func (l findingLedger) Findings(ctx context.Context, f models.FindingFilter) ([]models.Finding, error) {
	if err := l.called(ctx, "Findings", ""); err != nil {
		return nil, err
	}
	out := l.openWhere(func(is models.Finding) bool { return is.Kind == f.Kind && (f.Before == "" || is.ID < f.Before) })
	slices.Reverse(out)
	return out[:min(f.Limit, len(out))], nil
}

// TablesToCheck implements activities.CheckLedger.
func (w *World) TablesToCheck(ctx context.Context, before time.Time, after string, limit int) ([]activities.TableToCheck, error) {
	if err := w.called(ctx, "TablesToCheck", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []activities.TableToCheck
	for _, id := range w.order {
		t := w.tables[id]
		c := activities.TableToCheck{Table: t.Row, Catalog: "main", Name: "sales." + t.Row.Name, Stamp: stampOf(t.Row), Changed: true}
		if last, ok := w.governance.checks[id]; ok {
			c.Last, c.Changed = &last, last.Version != t.Row.Version || last.Stamp != c.Stamp
		}
		if id > after && (c.Changed || c.Last.CheckedAt.Before(before)) && len(out) < limit {
			out = append(out, c)
		}
	}
	return out, nil
}

func stampOf(t models.Table) string {
	parts := []string{string(t.WritePolicy), string(t.Classification)}
	for column := range t.Columns.V {
		parts = append(parts, column)
	}
	slices.Sort(parts)
	return models.SubjectKey(append(parts, strconv.Itoa(len(t.IdentityColumns.V)))...)
}

// OnLedger implements activities.CheckLedger.
func (w *World) OnLedger(ctx context.Context, tableID string, snapshots []int64) (map[int64]bool, error) {
	if err := w.called(ctx, "OnLedger", tableID); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[int64]bool{}
	t := w.tables[tableID]
	for at := t.Row.CurrentSnapshotID; at != nil; at = w.commits[commitKey{tableID, *at}].ParentSnapshotID {
		if slices.Contains(snapshots, *at) {
			out[*at] = true
		}
	}
	return out, nil
}

var (
	_ activities.WriterLedger = (*World)(nil)
	_ activities.CheckLedger  = (*World)(nil)
	_ activities.Arrivals     = (*World)(nil)
)

package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// What of a commit is held against what the table has, where duplicates are refused.
const (
	heldFiles   = 10_000 // data files that a snapshot adds
	heldPending = 50     // latest commits, among them those that are not reconciled and whose files have no records yet
)

// LedgerStore is what the ledger has of a writer's earlier commits, and of the files that they brought.
type LedgerStore interface {
	// CommitsOfUnit gives the commits that carry a unit of a writer, oldest first.
	CommitsOfUnit(ctx context.Context, writerID, unit string) ([]models.Commit, error)
	// History gives what the ledger has of the writer of a commit, which need not be in it yet.
	History(ctx context.Context, c models.Commit) (findings.History, error)
	// OnLedger tells which of a table's snapshots are ancestors of its current one, or are it, by the ledger, which outlives
	// snapshots.
	OnLedger(ctx context.Context, tableID string, snapshots []int64) (map[int64]bool, error)
	// KnownFiles gives the records that there are of the ids, those of removed files too.
	KnownFiles(ctx context.Context, ids []string) ([]models.FileRecord, error)
}

// refuseDuplicates refuses, where the table wants it so, an engine's commit that the table has already: a piece of its
// writer's stream, or data files that are in the table or were. The refusal is in the audit before the client hears of it.
func (s *Service) refuseDuplicates(ctx context.Context, caller policy.Caller, p *plan, attempt policy.Attempt) error {
	if p.row.DuplicateCommits != models.RejectDuplicates {
		return nil
	}
	ref := p.at.ref(p.row.Name)
	for i, c := range p.effects.Commits {
		if c.Kind != models.ExternalCommit {
			continue
		}
		d := duplicates{s: s, p: p, commit: c, beside: p.effects.Commits[:i]}
		has, err := d.find(ctx)
		if err != nil {
			return err
		}
		if d.itself {
			refusal := fault.About(fault.Conflict, fault.Table, "Table %s was not changed: two snapshots of this commit, %d and %d, both bring %s. "+
				"Commit it once; if it is meant, ask a data steward to let duplicates in (sluice policy duplicate-commits %s audit).",
				ref, d.twinID, c.SnapshotID, has, ref)
			return s.denied(ctx, caller, p, policy.RuleDuplicate, attempt, refusal)
		}
		if has != "" {
			refusal := fault.About(fault.Conflict, fault.Table, "Table %s %s. Nothing was changed: refresh the table, the data of this commit is in it. "+
				"Start the job from its latest checkpoint; if it means to add the data again, ask a data steward to let duplicates in (sluice policy duplicate-commits %s audit).",
				ref, has, ref)
			return s.denied(ctx, caller, p, policy.RuleDuplicate, attempt, refusal)
		}
	}
	return nil
}

// duplicates looks for what of one commit a table has already.
type duplicates struct {
	s      *Service
	p      *plan
	commit models.Commit
	beside []models.Commit // those that the same request makes before it

	itself bool  // it is one of them that has what was found
	twinID int64 // which
}

// find says what the table has already, "" when it is nothing.
func (d *duplicates) find(ctx context.Context) (string, error) {
	twin, ok, err := d.twin(ctx)
	if err != nil {
		return "", err
	}
	if ok && twin.ID == 0 { // it is not in the ledger yet
		d.itself, d.twinID = true, twin.SnapshotID
		return d.commit.Unit, nil
	}
	if ok {
		return fmt.Sprintf("has %s of this writer already: snapshot %d committed it at %s", d.commit.Unit, twin.SnapshotID,
			twin.CommittedAt.UTC().Format("2006-01-02 15:04:05Z")), nil
	}
	snap, ok := d.p.next.Snapshot(d.commit.SnapshotID)
	if !ok {
		return "", nil
	}
	files, err := d.s.inspector.AddedFiles(ctx, snap, heldFiles)
	if err != nil || len(files) == 0 {
		return "", err
	}
	if has, err := d.within(ctx, files); err != nil || has != "" {
		return has, err
	}
	if has, err := d.recorded(ctx, files); err != nil || has != "" {
		return has, err
	}
	return d.pending(ctx, files)
}

// within looks for files that the request itself adds before, by another snapshot on the same line.
func (d *duplicates) within(ctx context.Context, files []string) (string, error) {
	for _, c := range d.beside {
		snap, ok := d.p.next.Snapshot(c.SnapshotID)
		if !ok || !d.p.next.IsAncestor(c.SnapshotID, d.commit.SnapshotID) {
			continue
		}
		theirs, err := d.s.inspector.AddedFiles(ctx, snap, heldFiles)
		if err != nil {
			return "", err
		}
		if path, ok := common(theirs, files); ok {
			d.itself, d.twinID = true, c.SnapshotID
			return "the file " + path, nil
		}
	}
	return "", nil
}

// common gives a path that is in both lists.
func common(some, others []string) (string, bool) {
	in := make(map[string]bool, len(some))
	for _, path := range some {
		in[path] = true
	}
	i := slices.IndexFunc(others, func(path string) bool { return in[path] })
	if i < 0 {
		return "", false
	}
	return others[i], true
}

// twin gives the commit that carries the same piece of the stream. Nothing but a commit of the same unit can be one, which
// one question to the ledger answers for most.
func (d *duplicates) twin(ctx context.Context) (models.Commit, bool, error) {
	c := d.commit
	if c.WriterID == "" || c.Unit == "" || c.Operation == "replace" {
		return models.Commit{}, false, nil
	}
	beside := d.besideOfWriter()
	again := slices.ContainsFunc(beside, func(b models.Commit) bool { return b.Unit == c.Unit })
	same, err := d.s.store.CommitsOfUnit(ctx, c.WriterID, c.Unit)
	if err != nil || len(same) == 0 && !again {
		return models.Commit{}, false, err
	}
	h, err := d.s.store.History(ctx, c)
	if err != nil {
		return models.Commit{}, false, err
	}
	for _, b := range beside { // as if they were in the ledger already
		h.Before = slices.Insert(h.Before, 0, b)
		if b.Unit == c.Unit {
			h.SameUnit = append(h.SameUnit, b)
		}
		if h.FirstOfJob == nil && b.Job == c.Job && b.Unit != "" {
			h.FirstOfJob = &b
		}
	}
	if h.Ancestors, err = d.ancestors(ctx, findings.Concerned(h)); err != nil {
		return models.Commit{}, false, err
	}
	twin, ok := findings.Twin(c, h)
	return twin, ok, nil
}

// besideOfWriter gives what the request makes of the same writer before the commit.
func (d *duplicates) besideOfWriter() []models.Commit {
	var out []models.Commit
	for _, b := range d.beside {
		if b.WriterID == d.commit.WriterID && b.Operation != "replace" {
			out = append(out, b)
		}
	}
	return out
}

// recorded looks for files that the table's records know.
func (d *duplicates) recorded(ctx context.Context, files []string) (string, error) {
	ids := make([]string, len(files))
	for i, path := range files {
		ids[i] = models.FileRecordID(d.commit.TableID, path)
	}
	records, err := d.s.store.KnownFiles(ctx, ids)
	if err != nil || len(records) == 0 {
		return "", err
	}
	snapshots := make([]int64, len(records))
	for i, r := range records {
		snapshots[i] = r.SnapshotID
	}
	built, err := d.ancestors(ctx, snapshots)
	if err != nil {
		return "", err
	}
	for _, r := range records {
		switch {
		case !built[r.SnapshotID]: // rolled back, or on another branch
		case r.RemovedAt != nil && r.RemovedBy != nil:
			return fmt.Sprintf("had the file %s already: snapshot %d added it and snapshot %d removed it", r.Location, r.SnapshotID, *r.RemovedBy), nil
		default:
			return fmt.Sprintf("has the file %s already: snapshot %d added it", r.Location, r.SnapshotID), nil
		}
	}
	return "", nil
}

// pending looks for files of the latest commits that are not reconciled yet, by their manifests.
func (d *duplicates) pending(ctx context.Context, files []string) (string, error) {
	latest, err := d.s.reports.Commits(ctx, models.CommitFilter{TableID: d.commit.TableID, Limit: heldPending})
	if err != nil {
		return "", err
	}
	for _, c := range latest {
		snap, ok := d.p.base.Snapshot(c.SnapshotID)
		if c.Status != models.CommitPending || !ok || !d.p.next.IsAncestor(c.SnapshotID, d.commit.SnapshotID) {
			continue
		}
		theirs, err := d.s.inspector.AddedFiles(ctx, snap, heldFiles)
		if fault.Is(err, fault.Invalid) {
			continue // it is broken, which its reconciliation will find
		}
		if err != nil {
			return "", err
		}
		if path, ok := common(files, theirs); ok {
			return fmt.Sprintf("has the file %s already: snapshot %d added it", path, c.SnapshotID), nil
		}
	}
	return "", nil
}

// ancestors tells which snapshots the commit builds on. The ledger knows main's alone of those that are expired.
func (d *duplicates) ancestors(ctx context.Context, ids []int64) (map[int64]bool, error) {
	return findings.Ancestors(d.p.next, d.commit.SnapshotID, ids, func(expired []int64) (map[int64]bool, error) {
		if d.commit.Ref != mainBranch {
			return map[int64]bool{}, nil
		}
		return d.s.store.OnLedger(ctx, d.commit.TableID, expired)
	})
}

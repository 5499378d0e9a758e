package catalog

import (
	"context"
	"fmt"

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
	for _, c := range p.effects.Commits {
		if c.Kind != models.ExternalCommit || c.Operation == "replace" {
			continue
		}
		d := duplicates{s: s, p: p, commit: c}
		has, err := d.find(ctx)
		if err != nil {
			return err
		}
		if has != "" {
			ref := p.at.ref(p.row.Name)
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
}

// find says what the table has already, "" when it is nothing.
func (d duplicates) find(ctx context.Context) (string, error) {
	if twin, ok, err := d.twin(ctx); err != nil || ok {
		return fmt.Sprintf("has %s of this writer already: snapshot %d committed it at %s", d.commit.Unit, twin.SnapshotID,
			twin.CommittedAt.UTC().Format("2006-01-02 15:04:05Z")), err
	}
	snap, ok := d.p.next.Snapshot(d.commit.SnapshotID)
	if !ok {
		return "", nil
	}
	files, err := d.s.inspector.AddedFiles(ctx, snap, heldFiles)
	if err != nil || len(files) == 0 {
		return "", err
	}
	if has, err := d.recorded(ctx, files); err != nil || has != "" {
		return has, err
	}
	return d.pending(ctx, files)
}

// twin gives the commit that carries the same piece of the stream. Nothing but a commit of the same unit can be one, which
// one question to the ledger answers for most.
func (d duplicates) twin(ctx context.Context) (models.Commit, bool, error) {
	c := d.commit
	if c.WriterID == "" || c.Unit == "" {
		return models.Commit{}, false, nil
	}
	same, err := d.s.store.CommitsOfUnit(ctx, c.WriterID, c.Unit)
	if err != nil || len(same) == 0 {
		return models.Commit{}, false, err
	}
	h, err := d.s.store.History(ctx, c)
	if err != nil {
		return models.Commit{}, false, err
	}
	if h.Ancestors, err = d.ancestors(ctx, findings.Concerned(h)); err != nil {
		return models.Commit{}, false, err
	}
	twin, ok := findings.Twin(c, h)
	return twin, ok, nil
}

// recorded looks for files that the table's records know.
func (d duplicates) recorded(ctx context.Context, files []string) (string, error) {
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
func (d duplicates) pending(ctx context.Context, files []string) (string, error) {
	latest, err := d.s.reports.Commits(ctx, models.CommitFilter{TableID: d.commit.TableID, Limit: heldPending})
	if err != nil {
		return "", err
	}
	added := make(map[string]bool, len(files))
	for _, path := range files {
		added[path] = true
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
		for _, path := range theirs {
			if added[path] {
				return fmt.Sprintf("has the file %s already: snapshot %d added it", path, c.SnapshotID), nil
			}
		}
	}
	return "", nil
}

// ancestors tells which snapshots the commit builds on: by the table's metadata, and of main's expired ones by the ledger.
func (d duplicates) ancestors(ctx context.Context, ids []int64) (map[int64]bool, error) {
	out := make(map[int64]bool, len(ids))
	var expired []int64
	for _, id := range ids {
		if _, ok := d.p.next.Snapshot(id); ok {
			out[id] = d.p.next.IsAncestor(id, d.commit.SnapshotID)
		} else if d.commit.Ref == mainBranch {
			expired = append(expired, id)
		}
	}
	if len(expired) == 0 {
		return out, nil
	}
	known, err := d.s.store.OnLedger(ctx, d.commit.TableID, expired)
	for _, id := range expired {
		out[id] = known[id]
	}
	return out, err
}

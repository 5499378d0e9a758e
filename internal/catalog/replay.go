package catalog

import (
	"encoding/json"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// replayed tells whether a commit is one that already happened, sent again by a client that lost the answer: all its
// snapshots are there as sent, every one is on a branch or tag, and nothing else that it asks for would change the table.
func (s *Service) replayed(doc *metadata.Document, in CommitInput) bool {
	pending := metadata.PendingSnapshots(in.Updates)
	if uuid, ok := metadata.AssertedUUID(in.Requirements); len(pending) == 0 || ok && uuid != doc.UUID() {
		return false
	}
	refs := doc.Refs()
	for _, snap := range pending {
		if !has(doc, snap) {
			return false
		}
		live := false
		for _, ref := range refs {
			live = live || doc.IsAncestor(snap.ID, ref.SnapshotID)
		}
		if !live {
			return false
		}
	}
	return s.withoutEffect(doc, pending, in.Updates)
}

// withoutEffect tells whether the updates change nothing besides adding the snapshots that are there and moving refs to
// them that went on from there since.
func (s *Service) withoutEffect(doc *metadata.Document, there []metadata.Snapshot, updates []metadata.Update) bool {
	var others []metadata.Update
	for _, u := range updates {
		if u.Action != metadata.ActionAddSnapshot && !passed(doc, there, u) {
			others = append(others, u)
		}
	}
	result, err := metadata.Apply(doc, others, metadata.ApplyOptions{Now: s.now()})
	return err == nil && !result.Changed
}

// passed tells whether an update moves a ref to one of the snapshots that it has been at before.
func passed(doc *metadata.Document, there []metadata.Snapshot, u metadata.Update) bool {
	if u.Action != metadata.ActionSetSnapshotRef {
		return false
	}
	// A map, since keys count exactly: a struct would take other cases of them too.
	var body map[string]json.RawMessage
	var name, kind string
	var id int64
	if json.Unmarshal(u.Raw, &body) != nil || json.Unmarshal(body["ref-name"], &name) != nil ||
		json.Unmarshal(body["type"], &kind) != nil || json.Unmarshal(body["snapshot-id"], &id) != nil {
		return false
	}
	ref, ok := doc.Refs()[name]
	return ok && ref.Type == kind && ref.SnapshotID != id && doc.IsAncestor(id, ref.SnapshotID) &&
		slices.ContainsFunc(there, func(snap metadata.Snapshot) bool { return snap.ID == id })
}

// checkKept refuses a commit that removes a snapshot which it adds itself: nothing could be said of it later, since the
// ledger would have a commit that no metadata file shows. No engine does that.
func checkKept(next *metadata.Document, updates []metadata.Update) error {
	for _, snap := range metadata.PendingSnapshots(updates) {
		if _, ok := next.Snapshot(snap.ID); !ok {
			return fault.New(fault.Invalid, "The commit adds and removes snapshot %d. Commit the snapshot first, and expire it by another commit.", snap.ID)
		}
	}
	return nil
}

// returns tells whether a commit leaves main at another snapshot, but one that the table has already: a fast-forward to a
// branch, or a rollback.
func returns(p *plan, c metadata.Changes) bool {
	head, ok := p.next.CurrentSnapshotID()
	if before, had := p.base.CurrentSnapshotID(); !ok || had && before == head {
		return false
	}
	return !slices.ContainsFunc(c.AddedSnapshots, func(snap metadata.Snapshot) bool { return snap.ID == head })
}

// has tells whether a document holds the very snapshot.
func has(doc *metadata.Document, snap metadata.Snapshot) bool {
	if !doc.HasIdentical(snap) {
		return false
	}
	own, _ := doc.Snapshot(snap.ID)
	return slices.Equal(own.Manifests, snap.Manifests)
}

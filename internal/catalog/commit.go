package catalog

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// finishWithin bounds the part of a commit that goes on when its client hangs up: what was judged is carried through,
// so that a lost connection does not leave a commit half way.
const finishWithin = 30 * time.Second

// plan is one table's judged commit: what is to be written, or nothing when Next is Base.
type plan struct {
	at      tablePlace
	row     models.Table // as it is to be; its MetadataLocation is set when the file is named
	base    *metadata.Document
	next    *metadata.Document
	creates bool
	effects Effects
}

func (p *plan) changed() bool { return p.next != p.base }

// place writes the name of the commit's metadata file into its effects: a snapshot that is expired before it is
// reconciled can be found there alone.
func (p *plan) place() {
	for i := range p.effects.Commits {
		p.effects.Commits[i].MetadataLocation = p.row.MetadataLocation
	}
	for _, event := range p.effects.Audit {
		event.Details.V["metadataLocation"] = p.row.MetadataLocation
	}
}

// CommitTable applies a commit to a table, or creates the table when the commit asserts its creation.
//
// Errors: Forbidden when a privilege is missing or the write policy refuses (recorded in the audit), Conflict when a
// requirement fails, Invalid for updates that make no valid table, UnknownState when the outcome of the swap is in
// doubt; after any other error nothing has changed.
func (s *Service) CommitTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in CommitInput) (TableView, error) {
	plans, err := s.commit(ctx, caller, cat, []CommitInput{in})
	if err != nil {
		return TableView{}, err
	}
	p := plans[0]
	return TableView{Row: p.row, Document: p.next, MetadataLocation: p.row.MetadataLocation}, nil
}

// CommitTransaction applies the commits of several tables, all or none; the policy of every table is judged before
// anything is written.
func (s *Service) CommitTransaction(ctx context.Context, caller policy.Caller, cat models.Catalog, in []CommitInput) error {
	seen := map[string]bool{}
	for _, c := range in {
		if seen[c.Table.String()] {
			return fault.New(fault.Invalid, "Table %s occurs twice in one transaction. Merge its changes into one.", c.Table)
		}
		seen[c.Table.String()] = true
		if len(in) > 1 && metadata.AssertsCreate(c.Requirements) {
			return fault.New(fault.Unsupported, "A transaction over several tables cannot create one (%s). Create it first.", c.Table)
		}
	}
	if len(in) == 0 {
		return fault.New(fault.Invalid, "A transaction needs at least one table change.")
	}
	_, err := s.commit(ctx, caller, cat, in)
	return err
}

// commit retries while swaps are lost to other processes and the requirements still hold against the new state.
func (s *Service) commit(ctx context.Context, caller policy.Caller, cat models.Catalog, in []CommitInput) ([]*plan, error) {
	if err := refuseReadOnly(caller, "commit"); err != nil {
		return nil, err
	}
	unlock, err := s.locks.lock(ctx, lockKeys(cat, in))
	if err != nil {
		return nil, err
	}
	defer unlock()
	for attempt := 0; ; attempt++ {
		plans, err := s.plans(ctx, caller, cat, in)
		if err != nil {
			return nil, err
		}
		err = s.carryOut(ctx, plans)
		switch {
		case err == nil:
			return plans, nil
		case !fault.Is(err, fault.Conflict):
			return nil, err
		case attempt == maxAttempts:
			return nil, fault.Wrap(err, fault.Conflict, "Requirement failed: the table was changed by others too often meanwhile. Refresh and retry.")
		}
		if err := pause(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

func lockKeys(cat models.Catalog, in []CommitInput) []string {
	keys := make([]string, len(in))
	for i, c := range in {
		keys[i] = cat.ID + "\x00" + string(models.KeyOf(c.Table.Namespace)) + "\x00" + c.Table.Name
	}
	return keys
}

// plans judges every table before anything is written.
func (s *Service) plans(ctx context.Context, caller policy.Caller, cat models.Catalog, in []CommitInput) ([]*plan, error) {
	plans := make([]*plan, len(in))
	for i, c := range in {
		var err error
		if metadata.AssertsCreate(c.Requirements) {
			plans[i], err = s.planCreate(ctx, caller, cat, c)
		} else {
			plans[i], err = s.planChange(ctx, caller, cat, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return plans, nil
}

// planChange judges a commit to an existing table.
func (s *Service) planChange(ctx context.Context, caller policy.Caller, cat models.Catalog, in CommitInput) (*plan, error) {
	at, row, err := s.find(ctx, caller, cat, in.Table)
	if err != nil {
		return nil, err
	}
	base, err := s.documents.get(ctx, row.MetadataLocation)
	if err != nil {
		return nil, err
	}
	p := &plan{at: at, row: row, base: base, next: base}
	if replayed(base, in) && caller.Has(models.TableReadProperties, at.tablePath(row.ID)) {
		return p, nil
	}
	attempt := s.attempt(caller, at, row, in)
	// What a privilege or a closed policy forbids is refused before anything is read: a stale commit learns that too.
	if err := s.judge(ctx, caller, p, attempt); err != nil {
		return nil, err
	}
	if err := metadata.Check(base, in.Requirements); err != nil {
		return nil, err
	}
	result, err := metadata.Apply(base, in.Updates, metadata.ApplyOptions{Now: s.now(), PreviousLocation: row.MetadataLocation})
	if err != nil {
		return nil, err
	}
	if !result.Changed {
		return p, nil
	}
	p.next = result.Document
	if attempt.Change, err = s.facts(ctx, p, in, result.Changes); err != nil {
		return nil, err
	}
	if err := s.checkMoves(ctx, p, result.Changes); err != nil {
		return nil, err
	}
	kind, err := s.decide(ctx, caller, p, attempt)
	if err != nil {
		return nil, err
	}
	s.describe(caller, p, kind, attempt.Change.Actions, result.Changes)
	return p, nil
}

// planCreate judges the commit that ends a staged create.
func (s *Service) planCreate(ctx context.Context, caller policy.Caller, cat models.Catalog, in CommitInput) (*plan, error) {
	at, row, err := s.newTable(ctx, caller, cat, in.Table.Namespace, in.Table.Name)
	if err != nil {
		return nil, err
	}
	if err := metadata.Check(nil, in.Requirements); err != nil {
		return nil, err
	}
	result, err := metadata.Apply(nil, in.Updates, metadata.ApplyOptions{Now: s.now()})
	if err != nil {
		return nil, err
	}
	p := &plan{at: at, row: row, next: result.Document, creates: true}
	if err := s.checkCreated(ctx, p); err != nil {
		return nil, err
	}
	attempt := s.attempt(caller, at, row, in)
	if attempt.Change, err = s.facts(ctx, p, in, result.Changes); err != nil {
		return nil, err
	}
	kind, err := s.decide(ctx, caller, p, attempt)
	if err != nil {
		return nil, err
	}
	if p.next, err = s.stamp(p.next, row); err != nil {
		return nil, err
	}
	s.describe(caller, p, kind, attempt.Change.Actions, result.Changes)
	return p, nil
}

// checkCreated holds a table made by commit to what the create route asks of one.
func (s *Service) checkCreated(ctx context.Context, p *plan) error {
	if err := s.checkTableLocation(ctx, p.at, p.next.Location(), ""); err != nil {
		return err
	}
	if err := s.checkFreeUUID(ctx, p.next.UUID()); err != nil {
		return err
	}
	return s.checkPathProperties(p.next.Location(), p.next.Properties())
}

// checkFreeUUID: reconciliations and their audit are known by table uuid, so no two tables may share one.
func (s *Service) checkFreeUUID(ctx context.Context, uuid string) error {
	taken, err := s.reports.FindTable(ctx, "", uuid)
	if err == nil && len(taken) > 0 {
		err = fault.New(fault.Invalid, "The table uuid %s belongs to another table. Stage the create again for a fresh one.", uuid)
	}
	return err
}

// checkMoves holds a changed location and redirected folders to the rules of a new table.
func (s *Service) checkMoves(ctx context.Context, p *plan, c metadata.Changes) error {
	if c.LocationChanged {
		if err := s.checkTableLocation(ctx, p.at, p.next.Location(), p.row.ID); err != nil {
			return err
		}
	}
	return s.checkPathProperties(p.next.Location(), c.PropertiesSet)
}

// replayed tells whether a commit is one that already happened, sent again by a client that lost the answer: all its
// snapshots are there as sent, and every one is on a branch or tag.
func replayed(doc *metadata.Document, in CommitInput) bool {
	pending := metadata.PendingSnapshots(in.Updates)
	if uuid, ok := metadata.AssertedUUID(in.Requirements); len(pending) == 0 || ok && uuid != doc.UUID() {
		return false
	}
	refs := doc.Refs()
	for _, snap := range pending {
		if !doc.HasIdentical(snap) {
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
	return true
}

// carryOut writes the metadata files and moves the pointers. fault.Conflict means that another process was faster and
// nothing has changed.
func (s *Service) carryOut(ctx context.Context, plans []*plan) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	var written []string
	var swaps []Swap
	var create *plan
	for _, p := range plans {
		if !p.changed() {
			continue
		}
		previous := p.row.MetadataLocation
		err := s.pointTo(&p.row, p.next, newMetadataLocation(p.next, previous))
		if err == nil {
			err = s.writeDocument(ctx, p.row.MetadataLocation, p.next)
		}
		if err != nil {
			s.discard(ctx, err, written...)
			return err
		}
		written = append(written, p.row.MetadataLocation)
		p.place()
		if p.creates {
			create = p
		} else {
			swaps = append(swaps, Swap{Table: p.row, Effects: p.effects})
		}
	}
	if err := s.swap(ctx, swaps, create); err != nil {
		s.discard(ctx, err, written...)
		return err
	}
	for _, p := range plans {
		if p.changed() {
			p.row.Version++
			s.documents.put(p.row.MetadataLocation, p.next)
		}
	}
	s.wake()
	return nil
}

func (s *Service) swap(ctx context.Context, swaps []Swap, create *plan) error {
	if create != nil {
		err := s.store.CreateTable(ctx, create.row, create.effects)
		if fault.Is(err, fault.AlreadyExists) {
			return tableExists(create.at.name(create.row.Name))
		}
		return err
	}
	if len(swaps) == 0 {
		return nil
	}
	return s.store.SwapTables(ctx, swaps)
}

func (s *Service) wake() {
	if s.waker != nil {
		s.waker.Wake()
	}
}

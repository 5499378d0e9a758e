package catalog

import (
	"context"
	"errors"
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
	returns bool // main is moved to a snapshot that the table has already
	effects Effects
}

// moves tells whether the table's location changes.
func (p *plan) moves() bool { return !p.creates && p.next.Location() != p.base.Location() }

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

// CommitTransaction applies the commits of several tables, all or none, those that create their table among them; the
// policy of every table is judged before anything is written.
func (s *Service) CommitTransaction(ctx context.Context, caller policy.Caller, cat models.Catalog, in []CommitInput) error {
	seen := map[string]bool{}
	for _, c := range in {
		key := lockKey(cat, c.Table)
		if seen[key] {
			return fault.New(fault.Invalid, "Table %s occurs twice in one transaction. Merge its changes into one.", c.Table)
		}
		seen[key] = true
	}
	if len(in) == 0 {
		return fault.New(fault.Invalid, "A transaction needs at least one table change.")
	}
	_, err := s.commit(ctx, caller, cat, in)
	return err
}

// commit waits for those who reserved a table, and then for those who commit to it in this process.
func (s *Service) commit(ctx context.Context, caller policy.Caller, cat models.Catalog, in []CommitInput) ([]*plan, error) {
	if err := refuseReadOnly(caller, "commit"); err != nil {
		return nil, err
	}
	for turn := s.newTurn(); ; {
		plans, err := s.commitInTurn(ctx, caller, cat, in)
		if !errors.Is(err, errReserved) {
			return plans, err
		}
		if in, err = turn.wait(ctx, in); err != nil {
			return nil, err
		}
	}
}

// commitInTurn retries while swaps are lost to other processes and the requirements still hold against the new state.
func (s *Service) commitInTurn(ctx context.Context, caller policy.Caller, cat models.Catalog, in []CommitInput) ([]*plan, error) {
	unlock, err := s.locks.Lock(ctx, lockKeys(cat, in)...)
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
		case fault.Is(err, fault.AlreadyExists) && attempt < maxAttempts: // the next plan names what is in the way
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
		keys[i] = lockKey(cat, c.Table)
	}
	return keys
}

func lockKey(cat models.Catalog, ident models.TableIdent) string {
	return cat.ID + "\x00" + string(models.KeyOf(ident.Namespace)) + "\x00" + ident.Name
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
	return plans, s.checkApart(plans)
}

// planChange judges a commit to an existing table.
func (s *Service) planChange(ctx context.Context, caller policy.Caller, cat models.Catalog, in CommitInput) (*plan, error) {
	at, row, err := s.find(ctx, caller, cat, in.Table, operationsOf(in.Updates)...)
	if err != nil {
		return nil, err
	}
	row, base, err := s.current(ctx, row)
	if err != nil {
		return nil, err
	}
	p := &plan{at: at, row: row, base: base, next: base}
	if s.replayed(base, in) && caller.May(policy.LoadTable, at.tablePath(row.ID)) {
		return p, nil
	}
	attempt := s.attempt(caller, at, row, in)
	// What a privilege or a closed policy forbids is refused before anything is read: a stale commit learns that too.
	kind, err := s.judge(ctx, caller, p, attempt)
	if err != nil {
		return nil, err
	}
	if err := s.checkBase(ctx, caller, p, in); err != nil {
		return nil, err
	}
	result, err := metadata.Apply(base, in.Updates, metadata.ApplyOptions{Now: s.now(), PreviousLocation: row.MetadataLocation})
	if err != nil {
		return nil, err
	}
	if err := checkKept(result.Document, in.Updates); err != nil {
		return nil, err
	}
	if !result.Changed {
		return p, nil
	}
	p.next = result.Document
	if attempt.Change, err = s.facts(ctx, p, in, result.Changes, kind); err != nil {
		return nil, err
	}
	if err := s.checkMoves(ctx, caller, p, result.Changes); err != nil {
		return nil, err
	}
	if kind, err = s.decide(ctx, caller, p, attempt); err != nil {
		return nil, err
	}
	p.row.ForeignFiles = p.row.ForeignFiles || result.Changes.LocationChanged || attempt.Change.Outside() != ""
	p.returns = returns(p, result.Changes)
	s.describe(caller, p, kind, attempt.Change.Actions, result.Changes)
	s.describeWrite(caller, p, in.Write)
	return p, s.refuseDuplicates(ctx, caller, p, attempt)
}

// checkBase holds a commit to the table as it is, and to whose turn it is.
func (s *Service) checkBase(ctx context.Context, caller policy.Caller, p *plan, in CommitInput) error {
	if err := metadata.Check(p.base, in.Requirements); err != nil {
		s.noteStaleIdentity(ctx, caller, p, in)
		return err
	}
	if s.reserved(p.row, in) {
		return errReserved
	}
	return nil
}

// planCreate judges the commit that ends a staged create.
func (s *Service) planCreate(ctx context.Context, caller policy.Caller, cat models.Catalog, in CommitInput) (*plan, error) {
	at, row, err := s.newTable(ctx, caller, policy.UpdateTableForStagedCreate, cat, in.Table.Namespace, in.Table.Name)
	if err != nil {
		return nil, asRequirement(err, in.Table)
	}
	if err := metadata.Check(nil, in.Requirements); err != nil {
		return nil, err
	}
	result, err := metadata.Apply(nil, in.Updates, metadata.ApplyOptions{Now: s.now()})
	if err != nil {
		return nil, err
	}
	p := &plan{at: at, row: row, next: result.Document, creates: true}
	if err := checkKept(p.next, in.Updates); err != nil {
		return nil, err
	}
	if err := s.checkCreated(ctx, p); err != nil {
		return nil, err
	}
	if err := s.checkVacant(ctx, caller, cat, p.next.Location()); err != nil {
		return nil, err
	}
	attempt := s.attempt(caller, at, row, in)
	if attempt.Change, err = s.facts(ctx, p, in, result.Changes, ""); err != nil {
		return nil, err
	}
	kind, err := s.decide(ctx, caller, p, attempt)
	if err != nil {
		return nil, err
	}
	if p.next, err = s.stamp(p.next, row); err != nil {
		return nil, err
	}
	p.row.ForeignFiles = p.row.ForeignFiles || attempt.Change.Outside() != ""
	s.describe(caller, p, kind, attempt.Change.Actions, result.Changes)
	s.describeWrite(caller, p, in.Write)
	return p, nil
}

// checkCreated holds a table made by commit to what the create route asks of one.
func (s *Service) checkCreated(ctx context.Context, p *plan) error {
	if err := s.checkFormat(p.at.cat, p.next.FormatVersion()); err != nil {
		return err
	}
	if err := s.checkTableLocation(ctx, p.at, p.row.Name, p.next.Location(), ""); err != nil {
		return err
	}
	if err := s.checkFreeUUID(ctx, canonicalUUID(p.next.UUID())); err != nil {
		return err
	}
	return s.checkPathProperties(p.next.Location(), p.next.Properties())
}

// checkMoves holds a changed location, redirected folders and another format version to the rules of a new table.
func (s *Service) checkMoves(ctx context.Context, caller policy.Caller, p *plan, c metadata.Changes) error {
	if c.FormatVersionChanged {
		if err := s.checkFormat(p.at.cat, p.next.FormatVersion()); err != nil {
			return err
		}
	}
	if c.UUIDAssigned {
		if err := s.checkFreeUUID(ctx, canonicalUUID(p.next.UUID())); err != nil {
			return err
		}
	}
	if c.LocationChanged {
		if err := s.checkTableLocation(ctx, p.at, p.row.Name, p.next.Location(), p.row.ID); err != nil {
			return err
		}
		if err := s.checkMoved(ctx, caller, p); err != nil {
			return err
		}
		// What the properties redirected stayed inside the old location, which another table may take now.
		return s.checkPathProperties(p.next.Location(), p.next.Properties())
	}
	return s.checkPathProperties(p.next.Location(), c.PropertiesSet)
}

// carryOut writes the metadata files and moves the pointers. fault.Conflict means that another process was faster and
// nothing has changed.
func (s *Service) carryOut(ctx context.Context, plans []*plan) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	var written []string
	var swaps []Swap
	for _, p := range plans {
		if !p.changed() {
			continue
		}
		previous := p.row.MetadataLocation
		err := s.pointTo(&p.row, p.next, s.newMetadataLocation(p.next, previous))
		if err == nil {
			err = s.writeDocument(ctx, p.row.MetadataLocation, p.next)
		}
		if err != nil {
			s.discard(ctx, err, written...)
			return err
		}
		written = append(written, p.row.MetadataLocation)
		p.place()
		swaps = append(swaps, Swap{Table: p.row, Create: p.creates, Moves: p.moves(), Returns: p.returns, Effects: p.effects})
	}
	if len(swaps) == 0 {
		return nil
	}
	if len(swaps) == 1 && len(swaps[0].Effects.Writes) == 0 { // a governed write says by itself what it came to
		settle(ctx, swaps[0].Table)
	}
	if err := s.store.SwapTables(ctx, swaps); err != nil {
		s.discard(ctx, err, written...)
		return err
	}
	for _, p := range plans {
		if p.changed() {
			if !p.creates {
				p.row.Version++
			}
			s.documents.put(p.row.MetadataLocation, p.next)
			s.presence.note(p.row.MetadataLocation)
			s.cleaner.remove(s.outdated(p))
		}
	}
	s.wake()
	return nil
}

func (s *Service) wake() {
	if s.waker != nil {
		s.waker.Wake()
	}
}

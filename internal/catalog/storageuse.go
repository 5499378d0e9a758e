package catalog

import (
	"context"
	"fmt"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// requireProperty of a catalog refuses loads of tables without access delegation, to all but stewards.
const requireProperty = "sluice.require-delegation"

// epochsOfLife is how often in the life of keys a load is answered anew, so that an answer which a client keeps never has
// keys that are about to run out.
const epochsOfLife = 4

// ReadTable gives a table's metadata to somebody who is to read its data by it. What is planned by it holds bounds of
// columns, so that it takes the clearance for them.
func (s *Service) ReadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (TableView, error) {
	at, row, err := s.find(ctx, caller, cat, ident)
	if err != nil {
		return TableView{}, err
	}
	if err := caller.Require(policy.PlanTableScan, policy.Object, at.tablePath(row.ID), "table "+ident.String()); err != nil {
		return TableView{}, err
	}
	if !policy.StorageRightsFor(question(caller, at, row)).ReadData {
		return TableView{}, tooSensitive(caller, at, row)
	}
	return s.view(ctx, at, row)
}

// UseLoaded says how the caller reaches the files of a table that it loads; asked is what it wants, what it likes best first.
// It refuses who asks for a way in and lacks the clearance for the table, and who does not ask where the catalog wants
// it; a load without a way in is recorded as such.
func (s *Service) UseLoaded(ctx context.Context, caller policy.Caller, cat models.Catalog, view TableView, asked []Delegation) (StorageUse, error) {
	if len(asked) == 0 && view.Row.ID != "" {
		return s.useNone(ctx, caller, cat, view)
	}
	use, err := s.use(ctx, caller, cat, view, asked)
	if err != nil || view.Row.ID == "" || use.Access.Rights.Any() {
		return use, err
	}
	if q := question(caller, view.at, view.Row); q.ReadData {
		return use, tooSensitive(caller, view.at, view.Row)
	}
	return use, nil
}

// useNone is UseLoaded for who asks for no way in. Once a minute it is recorded of each token, where there was one to ask for.
func (s *Service) useNone(ctx context.Context, caller policy.Caller, cat models.Catalog, view TableView) (StorageUse, error) {
	use := StorageUse{Caller: caller, Catalog: cat, TableID: view.Row.ID}
	if cat.Properties.V[requireProperty] == "true" && !question(caller, view.at, view.Row).Steward {
		return use, notDelegated(cat, view)
	}
	if s.keys == nil || !s.accesses.due(use, models.UndelegatedAccess) {
		return use, nil
	}
	choice, err := s.keys.Choose(ctx, cat, nil)
	if err != nil {
		s.log.WarnContext(ctx, "nobody is let at the files of a catalog", "catalog", cat.Name, "error", err)
		return use, nil
	}
	if choice.Able && policy.StorageRightsFor(question(caller, view.at, view.Row)).Any() {
		s.accesses.write(ctx, use, models.UndelegatedAccess)
	}
	return use, nil
}

func notDelegated(cat models.Catalog, view TableView) error {
	return fault.About(fault.Forbidden, fault.Table,
		"Catalog %s lets engines load table %s only with access delegation. Send the header X-Iceberg-Access-Delegation: %s or %s; Iceberg's clients do with the property header.X-Iceberg-Access-Delegation.",
		cat.Name, view.at.name(view.Row.Name), Vending, Signing)
}

// UseMade says how the caller reaches the files of a table that it has just made or staged. Nobody is refused, and who may do
// nothing with the files gets nothing; nor does a table that is made fail because of its files.
func (s *Service) UseMade(ctx context.Context, caller policy.Caller, cat models.Catalog, view TableView, asked []Delegation) (StorageUse, error) {
	if view.MetadataLocation != "" {
		use, err := s.use(ctx, caller, cat, view, asked)
		if use.made = true; err != nil {
			s.log.WarnContext(ctx, "a new table is answered without access to its files", "catalog", cat.Name, "error", err)
			use.Choice.Mode = NoDelegation
		}
		return use, nil
	}
	use, err := s.choose(ctx, caller, cat, asked)
	if err != nil || use.Choice.Mode == NoDelegation {
		return use, err
	}
	return s.useStaged(ctx, use, view.at, view.Row)
}

// UsePlanned says how the caller, for whom ReadTable gave the view, reaches the files of a plan.
func (s *Service) UsePlanned(ctx context.Context, caller policy.Caller, cat models.Catalog, view TableView, asked []Delegation) (StorageUse, error) {
	return s.use(ctx, caller, cat, view, asked)
}

// use says how the caller reaches the files of a table that is there.
func (s *Service) use(ctx context.Context, caller policy.Caller, cat models.Catalog, view TableView, asked []Delegation) (StorageUse, error) {
	if view.Row.ID == "" { // the answer to a repeat whose table is gone
		return StorageUse{Caller: caller, Catalog: cat}, nil
	}
	use, err := s.choose(ctx, caller, cat, asked)
	if err != nil {
		return use, err
	}
	use.TableID, use.Location = view.Row.ID, view.Row.Location
	use.Access, err = s.access(ctx, caller, view.at, view.Row, func() (map[string]string, error) { return view.Document.Properties(), nil })
	if !use.Access.Rights.Any() {
		use.Choice.Mode = NoDelegation
	}
	return use, err
}

// choose starts a use with the way in.
func (s *Service) choose(ctx context.Context, caller policy.Caller, cat models.Catalog, asked []Delegation) (StorageUse, error) {
	use := StorageUse{Caller: caller, Catalog: cat}
	if s.keys == nil {
		return use, nil
	}
	var err error
	use.Choice, err = s.keys.Choose(ctx, cat, asked)
	if part := int64(use.Choice.Life) / epochsOfLife; use.Choice.Mode == Vending && part > 0 {
		use.epoch = s.now().UnixNano() / part
	}
	return use, err
}

// Epoch tells answers apart that have different things in them: by who asks, the way in, the rights, the store, which may
// have another address or other keys after a restart, and the part of the life of keys. Without a way in it is "".
func (u StorageUse) Epoch() string {
	if u.Choice.Mode == NoDelegation {
		return ""
	}
	return fmt.Sprint(u.Caller.PrincipalID, "\x00", u.Choice.Mode, "\x00", u.Access.Rights, "\x00", u.Choice.Store, "\x00", u.epoch)
}

// OpenStorage gives what an engine needs to reach a table's files; nothing without a way in.
func (s *Service) OpenStorage(ctx context.Context, use StorageUse, at StorageRoutes) (StorageOpening, error) {
	if use.Choice.Mode == NoDelegation || s.keys == nil {
		return StorageOpening{}, nil
	}
	open, err := s.keys.Open(ctx, use, at)
	if err != nil && use.made {
		s.log.WarnContext(ctx, "a new table is answered without access to its files", "table", use.Access.Table, "error", err)
		return StorageOpening{}, nil
	}
	if err != nil {
		return StorageOpening{}, err
	}
	switch open.Mode {
	case Vending:
		s.accesses.record(ctx, use, models.VendedAccess)
	case Signing:
		s.accesses.record(ctx, use, models.SignedAccess)
	}
	return open, nil
}

// Signs tells whether requests to the catalog's store are signed. Where that cannot be said they are not.
func (s *Service) Signs(ctx context.Context, cat models.Catalog) bool {
	if s.keys == nil {
		return false
	}
	choice, err := s.keys.Choose(ctx, cat, nil)
	if err != nil {
		s.log.WarnContext(ctx, "nobody is let at the files of a catalog", "catalog", cat.Name, "error", err)
	}
	return err == nil && choice.Signs
}

package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// TableCredentials gives new keys for a table's files, or for those of a table that the caller has staged: none where the
// catalog hands out none.
func (s *Service) TableCredentials(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, at StorageRoutes) ([]StorageCredential, error) {
	uses, err := s.usesOf(ctx, caller, cat, ident)
	if err != nil || s.keys == nil {
		return nil, err
	}
	var all []StorageCredential
	for _, use := range uses {
		list, err := s.keys.Renew(ctx, use, at)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			s.accesses.record(ctx, use, models.VendedAccess)
		}
		all = append(all, list...)
	}
	return all, nil
}

// SignRequest signs a request for a table's files, or for those of a table that the caller has staged.
func (s *Service) SignRequest(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, in SignInput) (SignedRequest, error) {
	uses, err := s.usesOf(ctx, caller, cat, ident)
	if err != nil {
		return SignedRequest{}, err
	}
	if s.keys == nil {
		return SignedRequest{}, SignsNot(cat)
	}
	if len(uses) == 1 {
		return s.sign(ctx, uses[0], in)
	}
	at, err := s.keys.Locate(ctx, cat, in)
	if err != nil {
		return SignedRequest{}, err
	}
	for _, use := range uses {
		if s.locations.Within(use.Location, at) {
			return s.sign(ctx, use, in)
		}
	}
	return s.sign(ctx, uses[0], in) // which says what is wrong
}

// SignAnywhere signs a request for whatever table its URI is about: for clients that do not say, or name the wrong one because
// they have one signer for all. It is looked for in the catalog of the name, with "" the token's, and then in those that
// the caller sees.
func (s *Service) SignAnywhere(ctx context.Context, caller policy.Caller, catalog string, in SignInput) (SignedRequest, error) {
	catalogs, err := s.signing(ctx, caller, catalog)
	if err != nil {
		return SignedRequest{}, err
	}
	var refusal error
	for _, cat := range catalogs {
		signed, found, err := s.signIn(ctx, caller, cat, in)
		if found {
			return signed, err
		}
		if refusal == nil || fault.Is(refusal, fault.Unsupported) {
			refusal = err
		}
	}
	if refusal == nil {
		refusal = fault.New(fault.Unsupported, "No catalog signs requests to its object store. Let the engine reach the store with keys of its own.")
	}
	return SignedRequest{}, refusal
}

// signing gives the catalogs that a request without a table may be about, in the order in which they are looked at.
func (s *Service) signing(ctx context.Context, caller policy.Caller, name string) ([]models.Catalog, error) {
	var out []models.Catalog
	if name != "" || caller.CatalogID != "" {
		cat, err := s.Resolve(ctx, caller, name)
		if out = append(out, cat); err != nil || caller.CatalogID != "" {
			return out, err
		}
	}
	all, err := s.store.Catalogs(ctx)
	for _, cat := range all {
		if caller.SeesCatalog(cat.ID) && (len(out) == 0 || out[0].ID != cat.ID) {
			out = append(out, cat)
		}
	}
	return out, err
}

// signIn signs a request for the table of one catalog that it is about; found is false when there is none.
func (s *Service) signIn(ctx context.Context, caller policy.Caller, cat models.Catalog, in SignInput) (signed SignedRequest, found bool, err error) {
	if s.keys == nil {
		return signed, false, SignsNot(cat)
	}
	location, err := s.keys.Locate(ctx, cat, in)
	if err != nil {
		return signed, false, err
	}
	row, err := s.store.TableAtLocation(ctx, cat.ID, location)
	if fault.Is(err, fault.NotFound) {
		return s.signStagedIn(ctx, caller, cat, location, in)
	}
	if err != nil {
		return signed, false, err
	}
	state, err := s.reports.TableState(ctx, row.ID)
	if err != nil {
		return signed, false, err
	}
	at, err := s.placeOf(ctx, cat, state.NamespaceKey)
	if err != nil {
		return signed, false, err
	}
	if !caller.May(policy.TableExists, at.tablePath(row.ID)) {
		hidden := noTableAt(location)
		hidden.Denied = fault.PublicMessage(caller.Lacks(models.TableList, "table "+at.name(row.Name)))
		return signed, true, hidden
	}
	use, err := s.useOf(ctx, caller, at, row)
	if err != nil {
		return signed, true, err
	}
	signed, err = s.sign(ctx, use, in)
	return signed, true, err
}

// signStagedIn is signIn for where the catalog has no table: the caller may have staged one.
func (s *Service) signStagedIn(ctx context.Context, caller policy.Caller, cat models.Catalog, location string, in SignInput) (signed SignedRequest, found bool, err error) {
	staged, key, err := s.store.StagedAtLocation(ctx, cat.ID, location, caller.PrincipalID)
	if fault.Is(err, fault.NotFound) {
		return signed, false, noTableAt(location)
	}
	if err != nil {
		return signed, false, err
	}
	at, err := s.placeOf(ctx, cat, key)
	if err != nil {
		return signed, true, err
	}
	uses, err := s.usesStaged(ctx, caller, at, []models.StagedCreate{staged})
	if err != nil {
		return signed, true, err
	}
	signed, err = s.sign(ctx, uses[0], in)
	return signed, true, err
}

// noTableAt is the same for what is in no table and for what is in one that the caller does not see.
func noTableAt(location string) *fault.Error {
	return fault.New(fault.Forbidden, "%s lies in no table that you see. Requests are signed for files of tables alone.", location)
}

// placeOf gives the place of a namespace.
func (s *Service) placeOf(ctx context.Context, cat models.Catalog, key models.NamespaceKey) (tablePlace, error) {
	chain, err := s.store.NamespacePath(ctx, cat.ID, key)
	if err != nil {
		return tablePlace{}, err
	}
	return tablePlace{cat: cat, ns: chain[len(chain)-1], path: namespacePath(cat, chain)}, nil
}

func (s *Service) sign(ctx context.Context, use StorageUse, in SignInput) (SignedRequest, error) {
	signed, err := s.keys.Sign(ctx, use, in)
	if err == nil {
		s.accesses.record(ctx, use, models.SignedAccess)
	}
	return signed, err
}

// SignsNot is the refusal to sign in a catalog that does not.
func SignsNot(cat models.Catalog) error {
	return fault.New(fault.Unsupported, "Catalog %s does not sign requests to its object store. Load the table with X-Iceberg-Access-Delegation: %s, or let the engine reach the store with keys of its own.",
		cat.Name, Vending)
}

// usesOf says what the caller may do with a table's files, or with those of what it has staged under the name: at least
// one use, and a refusal for who has no right at all.
func (s *Service) usesOf(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) ([]StorageUse, error) {
	at, row, err := s.find(ctx, caller, cat, ident)
	if fault.Is(err, fault.NotFound) && subjectOf(err) == fault.Table {
		return s.usesOfStaged(ctx, caller, cat, ident, err)
	}
	if err != nil {
		return nil, err
	}
	use, err := s.useOf(ctx, caller, at, row)
	return []StorageUse{use}, err
}

// useOf is usesOf for a table that is there.
func (s *Service) useOf(ctx context.Context, caller policy.Caller, at tablePlace, row models.Table) (StorageUse, error) {
	use := StorageUse{Caller: caller, Catalog: at.cat, TableID: row.ID, Location: row.Location}
	var err error
	use.Access, err = s.access(ctx, caller, at, row, func() (map[string]string, error) {
		_, doc, err := s.current(ctx, row)
		if err != nil {
			return nil, err
		}
		return doc.Properties(), nil
	})
	if err == nil && !use.Access.Rights.Any() {
		err = lacksFiles(caller, at, row)
	}
	return use, err
}

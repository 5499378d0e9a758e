package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// tablePlace is where a table is or would be: its catalog and its namespace, with the ids that grants may be on.
type tablePlace struct {
	cat  models.Catalog
	ns   models.Namespace
	path policy.Path // of the namespace
}

func (p tablePlace) name(table string) string {
	return models.TableIdent{Namespace: p.ns.Key.Levels(), Name: table}.String()
}

func (p tablePlace) tablePath(id string) policy.Path {
	path := p.path
	path.TableID = id
	return path
}

// refuseReadOnly keeps tokens without canWrite from every mutation, whatever their principal holds.
func refuseReadOnly(caller policy.Caller, what string) error {
	if caller.ReadOnly {
		return fault.New(fault.Forbidden, "This token is read-only and may not %s. Use a token minted with canWrite.", what)
	}
	return nil
}

// refuseGoverning keeps from governance what is not meant for it: read-only tokens, and tokens of jobs, whatever their
// principal holds. Whoever copies the token of a job may write as the job does, and no more.
func refuseGoverning(caller policy.Caller, what string) error {
	switch {
	case caller.ReadOnly:
		return fault.New(fault.Forbidden, "This token is read-only and may not %s. Use a token minted with canWrite and canGovern.", what)
	case !caller.CanGovern:
		return fault.New(fault.Forbidden, "This token may not change governance. Use one minted with canGovern or the principal's credentials.")
	}
	return nil
}

func namespacePath(cat models.Catalog, chain []models.Namespace) policy.Path {
	ids := make([]string, len(chain))
	for i, ns := range chain {
		ids[i] = ns.ID
	}
	return policy.Path{CatalogID: cat.ID, NamespaceIDs: ids}
}

// namespaceChain finds a namespace with its ancestors. To a caller who may neither see it nor do any of the operations on it,
// it does not exist.
func (s *Service) namespaceChain(
	ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, ops ...policy.Operation,
) ([]models.Namespace, policy.Path, error) {
	if len(levels) == 0 {
		return nil, policy.Path{}, fault.New(fault.Invalid, "A namespace has at least one level.")
	}
	chain, err := s.store.NamespacePath(ctx, cat.ID, models.KeyOf(levels))
	if fault.Is(err, fault.NotFound) {
		return nil, policy.Path{}, noSuchNamespace(levels)
	}
	if err != nil {
		return nil, policy.Path{}, err
	}
	path := namespacePath(cat, chain)
	if !caller.SeesNamespace(path) && !reaches(caller, path, ops) {
		return nil, policy.Path{}, concealed(noSuchNamespace(levels), caller, policy.NamespaceExists, "namespace "+models.KeyOf(levels).String())
	}
	return chain, path, nil
}

// place finds the namespace that a table is to be looked for or made in.
func (s *Service) place(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string) (tablePlace, error) {
	chain, path, err := s.namespaceChain(ctx, caller, cat, levels)
	if err != nil {
		return tablePlace{}, err
	}
	return tablePlace{cat: cat, ns: chain[len(chain)-1], path: path}, nil
}

// find looks a table up; to a caller who may neither list it nor do any of the operations on it, it does not exist. A missing
// namespace is a missing table.
func (s *Service) find(
	ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, ops ...policy.Operation,
) (tablePlace, models.Table, error) {
	chain, err := s.store.NamespacePath(ctx, cat.ID, models.KeyOf(ident.Namespace))
	if fault.Is(err, fault.NotFound) {
		return tablePlace{}, models.Table{}, noSuchTable(ident)
	}
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	at := tablePlace{cat: cat, ns: chain[len(chain)-1], path: namespacePath(cat, chain)}
	row, err := s.store.TableByName(ctx, at.ns.ID, ident.Name)
	if fault.Is(err, fault.NotFound) {
		return at, models.Table{}, noSuchTable(ident)
	}
	if path := at.tablePath(row.ID); err == nil && !caller.May(policy.TableExists, path) && !reaches(caller, path, ops) {
		return at, models.Table{}, concealed(noSuchTable(ident), caller, policy.TableExists, "table "+ident.String())
	}
	return at, row, err
}

func reaches(caller policy.Caller, at policy.Path, ops []policy.Operation) bool {
	return slices.ContainsFunc(ops, func(op policy.Operation) bool { return caller.Reaches(op, at) })
}

// concealed says of what the caller may not see what is said of what is not there, and tells the audit why: of an operation
// that only asks whether the object is there, the privilege is missing.
func concealed(absent *fault.Error, caller policy.Caller, op policy.Operation, object string) error {
	why := fault.PublicMessage(caller.Lacks(op.Needs()[0].Privilege, object))
	return fault.Conceal(absent.Subject, why, "%s", absent.Message)
}

// reworded gives a NotFound error another sentence, and keeps what the audit is to know.
func reworded(err error, subject fault.Subject, format string, args ...any) error {
	e := fault.About(fault.NotFound, subject, format, args...)
	if was, ok := errors.AsType[*fault.Error](err); ok {
		e.Denied = was.Denied
	}
	return e
}

func noSuchNamespace(levels []string) *fault.Error {
	return fault.About(fault.NotFound, fault.Namespace, "Namespace does not exist: %s", models.KeyOf(levels))
}

func noSuchTable(ident models.TableIdent) *fault.Error {
	return fault.About(fault.NotFound, fault.Table, "Table does not exist: %s", ident)
}

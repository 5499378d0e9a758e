package management

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// theService is what refusals call the installation.
const theService = "the service"

// mayGovern keeps from rights what is not meant for them: read-only tokens, and the tokens of jobs, whatever their
// principal holds. Whoever copies the token of a job must not be able to hand out what the job's principal may.
func mayGovern(caller policy.Caller, what string) error {
	switch {
	case caller.ReadOnly:
		return fault.New(fault.Forbidden, "This token is read-only and may not %s. Use a token minted with canWrite and canGovern.", what)
	case !caller.CanGovern:
		return fault.New(fault.Forbidden, "This token may not change governance. Use one minted with canGovern or the principal's credentials.")
	}
	return nil
}

// managesService tells whether the caller administers the installation. A token that is bound to a catalog does not,
// whatever its principal holds: it would reach others.
func managesService(caller policy.Caller) bool {
	return caller.CatalogID == "" && caller.Has(models.ServiceManageAccess, policy.Path{})
}

// onService checks an operation on the installation itself.
func onService(caller policy.Caller, op policy.Operation) error {
	if err := caller.Require(op, policy.Service, policy.Path{}, theService); err != nil {
		return err
	}
	if caller.CatalogID != "" {
		return fault.New(fault.Forbidden, "This token is bound to one catalog and does not carry %s on %s. Use one that is bound to none.",
			models.ServiceManageAccess, theService)
	}
	return nil
}

// changesService checks a change of the installation itself. what completes "may not".
func changesService(caller policy.Caller, op policy.Operation, what string) error {
	if err := mayGovern(caller, what); err != nil {
		return err
	}
	return onService(caller, op)
}

func catalogPath(cat models.Catalog) policy.Path { return policy.Path{CatalogID: cat.ID} }

// catalogNamed finds a catalog. To a caller who holds nothing on it or in it, it does not exist.
func (s *Service) catalogNamed(ctx context.Context, caller policy.Caller, name string) (models.Catalog, error) {
	cat, err := s.store.CatalogByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return models.Catalog{}, fault.About(fault.NotFound, fault.Catalog, noCatalog, name)
	}
	if err != nil {
		return models.Catalog{}, err
	}
	if why := hidesCatalog(caller, cat); why != "" {
		return models.Catalog{}, fault.Conceal(fault.Catalog, why, noCatalog, name)
	}
	return cat, nil
}

// What is said of what is absent and of what is hidden is the same.
const (
	noCatalog       = "Catalog does not exist: %s"
	noPrincipal     = "Principal does not exist: %s"
	noPrincipalRole = "Principal role does not exist: %s"
)

// hidesCatalog says why a catalog is hidden from the caller, "" when it is not.
func hidesCatalog(caller policy.Caller, cat models.Catalog) string {
	if caller.CatalogID != "" && caller.CatalogID != cat.ID {
		return fmt.Sprintf("The token of principal %s is bound to another catalog than %s.", caller.Principal, cat.Name)
	}
	if !caller.SeesCatalog(cat.ID) {
		return fmt.Sprintf("Principal %s holds no privilege on catalog %s nor on anything in it.", caller.Principal, cat.Name)
	}
	return ""
}

// catalogFor finds a catalog for an operation on it.
func (s *Service) catalogFor(ctx context.Context, caller policy.Caller, op policy.Operation, name string) (models.Catalog, error) {
	cat, err := s.catalogNamed(ctx, caller, name)
	if err != nil {
		return models.Catalog{}, err
	}
	return cat, requireOn(caller, op, cat)
}

func requireOn(caller policy.Caller, op policy.Operation, cat models.Catalog) error {
	return caller.Require(op, policy.Object, catalogPath(cat), "catalog "+cat.Name)
}

// changedCatalog is catalogFor of a change.
func (s *Service) changedCatalog(ctx context.Context, caller policy.Caller, op policy.Operation, name, what string) (models.Catalog, error) {
	if err := mayGovern(caller, what); err != nil {
		return models.Catalog{}, err
	}
	return s.catalogFor(ctx, caller, op, name)
}

// principalNamed finds a principal. Who does not administer the installation knows of itself alone.
func (s *Service) principalNamed(ctx context.Context, caller policy.Caller, name string) (models.Principal, error) {
	p, err := s.store.PrincipalByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return models.Principal{}, fault.About(fault.NotFound, fault.Principal, noPrincipal, name)
	}
	if err != nil {
		return models.Principal{}, err
	}
	if !managesService(caller) && !isSelf(caller, p) {
		return models.Principal{}, fault.Conceal(fault.Principal, hiddenWithout(caller, "principal "+name), noPrincipal, name)
	}
	return p, nil
}

func isSelf(caller policy.Caller, p models.Principal) bool {
	return caller.CatalogID == "" && p.ID == caller.PrincipalID
}

// hiddenWithout is the reason why something of the installation is hidden from a caller.
func hiddenWithout(caller policy.Caller, what string) string {
	if caller.CatalogID != "" {
		return fmt.Sprintf("The token of principal %s is bound to a catalog, and %s is in none.", caller.Principal, what)
	}
	return fmt.Sprintf("Principal %s lacks the privilege %s, without which it does not see %s.", caller.Principal, models.ServiceManageAccess, what)
}

// principalFor finds a principal for an operation on it that takes the right to administer the installation.
func (s *Service) principalFor(ctx context.Context, caller policy.Caller, op policy.Operation, name string) (models.Principal, error) {
	p, err := s.principalNamed(ctx, caller, name)
	if err != nil {
		return models.Principal{}, err
	}
	return p, onService(caller, op)
}

// changedPrincipal is principalFor of a change.
func (s *Service) changedPrincipal(ctx context.Context, caller policy.Caller, op policy.Operation, name, what string) (models.Principal, error) {
	if err := mayGovern(caller, what); err != nil {
		return models.Principal{}, err
	}
	return s.principalFor(ctx, caller, op, name)
}

// principalRoleFor finds a principal role for an operation on it. Who does not administer the installation knows of its
// own roles alone.
func (s *Service) principalRoleFor(ctx context.Context, caller policy.Caller, op policy.Operation, name string) (models.PrincipalRole, error) {
	r, err := s.principalRoleNamed(ctx, name)
	if err != nil {
		return models.PrincipalRole{}, err
	}
	if !managesService(caller) && (caller.CatalogID != "" || !slices.Contains(caller.RoleNames, r.Name)) {
		return models.PrincipalRole{}, fault.Conceal(fault.Role, hiddenWithout(caller, "principal role "+name), noPrincipalRole, name)
	}
	return r, onService(caller, op)
}

// changedPrincipalRole is principalRoleFor of a change.
func (s *Service) changedPrincipalRole(ctx context.Context, caller policy.Caller, op policy.Operation, name, what string) (models.PrincipalRole, error) {
	if err := mayGovern(caller, what); err != nil {
		return models.PrincipalRole{}, err
	}
	return s.principalRoleFor(ctx, caller, op, name)
}

// principalRoleNamed finds a principal role for whoever may know all of them.
func (s *Service) principalRoleNamed(ctx context.Context, name string) (models.PrincipalRole, error) {
	r, err := s.store.PrincipalRoleByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.About(fault.NotFound, fault.Role, noPrincipalRole, name)
	}
	return r, err
}

// catalogRoleNamed finds a role of a catalog.
func (s *Service) catalogRoleNamed(ctx context.Context, cat models.Catalog, name string) (models.CatalogRole, error) {
	r, err := s.store.CatalogRoleByName(ctx, cat.ID, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.About(fault.NotFound, fault.Role, "Catalog role does not exist: %s in catalog %s", name, cat.Name)
	}
	return r, err
}

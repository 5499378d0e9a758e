package management

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// ListCatalogRoles gives the roles of a catalog.
func (s *Service) ListCatalogRoles(ctx context.Context, caller policy.Caller, catalog string) ([]models.CatalogRole, error) {
	cat, err := s.catalogFor(ctx, caller, policy.ListCatalogRoles, catalog)
	if err != nil {
		return nil, err
	}
	return s.store.CatalogRoles(ctx, cat.ID)
}

// CreateCatalogRole makes a role of a catalog, without grants.
func (s *Service) CreateCatalogRole(ctx context.Context, caller policy.Caller, catalog string, in NewRole) (models.CatalogRole, error) {
	cat, err := s.changedCatalog(ctx, caller, policy.CreateCatalogRole, catalog, "create catalog roles")
	if err != nil {
		return models.CatalogRole{}, err
	}
	if err := checkRole("catalog role", in); err != nil {
		return models.CatalogRole{}, err
	}
	now := s.now()
	r := models.CatalogRole{
		ID: uuid.NewString(), CatalogID: cat.ID, Name: in.Name, Properties: keptProperties(in.Properties),
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	details := map[string]any{"catalogRole": r.Name}
	notePropertyKeys(details, nil, in.Properties)
	if err := s.store.CreateCatalogRole(ctx, r, s.event(caller, models.AuditCatalogRoleCreated, cat.Name, details)); err != nil {
		return models.CatalogRole{}, err
	}
	return s.store.CatalogRoleByName(ctx, cat.ID, r.Name)
}

// GetCatalogRole gives a role of a catalog.
func (s *Service) GetCatalogRole(ctx context.Context, caller policy.Caller, catalog, name string) (models.CatalogRole, error) {
	cat, err := s.catalogFor(ctx, caller, policy.GetCatalogRole, catalog)
	if err != nil {
		return models.CatalogRole{}, err
	}
	return s.catalogRoleNamed(ctx, cat, name)
}

// changedRole finds a role of a catalog to change.
func (s *Service) changedRole(ctx context.Context, caller policy.Caller, op policy.Operation, catalog, name, what string) (models.Catalog, models.CatalogRole, error) {
	cat, err := s.changedCatalog(ctx, caller, op, catalog, what)
	if err != nil {
		return models.Catalog{}, models.CatalogRole{}, err
	}
	r, err := s.catalogRoleNamed(ctx, cat, name)
	return cat, r, err
}

// UpdateCatalogRole replaces a catalog role's properties. What was read before somebody else's change is fault.Conflict.
func (s *Service) UpdateCatalogRole(ctx context.Context, caller policy.Caller, catalog, name string, in RoleChange) (models.CatalogRole, error) {
	cat, r, err := s.changedRole(ctx, caller, policy.UpdateCatalogRole, catalog, name, "change catalog roles")
	if err != nil {
		return models.CatalogRole{}, err
	}
	if r.Version != in.Version {
		return models.CatalogRole{}, staleVersion("catalog role", name, r.Version, in.Version)
	}
	if err := checkProperties(in.Properties); err != nil {
		return models.CatalogRole{}, err
	}
	next := r
	next.Properties = keptProperties(in.Properties)
	details := map[string]any{}
	notePropertyKeys(details, r.Properties.V, next.Properties.V)
	if len(details) == 0 {
		return r, nil
	}
	details["catalogRole"] = r.Name
	if err := s.store.UpdateCatalogRole(ctx, next, s.event(caller, models.AuditCatalogRoleUpdated, cat.Name, details)); err != nil {
		return models.CatalogRole{}, err
	}
	return s.store.CatalogRoleByName(ctx, cat.ID, r.Name)
}

// DeleteCatalogRole removes a catalog role with its grants.
func (s *Service) DeleteCatalogRole(ctx context.Context, caller policy.Caller, catalog, name string) error {
	cat, r, err := s.changedRole(ctx, caller, policy.DeleteCatalogRole, catalog, name, "delete catalog roles")
	if err != nil {
		return err
	}
	if err := refuseBuiltIn("catalog role", r.Name, "deleted"); err != nil {
		return err
	}
	event := s.event(caller, models.AuditCatalogRoleDeleted, cat.Name, map[string]any{"catalogRole": r.Name})
	return s.store.DeleteCatalogRole(ctx, r.ID, event)
}

// CatalogRolesOf gives the roles of a catalog that a principal role has: of any to who administers the catalog, of those
// that it acts with to anybody.
func (s *Service) CatalogRolesOf(ctx context.Context, caller policy.Caller, principalRole, catalog string) ([]models.CatalogRole, error) {
	cat, err := s.catalogNamed(ctx, caller, catalog)
	if err == nil && !slices.Contains(caller.RoleNames, principalRole) {
		err = requireOn(caller, policy.ListCatalogRolesForPrincipalRole, cat)
	}
	if err != nil {
		return nil, err
	}
	pr, err := s.principalRoleNamed(ctx, principalRole)
	if err != nil {
		return nil, err
	}
	return s.store.CatalogRolesOf(ctx, pr.ID, cat.ID)
}

// PrincipalRolesWith gives the principal roles that have a catalog role.
func (s *Service) PrincipalRolesWith(ctx context.Context, caller policy.Caller, catalog, catalogRole string) ([]models.PrincipalRole, error) {
	cat, err := s.catalogFor(ctx, caller, policy.ListAssigneePrincipalRolesForCatalogRole, catalog)
	if err != nil {
		return nil, err
	}
	r, err := s.catalogRoleNamed(ctx, cat, catalogRole)
	if err != nil {
		return nil, err
	}
	return s.store.PrincipalRolesWith(ctx, r.ID)
}

// assignment is both ends of a catalog role's assignment.
type assignment struct {
	cat  models.Catalog
	from models.PrincipalRole
	to   models.CatalogRole
}

func (a assignment) row() models.CatalogRoleMember {
	return models.CatalogRoleMember{PrincipalRoleID: a.from.ID, CatalogRoleID: a.to.ID}
}

func (a assignment) details() map[string]any {
	return map[string]any{"role": a.from.Name, "catalogRole": a.to.Name}
}

func (s *Service) assignment(ctx context.Context, caller policy.Caller, op policy.Operation, principalRole, catalog, catalogRole string) (assignment, error) {
	cat, to, err := s.changedRole(ctx, caller, op, catalog, catalogRole, "assign or revoke roles")
	if err != nil {
		return assignment{}, err
	}
	from, err := s.principalRoleNamed(ctx, principalRole)
	return assignment{cat, from, to}, err
}

// AssignCatalogRole gives a principal role a catalog role. Giving it twice is giving it once.
func (s *Service) AssignCatalogRole(ctx context.Context, caller policy.Caller, principalRole, catalog, catalogRole string) error {
	a, err := s.assignment(ctx, caller, policy.AssignCatalogRoleToPrincipalRole, principalRole, catalog, catalogRole)
	if err != nil {
		return err
	}
	_, err = s.store.AssignCatalogRole(ctx, a.row(), s.event(caller, models.AuditCatalogRoleAssigned, a.cat.Name, a.details()))
	return err
}

// RevokeCatalogRole takes a catalog role from a principal role; fault.NotFound when it does not have it.
func (s *Service) RevokeCatalogRole(ctx context.Context, caller policy.Caller, principalRole, catalog, catalogRole string) error {
	a, err := s.assignment(ctx, caller, policy.RevokeCatalogRoleFromPrincipalRole, principalRole, catalog, catalogRole)
	if err != nil {
		return err
	}
	if a.from.Name == models.ServiceAdminRole && a.to.Name == models.CatalogAdminRole {
		return fault.New(fault.Invalid, "The catalog role %s cannot be revoked from %s: somebody must always be able to administer catalog %s.",
			a.to.Name, a.from.Name, a.cat.Name)
	}
	changed, err := s.store.RevokeCatalogRole(ctx, a.row(), s.event(caller, models.AuditCatalogRoleRevoked, a.cat.Name, a.details()))
	if err == nil && !changed {
		err = fault.About(fault.NotFound, fault.Role, "Principal role %s does not have the role %s of catalog %s.", a.from.Name, a.to.Name, a.cat.Name)
	}
	return err
}

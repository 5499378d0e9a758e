package management

import (
	"context"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// ListPrincipalRoles gives every principal role.
func (s *Service) ListPrincipalRoles(ctx context.Context, caller policy.Caller) ([]models.PrincipalRole, error) {
	if err := onService(caller, policy.ListPrincipalRoles); err != nil {
		return nil, err
	}
	return s.store.PrincipalRoles(ctx)
}

// CreatePrincipalRole makes a principal role that nobody has. Of a federated one the identity provider says who has it.
func (s *Service) CreatePrincipalRole(ctx context.Context, caller policy.Caller, in NewRole) (models.PrincipalRole, error) {
	if err := changesService(caller, policy.CreatePrincipalRole, "create principal roles"); err != nil {
		return models.PrincipalRole{}, err
	}
	if err := checkRole("principal role", in); err != nil {
		return models.PrincipalRole{}, err
	}
	now := s.now()
	r := models.PrincipalRole{
		ID: uuid.NewString(), Name: in.Name, Federated: in.Federated, Properties: keptProperties(in.Properties),
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	details := map[string]any{"role": r.Name, "federated": r.Federated}
	notePropertyKeys(details, nil, in.Properties)
	if err := s.store.CreatePrincipalRole(ctx, r, s.event(caller, models.AuditPrincipalRoleCreated, "", details)); err != nil {
		return models.PrincipalRole{}, err
	}
	return s.store.PrincipalRoleByName(ctx, r.Name)
}

func checkRole(what string, in NewRole) error {
	if err := checkName(what, in.Name); err != nil {
		return err
	}
	return checkProperties(in.Properties)
}

// GetPrincipalRole gives a principal role.
func (s *Service) GetPrincipalRole(ctx context.Context, caller policy.Caller, name string) (models.PrincipalRole, error) {
	return s.principalRoleFor(ctx, caller, policy.GetPrincipalRole, name)
}

// UpdatePrincipalRole replaces a principal role's properties, and makes it federated or not. Who has it assigned keeps it
// either way; nobody else has it of a token any more when it is no longer federated. What was read before somebody else's change is
// fault.Conflict.
func (s *Service) UpdatePrincipalRole(ctx context.Context, caller policy.Caller, name string, in RoleChange) (models.PrincipalRole, error) {
	r, err := s.changedPrincipalRole(ctx, caller, policy.UpdatePrincipalRole, name, "change principal roles")
	if err != nil {
		return models.PrincipalRole{}, err
	}
	if r.Version != in.Version {
		return models.PrincipalRole{}, staleVersion("principal role", name, r.Version, in.Version)
	}
	if err := checkProperties(in.Properties); err != nil {
		return models.PrincipalRole{}, err
	}
	next := r
	next.Properties = keptProperties(in.Properties)
	if in.Federated != nil {
		next.Federated = *in.Federated
	}
	if next.Federated && builtIn("principal role", r.Name) {
		return models.PrincipalRole{}, fault.New(fault.Invalid, "The principal role %s cannot be federated: an identity provider would say who administers the installation.", r.Name)
	}
	details := map[string]any{}
	noteChange(details, "federated", r.Federated, next.Federated)
	notePropertyKeys(details, r.Properties.V, next.Properties.V)
	if len(details) == 0 {
		return r, nil
	}
	details["role"] = r.Name
	if err := s.store.UpdatePrincipalRole(ctx, next, s.event(caller, models.AuditPrincipalRoleUpdated, "", details)); err != nil {
		return models.PrincipalRole{}, err
	}
	return s.store.PrincipalRoleByName(ctx, r.Name)
}

// DeletePrincipalRole removes a principal role from whoever has it and from what it has.
func (s *Service) DeletePrincipalRole(ctx context.Context, caller policy.Caller, name string) error {
	r, err := s.changedPrincipalRole(ctx, caller, policy.DeletePrincipalRole, name, "delete principal roles")
	if err != nil {
		return err
	}
	if err := refuseBuiltIn("principal role", r.Name, "deleted"); err != nil {
		return err
	}
	return s.store.DeletePrincipalRole(ctx, r.ID, s.event(caller, models.AuditPrincipalRoleDeleted, "", map[string]any{"role": r.Name}))
}

// PrincipalsOf gives the principals that a principal role is assigned to.
func (s *Service) PrincipalsOf(ctx context.Context, caller policy.Caller, role string) ([]models.Principal, error) {
	r, err := s.principalRoleFor(ctx, caller, policy.ListAssigneePrincipalsForPrincipalRole, role)
	if err != nil {
		return nil, err
	}
	return s.store.PrincipalsWithRole(ctx, r.ID)
}

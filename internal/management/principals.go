package management

import (
	"context"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

const changePrincipals = "change principals"

// ListPrincipals gives every principal.
func (s *Service) ListPrincipals(ctx context.Context, caller policy.Caller) ([]models.Principal, error) {
	if err := onService(caller, policy.ListPrincipals); err != nil {
		return nil, err
	}
	return s.store.Principals(ctx)
}

// CreatePrincipal makes a principal without any role, and gives its credentials, whose secret is not kept.
func (s *Service) CreatePrincipal(ctx context.Context, caller policy.Caller, in NewPrincipal) (models.Principal, Credentials, error) {
	if err := changesService(caller, policy.CreatePrincipal, "create principals"); err != nil {
		return models.Principal{}, Credentials{}, err
	}
	clearance, err := checkPrincipal(in)
	if err != nil {
		return models.Principal{}, Credentials{}, err
	}
	now := s.now()
	creds := Credentials{ClientID: s.secrets.NewClientID(), ClientSecret: s.secrets.NewClientSecret()}
	p := models.Principal{
		ID: uuid.NewString(), Name: in.Name, ClientID: creds.ClientID, SecretHash: s.secrets.Hash(creds.ClientSecret),
		RotationRequired: in.RotationRequired, Clearance: clearance, Properties: keptProperties(in.Properties),
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	details := map[string]any{"principal": p.Name, "clearance": p.Clearance, "clientId": p.ClientID, "rotationRequired": p.RotationRequired}
	notePropertyKeys(details, nil, in.Properties)
	if err := s.store.CreatePrincipal(ctx, p, s.event(caller, models.AuditPrincipalCreated, "", details)); err != nil {
		return models.Principal{}, Credentials{}, err
	}
	stored, err := s.store.PrincipalByID(ctx, p.ID)
	return stored, creds, err
}

func checkPrincipal(in NewPrincipal) (models.Classification, error) {
	if err := checkPrincipalName(in.Name); err != nil {
		return "", err
	}
	if err := checkProperties(in.Properties); err != nil {
		return "", err
	}
	if in.Clearance == "" {
		return models.Internal, nil
	}
	return in.Clearance, checkClearance(in.Clearance)
}

func checkClearance(c models.Classification) error {
	if c.Rank() < 0 {
		return fault.New(fault.Invalid, "The clearance %q is not one of public, internal, confidential, restricted.", c)
	}
	return nil
}

// GetPrincipal gives a principal: any to administrators, itself to anybody.
func (s *Service) GetPrincipal(ctx context.Context, caller policy.Caller, name string) (models.Principal, error) {
	return s.principalNamed(ctx, caller, name)
}

// UpdatePrincipal replaces a principal's properties, its clearance and whether it is disabled. What was read before
// somebody else's change is fault.Conflict.
func (s *Service) UpdatePrincipal(ctx context.Context, caller policy.Caller, name string, in PrincipalChange) (models.Principal, error) {
	p, err := s.changedPrincipal(ctx, caller, policy.UpdatePrincipal, name, changePrincipals)
	if err != nil {
		return models.Principal{}, err
	}
	if p.Version != in.Version {
		return models.Principal{}, staleVersion("principal", name, p.Version, in.Version)
	}
	next, err := changedTo(p, in)
	if err != nil {
		return models.Principal{}, err
	}
	details := map[string]any{}
	notePropertyKeys(details, p.Properties.V, next.Properties.V)
	noteChange(details, "clearance", p.Clearance, next.Clearance)
	noteChange(details, "disabled", p.Disabled, next.Disabled)
	if len(details) == 0 {
		return p, nil
	}
	details["principal"] = p.Name
	if err := s.store.UpdatePrincipal(ctx, next, s.event(caller, models.AuditPrincipalUpdated, "", details)); err != nil {
		return models.Principal{}, err
	}
	return s.store.PrincipalByID(ctx, p.ID)
}

// changedTo gives the principal as the change makes it.
func changedTo(p models.Principal, in PrincipalChange) (models.Principal, error) {
	if err := checkProperties(in.Properties); err != nil {
		return p, err
	}
	p.Properties = keptProperties(in.Properties)
	if in.Clearance != "" {
		if err := checkClearance(in.Clearance); err != nil {
			return p, err
		}
		p.Clearance = in.Clearance
	}
	if in.Disabled != nil {
		if *in.Disabled {
			if err := refuseBuiltIn("principal", p.Name, "disabled"); err != nil {
				return p, err
			}
		}
		p.Disabled = *in.Disabled
	}
	return p, nil
}

// DeletePrincipal removes a principal, with its tokens and its roles.
func (s *Service) DeletePrincipal(ctx context.Context, caller policy.Caller, name string) error {
	p, err := s.changedPrincipal(ctx, caller, policy.DeletePrincipal, name, "delete principals")
	if err != nil {
		return err
	}
	if err := refuseBuiltIn("principal", p.Name, "deleted"); err != nil {
		return err
	}
	return s.store.DeletePrincipal(ctx, p.ID, s.event(caller, models.AuditPrincipalDeleted, "", map[string]any{"principal": p.Name}))
}

// PrincipalRolesOf gives the roles that are assigned to a principal: of any to administrators, its own to anybody.
func (s *Service) PrincipalRolesOf(ctx context.Context, caller policy.Caller, principal string) ([]models.PrincipalRole, error) {
	p, err := s.principalNamed(ctx, caller, principal)
	if err != nil {
		return nil, err
	}
	return s.store.RolesOfPrincipal(ctx, p.ID)
}

// AssignPrincipalRole gives a principal a role. Giving it twice is giving it once.
func (s *Service) AssignPrincipalRole(ctx context.Context, caller policy.Caller, principal, role string) error {
	p, r, err := s.member(ctx, caller, policy.AssignPrincipalRole, principal, role)
	if err != nil {
		return err
	}
	if r.Federated {
		return fault.New(fault.Invalid, "Principal role %s is federated: its identity provider says who has it. Assign it there.", r.Name)
	}
	event := s.event(caller, models.AuditPrincipalRoleAssigned, "", map[string]any{"principal": p.Name, "role": r.Name})
	_, err = s.store.AssignPrincipalRole(ctx, models.PrincipalRoleMember{PrincipalID: p.ID, PrincipalRoleID: r.ID}, event)
	return err
}

// RevokePrincipalRole takes a role from a principal; fault.NotFound when it does not have it.
func (s *Service) RevokePrincipalRole(ctx context.Context, caller policy.Caller, principal, role string) error {
	p, r, err := s.member(ctx, caller, policy.RevokePrincipalRole, principal, role)
	if err != nil {
		return err
	}
	if p.Name == models.RootPrincipal && r.Name == models.ServiceAdminRole {
		return fault.New(fault.Invalid, "The principal role %s cannot be revoked from %s: somebody must always be able to administer the installation.", r.Name, p.Name)
	}
	event := s.event(caller, models.AuditPrincipalRoleRevoked, "", map[string]any{"principal": p.Name, "role": r.Name})
	changed, err := s.store.RevokePrincipalRole(ctx, models.PrincipalRoleMember{PrincipalID: p.ID, PrincipalRoleID: r.ID}, event)
	if err == nil && !changed {
		err = fault.About(fault.NotFound, fault.Role, "Principal %s does not have the principal role %s.", p.Name, r.Name)
	}
	return err
}

// member finds both ends of an assignment to change.
func (s *Service) member(ctx context.Context, caller policy.Caller, op policy.Operation, principal, role string) (models.Principal, models.PrincipalRole, error) {
	p, err := s.changedPrincipal(ctx, caller, op, principal, "assign or revoke roles")
	if err != nil {
		return models.Principal{}, models.PrincipalRole{}, err
	}
	r, err := s.principalRoleNamed(ctx, role)
	return p, r, err
}

package management

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// ListGrants gives what a catalog role holds: any to who administers the catalog, those that it acts with to anybody.
func (s *Service) ListGrants(ctx context.Context, caller policy.Caller, catalog, role string) ([]GrantInput, error) {
	cat, err := s.catalogNamed(ctx, caller, catalog)
	if err != nil {
		return nil, err
	}
	refused := requireOn(caller, policy.ListGrantsForCatalogRole, cat)
	r, err := s.catalogRoleNamed(ctx, cat, role)
	if fault.Is(err, fault.NotFound) && refused != nil {
		return nil, refused // whether there is such a role is not told
	}
	if err != nil {
		return nil, err
	}
	if refused != nil {
		own, err := s.actsWith(ctx, caller, r)
		if err != nil {
			return nil, err
		}
		if !own {
			return nil, refused
		}
	}
	placed, err := s.store.GrantsOfCatalogRole(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	grants := make([]GrantInput, len(placed))
	for i, g := range placed {
		grants[i] = g.input()
	}
	return grants, nil
}

// actsWith tells whether a catalog role is one that the caller holds its grants by.
func (s *Service) actsWith(ctx context.Context, caller policy.Caller, r models.CatalogRole) (bool, error) {
	with, err := s.store.PrincipalRolesWith(ctx, r.ID)
	return slices.ContainsFunc(with, func(pr models.PrincipalRole) bool { return slices.Contains(caller.RoleNames, pr.Name) }), err
}

func (g PlacedGrant) input() GrantInput {
	return GrantInput{Scope: g.Scope, Namespace: g.Namespace.Levels(), Name: g.Name, Privilege: g.Privilege}
}

// operations gives the operations that grant and revoke on objects of a kind.
func operations(scope models.GrantScope) (add, revoke policy.Operation) {
	switch scope {
	case models.OnNamespace:
		return policy.AddNamespaceGrantToCatalogRole, policy.RevokeNamespaceGrantFromCatalogRole
	case models.OnTable:
		return policy.AddTableGrantToCatalogRole, policy.RevokeTableGrantFromCatalogRole
	case models.OnView:
		return policy.AddViewGrantToCatalogRole, policy.RevokeViewGrantFromCatalogRole
	}
	return policy.AddCatalogGrantToCatalogRole, policy.RevokeCatalogGrantFromCatalogRole
}

// AddGrant gives a catalog role a privilege on an object and all that is in it. Giving it twice is giving it once.
// Stewardship is handed out by who administers the whole catalog alone.
func (s *Service) AddGrant(ctx context.Context, caller policy.Caller, catalog, role string, in GrantInput) error {
	op, _ := operations(in.Scope)
	o, err := s.managed(ctx, caller, op, catalog, in)
	if err != nil {
		return err
	}
	if err := grantable(in); err != nil {
		return err
	}
	if in.Privilege == models.TableGovern && !caller.Has(models.CatalogManageAccess, catalogPath(o.cat)) {
		return fault.New(fault.Forbidden, "Principal %s lacks the privilege %s on catalog %s: %s is granted by who administers the whole catalog.",
			caller.Principal, models.CatalogManageAccess, o.cat.Name, models.TableGovern)
	}
	r, err := s.catalogRoleNamed(ctx, o.cat, role)
	if err != nil {
		return err
	}
	grant := models.Grant{
		ID: uuid.NewString(), CatalogRoleID: r.ID, CatalogID: o.cat.ID, Scope: o.scope, ObjectID: o.id,
		Privilege: in.Privilege, CreatedAt: s.now(),
	}
	_, err = s.store.AddGrant(ctx, grant, s.grantEvent(caller, models.AuditGrantAdded, o, r, in.Privilege))
	return err
}

func grantable(in GrantInput) error {
	if slices.Contains(policy.Grantable(in.Scope), in.Privilege) {
		return nil
	}
	return fault.New(fault.Invalid, "The privilege %q cannot be granted on a %s.", in.Privilege, in.Scope)
}

// managed finds an object whose grants the caller may change.
func (s *Service) managed(ctx context.Context, caller policy.Caller, op policy.Operation, catalog string, in GrantInput) (object, error) {
	if err := mayGovern(caller, "change grants"); err != nil {
		return object{}, err
	}
	cat, err := s.catalogNamed(ctx, caller, catalog)
	if err != nil {
		return object{}, err
	}
	o, err := s.find(ctx, cat, in)
	if err != nil {
		return object{}, err
	}
	if !caller.May(op, o.path) && !o.sees(caller) {
		return object{}, o.concealed(caller)
	}
	return o, caller.Require(op, policy.Object, o.path, o.label())
}

func (s *Service) grantEvent(caller policy.Caller, typ models.AuditType, o object, r models.CatalogRole, p models.Privilege) models.AuditEvent {
	return o.note(s.event(caller, typ, o.cat.Name, map[string]any{
		"catalogRole": r.Name, "privilege": p, "scope": o.scope, "object": o.ref(),
	}))
}

// RevokeGrant takes a privilege on an object from a catalog role; with cascade the same privilege on everything in the
// object too. fault.NotFound when there is nothing of it to take.
func (s *Service) RevokeGrant(ctx context.Context, caller policy.Caller, catalog, role string, in GrantInput, cascade bool) error {
	_, op := operations(in.Scope)
	o, err := s.managed(ctx, caller, op, catalog, in)
	if err != nil {
		return err
	}
	if err := grantable(in); err != nil {
		return err
	}
	r, err := s.catalogRoleNamed(ctx, o.cat, role)
	if err != nil {
		return err
	}
	if r.Name == models.CatalogAdminRole && in.Scope == models.OnCatalog && in.Privilege == models.CatalogManageAccess {
		return fault.New(fault.Invalid, "The privilege %s on catalog %s cannot be revoked from %s: somebody must always be able to administer it.",
			in.Privilege, o.cat.Name, r.Name)
	}
	taken, err := s.toRevoke(ctx, caller, o, r, in.Privilege, cascade)
	if err != nil {
		return err
	}
	n := 0
	if len(taken) > 0 {
		if n, err = s.store.RevokeGrants(ctx, taken); err != nil {
			return err
		}
	}
	if n == 0 {
		return fault.About(fault.NotFound, fault.GrantRow, "Catalog role %s does not have the privilege %s on %s.", r.Name, in.Privilege, o.label())
	}
	return nil
}

// toRevoke gives the role's grants of a privilege on an object, and on what is in it if that is meant.
func (s *Service) toRevoke(ctx context.Context, caller policy.Caller, o object, r models.CatalogRole, p models.Privilege, cascade bool) ([]RevokedGrant, error) {
	all, err := s.store.GrantsOfCatalogRole(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	var taken []RevokedGrant
	for _, g := range all {
		if g.Privilege != p {
			continue
		}
		on := o
		if g.ObjectID != o.id {
			if within := o.scope == models.OnCatalog || slices.Contains(g.Within, o.id); !cascade || !within {
				continue
			}
			// By its names, and not from the grant alone: the event tells the uuid of a table.
			if on, err = s.find(ctx, o.cat, g.input()); fault.Is(err, fault.NotFound) {
				on = object{scope: g.Scope, id: g.ObjectID, cat: o.cat, key: g.Namespace, name: g.Name}
			} else if err != nil {
				return nil, err
			}
		}
		taken = append(taken, RevokedGrant{ID: g.ID, Event: s.grantEvent(caller, models.AuditGrantRevoked, on, r, p)})
	}
	if !cascade {
		return taken, nil
	}
	// They would come back with their tables.
	dropped, err := s.store.GrantsOnDropped(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	for _, g := range dropped {
		if g.Privilege == p && o.encloses(g.Namespace) {
			on := object{scope: g.Scope, id: g.ObjectID, cat: o.cat, key: g.Namespace, name: g.Name}
			taken = append(taken, RevokedGrant{ID: g.ID, Event: s.grantEvent(caller, models.AuditGrantRevoked, on, r, p)})
		}
	}
	return taken, nil
}

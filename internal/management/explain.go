package management

import (
	"context"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// question is a Question with what its names stand for.
type question struct {
	who  models.Principal
	want models.Privilege
	on   *object // nil: the installation
	// by names the roles of the token that asks about its own principal, where it acts with chosen ones; nil: the principal's.
	by []string
}

// rolesAsked gives the roles whose rights are asked about.
func (s *Service) rolesAsked(ctx context.Context, q question) ([]models.PrincipalRole, error) {
	if q.by == nil {
		return s.store.RolesOfPrincipal(ctx, q.who.ID)
	}
	all, err := s.store.PrincipalRoles(ctx)
	return slices.DeleteFunc(all, func(r models.PrincipalRole) bool { return !slices.Contains(q.by, r.Name) }), err
}

func (q question) ref() string {
	if q.on == nil {
		return ""
	}
	return q.on.ref()
}

// Explain tells on which ways a principal has a privilege, or what it holds instead. Anybody may ask about itself;
// about others takes the right to administer the installation or the catalog of the object.
//
// It goes by the roles that are assigned here: those that an identity provider names in a token are not known until
// the token comes. Whoever asks about itself by a token that acts with chosen roles is told what they hold. A disabled
// principal may nothing, whatever its roles hold.
func (s *Service) Explain(ctx context.Context, caller policy.Caller, in Question) (Explanation, error) {
	q, err := s.asked(ctx, caller, in)
	if err != nil {
		return Explanation{}, err
	}
	roles, err := s.rolesAsked(ctx, q)
	if err != nil {
		return Explanation{}, err
	}
	held, err := s.heldBy(ctx, roles, q.on)
	if err != nil {
		return Explanation{}, err
	}
	out := Explanation{Object: q.ref(), Ways: waysTo(q, roles, held)}
	if q.on != nil {
		out.Scope = q.on.scope
	}
	out.Allowed = len(out.Ways) > 0 && !q.who.Disabled
	if out.Allowed {
		return out, nil
	}
	for _, r := range roles {
		out.Roles = append(out.Roles, r.Name)
	}
	out.CatalogRoles = summary(held)
	out.Advice, err = s.advice(ctx, q, out, held)
	out.Ways = nil
	return out, err
}

// asked resolves a question that the caller may ask.
func (s *Service) asked(ctx context.Context, caller policy.Caller, in Question) (question, error) {
	q := question{want: in.Privilege}
	if !slices.Contains(policy.Privileges(), in.Privilege) {
		return q, fault.New(fault.Invalid, "There is no privilege %q.", in.Privilege)
	}
	if in.Principal == "" {
		in.Principal = caller.Principal
	}
	name, rest := splitRef(in.Object)
	if in.Object != "" && (name == "" || slices.Contains(rest, "")) { // else it would be a question about something else
		return q, fault.New(fault.Invalid, "The object %q has an empty name between its dots. Name it as catalog.namespace.table.", in.Object)
	}
	var about *models.Catalog // nil for a question about the installation
	if name != "" {
		cat, err := s.catalogNamed(ctx, caller, name)
		if err != nil {
			return q, err
		}
		about = &cat
	}
	everything := managesService(caller) || about != nil && caller.Has(models.CatalogManageAccess, catalogPath(*about))
	if err := mayAsk(caller, in.Principal, everything, about); err != nil {
		return q, err
	}
	if in.Principal == caller.Principal && caller.Roles != nil {
		q.by = append([]string{}, caller.RoleNames...)
	}
	var err error
	if q.who, err = s.principalAsked(ctx, caller, in.Principal); err != nil || about == nil {
		return q, err
	}
	q.on, err = s.meant(ctx, caller, *about, rest, in.Privilege, everything)
	return q, err
}

// principalAsked finds the principal of a question that may be asked.
func (s *Service) principalAsked(ctx context.Context, caller policy.Caller, name string) (models.Principal, error) {
	if name == caller.Principal {
		return s.store.PrincipalByID(ctx, caller.PrincipalID)
	}
	p, err := s.store.PrincipalByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.About(fault.NotFound, fault.Principal, noPrincipal, name)
	}
	return p, err
}

// mayAsk refuses questions about others from who administers neither the installation nor the catalog.
func mayAsk(caller policy.Caller, principal string, everything bool, about *models.Catalog) error {
	switch {
	case principal == caller.Principal:
		return nil
	case caller.CatalogID != "": // such a token knows of no principals
		return fault.Conceal(fault.Principal, hiddenWithout(caller, "principal "+principal), noPrincipal, principal)
	case everything:
		return nil
	case about == nil:
		return onService(caller, policy.ExplainAccess)
	}
	return caller.Lacks(models.CatalogManageAccess, "catalog "+about.Name)
}

// splitRef takes the catalog off a ref. Levels are joined by dots, or by unit separators where they have dots themselves.
func splitRef(ref string) (catalog string, rest []string) {
	separator := "."
	if strings.Contains(ref, "\x1f") {
		separator = "\x1f"
	}
	parts := strings.Split(ref, separator)
	return parts[0], parts[1:]
}

// meant finds what a ref stands for: a table, a view or a namespace, those first that the privilege is granted on.
func (s *Service) meant(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, p models.Privilege, everything bool) (*object, error) {
	if len(levels) == 0 {
		o := catalogObject(cat)
		return &o, nil
	}
	last := len(levels) - 1
	dotted := refOf(cat, models.KeyOf(levels), "")
	var hidden error
	for _, scope := range kindsFor(p) {
		in := GrantInput{Scope: scope, Namespace: levels}
		if scope != models.OnNamespace {
			in.Namespace, in.Name = levels[:last], levels[last]
		}
		if len(in.Namespace) == 0 {
			continue
		}
		o, err := s.find(ctx, cat, in)
		switch {
		case err == nil && (everything || o.sees(caller)):
			return &o, nil
		case err == nil:
			hidden = fault.Conceal(fault.NoSubject, o.hiddenFrom(caller), noObject(levels), dotted)
		case !fault.Is(err, fault.NotFound):
			return nil, err
		}
	}
	if hidden != nil {
		return nil, hidden
	}
	return nil, fault.New(fault.NotFound, noObject(levels), dotted)
}

// noObject is said of what is not there or is hidden. Of one level below a catalog there are namespaces alone.
func noObject(levels []string) string {
	if len(levels) == 1 {
		return "The namespace %s does not exist."
	}
	return "The table, view or namespace %s does not exist."
}

// kindsFor gives the kinds that a ref below a catalog may be of, likeliest first.
func kindsFor(p models.Privilege) []models.GrantScope {
	var likely, others []models.GrantScope
	for _, scope := range []models.GrantScope{models.OnTable, models.OnView, models.OnNamespace} {
		if slices.Contains(policy.Grantable(scope), p) {
			likely = append(likely, scope)
		} else {
			others = append(others, scope)
		}
	}
	return append(likely, others...)
}

// heldRole is a catalog role that a principal has, with its grants.
type heldRole struct {
	through string // the principal role
	role    string
	cat     models.Catalog
	grants  []PlacedGrant
}

// heldBy gives the catalog roles that principal roles have in the object's catalog.
func (s *Service) heldBy(ctx context.Context, roles []models.PrincipalRole, on *object) ([]heldRole, error) {
	if on == nil {
		return nil, nil
	}
	var held []heldRole
	grants := map[string][]PlacedGrant{} // by catalog role: several principal roles may have one
	for _, pr := range roles {
		catalogRoles, err := s.store.CatalogRolesOf(ctx, pr.ID, on.cat.ID)
		if err != nil {
			return nil, err
		}
		for _, cr := range catalogRoles {
			if _, known := grants[cr.ID]; !known {
				if grants[cr.ID], err = s.store.GrantsOfCatalogRole(ctx, cr.ID); err != nil {
					return nil, err
				}
			}
			held = append(held, heldRole{through: pr.Name, role: cr.Name, cat: on.cat, grants: grants[cr.ID]})
		}
	}
	return held, nil
}

// waysTo gives every chain that ends in the privilege, as policy.Held would find it.
func waysTo(q question, roles []models.PrincipalRole, held []heldRole) []Way {
	var ways []Way
	for _, r := range roles {
		if r.Name == models.ServiceAdminRole && policy.Implies(models.ServiceManageAccess, q.want) {
			ways = append(ways, Way{
				PrincipalRole: r.Name, Grant: GrantInput{Privilege: models.ServiceManageAccess},
				Implies: q.want != models.ServiceManageAccess,
			})
		}
	}
	for _, h := range held {
		for _, g := range h.grants {
			if !q.on.liesIn(g.ObjectID) || !policy.Implies(g.Privilege, q.want) {
				continue
			}
			ways = append(ways, Way{
				PrincipalRole: h.through, CatalogRole: h.role, Grant: g.input(), On: refOf(h.cat, g.Namespace, g.Name),
				Implies: g.Privilege != q.want,
			})
		}
	}
	return ways
}

// liesIn tells whether the object is the one of the id or is somewhere in it.
func (o object) liesIn(id string) bool {
	return id == o.path.CatalogID || slices.Contains(o.path.NamespaceIDs, id) || o.path.TableID != "" && id == o.path.TableID
}

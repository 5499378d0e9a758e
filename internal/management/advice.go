package management

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// maxShownGrants bounds what is told of one role.
const maxShownGrants = 10

// summary tells of each catalog role what it holds.
func summary(held []heldRole) []string {
	var lines []string
	for _, h := range held {
		grants := make([]string, 0, len(h.grants))
		for _, g := range h.grants {
			grants = append(grants, fmt.Sprintf("%s on %s", g.Privilege, refOf(h.cat, g.Namespace, g.Name)))
		}
		if more := len(grants) - maxShownGrants; more > 0 {
			grants = append(grants[:maxShownGrants], fmt.Sprintf("and %d more", more))
		}
		if len(grants) == 0 {
			grants = []string{"nothing"}
		}
		line := fmt.Sprintf("%s (%s)", h.role, strings.Join(grants, ", "))
		if !slices.Contains(lines, line) { // through another principal role
			lines = append(lines, line)
		}
	}
	return lines
}

// advice says what would turn a no into a yes.
func (s *Service) advice(ctx context.Context, q question, out Explanation, held []heldRole) (string, error) {
	var said []string
	if q.who.Disabled {
		disabled := fmt.Sprintf("Principal %s is disabled: it may nothing until it is enabled", q.who.Name)
		if len(out.Ways) > 0 {
			return disabled + ", and then this.", nil
		}
		said = append(said, disabled+".")
	}
	other, err := s.otherRolesHave(ctx, q)
	if err != nil {
		return "", err
	}
	if other {
		said = append(said, fmt.Sprintf("This token acts with chosen roles alone. Others of principal %s hold it: use a token that acts with all of them.", q.who.Name))
		return strings.Join(said, " "), nil
	}
	said = append(said, remedy(q, out, held))
	if q.by != nil { // and the federated ones that the token names are among these
		return strings.Join(said, " "), nil
	}
	all, err := s.store.PrincipalRoles(ctx)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(r models.PrincipalRole) bool { return r.Federated }) {
		said = append(said, "Federated roles, which an identity provider names in its tokens, are not known here and are left out.")
	}
	return strings.Join(said, " "), nil
}

// otherRolesHave tells whether roles of the principal have the privilege that the token does not act with.
func (s *Service) otherRolesHave(ctx context.Context, q question) (bool, error) {
	if q.by == nil {
		return false, nil
	}
	roles, err := s.store.RolesOfPrincipal(ctx, q.who.ID)
	if err != nil {
		return false, err
	}
	held, err := s.heldBy(ctx, roles, q.on)
	return len(waysTo(q, roles, held)) > 0, err
}

// remedy is the grant that would give the privilege, as a command.
func remedy(q question, out Explanation, held []heldRole) string {
	if q.want == models.ServiceManageAccess {
		return fmt.Sprintf("%s comes with the principal role %s alone: `sluice principal-roles grant --principal %s %s`",
			q.want, models.ServiceAdminRole, word(q.who.Name), models.ServiceAdminRole)
	}
	if q.on == nil {
		return fmt.Sprintf("%s is held on a catalog or in one: name it in the question.", q.want)
	}
	grant, ok := grantCommand(q, held)
	if !ok {
		return fmt.Sprintf("%s cannot be granted on a %s or what it is in.", q.want, q.on.scope)
	}
	cat := word(q.on.cat.Name)
	switch {
	case len(out.Roles) == 0:
		if q.by != nil {
			return "This token acts with no role that is known here: compare the roles that it names with `sluice principal-roles list`, of which those count that are federated or assigned to its principal."
		}
		return fmt.Sprintf("The principal has no role: give it one by `sluice principal-roles grant --principal %s ROLE`, that one a role of the catalog by "+
			"`sluice catalog-roles grant --catalog %s --principal-role ROLE CATALOG_ROLE`, and then %s", word(q.who.Name), cat, grant)
	case len(held) == 0:
		return fmt.Sprintf("Its roles have none of catalog %s: give one of them a role by `sluice catalog-roles grant --catalog %s --principal-role %s CATALOG_ROLE`, and then %s",
			q.on.cat.Name, cat, word(out.Roles[0]), grant)
	}
	return "This grant would allow it, to everybody else who has the role too: " + grant
}

// grantCommand is the command that grants the privilege on the object, or on the nearest thing around it that it can be
// granted on; false where there is none.
func grantCommand(q question, held []heldRole) (string, bool) {
	args := []string{"--catalog", word(q.on.cat.Name), "--catalog-role", word(roleToGrant(held))}
	scope := q.on.scope
	levels := q.on.key.Levels()
	can := func(scope models.GrantScope) bool { return slices.Contains(policy.Grantable(scope), q.want) }
	if scope != models.OnCatalog && !can(scope) && can(models.OnNamespace) {
		scope = models.OnNamespace
	}
	if !can(scope) {
		scope = models.OnCatalog
	}
	if !can(scope) {
		return "", false
	}
	if scope != models.OnCatalog {
		args = append(args, "--namespace", word(strings.Join(levels, ".")))
	}
	if scope == models.OnTable || scope == models.OnView {
		args = append(args, "--"+string(scope), word(q.on.name))
	}
	return fmt.Sprintf("`sluice privileges %s grant %s %s`", scope, strings.Join(args, " "), q.want), true
}

// roleToGrant is the role that a remedy names: one that the principal has, and the administrators' only if it is the only one.
func roleToGrant(held []heldRole) string {
	name := "CATALOG_ROLE"
	for _, h := range held {
		if h.role != models.CatalogAdminRole {
			return h.role
		}
		name = h.role
	}
	return name
}

// word quotes a name for a shell where it must be.
func word(name string) string {
	special := func(r rune) bool { return !isLetterOrDigit(r) && !strings.ContainsRune("_-.:/@", r) }
	if name != "" && !strings.ContainsFunc(name, special) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

package access

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/models"
)

const (
	scopeRole = "PRINCIPAL_ROLE:"
	scopeAll  = scopeRole + "ALL"
	// scopeCatalog is what Iceberg's Java client and PyIceberg ask for when nothing else is configured.
	scopeCatalog = "catalog"
)

// askedRoles reads a scope: the names of the principal roles that it asks for, in their order; nil for all.
func askedRoles(scope string) ([]string, error) {
	var names []string
	all := false
	for s := range strings.FieldsSeq(scope) {
		name, isRole := strings.CutPrefix(s, scopeRole)
		switch {
		case s == scopeCatalog:
		case s == scopeAll:
			all = true
		case !isRole || name == "":
			return nil, invalidScope("The scope is PRINCIPAL_ROLE:ALL, or PRINCIPAL_ROLE: and the name of a principal role, several separated by spaces.")
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	if all {
		return nil, nil
	}
	slices.Sort(names)
	return names, nil
}

// reach is which of its principal's roles a token acts with.
type reach struct {
	ids   []string // nil: all
	scope string   // in the words of the token endpoint
}

// reachOf narrows what a token may reach to the roles that are asked for by name, nil for no further. within are the ids
// that it may not go beyond, nil for none such. Each role must be the principal's, else invalid_scope.
func (o *OAuth) reachOf(ctx context.Context, p models.Principal, within, asked []string) (reach, error) {
	if within == nil && asked == nil {
		return reach{scope: scopeAll}, nil
	}
	roles, err := o.store.RolesOfPrincipal(ctx, p.ID)
	if err != nil {
		return reach{}, err
	}
	roles = only(roles, within)
	if asked == nil {
		// Roles that it has lost stay in its reach: it acts with them again when they are given back.
		return reach{ids: within, scope: scopeOf(roles)}, nil
	}
	for _, name := range asked {
		if !slices.Contains(namesOf(roles), name) {
			return reach{}, invalidScope("The principal does not have the principal role " + name + ", or the token that was sent does not act with it.")
		}
	}
	roles = slices.DeleteFunc(slices.Clone(roles), func(r models.PrincipalRole) bool { return !slices.Contains(asked, r.Name) })
	return reach{ids: idsOf(roles), scope: scopeOf(roles)}, nil
}

func scopeOf(roles []models.PrincipalRole) string {
	scopes := namesOf(roles)
	for i, name := range scopes {
		scopes[i] = scopeRole + name
	}
	return strings.Join(scopes, " ")
}

func invalidScope(description string) *OAuthError {
	return oauthError("invalid_scope", http.StatusBadRequest, description)
}

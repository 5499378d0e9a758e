package access

import (
	"context"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// rolesOf gives the principal roles that are assigned to a principal, as of the version or newer.
func (a *Authenticator) rolesOf(ctx context.Context, version int64, principalID string) ([]models.PrincipalRole, error) {
	return a.assigned.get(ctx, version, principalID, func(ctx context.Context, _ int64) ([]models.PrincipalRole, error) {
		return a.store.RolesOfPrincipal(ctx, principalID)
	})
}

// holding gives what the roles hold together, indexed once for each set of roles and version.
func (a *Authenticator) holding(ctx context.Context, version int64, roles []models.PrincipalRole) (*policy.Held, error) {
	if len(roles) == 0 {
		return policy.NewHeld(nil, nil), nil
	}
	ids := idsOf(roles)
	slices.Sort(ids)
	return a.held.get(ctx, version, strings.Join(ids, " "), func(ctx context.Context, _ int64) (*policy.Held, error) {
		grants, err := a.store.GrantsOfRoles(ctx, ids)
		if err != nil {
			return nil, err
		}
		var service []models.Privilege
		if slices.ContainsFunc(roles, func(r models.PrincipalRole) bool { return r.Name == models.ServiceAdminRole }) {
			service = append(service, models.ServiceManageAccess)
		}
		return policy.NewHeld(service, grants), nil
	})
}

// only gives the roles that are among the ids; all of them when ids is nil.
func only(roles []models.PrincipalRole, ids []string) []models.PrincipalRole {
	if ids == nil {
		return roles
	}
	chosen := []models.PrincipalRole{}
	for _, r := range roles {
		if slices.Contains(ids, r.ID) {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

func idsOf(roles []models.PrincipalRole) []string {
	ids := make([]string, len(roles))
	for i, r := range roles {
		ids[i] = r.ID
	}
	return ids
}

func namesOf(roles []models.PrincipalRole) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	return names
}

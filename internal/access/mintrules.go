package access

import (
	"context"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// maxTokenName is the longest name of a token, in characters: it is shown in lists and kept in the audit for ever.
const maxTokenName = 256

// checkMint refuses what no token may be asked for as.
func checkMint(in MintInput) error {
	switch {
	case in.ExpiresIn < 0:
		return fault.New(fault.Invalid, "expiresIn must be positive, or absent for a token that does not expire.")
	case in.CanGovern && !in.CanWrite:
		return fault.New(fault.Invalid, "canGovern needs canWrite: a read-only token changes nothing, governance included.")
	case in.Roles != nil && len(in.Roles) == 0:
		return fault.New(fault.Invalid, "principalRoles is empty: name the principal roles that the token is to act with, or leave it out for all of the principal's.")
	case !utf8.ValidString(in.Name) || utf8.RuneCountInString(in.Name) > maxTokenName:
		return fault.New(fault.Invalid, "The name of a token is at most %d characters long. Choose a shorter one.", maxTokenName)
	}
	for _, r := range in.Name {
		if !unicode.IsPrint(r) {
			return fault.New(fault.Invalid, "The name of a token has printable characters and spaces only. Choose another.")
		}
	}
	return nil
}

// mintRoles gives the roles that a new token acts with, nil for all that its principal has. A caller whose own token is
// narrowed to some roles makes no token of its own principal that acts with others.
func (t *Tokens) mintRoles(ctx context.Context, caller policy.Caller, p models.Principal, named []string) ([]models.PrincipalRole, error) {
	narrowed := caller.Roles != nil && caller.PrincipalID == p.ID
	if named == nil && !narrowed {
		return nil, nil
	}
	roles, err := t.store.RolesOfPrincipal(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	reachable := roles
	if narrowed {
		reachable = only(roles, caller.Roles)
	}
	if named == nil {
		return reachable, nil
	}
	for _, name := range named {
		switch {
		case !slices.Contains(namesOf(roles), name):
			return nil, fault.New(fault.Invalid, "Principal %s does not have the principal role %s. Name roles that it has.", p.Name, name)
		case !slices.Contains(namesOf(reachable), name):
			return nil, fault.New(fault.Forbidden, "This token does not act with the principal role %s and may not mint one that does. Use a token with the scope PRINCIPAL_ROLE:ALL.", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(reachable), func(r models.PrincipalRole) bool { return !slices.Contains(named, r.Name) }), nil
}

// idsOrAll gives the ids of the roles; nil, for all, stays nil.
func idsOrAll(roles []models.PrincipalRole) []string {
	if roles == nil {
		return nil
	}
	return idsOf(roles)
}

package access

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// names looks each principal and catalog of a listing up once.
type names struct {
	store      Store
	principals map[string]string
	catalogs   map[string]string
	roles      map[string][]models.PrincipalRole // by principal
}

func newNames(store Store) *names {
	return &names{store: store, principals: map[string]string{}, catalogs: map[string]string{}, roles: map[string][]models.PrincipalRole{}}
}

func (n *names) view(ctx context.Context, token models.Token) (TokenView, error) {
	view := TokenView{Token: token}
	var err error
	view.Principal, err = lookUp(n.principals, token.PrincipalID, func() (string, error) {
		p, err := n.store.PrincipalByID(ctx, token.PrincipalID)
		return p.Name, err
	})
	if err != nil {
		return view, err
	}
	if view.Roles, err = n.roleNames(ctx, token); err != nil || token.CatalogID == nil {
		return view, err
	}
	view.Catalog, err = lookUp(n.catalogs, *token.CatalogID, func() (string, error) {
		c, err := n.store.CatalogByID(ctx, *token.CatalogID)
		return c.Name, err
	})
	return view, err
}

// roleNames gives the roles that a token is narrowed to, as far as its principal has them; nil for all.
func (n *names) roleNames(ctx context.Context, token models.Token) ([]string, error) {
	if token.Roles.V == nil {
		return nil, nil
	}
	roles, known := n.roles[token.PrincipalID]
	if !known {
		var err error
		if roles, err = n.store.RolesOfPrincipal(ctx, token.PrincipalID); err != nil {
			return nil, err
		}
		n.roles[token.PrincipalID] = roles
	}
	return namesOf(only(roles, token.Roles.V)), nil
}

// lookUp treats a row that is gone as one without a name.
func lookUp(known map[string]string, id string, find func() (string, error)) (string, error) {
	if name, ok := known[id]; ok {
		return name, nil
	}
	name, err := find()
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	known[id] = name
	return name, nil
}

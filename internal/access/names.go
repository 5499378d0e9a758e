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
}

func newNames(store Store) *names {
	return &names{store: store, principals: map[string]string{}, catalogs: map[string]string{}}
}

func (n *names) view(ctx context.Context, token models.Token) (TokenView, error) {
	view := TokenView{Token: token}
	var err error
	view.Principal, err = lookUp(n.principals, token.PrincipalID, func() (string, error) {
		p, err := n.store.PrincipalByID(ctx, token.PrincipalID)
		return p.Name, err
	})
	if err != nil || token.CatalogID == nil {
		return view, err
	}
	view.Catalog, err = lookUp(n.catalogs, *token.CatalogID, func() (string, error) {
		c, err := n.store.CatalogByID(ctx, *token.CatalogID)
		return c.Name, err
	})
	return view, err
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

package api_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// viewCases is the view part of the use cases.
type viewCases struct {
	views        map[string]core.LoadedView // by dotted name with \x1f between levels
	viewIdent    models.TableIdent
	createdView  core.CreateViewInput
	registerView core.RegisterViewInput
	replaced     core.ReplaceViewInput
}

func (u *useCases) addView(t *testing.T, ident models.TableIdent, location string, document []byte) {
	t.Helper()
	doc, err := metadata.ParseView(document)
	require.NoError(t, err)
	if u.views == nil {
		u.views = map[string]core.LoadedView{}
	}
	u.views[tableKey(ident)] = core.LoadedView{Row: models.View{MetadataLocation: location}, Document: doc}
}

func (u *useCases) viewOf(ident models.TableIdent) (core.LoadedView, error) {
	if u.fail != nil {
		return core.LoadedView{}, u.fail
	}
	view, ok := u.views[tableKey(ident)]
	if !ok {
		return view, fault.About(fault.NotFound, fault.View, "View does not exist: %s", ident)
	}
	return view, nil
}

func (u *useCases) ListViews(_ context.Context, _ policy.Caller, _ models.Catalog, levels []string, page core.Page) (core.ListPage[models.TableIdent], error) {
	u.levels, u.page = levels, page
	var names []string
	for key := range u.views {
		if name, ok := cutPrefix(key, string(models.KeyOf(levels))+"\x1f"); ok {
			names = append(names, name)
		}
	}
	names, next := pageOf(names, page)
	out := core.ListPage[models.TableIdent]{Next: next}
	for _, name := range names {
		out.Items = append(out.Items, models.TableIdent{Namespace: levels, Name: name})
	}
	return out, u.fail
}

func (u *useCases) CreateView(_ context.Context, _ policy.Caller, _ models.Catalog, in core.CreateViewInput) (core.LoadedView, error) {
	u.createdView = in
	return u.viewOf(models.TableIdent{Namespace: in.Namespace, Name: in.Name})
}

func (u *useCases) RegisterView(_ context.Context, _ policy.Caller, _ models.Catalog, in core.RegisterViewInput) (core.LoadedView, error) {
	u.registerView = in
	return u.viewOf(models.TableIdent{Namespace: in.Namespace, Name: in.Name})
}

func (u *useCases) LoadView(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) (core.LoadedView, error) {
	u.viewIdent = ident
	return u.viewOf(ident)
}

func (u *useCases) ViewExists(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) error {
	_, err := u.viewOf(ident)
	return err
}

func (u *useCases) ReplaceView(_ context.Context, _ policy.Caller, _ models.Catalog, in core.ReplaceViewInput) (core.LoadedView, error) {
	u.replaced = in
	return u.viewOf(in.View)
}

func (u *useCases) DropView(_ context.Context, _ policy.Caller, _ models.Catalog, ident models.TableIdent) error {
	u.viewIdent = ident
	return u.fail
}

func (u *useCases) RenameView(_ context.Context, _ policy.Caller, _ models.Catalog, from, to models.TableIdent) error {
	u.ident, u.to = from, to
	return u.fail
}

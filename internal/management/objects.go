package management

import (
	"context"
	"fmt"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// object is what a grant is on.
type object struct {
	scope models.GrantScope
	id    string
	uuid  string // of a table or view
	path  policy.Path
	cat   models.Catalog
	key   models.NamespaceKey // of itself, or that it is in; "" of a catalog
	name  string              // of a table or view
}

func catalogObject(cat models.Catalog) object {
	return object{scope: models.OnCatalog, id: cat.ID, path: catalogPath(cat), cat: cat}
}

// ref names the object as the governance API does.
func (o object) ref() string { return refOf(o.cat, o.key, o.name) }

func refOf(cat models.Catalog, key models.NamespaceKey, name string) string {
	ref := cat.Name
	if key != "" {
		ref += "." + key.String()
	}
	if name != "" {
		ref += "." + name
	}
	return ref
}

// label is the object in messages.
func (o object) label() string { return string(o.scope) + " " + o.ref() }

// encloses tells whether something in the namespace lies in the object, a catalog or a namespace.
func (o object) encloses(key models.NamespaceKey) bool {
	if o.scope == models.OnCatalog {
		return true
	}
	for ; o.scope == models.OnNamespace && key != ""; key = key.Parent() {
		if key == o.key {
			return true
		}
	}
	return false
}

// note puts an event onto the object.
func (o object) note(e models.AuditEvent) models.AuditEvent {
	e.Namespace = o.key.String()
	if o.name != "" {
		e.Table, e.TableUUID = models.TableIdent{Namespace: o.key.Levels(), Name: o.name}.String(), o.uuid
	}
	return e
}

// find looks an object of a catalog up. An absent one is fault.NotFound of its kind; for a table or view in an absent
// namespace too.
func (s *Service) find(ctx context.Context, cat models.Catalog, in GrantInput) (object, error) {
	switch in.Scope {
	case models.OnCatalog:
		return catalogObject(cat), nil
	case models.OnNamespace, models.OnTable, models.OnView:
	default:
		return object{}, fault.New(fault.Invalid, "Privileges are granted on a catalog, a namespace, a table or a view, not on a %q.", in.Scope)
	}
	key := models.KeyOf(in.Namespace)
	if key == "" || in.Scope != models.OnNamespace && in.Name == "" {
		return object{}, fault.New(fault.Invalid, "Name the %s with its namespace.", in.Scope)
	}
	o := object{scope: in.Scope, cat: cat, path: catalogPath(cat), key: key}
	if in.Scope != models.OnNamespace {
		o.name = in.Name
	}
	chain, err := s.store.NamespacePath(ctx, cat.ID, key)
	if err != nil {
		return o, o.absent(err)
	}
	for _, ns := range chain {
		o.path.NamespaceIDs = append(o.path.NamespaceIDs, ns.ID)
	}
	o.id = chain[len(chain)-1].ID
	switch in.Scope {
	case models.OnTable:
		var row models.Table
		row, err = s.store.TableByName(ctx, o.id, o.name)
		o.id, o.uuid, o.path.TableID = row.ID, row.UUID, row.ID
	case models.OnView:
		var row models.View
		row, err = s.store.ViewByName(ctx, o.id, o.name)
		o.id, o.uuid, o.path.TableID = row.ID, row.UUID, row.ID
	}
	return o, o.absent(err)
}

// absent words a NotFound for the object that was asked for.
func (o object) absent(err error) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return fault.About(fault.NotFound, o.subject(), "%s", o.missing())
}

func (o object) missing() string {
	what := "Namespace"
	switch o.scope {
	case models.OnTable:
		what = "Table"
	case models.OnView:
		what = "View"
	}
	return fmt.Sprintf("%s does not exist: %s", what, o.ref())
}

func (o object) subject() fault.Subject {
	switch o.scope {
	case models.OnTable:
		return fault.Table
	case models.OnView:
		return fault.View
	}
	return fault.Namespace
}

// sees tells whether the caller, who knows of the catalog, knows of the object by what it holds.
func (o object) sees(caller policy.Caller) bool {
	switch o.scope {
	case models.OnNamespace:
		return caller.SeesNamespace(o.path)
	case models.OnTable:
		return caller.Has(models.TableList, o.path)
	case models.OnView:
		return caller.Has(models.ViewList, o.path)
	}
	return true
}

// concealed is the answer to who does not know of the object.
func (o object) concealed(caller policy.Caller) error {
	return fault.Conceal(o.subject(), o.hiddenFrom(caller), "%s", o.missing())
}

// hiddenFrom is the reason for the audit why the caller does not know of the object.
func (o object) hiddenFrom(caller policy.Caller) string {
	return fmt.Sprintf("Principal %s holds nothing that shows it the %s.", caller.Principal, o.label())
}

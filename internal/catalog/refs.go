package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// A ref names a table as people write it: catalog.namespace.table, levels joined by dots, or by its uuid. Where names have
// dots themselves it may mean more than one, and the unit separator takes the place of the dots.

// NoTable says that a ref cannot name a table, whatever there is.
func NoTable(ref string) error {
	return fault.New(fault.Invalid, "%q names no table. Write catalog.namespace.table, such as main.sales.orders, or the table's UUID.", ref)
}

func ambiguous(ref, what, otherwise string) error {
	return fault.New(fault.Invalid, "%q names more than one %s, because names have dots. Separate its levels by %%1F instead of dots%s.", ref, what, otherwise)
}

// separatorOf gives what a ref joins its parts with.
func separatorOf(ref string) string {
	if strings.Contains(ref, levelEnd) {
		return levelEnd
	}
	return "."
}

// cutRef takes the catalog off a ref.
func cutRef(ref string) (catalog, rest string, nested bool) {
	return strings.Cut(ref, separatorOf(ref))
}

// SplitRef takes catalog.namespace.table apart, every dot or every unit separator being one between levels; the error is
// NoTable's.
func SplitRef(ref string) (catalog string, ident models.TableIdent, err error) {
	parts := strings.Split(ref, separatorOf(ref))
	if len(parts) < 3 || slices.Contains(parts, "") {
		return "", models.TableIdent{}, NoTable(ref)
	}
	last := len(parts) - 1
	return parts[0], models.TableIdent{Namespace: parts[1:last], Name: parts[last]}, nil
}

// ref names a table of the place as the governance API does.
func (p tablePlace) ref(table string) string { return p.cat.Name + "." + p.name(table) }

// byRef finds a table by its ref, for an operation on it.
func (s *Service) byRef(ctx context.Context, caller policy.Caller, op policy.Operation, ref string) (tablePlace, models.Table, error) {
	if id, err := uuid.Parse(ref); err == nil {
		return s.byUUID(ctx, caller, op, id.String())
	}
	name, ident, err := SplitRef(ref)
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	cat, err := s.Resolve(ctx, caller, name)
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	idents := []models.TableIdent{ident}
	if _, rest, _ := cutRef(ref); separatorOf(ref) == "." && strings.Count(rest, ".") > 1 {
		if idents, err = s.readings(ctx, cat, rest); err != nil {
			return tablePlace{}, models.Table{}, err
		}
	}
	return s.theOne(ctx, caller, op, cat, ref, idents)
}

// readings gives what a dotted name may mean, by the namespaces that there are.
func (s *Service) readings(ctx context.Context, cat models.Catalog, dotted string) ([]models.TableIdent, error) {
	var names []string
	for i := range len(dotted) {
		if dotted[i] == '.' {
			names = append(names, dotted[:i])
		}
	}
	namespaces, err := s.store.NamespacesNamed(ctx, cat.ID, names)
	if err != nil {
		return nil, err
	}
	idents := make([]models.TableIdent, len(namespaces))
	for i, ns := range namespaces {
		idents[i] = models.TableIdent{Namespace: ns.Key.Levels(), Name: dotted[len(ns.Key.String())+1:]}
	}
	return idents, nil
}

// theOne finds the table that is among the names, of those that the caller can see.
func (s *Service) theOne(
	ctx context.Context, caller policy.Caller, op policy.Operation, cat models.Catalog, ref string, idents []models.TableIdent,
) (tablePlace, models.Table, error) {
	var at tablePlace
	var row models.Table
	var hidden error
	for _, ident := range idents {
		foundAt, found, err := s.find(ctx, caller, cat, ident, op)
		switch {
		case fault.Is(err, fault.NotFound):
			hidden = cmp.Or(hidden, deniedOnly(err))
			continue
		case err != nil:
			return tablePlace{}, models.Table{}, err
		case row.ID != "":
			return tablePlace{}, models.Table{}, ambiguous(ref, "table", ", or use the table's UUID")
		}
		at, row = foundAt, found
	}
	if row.ID == "" {
		return tablePlace{}, models.Table{}, reworded(hidden, fault.Table, "Table does not exist: %s", strings.ReplaceAll(ref, levelEnd, "."))
	}
	return at, row, nil
}

// deniedOnly gives the error of what is there and hidden, nil for that of what is not there.
func deniedOnly(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Denied != "" {
		return err
	}
	return nil
}

// levelsOf gives the levels of the namespace that a ref without its catalog names.
func (s *Service) levelsOf(
	ctx context.Context, caller policy.Caller, op policy.Operation, cat models.Catalog, rest, separator string,
) ([]string, error) {
	levels := strings.Split(rest, separator)
	if len(levels) == 1 || separator == levelEnd {
		return levels, nil
	}
	namespaces, err := s.store.NamespacesNamed(ctx, cat.ID, []string{rest})
	if err != nil {
		return nil, err
	}
	found := false
	for _, ns := range namespaces {
		if _, _, err := s.namespaceChain(ctx, caller, cat, ns.Key.Levels(), op); fault.Is(err, fault.NotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		if found {
			return nil, ambiguous(cat.Name+"."+rest, "namespace", "")
		}
		levels, found = ns.Key.Levels(), true
	}
	return levels, nil
}

func (s *Service) byUUID(ctx context.Context, caller policy.Caller, op policy.Operation, ref string) (tablePlace, models.Table, error) {
	rows, err := s.reports.FindTable(ctx, caller.CatalogID, ref)
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	var hidden error
	for _, row := range rows {
		state, err := s.reports.TableState(ctx, row.ID)
		if err != nil {
			return tablePlace{}, models.Table{}, err
		}
		cat, err := s.store.CatalogByID(ctx, row.CatalogID)
		if err != nil {
			return tablePlace{}, models.Table{}, err
		}
		at, found, err := s.find(ctx, caller, cat, models.TableIdent{Namespace: state.NamespaceKey.Levels(), Name: row.Name}, op)
		if !fault.Is(err, fault.NotFound) {
			return at, found, err
		}
		hidden = cmp.Or(hidden, deniedOnly(err))
	}
	return tablePlace{}, models.Table{}, reworded(hidden, fault.Table, "Table does not exist: %s", ref)
}

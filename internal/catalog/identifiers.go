package catalog

import (
	"errors"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Tables and views share one space of names. What is said of a taken name depends on what was to get it and on what
// has it; clients and their test kits know these sentences.

func takenForTable(kind models.IdentifierKind, name string) error {
	if kind == models.ViewIdentifier {
		return fault.About(fault.AlreadyExists, fault.View, "View with same name already exists: %s", name)
	}
	return fault.About(fault.AlreadyExists, fault.Table, "Table already exists: %s", name)
}

// asRequirement words a taken name for a commit that asserts the creation of its table.
func asRequirement(err error, table models.TableIdent) error {
	if fault.Is(err, fault.AlreadyExists) && holder(err) == models.TableIdentifier {
		return fault.About(fault.AlreadyExists, fault.Table, "Requirement failed: table already exists: %s", table)
	}
	return err
}

func takenForView(kind models.IdentifierKind, name string) error {
	if kind == models.TableIdentifier {
		return fault.About(fault.AlreadyExists, fault.Table, "Table with same name already exists: %s", name)
	}
	return fault.About(fault.AlreadyExists, fault.View, "View already exists: %s", name)
}

// tableNameError words the store's answer to a new table whose name was taken meanwhile.
func tableNameError(err error, name string) error {
	if fault.Is(err, fault.AlreadyExists) {
		return takenForTable(holder(err), name)
	}
	return err
}

func viewNameError(err error, name string) error {
	if fault.Is(err, fault.AlreadyExists) {
		return takenForView(holder(err), name)
	}
	return err
}

func renameError(err error, from, to models.TableIdent) error {
	if !fault.Is(err, fault.AlreadyExists) {
		return err
	}
	if holder(err) == models.ViewIdentifier {
		return fault.About(fault.AlreadyExists, fault.View, "Cannot rename %s to %s. View already exists", from, to)
	}
	return fault.About(fault.AlreadyExists, fault.Table, "Cannot rename %s to %s. Table already exists", from, to)
}

// holder gives what has the name, from the store's AlreadyExists.
func holder(err error) models.IdentifierKind {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Subject == fault.View {
		return models.ViewIdentifier
	}
	return models.TableIdentifier
}

package policy

import (
	"slices"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Require checks what an operation needs on one of its objects: at is its path, and name is what people call it, such as
// "table sales.orders". An operation with two objects is asked for each. The refusal is fault.Forbidden and names the
// privilege and the object; asking about an object of which the operation needs nothing is a mistake, fault.Internal.
func (c Caller) Require(op Operation, on On, at Path, name string) error {
	asked := false
	for _, need := range op.needs() {
		if need.Privilege == "" || need.On != on {
			continue
		}
		if asked = true; !c.Has(need.Privilege, at) {
			return c.Lacks(need.Privilege, name)
		}
	}
	if !asked {
		return fault.New(fault.Internal, "The operation %s needs nothing on its %s.", op, on)
	}
	return nil
}

// Lacks is the refusal of what takes a privilege that the caller does not hold on the object of the name.
func (c Caller) Lacks(p models.Privilege, name string) error {
	return fault.New(fault.Forbidden, "Principal %s lacks the privilege %s on %s.", c.Principal, p, name)
}

// May tells whether the caller holds all that an operation needs on the object of the path, whichever of its objects it is.
func (c Caller) May(op Operation, at Path) bool {
	for _, need := range op.needs() {
		if need.Privilege != "" && !c.Has(need.Privilege, at) {
			return false
		}
	}
	return true
}

// Reaches tells whether the caller holds all that an operation needs on its object or its source: what one may act on is
// there for one, whether or not one may list it. Of an operation that needs nothing there the answer is no.
func (c Caller) Reaches(op Operation, at Path) bool {
	reaches := false
	for _, need := range op.needs() {
		if need.On != Object && need.On != Source {
			continue
		}
		if reaches = c.Has(need.Privilege, at); !reaches {
			return false
		}
	}
	return reaches
}

// SeesNamespace tells whether the caller knows that a namespace is there: who may list it, or list tables or views in it,
// or anything that lies in it.
func (c Caller) SeesNamespace(at Path) bool {
	lists := [...]models.Privilege{models.NamespaceList, models.TableList, models.ViewList}
	if slices.ContainsFunc(lists[:], func(p models.Privilege) bool { return c.Has(p, at) }) {
		return true
	}
	if len(at.NamespaceIDs) == 0 {
		return false
	}
	id := at.NamespaceIDs[len(at.NamespaceIDs)-1]
	return slices.ContainsFunc(lists[:], func(p models.Privilege) bool { return c.HasWithin(p, id) })
}

// SeesCatalog tells whether the caller knows that a catalog is there: who manages the service, or holds anything on it or
// on something in it.
func (c Caller) SeesCatalog(id string) bool {
	return c.Held != nil && (c.Held.Has(models.ServiceManageAccess, Path{}) || c.Held.holdsAny(id))
}

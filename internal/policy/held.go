package policy

import "github.com/sluice-data/sluice/models"

// Grant is a privilege on an object, with what the object lies in.
type Grant struct {
	Privilege models.Privilege
	ObjectID  string   // of a catalog, a namespace, a table or a view
	Within    []string // the ids of its catalog and of its namespaces, outermost first, itself left out
}

// bits is a set of privileges: bit n is the one of the number n in the Held that it is of.
type bits [2]uint64

func (b bits) has(n uint8) bool { return b[n>>6]&(1<<(n&63)) != 0 }

func (b bits) with(n uint8) bits {
	b[n>>6] |= 1 << (n & 63)
	return b
}

func (b bits) and(other bits) bits { return bits{b[0] | other[0], b[1] | other[1]} }

// Held is the grants of one principal, with all that they imply worked out beforehand: a check is one look-up for the
// privilege and one for each object on the path. It is immutable.
type Held struct {
	numbers map[models.Privilege]uint8 // of every privilege that anything here implies
	service bits
	on      map[string]bits // what is granted on the object of an id, with all that it implies
	within  map[string]bits // what is granted on anything within the object of an id
}

// NewHeld indexes a principal's service privileges and grants. A privilege that there is not, and one of the service that
// is granted on an object, count for nothing.
func NewHeld(service []models.Privilege, grants []Grant) *Held {
	h := &Held{numbers: map[models.Privilege]uint8{}, on: map[string]bits{}, within: map[string]bits{}}
	closures := map[models.Privilege]bits{}
	all := Privileges()
	closure := func(held models.Privilege) bits {
		set, known := closures[held]
		if !known {
			set = h.closure(held, all)
			closures[held] = set
		}
		return set
	}
	for _, p := range service {
		h.service = h.service.and(closure(p))
	}
	for _, g := range grants {
		if g.Privilege == models.ServiceManageAccess {
			continue
		}
		set := closure(g.Privilege)
		h.on[g.ObjectID] = h.on[g.ObjectID].and(set)
		for _, id := range g.Within {
			h.within[id] = h.within[id].and(set)
		}
	}
	return h
}

// closure gives all that a privilege implies and numbers what has no number yet.
func (h *Held) closure(held models.Privilege, all []models.Privilege) bits {
	var set bits
	for _, wanted := range all {
		if !Implies(held, wanted) {
			continue
		}
		n, known := h.numbers[wanted]
		if !known {
			n = uint8(len(h.numbers)) // there are fewer privileges than bits, which a test holds
			h.numbers[wanted] = n
		}
		set = set.with(n)
	}
	return set
}

// Has tells whether a held privilege implies p on the object of the path.
func (h *Held) Has(p models.Privilege, at Path) bool {
	n, known := h.numbers[p]
	if !known {
		return false
	}
	if h.service.has(n) || h.on[at.CatalogID].has(n) {
		return true
	}
	for _, id := range at.NamespaceIDs {
		if h.on[id].has(n) {
			return true
		}
	}
	return at.TableID != "" && h.on[at.TableID].has(n)
}

// HasWithin tells whether a privilege that is held on something within the object of the id implies p.
func (h *Held) HasWithin(p models.Privilege, id string) bool {
	n, known := h.numbers[p]
	return known && h.within[id].has(n)
}

// holdsAny tells whether any privilege is held on the object of the id or on something within it.
func (h *Held) holdsAny(id string) bool {
	return h.on[id] != bits{} || h.within[id] != bits{}
}

package delegation

import (
	"slices"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/models"
)

// Property is what a catalog allows of access delegation: any of its values.
const Property = "sluice.delegation"

// The values of Property besides the names of the ways in. Without the property any is allowed; a value that is unknown
// allows none.
const (
	anyWay = "any"
	noWay  = "none"
)

// ways is what there is to choose from.
type ways struct{ vends, signs bool }

// has tells whether a way is there.
func (w ways) has(d catalog.Delegation) bool {
	return d == catalog.Vending && w.vends || d == catalog.Signing && w.signs
}

// allowed leaves of the ways those that the catalog allows.
func (w ways) allowed(cat models.Catalog) ways {
	switch cat.Properties.V[Property] {
	case "", anyWay:
		return w
	case string(catalog.Vending):
		return ways{vends: w.vends}
	case string(catalog.Signing):
		return ways{signs: w.signs}
	case noWay:
	}
	return ways{} // what nobody can read included
}

// choose takes the first way that is asked for and there; where none is, another one, rather than to leave an engine without
// any that asked for one. Who asks for none gets none.
func (w ways) choose(asked []catalog.Delegation) catalog.Delegation {
	if len(asked) == 0 {
		return catalog.NoDelegation
	}
	for _, way := range append(slices.Clone(asked), catalog.Signing, catalog.Vending) {
		if w.has(way) {
			return way
		}
	}
	return catalog.NoDelegation
}

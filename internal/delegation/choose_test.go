package delegation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/models"
)

// TestTheWayIn is the choice written out: what is asked for, what the catalog allows, what the store can.
func TestTheWayIn(t *testing.T) {
	const v, s, none = catalog.Vending, catalog.Signing, catalog.NoDelegation
	type asked []catalog.Delegation
	both, vends, signs, neither := ways{vends: true, signs: true}, ways{vends: true}, ways{signs: true}, ways{}
	for _, c := range []struct {
		asked   asked
		allowed string
		can     ways
		given   catalog.Delegation
	}{
		{asked{v}, "", both, v},
		{asked{s}, "", both, s},
		{asked{v, s}, "", both, v},
		{asked{s, v}, "", both, s},
		{asked{}, "", both, none},
		{asked{v}, "", signs, s}, // no token service: said in the answer, and better than nothing
		{asked{s}, "", vends, v},
		{asked{v, s}, "", signs, s},
		{asked{v}, "", neither, none},
		{asked{v}, "any", both, v},
		{asked{v}, "vended-credentials", both, v},
		{asked{s}, "vended-credentials", both, v},
		{asked{v}, "vended-credentials", signs, none},
		{asked{v}, "remote-signing", both, s},
		{asked{v, s}, "remote-signing", both, s},
		{asked{s}, "remote-signing", vends, none},
		{asked{v, s}, "none", both, none},
		{asked{v, s}, "ANY", both, none}, // nobody can say what was meant
	} {
		cat := models.Catalog{Properties: models.JSON[map[string]string]{V: map[string]string{}}}
		if c.allowed != "" {
			cat.Properties.V[Property] = c.allowed
		}
		assert.Equal(t, c.given, c.can.allowed(cat).choose(c.asked), "%+v", c)
	}
}

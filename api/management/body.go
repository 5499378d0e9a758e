package management

import (
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/models"
)

// The members that several bodies have.
const (
	nameField       = "name"
	propertiesField = "properties"
	versionField    = "currentEntityVersion"
	federatedField  = "federated"
)

// outputOnly are members that clients send back as they got them, and that change nothing.
func outputOnly() []string {
	return []string{"createTimestamp", "lastUpdateTimestamp", "entityVersion"}
}

// known refuses members that are not null and of none of the names: a mistyped one would be left out without a word.
// Clients send members that they leave empty as null.
func known(f *wire.Fields, names ...string) {
	for _, name := range f.Names() {
		if !slices.Contains(names, name) {
			f.Fail(name, "is unknown; this object takes %s", strings.Join(names, ", "))
			return
		}
	}
}

// stamp is the members that say when an entity was made and changed, in milliseconds since 1970, and how often.
type stamp struct {
	CreateTimestamp     int64 `json:"createTimestamp"`
	LastUpdateTimestamp int64 `json:"lastUpdateTimestamp"`
	EntityVersion       int64 `json:"entityVersion"`
}

func stampOf(created, updated time.Time, version int64) stamp {
	return stamp{CreateTimestamp: created.UnixMilli(), LastUpdateTimestamp: updated.UnixMilli(), EntityVersion: version}
}

// propertiesOf gives an object for properties that are nil.
func propertiesOf(p models.JSON[map[string]string]) map[string]string {
	if p.V == nil {
		return map[string]string{}
	}
	return p.V
}

// listOf turns rows into what a list has; an empty one is [].
func listOf[Row, Item any](rows []Row, item func(Row) Item) []Item {
	out := make([]Item, 0, len(rows))
	for _, r := range rows {
		out = append(out, item(r))
	}
	return out
}

// roleChange is the body of an update of a role: its version as it was read, all properties that it is to have, and of the
// members that only some roles have those that are given.
func roleChange(c *gin.Context, members ...string) (management.RoleChange, error) {
	body, err := wire.ReadObject(c)
	if err != nil {
		return management.RoleChange{}, err
	}
	known(body, append([]string{versionField, propertiesField}, members...)...)
	in := management.RoleChange{Version: body.Int64(versionField), Properties: requiredProperties(body)}
	if body.Has(federatedField) {
		federated := body.Bool(federatedField)
		in.Federated = &federated
	}
	return in, body.Err()
}

func requiredProperties(f *wire.Fields) map[string]string {
	if !f.Has(propertiesField) {
		f.Fail(propertiesField, "is required")
	}
	return f.OptionalStringMap(propertiesField)
}

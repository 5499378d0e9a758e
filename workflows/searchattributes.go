package workflows

import (
	"strings"
	"unicode/utf8"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-data/sluice/activities"
)

// The search attributes, for operators to find runs by; no code of ours looks runs up by them. A namespace on
// PostgreSQL takes ten of the type Keyword.
const (
	TableAttribute     = "SluiceTable"     // dotted name, with the namespace
	TableUUIDAttribute = "SluiceTableUUID" // stays over renames
	CatalogAttribute   = "SluiceCatalog"   // name
	SnapshotAttribute  = "SluiceSnapshot"  // id, in decimal
)

// longestAttribute is what Temporal keeps of a Keyword on PostgreSQL, in characters.
const longestAttribute = 255

// SearchAttributes gives the attributes that a namespace must have, with their types.
func SearchAttributes() map[string]enums.IndexedValueType {
	return map[string]enums.IndexedValueType{
		TableAttribute:     enums.INDEXED_VALUE_TYPE_KEYWORD,
		TableUUIDAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD,
		CatalogAttribute:   enums.INDEXED_VALUE_TYPE_KEYWORD,
		SnapshotAttribute:  enums.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

// attributesOf gives the attributes of a run on a table; snapshot is "" where none is meant.
func attributesOf(t activities.Target, catalog, snapshot string) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(TableAttribute).ValueSet(keyword(t.TableName)),
		temporal.NewSearchAttributeKeyKeyword(TableUUIDAttribute).ValueSet(keyword(t.TableUUID)),
		temporal.NewSearchAttributeKeyKeyword(CatalogAttribute).ValueSet(keyword(catalog)),
	}
	if snapshot != "" {
		set = append(set, temporal.NewSearchAttributeKeyKeyword(SnapshotAttribute).ValueSet(snapshot))
	}
	return temporal.NewSearchAttributes(set...)
}

// keyword shortens a value to what every store takes: a long table name must not keep its commits from being governed.
func keyword(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= longestAttribute {
		return s
	}
	return string([]rune(s)[:longestAttribute])
}

package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// OfGovernance finds where a table's metadata is not what its governance says: stamped properties that were changed, columns
// that governance or a row filter names and that are gone, and columns of a classified table that are new and that nobody classified.
func OfGovernance(t models.Table, doc *metadata.Document, reservedPrefix string) []models.Finding {
	var out []models.Finding
	if f, ok := drift(t, doc, reservedPrefix); ok {
		out = append(out, f)
	}
	schema, err := doc.CurrentSchema()
	if err != nil {
		return out // the table does not load, which is a finding of its own
	}
	if f, ok := lostColumns(t, doc, schema); ok {
		out = append(out, f)
	}
	if f, ok := unclassified(t, schema); ok {
		out = append(out, f)
	}
	return out
}

// mostColumns is how many names a finding gives.
const mostColumns = 100

func drift(t models.Table, doc *metadata.Document, prefix string) (models.Finding, bool) {
	properties := doc.Properties()
	set, gone := models.Stamps{Prefix: prefix}.Drift(properties, t)
	if len(set) == 0 && len(gone) == 0 {
		return models.Finding{}, false
	}
	changed := map[string]any{}
	for key, wanted := range set {
		one := map[string]any{"wanted": wanted}
		if is, ok := properties[key]; ok {
			one["is"] = is
		}
		changed[key] = one
	}
	for _, key := range gone[:min(len(gone), mostColumns)] {
		changed[key] = map[string]any{"is": properties[key]}
	}
	f := aboutTable(models.FindingPropertyDrift, t)
	f.Evidence.V = map[string]any{
		"properties": changed, "metadataLocation": t.MetadataLocation,
		"remedy": "Sluice writes these properties again. If they change once more, look who writes the table's metadata past the catalog.",
	}
	return f, true
}

// lostColumns finds columns that governance names and that the table has no more: masks and tags are kept by name, and
// protect nothing under another one.
func lostColumns(t models.Table, doc *metadata.Document, schema metadata.Schema) (models.Finding, bool) {
	var lost []any
	var names []string
	filtered := filterColumns(t)
	all := append(governed(t), filtered...)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		if _, ok := schema.FieldByName(name); ok {
			continue
		}
		one := map[string]any{"column": name}
		if len(lost) < mostColumns { // the others are not told of, and each costs a look at every schema
			if now := renamed(doc, schema, name); now != "" {
				one["renamedTo"] = now
			}
		}
		if slices.Contains(t.IdentityColumns.V, name) {
			one["identity"] = true
		}
		if g := t.Columns.V[name]; g.Sensitivity != "" {
			one["sensitivity"] = string(g.Sensitivity)
		}
		if slices.Contains(filtered, name) {
			one["rowFilter"] = true
		}
		lost, names = append(lost, one), append(names, name)
	}
	if len(lost) == 0 {
		return models.Finding{}, false
	}
	f := aboutTable(models.FindingClassifiedChanged, t)
	f.Subject = "column " + strings.Join(names[:min(len(names), 3)], ", ")
	f.Evidence.V = map[string]any{
		"columns": lost[:min(len(lost), mostColumns)], "count": int64(len(lost)),
		"remedy": "Classify the column under its name of now, or take the old name out of the table's classification when the column is gone for good. Row filters that name it let nobody read: set them anew.",
	}
	return f, true
}

// governed gives the columns that governance names, in order.
func governed(t models.Table) []string {
	names := append(slices.Sorted(maps.Keys(t.Columns.V)), t.IdentityColumns.V...)
	slices.Sort(names)
	return slices.Compact(names)
}

// filterColumns gives the columns that row filters name.
func filterColumns(t models.Table) []string {
	var names []string
	for _, f := range t.RowFilters.V {
		names = append(names, f.Columns()...)
	}
	return names
}

// renamed gives the name of now of a column that an older schema of the table has under another one, "" when it is gone.
func renamed(doc *metadata.Document, now metadata.Schema, name string) string {
	for _, id := range slices.Backward(doc.SchemaIDs()) {
		schema, ok, err := doc.Schema(id)
		if err != nil || !ok {
			continue
		}
		if field, ok := schema.FieldByName(name); ok {
			path := ""
			now.Walk(func(f metadata.Field) {
				if f.ID == field.ID {
					path = f.Path
				}
			})
			return path
		}
	}
	return ""
}

// unclassified finds the new columns of a table that nobody said anything about, where somebody did of others.
func unclassified(t models.Table, schema metadata.Schema) (models.Finding, bool) {
	if t.KnownColumn == 0 || !slices.ContainsFunc(slices.Collect(maps.Values(t.Columns.V)), func(g models.ColumnGovernance) bool { return g != models.ColumnGovernance{} }) {
		return models.Finding{}, false
	}
	var names []string
	said := governed(t)
	for _, f := range schema.Fields {
		names = unsaid(names, f, said, t.KnownColumn)
	}
	if len(names) == 0 {
		return models.Finding{}, false
	}
	f := aboutTable(models.FindingUnclassified, t)
	f.Subject = "column " + names[0]
	if len(names) > 1 {
		f.Subject = fmt.Sprintf("column %s and %d more", names[0], len(names)-1)
	}
	f.Evidence.V = map[string]any{
		"columns": names[:min(len(names), mostColumns)], "count": int64(len(names)), "level": string(t.Classification),
		"remedy": "Say of each of these columns how sensitive it is, public too: until then it has the table's level and no mask.",
	}
	return f, true
}

// unsaid adds the columns with ids above known that no governed name covers: what a name says of a column it says of all that
// is nested in it.
func unsaid(names []string, f metadata.Field, said []string, known int) []string {
	within := false
	for _, name := range said {
		if name == f.Path {
			return names
		}
		within = within || strings.HasPrefix(name, f.Path+".")
	}
	switch {
	case f.Type == "struct":
		for _, child := range f.Children {
			names = unsaid(names, child, said, known)
		}
		return names
	case within: // of a list or a map, its element, key or value is named
		return names
	case f.ID <= known:
		return names
	}
	return append(names, f.Path)
}

// OfMetadata finds a table whose metadata is larger than engines bear: each of them reads all of it with every load and
// writes all of it with every commit.
func OfMetadata(t models.Table, doc *metadata.Document, limit int64) (models.Finding, bool) {
	size := int64(len(doc.Bytes()))
	if limit <= 0 || size < limit {
		return models.Finding{}, false
	}
	f := aboutTable(models.FindingLargeMetadata, t)
	f.Evidence.V = map[string]any{
		"bytes": size, "limit": limit, "snapshots": int64(doc.SnapshotCount()), "schemas": int64(len(doc.SchemaIDs())),
		"metadataLocation": t.MetadataLocation,
		"remedy":           "Expire snapshots, and remove schemas that no snapshot has. Engines that can should load it with snapshots=refs.",
	}
	return f, true
}

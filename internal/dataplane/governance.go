package dataplane

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// Governance names columns as the current schema does. A snapshot may be read with an older schema, where the same column
// had another name, and another column that name. What is said of a column is therefore followed by its field id.

// governedAs gives a table's row with its governance in the names of another schema of the table: columns and identity
// columns. A column of it that the current schema does not have any more is as sensitive as the table at its most
// sensitive, because nobody can say anything of it any more.
func governedAs(row models.Table, doc *metadata.Document, schema metadata.Schema) (models.Table, error) {
	current, err := doc.CurrentSchema()
	if err != nil {
		return row, err
	}
	byID, err := governanceByID(row, doc, current)
	if err != nil {
		return row, err
	}
	there := idsOf(current)
	columns := map[string]models.ColumnGovernance{}
	schema.Walk(func(f metadata.Field) {
		said, ok := byID[f.ID]
		if !there[f.ID] {
			said.Sensitivity, ok = highest(row), true
		}
		if ok {
			columns[f.Path] = said
		}
	})
	out := row
	out.Columns.V = columns
	out.IdentityColumns.V = identityAs(row, current, schema)
	return out, nil
}

// governanceByID follows each name to its column. One that the current schema lacks is that of the newest schema that has
// it: the column was renamed by what did not ask governance.
func governanceByID(row models.Table, doc *metadata.Document, current metadata.Schema) (map[int]models.ColumnGovernance, error) {
	byID := map[int]models.ColumnGovernance{}
	var older []metadata.Schema
	for _, path := range slices.Sorted(maps.Keys(row.Columns.V)) {
		field, ok := current.FieldByName(path)
		if !ok && older == nil {
			var err error
			if older, err = newestFirst(doc); err != nil {
				return nil, err
			}
		}
		for i := 0; !ok && i < len(older); i++ {
			field, ok = older[i].FieldByName(path)
		}
		if ok {
			byID[field.ID] = stricter(byID[field.ID], row.Columns.V[path])
		}
	}
	return byID, nil
}

func newestFirst(doc *metadata.Document) ([]metadata.Schema, error) {
	ids := doc.SchemaIDs()
	slices.SortFunc(ids, func(a, b int) int { return cmp.Compare(b, a) })
	schemas := make([]metadata.Schema, 0, len(ids))
	for _, id := range ids {
		s, _, err := doc.Schema(id)
		if err != nil {
			return nil, err
		}
		schemas = append(schemas, s)
	}
	return schemas, nil
}

// stricter gives the one of two sayings that has the higher level.
func stricter(a, b models.ColumnGovernance) models.ColumnGovernance {
	if rank(a.Sensitivity) > rank(b.Sensitivity) {
		return a
	}
	return b
}

// rank orders levels: that of an unknown one is the highest, of none -1.
func rank(level models.Classification) int {
	if level != "" && level.Rank() < 0 {
		return models.Restricted.Rank()
	}
	return level.Rank()
}

// highest is the level of the most sensitive that governance names of a table.
func highest(row models.Table) models.Classification {
	level := row.Classification
	for _, said := range row.Columns.V {
		if rank(said.Sensitivity) > rank(level) {
			level = said.Sensitivity
		}
	}
	return level
}

func idsOf(s metadata.Schema) map[int]bool {
	ids := map[int]bool{}
	s.Walk(func(f metadata.Field) { ids[f.ID] = true })
	return ids
}

// pathsOf gives the names of a schema's columns by their ids.
func pathsOf(s metadata.Schema) map[int]string {
	paths := map[int]string{}
	s.Walk(func(f metadata.Field) { paths[f.ID] = f.Path })
	return paths
}

// identityAs gives the identity columns in the names of a schema; none where it does not have all of them. Where governance
// names none, the identifier fields are meant.
func identityAs(row models.Table, current, schema metadata.Schema) []string {
	ids := schema.IdentifierFieldIDs
	if names := row.IdentityColumns.V; len(names) > 0 {
		ids = make([]int, len(names))
		for i, name := range names {
			f, ok := current.FieldByName(name)
			if !ok {
				return nil
			}
			ids[i] = f.ID
		}
	}
	paths := pathsOf(schema)
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if paths[id] == "" {
			return nil
		}
		out = append(out, paths[id])
	}
	return out
}

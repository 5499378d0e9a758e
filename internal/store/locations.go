package store

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// OverlappingTable implements catalog.Store. exceptID may be the record of a drop too. Locations are compared by whole
// path segments, as they are written.
func (s *Store) OverlappingTable(ctx context.Context, catalogID, location, exceptID string) (string, error) {
	if !storable(location) {
		return "", nil
	}
	name, err := overlapping(s.query(ctx), catalogID, location, exceptID, "tables", "views")
	return name, translate(ctx, err)
}

// holdsLocation is the predicate of the index dropped_tables_by_location: the files are there, or about to be deleted.
const holdsLocation = "t.holds_location AND t.state IN ('dropped', 'purging', 'unregistered')"

// overlapping finds a table or view (kinds: their database tables), or a dropped table, above, at or below the location:
// each half of the query is a range of an index on location.
func overlapping(tx *gorm.DB, catalogID, location, exceptID string, kinds ...string) (string, error) {
	above := enclosing(location)
	if len(above) == 0 {
		return "", nil
	}
	below := strings.TrimRight(location, "/")
	var found []struct {
		Name string
		Key  models.NamespaceKey `gorm:"column:name_key"`
	}
	var parts []string
	var args []any
	for _, kind := range kinds {
		columns := "SELECT t.name, n.name_key FROM " + kind + " t JOIN namespaces n ON n.id = t.namespace_id WHERE t.catalog_id = ? AND t.id <> ? AND "
		// "/" is followed by "0": the range holds every location that begins with below and a slash.
		parts = append(parts, columns+"t.location IN ?", columns+"t.location >= ? AND t.location < ?")
		args = append(args, catalogID, exceptID, above, catalogID, exceptID, below+"/", below+"0")
	}
	const dropped = "SELECT t.name || ' (dropped)', t.namespace_key FROM dropped_tables t WHERE t.catalog_id = ? AND t.id <> ? AND t.table_id <> ? AND " + holdsLocation + " AND "
	parts = append(parts, dropped+"t.location IN ?", dropped+"t.location >= ? AND t.location < ?")
	args = append(args, catalogID, exceptID, exceptID, above, catalogID, exceptID, exceptID, below+"/", below+"0")
	err := tx.Raw("SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+") AS f LIMIT 1", args...).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return "", err
	}
	return models.TableIdent{Namespace: found[0].Key.Levels(), Name: found[0].Name}.String(), nil
}

// enclosing gives the location and every location above it, each with and without a slash at its end.
func enclosing(location string) []string {
	var out []string
	for at := strings.TrimRight(location, "/"); at != "" && !strings.HasSuffix(at, ":"); {
		out = append(out, at, at+"/")
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = strings.TrimRight(at[:i], "/")
	}
	return out
}

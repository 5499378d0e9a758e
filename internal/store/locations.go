package store

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"github.com/sluice-data/sluice/models"
)

// OverlappingTable implements catalog.Store. Locations are compared by whole path segments, as they are written.
func (s *Store) OverlappingTable(ctx context.Context, catalogID, location, exceptID string) (string, error) {
	if !storable(location) {
		return "", nil
	}
	name, err := overlapping(s.query(ctx), catalogID, location, exceptID)
	return name, translate(ctx, err)
}

// overlapping finds a table above, at or below the location: both halves are ranges of the index on location.
func overlapping(tx *gorm.DB, catalogID, location, exceptID string) (string, error) {
	above := enclosing(location)
	if len(above) == 0 {
		return "", nil
	}
	below := strings.TrimRight(location, "/")
	var found []struct {
		Name string
		Key  models.NamespaceKey `gorm:"column:name_key"`
	}
	const columns = "SELECT t.name, n.name_key FROM tables t JOIN namespaces n ON n.id = t.namespace_id WHERE t.catalog_id = ? AND t.id <> ? AND "
	// "/" is followed by "0": the range holds every location that begins with below and a slash.
	err := tx.Raw("SELECT * FROM ("+columns+"t.location IN ? UNION ALL "+columns+"t.location >= ? AND t.location < ?) AS f LIMIT 1",
		catalogID, exceptID, above, catalogID, exceptID, below+"/", below+"0").Scan(&found).Error
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

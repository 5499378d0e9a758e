package store

import (
	"context"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// The database tables of what has a location.
const (
	ofTables = "tables"
	ofViews  = "views"
)

// OverlappingTable implements catalog.Store. Locations are compared by whole path segments, as they are written.
func (s *Store) OverlappingTable(ctx context.Context, location, exceptID string) (catalog.Occupant, error) {
	found, err := s.occupantAt(ctx, location, exceptID, ofTables, ofViews)
	return found.Occupant, err
}

// TableAt implements catalog.Store.
func (s *Store) TableAt(ctx context.Context, location string) (catalog.Occupant, error) {
	found, err := s.occupantAt(ctx, location, "", ofTables)
	return found.Occupant, err
}

// tableWithin names what overlaps a location and is in no catalog of the id. The name begins with that of the catalog.
func tableWithin(tx *gorm.DB, location, exceptCatalogID string) (string, error) {
	if !storable(location) {
		return "", nil
	}
	found, err := overlappingOutside(tx, location, "", exceptCatalogID, ofTables, ofViews)
	if err != nil || found.CatalogName == "" { // none, or the record of a drop whose catalog is gone
		return found.Name, err
	}
	return found.CatalogName + "." + found.Name, nil
}

func (s *Store) occupantAt(ctx context.Context, location, exceptID string, kinds ...string) (occupant, error) {
	if !storable(location) {
		return occupant{}, nil
	}
	found, err := overlapping(s.query(ctx), location, exceptID, kinds...)
	return found, translate(ctx, err)
}

// occupant is what has a location, and the name of its catalog.
type occupant struct {
	catalog.Occupant
	CatalogName string
}

// holdsLocation is the predicate of the index dropped_tables_by_any_location: the files are there, or about to be deleted.
const holdsLocation = "t.holds_location AND t.state IN ('dropped', 'purging', 'unregistered')"

// overlapping finds a table or view (kinds: their database tables), or a dropped table, of any catalog, above, at or below
// the location; zero is none. Each half of the query is a range of an index on location.
func overlapping(tx *gorm.DB, location, exceptID string, kinds ...string) (occupant, error) {
	return overlappingOutside(tx, location, exceptID, "", kinds...)
}

// overlappingOutside leaves out what is in one catalog, "" for none.
func overlappingOutside(tx *gorm.DB, location, exceptID, exceptCatalogID string, kinds ...string) (occupant, error) {
	above := enclosing(location)
	if len(above) == 0 {
		return occupant{}, nil
	}
	below := strings.TrimRight(location, "/")
	var found []struct {
		CatalogID, CatalogName, Name string
		Key                          models.NamespaceKey `gorm:"column:name_key"`
	}
	var parts []string
	var args []any
	except := []any{exceptID, exceptCatalogID}
	for _, kind := range kinds {
		columns := "SELECT t.catalog_id, t.name, n.name_key FROM " + kind + " t JOIN namespaces n ON n.id = t.namespace_id WHERE t.id <> ? AND t.catalog_id <> ? AND "
		// "/" is followed by "0": the range holds every location that begins with below and a slash.
		parts = append(parts, columns+"t.location IN ?", columns+"t.location >= ? AND t.location < ?")
		args = slices.Concat(args, except, []any{above}, except, []any{below + "/", below + "0"})
	}
	const dropped = "SELECT t.catalog_id, t.name || ' (dropped)', t.namespace_key FROM dropped_tables t WHERE t.table_id <> ? AND t.id <> ? AND t.catalog_id <> ? AND " + holdsLocation + " AND "
	parts = append(parts, dropped+"t.location IN ?", dropped+"t.location >= ? AND t.location < ?")
	except = append([]any{exceptID}, except...)
	args = slices.Concat(args, except, []any{above}, except, []any{below + "/", below + "0"})
	err := tx.Raw("SELECT f.*, COALESCE(c.name, '') AS catalog_name FROM (SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+
		") AS u LIMIT 1) AS f LEFT JOIN catalogs c ON c.id = f.catalog_id", args...).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return occupant{}, err
	}
	name := models.TableIdent{Namespace: found[0].Key.Levels(), Name: found[0].Name}.String()
	return occupant{catalog.Occupant{CatalogID: found[0].CatalogID, Name: name}, found[0].CatalogName}, nil
}

// lockLocations lets those who take locations follow one another, whatever their catalogs, until their transactions end.
// SQLite has one writer. The key is the number of this schema's own tables, so that installations that share a database
// do not wait for each other.
func (s *Store) lockLocations(tx *gorm.DB) error {
	if s.dialect != goose.DialectPostgres {
		return nil
	}
	return tx.Exec("SELECT pg_advisory_xact_lock('tables'::regclass::bigint)").Error
}

// claim is what is to be at a location.
type claim struct {
	catalogID, id string
	namespaceID   string
	name          string
	location      string
}

// takeLocation answers fault.Conflict when the location overlaps that of a table, of whatever kinds are given, or of a live
// staged create of another name. Until the transaction ends nobody else takes one.
func (s *Store) takeLocation(tx *gorm.DB, c claim, kinds ...string) error {
	if err := s.lockLocations(tx); err != nil {
		return err
	}
	other, err := overlapping(tx, c.location, c.id, kinds...)
	if err == nil && other.Name == "" {
		other.Occupant, err = s.stagedAt(tx, c.location, c.namespaceID, c.name)
	}
	if err != nil || other.Name == "" {
		return err
	}
	if other.CatalogID != c.catalogID { // whose names the caller may not see
		return fault.New(fault.Conflict, "The location %s overlaps that of a table of another catalog: choose another.", c.location)
	}
	return fault.New(fault.Conflict, "The location %s overlaps that of %q: choose another.", c.location, other.Name)
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

package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/pressly/goose/v3"

	"github.com/sluice-data/sluice/internal/management"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// placedRow is a grant with the namespace that it is on, or that its table or view is in.
type placedRow struct {
	models.Grant `gorm:"embedded"`
	NamespaceID  string
	NamespaceKey models.NamespaceKey
	EntityName   string // of the table or view
}

// grantPlaces finds where the objects of grants are now. One on a table that is dropped has no place and is left out.
const grantPlaces = ` FROM grants g
	LEFT JOIN tables t ON g.scope = 'table' AND t.id = g.object_id
	LEFT JOIN views v ON g.scope = 'view' AND v.id = g.object_id
	LEFT JOIN namespaces n ON n.id = COALESCE(t.namespace_id, v.namespace_id, g.object_id)
	WHERE (g.scope = 'catalog' OR n.id IS NOT NULL) AND `

// heldGrants and listedGrants are grants with their places: as much as rights ask for, and everything.
const (
	heldColumns = "SELECT g.catalog_id, g.scope, g.object_id, g.privilege, COALESCE(n.id, ''), COALESCE(n.name_key, '')"
	heldGrants  = heldColumns + grantPlaces +
		"g.catalog_role_id IN (SELECT catalog_role_id FROM catalog_role_members WHERE principal_role_id IN ?)"
	// heldGrantsLateral is heldGrants for PostgreSQL. OFFSET 0 keeps each part to itself, so that it goes from role to
	// grant to place by their indexes whatever the statistics say: after a bulk load, before there are any, it would else
	// read every grant there is.
	heldGrantsLateral = heldColumns + `
	FROM (SELECT DISTINCT catalog_role_id FROM catalog_role_members WHERE principal_role_id IN ?) m
	CROSS JOIN LATERAL (SELECT catalog_id, scope, object_id, privilege FROM grants WHERE catalog_role_id = m.catalog_role_id OFFSET 0) g
	LEFT JOIN LATERAL (SELECT namespace_id FROM tables WHERE g.scope = 'table' AND id = g.object_id OFFSET 0) t ON true
	LEFT JOIN LATERAL (SELECT namespace_id FROM views WHERE g.scope = 'view' AND id = g.object_id OFFSET 0) v ON true
	LEFT JOIN LATERAL (SELECT id, name_key FROM namespaces WHERE id = COALESCE(t.namespace_id, v.namespace_id, g.object_id) OFFSET 0) n ON true
	WHERE g.scope = 'catalog' OR n.id IS NOT NULL`
	listedGrants = `SELECT g.id, g.catalog_role_id, g.catalog_id, g.scope, g.object_id, g.privilege, g.created_at,
		COALESCE(n.id, '') AS namespace_id, COALESCE(n.name_key, '') AS namespace_key, COALESCE(t.name, v.name, '') AS entity_name` + grantPlaces +
		"g.catalog_role_id = ?"
)

// GrantsOfRoles implements access.Store, in two queries whatever the number of grants, but for very many namespaces. The
// rows are read without GORM's reflection: they are read again for everybody after each change.
func (s *Store) GrantsOfRoles(ctx context.Context, principalRoleIDs []string) ([]policy.Grant, error) {
	if len(principalRoleIDs) == 0 {
		return []policy.Grant{}, nil
	}
	found, err := s.heldRows(ctx, principalRoleIDs)
	if err != nil {
		return nil, translate(ctx, err)
	}
	lines, err := s.lineages(ctx, found)
	if err != nil {
		return nil, err
	}
	grants := make([]policy.Grant, len(found))
	for i, row := range found {
		grants[i] = policy.Grant{Privilege: row.Privilege, ObjectID: row.ObjectID, Within: lines.above(row)}
	}
	return grants, nil
}

func (s *Store) heldRows(ctx context.Context, principalRoleIDs []string) (found []placedRow, err error) {
	query := heldGrants
	if s.dialect == goose.DialectPostgres {
		query = heldGrantsLateral
	}
	rows, err := s.query(ctx).Raw(query, padded(principalRoleIDs)).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r placedRow
		if err := rows.Scan(&r.CatalogID, &r.Scope, &r.ObjectID, &r.Privilege, &r.NamespaceID, &r.NamespaceKey); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// GrantsOfCatalogRole implements management.Store.
func (s *Store) GrantsOfCatalogRole(ctx context.Context, catalogRoleID string) ([]management.PlacedGrant, error) {
	var rows []placedRow
	if err := s.query(ctx).Raw(listedGrants, catalogRoleID).Scan(&rows).Error; err != nil {
		return nil, translate(ctx, err)
	}
	lines, err := s.lineages(ctx, rows)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b placedRow) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.NamespaceKey, b.NamespaceKey),
			cmp.Compare(a.EntityName, b.EntityName), cmp.Compare(a.Privilege, b.Privilege))
	})
	grants := make([]management.PlacedGrant, len(rows))
	for i, row := range rows {
		grants[i] = management.PlacedGrant{Grant: row.Grant, Namespace: row.NamespaceKey, Name: row.EntityName}
		if above := lines.above(row); len(above) > 1 {
			grants[i].Within = above[1:] // without the catalog
		}
	}
	return grants, nil
}

// GrantsOnDropped implements management.Store.
func (s *Store) GrantsOnDropped(ctx context.Context, catalogRoleID string) ([]management.PlacedGrant, error) {
	var rows []placedRow
	err := s.query(ctx).Raw(`SELECT g.id, g.catalog_role_id, g.catalog_id, g.scope, g.object_id, g.privilege, g.created_at,
		d.namespace_key, d.name AS entity_name
		FROM grants g JOIN dropped_tables d ON d.table_id = g.object_id AND d.state = ?
		WHERE g.catalog_role_id = ? AND g.scope = 'table' ORDER BY g.id`, models.StateDropped, catalogRoleID).Scan(&rows).Error
	if err != nil {
		return nil, translate(ctx, err)
	}
	grants := make([]management.PlacedGrant, len(rows))
	for i, row := range rows {
		grants[i] = management.PlacedGrant{Grant: row.Grant, Namespace: row.NamespaceKey, Name: row.EntityName}
	}
	return grants, nil
}

// place names a namespace.
type place struct {
	catalogID string
	key       models.NamespaceKey
}

// lines are the namespaces of some grants and their ancestors.
type lines struct {
	ids   map[place]string
	whole map[place][]string // the catalog, the ancestors and the namespace itself
}

// lineages looks up the ancestors of the namespaces that grants are on or in.
func (s *Store) lineages(ctx context.Context, rows []placedRow) (lines, error) {
	l := lines{ids: map[place]string{}, whole: map[place][]string{}}
	for _, row := range rows {
		if row.NamespaceID != "" {
			l.ids[place{row.CatalogID, row.NamespaceKey}] = row.NamespaceID
		}
	}
	missing, catalogs := map[models.NamespaceKey]bool{}, map[string]bool{}
	for at := range l.ids {
		for key := at.key.Parent(); key != ""; key = key.Parent() {
			if l.ids[place{at.catalogID, key}] == "" {
				missing[key], catalogs[at.catalogID] = true, true
			}
		}
	}
	keys := make([]string, 0, len(missing))
	for key := range missing {
		keys = append(keys, string(key))
	}
	owners := make([]string, 0, len(catalogs))
	for id := range catalogs {
		owners = append(owners, id)
	}
	for part := range slices.Chunk(keys, maxPadded) {
		found, err := s.ancestors(ctx, owners, part)
		if err != nil {
			return l, translate(ctx, err)
		}
		for _, ns := range found {
			l.ids[place{ns.CatalogID, ns.Key}] = ns.ID
		}
	}
	return l, nil
}

// ancestorsLateral looks each key up by the index of names, whatever the statistics say, as heldGrantsLateral does.
const ancestorsLateral = `SELECT n.id, n.catalog_id, n.name_key FROM jsonb_array_elements_text(?::jsonb) AS k (name)
	CROSS JOIN LATERAL (SELECT id, catalog_id, name_key FROM namespaces WHERE catalog_id IN ? AND name_key = k.name OFFSET 0) n`

func (s *Store) ancestors(ctx context.Context, catalogIDs, keys []string) (found []models.Namespace, err error) {
	if s.dialect != goose.DialectPostgres {
		err = s.query(ctx).Select("id", "catalog_id", "name_key").
			Where("catalog_id IN ? AND name_key IN ?", padded(catalogIDs), padded(keys)).Find(&found).Error
		return found, err
	}
	names, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	err = s.query(ctx).Raw(ancestorsLateral, string(names), padded(catalogIDs)).Scan(&found).Error
	return found, err
}

// above gives the ids of what a grant's object lies in, the catalog first, itself left out. Grants share the slices.
func (l lines) above(row placedRow) []string {
	switch row.Scope {
	case models.OnCatalog:
		return nil
	case models.OnNamespace:
		whole := l.line(place{row.CatalogID, row.NamespaceKey})
		return whole[: len(whole)-1 : len(whole)-1]
	}
	return l.line(place{row.CatalogID, row.NamespaceKey})
}

func (l lines) line(at place) []string {
	if whole, ok := l.whole[at]; ok {
		return whole
	}
	line := []string{at.catalogID}
	if parent := at.key.Parent(); parent != "" {
		line = slices.Clone(l.line(place{at.catalogID, parent}))
	}
	if id := l.ids[at]; id != "" {
		line = append(line, id)
	}
	line = slices.Clip(line)
	l.whole[at] = line
	return line
}

package catalog

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// CreateTable makes a table, or with Stage only prepares its metadata for a commit that asserts its creation.
func (s *Service) CreateTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in CreateTableInput) (TableView, error) {
	op := policy.CreateTableDirect
	if in.Stage {
		op = policy.CreateTableStaged
	}
	at, row, err := s.newTable(ctx, caller, op, cat, in.Namespace, in.Name)
	if err != nil {
		return TableView{}, err
	}
	if err := s.checkNewProperties(at.name(in.Name), row, in.Properties); err != nil {
		return TableView{}, err
	}
	check := s.checkTableLocation
	if row.Location = strings.TrimRight(in.Location, "/"); row.Location == "" {
		row.Location, check = newLocation(at, in.Name), s.checkNewLocation
	}
	if err := check(ctx, at, in.Name, row.Location, ""); err != nil {
		return TableView{}, err
	}
	if in.Location != "" {
		if err := s.checkVacant(ctx, caller, cat, row.Location); err != nil {
			return TableView{}, err
		}
	}
	if err := s.checkPathProperties(row.Location, in.Properties); err != nil {
		return TableView{}, err
	}
	doc, err := metadata.New(metadata.CreateInput{
		UUID: uuid.NewString(), Location: row.Location, Schema: in.Schema, PartitionSpec: in.PartitionSpec,
		WriteOrder: in.WriteOrder, Properties: s.withFormat(cat, in.Properties), Now: s.now(),
	})
	if err != nil {
		return TableView{}, err
	}
	if err := s.checkFormat(cat, doc.FormatVersion()); err != nil {
		return TableView{}, err
	}
	if in.Stage {
		if err := s.stage(ctx, caller, row, doc); err != nil {
			return TableView{}, err
		}
		s.makeFolder(ctx, doc)
		return TableView{Row: row, Document: doc, at: at}, nil
	}
	if doc, err = s.stamp(doc, row); err != nil {
		return TableView{}, err
	}
	return s.insert(ctx, caller, at, row, doc)
}

// newTable checks that the caller may make a table of the name, which is free, and starts its row.
func (s *Service) newTable(
	ctx context.Context, caller policy.Caller, op policy.Operation, cat models.Catalog, levels []string, name string,
) (tablePlace, models.Table, error) {
	if err := refuseReadOnly(caller, "create a table"); err != nil {
		return tablePlace{}, models.Table{}, err
	}
	if err := checkName("table name", name); err != nil {
		return tablePlace{}, models.Table{}, err
	}
	at, err := s.place(ctx, caller, cat, levels)
	if err != nil {
		return tablePlace{}, models.Table{}, err
	}
	if err := caller.Require(op, policy.Parent, at.path, "namespace "+at.ns.Key.String()); err != nil {
		return tablePlace{}, models.Table{}, err
	}
	taken, err := s.store.IdentifierByName(ctx, at.ns.ID, name)
	if err == nil {
		return tablePlace{}, models.Table{}, takenForTable(taken.Kind, at.name(name))
	}
	if !fault.Is(err, fault.NotFound) {
		return tablePlace{}, models.Table{}, err
	}
	row, err := s.newRow(ctx, at, name)
	return at, row, err
}

// newRow starts a table's row with the write policy and the classification that its surroundings set.
func (s *Service) newRow(ctx context.Context, at tablePlace, name string) (models.Table, error) {
	now := s.now()
	row := models.Table{
		ID: uuid.NewString(), CatalogID: at.cat.ID, NamespaceID: at.ns.ID, Name: name,
		ForeignFiles: s.anyLocation, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	chain, err := s.defaultsOf(ctx, at)
	row.WritePolicy, row.Classification = nearestDefault(at.cat, chain), nearestLevel(at.cat, chain)
	return row, err
}

// defaultsOf gives the namespaces whose defaults hold for new tables of a place, outermost first: those above are read only
// where it has not all defaults itself.
func (s *Service) defaultsOf(ctx context.Context, at tablePlace) ([]models.Namespace, error) {
	if at.ns.ParentKey == "" || at.ns.DefaultWritePolicy != nil && at.ns.DefaultClassification != nil {
		return []models.Namespace{at.ns}, nil
	}
	above, err := s.store.NamespacePath(ctx, at.cat.ID, at.ns.ParentKey)
	return append(above, at.ns), err
}

// checkNewProperties refuses reserved properties, but for values that Sluice would stamp itself: a client that
// rebuilds a table from another's metadata repeats them in good faith.
func (s *Service) checkNewProperties(table string, row models.Table, properties map[string]string) error {
	wanted := s.stamps.Wanted(row)
	for key, value := range properties {
		if s.stamps.Reserved(key) && wanted[key] != value {
			return fault.New(fault.Forbidden, "Table %s cannot be created with the property %s: the prefix %s is reserved for governance. Set governance with `sluice policy` and `sluice tables classify`.",
				table, key, s.stamps.Prefix)
		}
	}
	return nil
}

// stamp adds the governance properties to a new table's metadata.
func (s *Service) stamp(doc *metadata.Document, row models.Table) (*metadata.Document, error) {
	updates, _, err := stampUpdates(s.stamps, doc.Properties(), row)
	if err != nil || len(updates) == 0 {
		return doc, err
	}
	result, err := metadata.Apply(doc, updates, metadata.ApplyOptions{Now: s.now()})
	if err != nil {
		return nil, err
	}
	return result.Document, nil
}

// insert writes a new table's first metadata file and its row.
func (s *Service) insert(ctx context.Context, caller policy.Caller, at tablePlace, row models.Table, doc *metadata.Document) (TableView, error) {
	if err := s.pointTo(&row, doc, s.newMetadataLocation(doc, "")); err != nil {
		return TableView{}, err
	}
	if err := s.writeDocument(ctx, row.MetadataLocation, doc); err != nil {
		return TableView{}, err
	}
	event := s.tableEvent(caller, models.AuditTableCreated, at, row,
		map[string]any{"location": row.Location, "writePolicy": row.WritePolicy, "metadataLocation": row.MetadataLocation})
	settle(ctx, row)
	err := s.store.CreateTable(ctx, row, Effects{Audit: []models.AuditEvent{event}})
	if err != nil {
		s.discard(ctx, err, row.MetadataLocation)
		return TableView{}, tableNameError(err, at.name(row.Name))
	}
	s.documents.put(row.MetadataLocation, doc)
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation, at: at}, nil
}

// makeFolder makes the metadata folder of a staged table, where the store has folders: DuckDB writes the manifests of
// its first snapshot into it and does not make it itself. An engine that makes its own does not miss it.
func (s *Service) makeFolder(ctx context.Context, doc *metadata.Document) {
	if s.folders == nil {
		return
	}
	if err := s.folders.EnsureFolder(ctx, s.metadataFolder(doc.Location(), doc.Properties())); err != nil {
		s.log.WarnContext(ctx, "the folder of a staged table could not be made", "location", doc.Location(), "error", err)
	}
}

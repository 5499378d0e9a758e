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
	at, row, err := s.newTable(ctx, caller, cat, in.Namespace, in.Name)
	if err != nil {
		return TableView{}, err
	}
	if err := s.checkNewProperties(at.name(in.Name), row, in.Properties); err != nil {
		return TableView{}, err
	}
	if row.Location = strings.TrimRight(in.Location, "/"); row.Location == "" {
		row.Location = newLocation(at, in.Name)
	}
	if err := s.checkTableLocation(ctx, at, row.Location, ""); err != nil {
		return TableView{}, err
	}
	if err := s.checkPathProperties(row.Location, in.Properties); err != nil {
		return TableView{}, err
	}
	doc, err := metadata.New(metadata.CreateInput{
		UUID: uuid.NewString(), Location: row.Location, Schema: in.Schema, PartitionSpec: in.PartitionSpec,
		WriteOrder: in.WriteOrder, Properties: in.Properties, Now: s.now(),
	})
	if err != nil || in.Stage {
		return TableView{Row: row, Document: doc}, err
	}
	if doc, err = s.stamp(doc, row); err != nil {
		return TableView{}, err
	}
	return s.insert(ctx, caller, at, row, doc)
}

// newTable checks that the caller may make a table of the name, which is free, and starts its row.
func (s *Service) newTable(ctx context.Context, caller policy.Caller, cat models.Catalog, levels []string, name string) (tablePlace, models.Table, error) {
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
	if err := require(caller, models.TableCreate, at.path, "namespace "+at.ns.Key.String()); err != nil {
		return tablePlace{}, models.Table{}, err
	}
	_, err = s.store.TableByName(ctx, at.ns.ID, name)
	if err == nil {
		return tablePlace{}, models.Table{}, tableExists(at.name(name))
	}
	if !fault.Is(err, fault.NotFound) {
		return tablePlace{}, models.Table{}, err
	}
	row, err := s.newRow(ctx, at, name)
	return at, row, err
}

// newRow starts a table's row with the write policy that its surroundings set.
func (s *Service) newRow(ctx context.Context, at tablePlace, name string) (models.Table, error) {
	now := s.now()
	row := models.Table{
		ID: uuid.NewString(), CatalogID: at.cat.ID, NamespaceID: at.ns.ID, Name: name,
		Classification: models.Internal, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	var err error
	row.WritePolicy, err = s.defaultPolicy(ctx, at)
	return row, err
}

// defaultPolicy is that of the nearest namespace that sets one, else the catalog's.
func (s *Service) defaultPolicy(ctx context.Context, at tablePlace) (models.WritePolicy, error) {
	if at.ns.DefaultWritePolicy != nil {
		return *at.ns.DefaultWritePolicy, nil
	}
	if at.ns.ParentKey != "" {
		chain, err := s.store.NamespacePath(ctx, at.cat.ID, at.ns.ParentKey)
		if err != nil {
			return "", err
		}
		for i := len(chain) - 1; i >= 0; i-- {
			if p := chain[i].DefaultWritePolicy; p != nil {
				return *p, nil
			}
		}
	}
	return at.cat.DefaultWritePolicy, nil
}

// checkNewProperties refuses reserved properties, but for values that Sluice would stamp itself: a client that
// rebuilds a table from another's metadata repeats them in good faith.
func (s *Service) checkNewProperties(table string, row models.Table, properties map[string]string) error {
	wanted := s.stamps.wanted(row)
	for key, value := range properties {
		if s.stamps.reserved(key) && wanted[key] != value {
			return fault.New(fault.Forbidden, "Table %s cannot be created with the property %s: the prefix %s is reserved for governance. Set governance with `sluice policy` and `sluice tables classify`.",
				table, key, s.stamps.prefix)
		}
	}
	return nil
}

// stamp adds the governance properties to a new table's metadata.
func (s *Service) stamp(doc *metadata.Document, row models.Table) (*metadata.Document, error) {
	updates, _, err := s.stamps.updates(doc.Properties(), row)
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
	if err := s.pointTo(&row, doc, newMetadataLocation(doc, "")); err != nil {
		return TableView{}, err
	}
	if err := s.writeDocument(ctx, row.MetadataLocation, doc); err != nil {
		return TableView{}, err
	}
	event := s.tableEvent(caller, models.AuditTableCreated, at, row,
		map[string]any{"location": row.Location, "writePolicy": row.WritePolicy, "metadataLocation": row.MetadataLocation})
	err := s.store.CreateTable(ctx, row, Effects{Audit: []models.AuditEvent{event}})
	if err != nil {
		s.discard(ctx, err, row.MetadataLocation)
		if fault.Is(err, fault.AlreadyExists) {
			return TableView{}, tableExists(at.name(row.Name))
		}
		return TableView{}, err
	}
	s.documents.put(row.MetadataLocation, doc)
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation}, nil
}

func tableExists(name string) error {
	return fault.About(fault.AlreadyExists, fault.Table, "Table already exists: %s", name)
}

// RegisterTable makes a table of an existing metadata file in the catalog's storage.
func (s *Service) RegisterTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in RegisterInput) (TableView, error) {
	if in.Overwrite {
		return TableView{}, fault.New(fault.Unsupported, "Registering over an existing table is not offered. Drop the table first.")
	}
	at, row, err := s.newTable(ctx, caller, cat, in.Namespace, in.Name)
	if err != nil {
		return TableView{}, err
	}
	if err := s.checkInside(cat, in.MetadataLocation); err != nil {
		return TableView{}, err
	}
	doc, err := s.documents.get(ctx, in.MetadataLocation)
	if err != nil {
		return TableView{}, err
	}
	if err := s.checkTableLocation(ctx, at, doc.Location(), ""); err != nil {
		return TableView{}, err
	}
	if err := s.checkFreeUUID(ctx, doc.UUID()); err != nil {
		return TableView{}, err
	}
	if err := s.pointTo(&row, doc, in.MetadataLocation); err != nil {
		return TableView{}, err
	}
	effects := Effects{Audit: []models.AuditEvent{s.tableEvent(caller, models.AuditTableRegistered, at, row,
		map[string]any{"location": row.Location, "writePolicy": row.WritePolicy, "metadataLocation": row.MetadataLocation})}}
	if head, ok := doc.CurrentSnapshotID(); ok {
		snap, _ := doc.Snapshot(head)
		effects.Commits = []models.Commit{s.ledgerRow(caller, at, row, snap, "main", kindOf(caller, at))}
	}
	if err := s.store.CreateTable(ctx, row, effects); err != nil {
		if fault.Is(err, fault.AlreadyExists) {
			err = tableExists(at.name(row.Name))
		}
		return TableView{}, err
	}
	s.wake()
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation}, nil
}

// kindOf says how what the caller brings in is recorded: a steward's is the platform's.
func kindOf(caller policy.Caller, at tablePlace) models.CommitKind {
	if !caller.EngineToken && caller.Has(models.TableGovern, at.path) {
		return models.PlatformCommit
	}
	return models.ExternalCommit
}

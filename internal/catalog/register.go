package catalog

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// RegisterTable makes a table of an existing metadata file in the catalog's storage. A table that was dropped or
// unregistered before is known by its uuid and keeps its governance; with Overwrite the name may be taken.
func (s *Service) RegisterTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in RegisterInput) (TableView, error) {
	if in.Overwrite {
		view, err := s.registerOver(ctx, caller, cat, in)
		if !fault.Is(err, fault.NotFound) || subjectOf(err) != fault.Table {
			return view, err
		}
	}
	at, row, err := s.newTable(ctx, caller, policy.RegisterTable, cat, in.Namespace, in.Name)
	if err != nil {
		return TableView{}, err
	}
	doc, err := s.readRegistered(ctx, cat, in)
	if err != nil {
		return TableView{}, err
	}
	effects, err := s.prepareRegistered(ctx, caller, at, &row, nil, doc, in)
	if err != nil {
		return TableView{}, err
	}
	settle(ctx, row)
	if err := s.store.CreateTable(ctx, row, effects); err != nil {
		return TableView{}, tableNameError(err, at.name(row.Name))
	}
	s.wake()
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation, at: at}, nil
}

// readRegistered reads the metadata file to register. Its absence is the client's mistake and no damage of ours.
func (s *Service) readRegistered(ctx context.Context, cat models.Catalog, in RegisterInput) (*metadata.Document, error) {
	if err := s.checkOwn(ctx, cat, in.MetadataLocation); err != nil {
		return nil, err
	}
	doc, err := s.documents.get(ctx, in.MetadataLocation)
	if err != nil {
		return nil, clientFile(err, in.MetadataLocation)
	}
	if err := doc.CheckReadable(); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The file %s is not the metadata of a table that engines can read. %s", in.MetadataLocation, fault.PublicMessage(err))
	}
	if err := s.checkClaims(doc); err != nil {
		return nil, err
	}
	return doc, s.checkFormat(cat, doc.FormatVersion())
}

// prepareRegistered judges a table that is registered, fills its row and gives what is written with it. old is the table
// whose place it takes, nil if it takes none.
func (s *Service) prepareRegistered(
	ctx context.Context, caller policy.Caller, at tablePlace, row, old *models.Table, doc *metadata.Document, in RegisterInput,
) (Effects, error) {
	former, err := s.formerTable(ctx, caller, at.cat, canonicalUUID(doc.UUID()))
	if err != nil {
		return Effects{}, err
	}
	var effects Effects
	asLeft, exceptID, governed := false, "", old
	if former != nil {
		asLeft = in.MetadataLocation == former.MetadataLocation
		if former.CatalogID == at.cat.ID {
			effects.Continues, exceptID, governed = former.ID, former.ID, &former.Table.V
		} else if old == nil {
			governed = &former.Table.V
		}
	}
	if governed != nil {
		row.WritePolicy, row.Classification = governed.WritePolicy, governed.Classification
		row.IdentityColumns, row.Columns, row.RowFilters = governed.IdentityColumns, governed.Columns, governed.RowFilters
	}
	if err := s.checkTableLocation(ctx, at, row.Name, doc.Location(), exceptID); err != nil {
		return Effects{}, err
	}
	if err := s.checkRegisteredAt(doc.Location(), in.MetadataLocation); err != nil {
		return Effects{}, err
	}
	if err := s.judgeRegistered(ctx, caller, at, *row, doc, asLeft); err != nil {
		return Effects{}, err
	}
	if err := s.pointTo(row, doc, in.MetadataLocation); err != nil {
		return Effects{}, err
	}
	row.ForeignFiles = true
	s.describeRegistered(caller, at, *row, doc, &effects, map[string]any{"writePolicy": row.WritePolicy})
	return effects, nil
}

// describeRegistered adds the audit event and the ledger row of the snapshot that a registered table begins with.
func (s *Service) describeRegistered(caller policy.Caller, at tablePlace, row models.Table, doc *metadata.Document, effects *Effects, details map[string]any) {
	details["location"], details["metadataLocation"] = row.Location, row.MetadataLocation
	effects.Audit = append(effects.Audit, s.tableEvent(caller, models.AuditTableRegistered, at, row, details))
	if head, ok := doc.CurrentSnapshotID(); ok {
		snap, _ := doc.Snapshot(head)
		effects.Commits = append(effects.Commits, s.ledgerRow(caller, at, row, snap, mainBranch, kindOf(caller, at)))
	}
}

// formerTable looks for what Sluice knows of a table from before: nil when it never saw the uuid. A uuid that another
// table has, or a dropped one of another catalog may come back with, cannot be registered. To register a dropped table
// is to undrop it, and needs the same privilege.
func (s *Service) formerTable(ctx context.Context, caller policy.Caller, cat models.Catalog, uuid string) (*models.DroppedTable, error) {
	if uuid == "" {
		return nil, nil
	}
	live, err := s.reports.FindTable(ctx, "", uuid)
	if err != nil {
		return nil, err
	}
	if len(live) > 0 {
		return nil, uuidTaken(uuid)
	}
	records, err := s.store.DroppedTables(ctx, models.DroppedFilter{TableUUID: uuid, States: []models.DropState{
		models.StateDropped, models.StatePurging, models.StateUnregistered, models.StateForgotten,
	}})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	former, err := choose(records, cat, uuid)
	if err != nil || former.State != models.StateDropped {
		return former, err
	}
	path, err := s.originOf(ctx, *former)
	if err != nil {
		return nil, err
	}
	return former, caller.Require(policy.RegisterDroppedTable, policy.Object, path, "the dropped table "+former.Ident().String())
}

// choose gives the record that a registered table continues: one that still holds the location, else the newest.
func choose(records []models.DroppedTable, cat models.Catalog, uuid string) (*models.DroppedTable, error) {
	former := &records[0]
	held := false
	for i := range records {
		switch r := &records[i]; {
		case r.State == models.StatePurging:
			return nil, fault.New(fault.Invalid, "The table of the uuid %s was dropped and its files are being deleted. It cannot be registered any more.", uuid)
		case r.State == models.StateDropped && r.CatalogID != cat.ID:
			return nil, fault.New(fault.Invalid, "The uuid %s belongs to a dropped table of another catalog, which may come back. Forget that one first (sluice tables forget).", uuid)
		case !held && r.CatalogID == cat.ID && r.State != models.StateForgotten:
			former, held = r, true
		}
	}
	return former, nil
}

// registerOver points an existing table at another metadata file; fault.NotFound when there is no such table. Of the
// same table it may be an older or newer state. Another table takes the place of the old one with its governance and
// grants, and the old one is dropped, so that it can be undropped under another name.
func (s *Service) registerOver(ctx context.Context, caller policy.Caller, cat models.Catalog, in RegisterInput) (TableView, error) {
	ident := models.TableIdent{Namespace: in.Namespace, Name: in.Name}
	unlock, err := s.locks.Lock(ctx, lockKey(cat, ident))
	if err != nil {
		return TableView{}, err
	}
	defer unlock()
	for attempt := 0; ; attempt++ {
		view, err := s.tryRegisterOver(ctx, caller, cat, ident, in)
		if !fault.Is(err, fault.Conflict) || attempt == maxAttempts {
			return view, err
		}
		if err := pause(ctx, attempt); err != nil {
			return TableView{}, err
		}
	}
}

func (s *Service) tryRegisterOver(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent, in RegisterInput) (TableView, error) {
	at, row, err := s.findToDrop(ctx, caller, policy.DropTableWithoutPurge, cat, ident, "register a table over another")
	if err != nil {
		return TableView{}, err
	}
	if err := caller.Require(policy.RegisterTableOverwrite, policy.Object, at.tablePath(row.ID), "table "+ident.String()+", which is to be registered over"); err != nil {
		return TableView{}, err
	}
	doc, err := s.readRegistered(ctx, cat, in)
	if err != nil {
		return TableView{}, err
	}
	if err := s.judgeOver(ctx, caller, at, row, doc); err != nil {
		return TableView{}, err
	}
	if canonicalUUID(doc.UUID()) != row.UUID {
		return s.replaceRegistered(ctx, caller, at, row, doc, in)
	}
	return s.repoint(ctx, caller, at, row, doc, in)
}

// repoint moves a table's pointer to another of its metadata files.
func (s *Service) repoint(ctx context.Context, caller policy.Caller, at tablePlace, row models.Table, doc *metadata.Document, in RegisterInput) (TableView, error) {
	if err := s.checkTableLocation(ctx, at, row.Name, doc.Location(), row.ID); err != nil {
		return TableView{}, err
	}
	if err := s.checkRegisteredAt(doc.Location(), in.MetadataLocation); err != nil {
		return TableView{}, err
	}
	previous, was := row.MetadataLocation, row.Location
	if err := s.judgeRegistered(ctx, caller, at, row, doc, false); err != nil {
		return TableView{}, err
	}
	if err := s.pointTo(&row, doc, in.MetadataLocation); err != nil {
		return TableView{}, err
	}
	if row.Location != was {
		if err := mayAbandon(caller, at, row, "move"); err != nil {
			return TableView{}, err
		}
	}
	row.ForeignFiles = true
	var effects Effects
	s.describeRegistered(caller, at, row, doc, &effects, map[string]any{"overwrite": true, "previousMetadataLocation": previous})
	settle(ctx, row)
	swap := Swap{Table: row, Moves: row.Location != was, Returns: row.CurrentSnapshotID != nil, Effects: effects}
	if err := s.store.SwapTables(ctx, []Swap{swap}); err != nil {
		return TableView{}, err
	}
	row.Version++
	s.wake()
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation, at: at}, nil
}

// replaceRegistered drops a table and registers another in its place. Its files are kept whatever the installation does
// with dropped tables: nobody asked for them to go.
func (s *Service) replaceRegistered(ctx context.Context, caller policy.Caller, at tablePlace, old models.Table, doc *metadata.Document, in RegisterInput) (TableView, error) {
	row, err := s.newRow(ctx, at, old.Name)
	if err != nil {
		return TableView{}, err
	}
	effects, err := s.prepareRegistered(ctx, caller, at, &row, &old, doc, in)
	if err != nil {
		return TableView{}, err
	}
	drop := s.newDrop(caller, models.StateDropped)
	event := s.tableEvent(caller, models.AuditTableDropped, at, old, map[string]any{"purgeRequested": false, "registeredOverBy": row.UUID})
	settle(ctx, row)
	if err := s.store.ReplaceTable(ctx, old.ID, drop, event, row, effects); err != nil {
		return TableView{}, tableNameError(err, at.name(row.Name))
	}
	s.wake()
	return TableView{Row: row, Document: doc, MetadataLocation: row.MetadataLocation, at: at}, nil
}

// kindOf says how what the caller brings in is recorded: a steward's is the platform's.
func kindOf(caller policy.Caller, at tablePlace) models.CommitKind {
	if !caller.EngineToken && caller.May(policy.CommitAsSteward, at.path) {
		return models.PlatformCommit
	}
	return models.ExternalCommit
}

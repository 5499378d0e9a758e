package catalog

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// CreateView makes a view. Two queries for one dialect are fault.Invalid about fault.Argument.
func (s *Service) CreateView(ctx context.Context, caller policy.Caller, cat models.Catalog, in CreateViewInput) (LoadedView, error) {
	at, row, err := s.newView(ctx, caller, policy.CreateView, cat, in.Namespace, in.Name)
	if err != nil {
		return LoadedView{}, err
	}
	location := strings.TrimRight(in.Location, "/")
	if location == "" {
		location = newLocation(at, in.Name)
	}
	doc, err := metadata.NewView(metadata.CreateViewInput{
		UUID: uuid.NewString(), Location: location, Schema: in.Schema, Version: in.Version,
		Properties: in.Properties, Now: s.now(),
	})
	if err != nil {
		return LoadedView{}, err
	}
	if err := s.checkView(ctx, at, doc, doc.Properties()); err != nil {
		return LoadedView{}, err
	}
	if err := s.pointViewTo(&row, doc, s.newViewLocation(doc, "")); err != nil {
		return LoadedView{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	if err := s.writeBytes(ctx, row.MetadataLocation, doc.Bytes()); err != nil {
		return LoadedView{}, err
	}
	if err := s.insertView(ctx, caller, models.AuditViewCreated, at, row); err != nil {
		s.discard(ctx, err, row.MetadataLocation)
		return LoadedView{}, err
	}
	s.documents.put(viewKey(row.MetadataLocation), doc)
	return LoadedView{Row: row, Document: doc}, nil
}

// RegisterView makes a view of an existing metadata file in the catalog's storage.
func (s *Service) RegisterView(ctx context.Context, caller policy.Caller, cat models.Catalog, in RegisterViewInput) (LoadedView, error) {
	at, row, err := s.newView(ctx, caller, policy.RegisterView, cat, in.Namespace, in.Name)
	if err != nil {
		return LoadedView{}, err
	}
	if err := s.checkOwn(ctx, cat, in.MetadataLocation); err != nil {
		return LoadedView{}, err
	}
	doc, err := s.documents.getView(ctx, in.MetadataLocation)
	if cause := errors.Unwrap(err); fault.Is(cause, fault.Invalid) { // the caller chose the file
		err = fault.Wrap(cause, fault.Invalid, "The file %s is not the metadata of a view. %s", in.MetadataLocation, fault.PublicMessage(cause))
	}
	if err != nil {
		return LoadedView{}, err
	}
	if err := doc.CheckReadable(); err != nil {
		return LoadedView{}, fault.Wrap(err, fault.Invalid, "The file %s is not the metadata of a view. %s", in.MetadataLocation, fault.PublicMessage(err))
	}
	if err := s.checkView(ctx, at, doc, doc.Properties()); err != nil {
		return LoadedView{}, err
	}
	if err := s.pointViewTo(&row, doc, in.MetadataLocation); err != nil {
		return LoadedView{}, err
	}
	if err := s.insertView(ctx, caller, models.AuditViewRegistered, at, row); err != nil {
		return LoadedView{}, err
	}
	return LoadedView{Row: row, Document: doc}, nil
}

// newView checks that the caller may make a view of the name, which is free, and starts its row.
func (s *Service) newView(ctx context.Context, caller policy.Caller, op policy.Operation, cat models.Catalog, levels []string, name string) (tablePlace, models.View, error) {
	if err := refuseReadOnly(caller, "create a view"); err != nil {
		return tablePlace{}, models.View{}, err
	}
	if err := checkName("view name", name); err != nil {
		return tablePlace{}, models.View{}, err
	}
	at, err := s.place(ctx, caller, cat, levels)
	if err != nil {
		return tablePlace{}, models.View{}, err
	}
	if err := caller.Require(op, policy.Parent, at.path, "namespace "+at.ns.Key.String()); err != nil {
		return tablePlace{}, models.View{}, err
	}
	taken, err := s.store.IdentifierByName(ctx, at.ns.ID, name)
	if err == nil {
		return tablePlace{}, models.View{}, takenForView(taken.Kind, at.name(name))
	}
	if !fault.Is(err, fault.NotFound) {
		return tablePlace{}, models.View{}, err
	}
	now := s.now()
	return at, models.View{
		ID: uuid.NewString(), CatalogID: at.cat.ID, NamespaceID: at.ns.ID, Name: name, Version: 1, CreatedAt: now, UpdatedAt: now,
	}, nil
}

func (s *Service) insertView(ctx context.Context, caller policy.Caller, typ models.AuditType, at tablePlace, row models.View) error {
	event := s.viewEvent(caller, typ, at, row, map[string]any{"location": row.Location, "metadataLocation": row.MetadataLocation})
	return viewNameError(s.store.CreateView(ctx, row, event), at.name(row.Name))
}

// checkView keeps a view inside its catalog and out of every table's folder, and its properties out of what is
// governance's. properties are those to check.
func (s *Service) checkView(ctx context.Context, at tablePlace, doc *metadata.ViewDocument, properties map[string]string) error {
	if err := s.checkViewProperties(doc.Location(), properties); err != nil {
		return err
	}
	if err := s.checkOwn(ctx, at.cat, doc.Location()); err != nil {
		return err
	}
	if err := s.checkFolder(ctx, at, doc.Location()); err != nil {
		return err
	}
	normal, err := s.locations.Normalize(doc.Location())
	if err != nil {
		return err
	}
	table, err := s.store.TableAt(ctx, normal)
	if err != nil {
		return err
	}
	return occupied(at.cat, doc.Location(), table)
}

// checkViewProperties refuses reserved properties, in whatever case, and a metadata folder outside the view.
func (s *Service) checkViewProperties(location string, properties map[string]string) error {
	for key := range properties {
		if s.stamps.Reserved(key) {
			return fault.New(fault.Forbidden, "A view cannot have the property %s: the prefix %s is reserved for governance.", key, s.stamps.Prefix)
		}
	}
	return s.checkPathProperties(location, properties)
}

// pointViewTo makes a row point to a document at a location.
func (s *Service) pointViewTo(row *models.View, doc *metadata.ViewDocument, location string) error {
	normal, err := s.locations.Normalize(doc.Location())
	if err != nil {
		return err
	}
	row.UUID, row.Location, row.MetadataLocation = doc.UUID(), normal, location
	return nil
}

// newViewLocation names a view's metadata file as a table's is named.
func (s *Service) newViewLocation(doc *metadata.ViewDocument, previous string) string {
	return s.metadataLocation(doc.Location(), doc.Properties(), previous)
}

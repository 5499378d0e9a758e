package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/contend"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// Deps is what a Service needs; Waker, Logger, Existence and Missing may be nil.
type Deps struct {
	Store       Store
	Reports     Reports
	Files       Files
	Locations   Locations
	Inspector   Inspector
	Reconciler  Reconciler
	Waker       Waker
	StorageKeys StorageKeys // nil: engines bring keys of their own
	Logger      *slog.Logger
	Now         func() time.Time

	Folders   Folders               // nil: the store has no folders
	Existence Existence             // nil: cached metadata answers for a table whose file is gone
	Missing   func(location string) // told of every table that is asked for and whose metadata file is gone; may be nil
	Drops     Drops

	ReservedPrefix string // of the governance properties, such as "sluice."
	AnyLocation    bool   // files of open_full tables may lie outside their tables, and dropped tables hold no location
	CacheBytes     int64  // budget of the metadata cache, shared by all tables
	FormatVersions []int  // that tables may have where their catalog does not say; empty: all that Sluice knows
}

// Service is the catalog's use cases. It is safe for concurrent use; many processes may share one Store.
type Service struct {
	store      Store
	reports    Reports
	files      Files
	locations  Locations
	folders    Folders
	inspector  Inspector
	reconciler Reconciler
	waker      Waker
	keys       StorageKeys
	log        *slog.Logger
	now        func() time.Time
	stamps     models.Stamps
	documents  *documents
	locks      *contend.Locks
	presence   *presence
	missing    func(location string)
	cleaner    *cleaner
	accesses   *accesses
	drops      Drops

	anyLocation    bool
	formatVersions []int
}

// New makes a Service.
func New(d Deps) *Service {
	s := &Service{
		store: d.Store, reports: d.Reports, files: d.Files, locations: d.Locations, folders: d.Folders, inspector: d.Inspector,
		reconciler: d.Reconciler, waker: d.Waker, keys: d.StorageKeys, log: d.Logger, now: d.Now,
		stamps: models.Stamps{Prefix: d.ReservedPrefix}, documents: newDocuments(d.Files, d.CacheBytes), locks: contend.NewLocks(),
		anyLocation: d.AnyLocation, formatVersions: d.FormatVersions,
	}
	if len(s.formatVersions) == 0 {
		s.formatVersions = []int{1, 2, 3}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.presence = &presence{files: d.Existence, now: d.Now, seen: map[string]time.Time{}}
	s.cleaner = &cleaner{files: d.Files, log: s.log}
	s.missing, s.drops = d.Missing, d.Drops
	s.accesses = newAccesses(d.Store, s.log, d.Now)
	return s
}

// Resolve finds the catalog of a warehouse name: "" is the token's own. A catalog that the token does not open, or in which
// its principal holds nothing, is as absent as one that does not exist.
func (s *Service) Resolve(ctx context.Context, caller policy.Caller, warehouse string) (models.Catalog, error) {
	if warehouse == "" {
		if caller.CatalogID == "" {
			return models.Catalog{}, fault.New(fault.Invalid, "Name a warehouse: this token opens more than one catalog.")
		}
		return s.store.CatalogByID(ctx, caller.CatalogID)
	}
	cat, err := s.store.CatalogByName(ctx, warehouse)
	absent := noSuchCatalog(caller, warehouse)
	switch {
	case fault.Is(err, fault.NotFound):
		return models.Catalog{}, absent
	case err != nil:
		return models.Catalog{}, err
	case caller.CatalogID != "" && caller.CatalogID != cat.ID:
		return models.Catalog{}, fault.Conceal(fault.Catalog, fmt.Sprintf("The token does not open catalog %s.", cat.Name), "%s", absent.Message)
	case !caller.SeesCatalog(cat.ID):
		return models.Catalog{}, fault.Conceal(fault.Catalog,
			fmt.Sprintf("Principal %s holds nothing on catalog %s or in it.", caller.Principal, cat.Name), "%s", absent.Message)
	}
	return cat, nil
}

// noSuchCatalog is the same for a catalog that is not there and for one that the caller does not see.
func noSuchCatalog(caller policy.Caller, warehouse string) *fault.Error {
	switch {
	case caller.CatalogID != "":
		return fault.About(fault.NotFound, fault.Catalog, "Warehouse %s does not exist, or this token does not open it, or none of the roles of principal %s sees anything in it.",
			warehouse, caller.Principal)
	case caller.Has(models.ServiceManageAccess, policy.Path{}):
		return fault.About(fault.NotFound, fault.Catalog, "Warehouse %s does not exist.", warehouse)
	}
	return fault.About(fault.NotFound, fault.Catalog, "Warehouse %s does not exist, or none of the roles of principal %s sees anything in it.",
		warehouse, caller.Principal)
}

// event starts the audit row of an allowed effect; callers add what it was on.
func (s *Service) event(caller policy.Caller, typ models.AuditType, cat models.Catalog, details map[string]any) models.AuditEvent {
	return models.AuditEvent{
		EventID: uuid.NewString(), Type: typ, At: s.now(), Principal: caller.Principal, TokenID: caller.TokenID,
		Catalog: cat.Name, Allowed: true, RequestID: caller.Origin.RequestID, Address: caller.Origin.Address,
		Details: models.JSON[map[string]any]{V: details},
	}
}

func (s *Service) tableEvent(caller policy.Caller, typ models.AuditType, at tablePlace, row models.Table, details map[string]any) models.AuditEvent {
	e := s.event(caller, typ, at.cat, details)
	e.Namespace, e.Table, e.TableUUID = at.ns.Key.String(), at.name(row.Name), row.UUID
	return e
}

func (s *Service) namespaceEvent(caller policy.Caller, typ models.AuditType, cat models.Catalog, key models.NamespaceKey, details map[string]any) models.AuditEvent {
	e := s.event(caller, typ, cat, details)
	e.Namespace = key.String()
	return e
}

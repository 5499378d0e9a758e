package catalog

import (
	"context"
	"strings"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// What may be declared of a writer.
const (
	leastEvery = time.Second
	mostEvery  = 366 * 24 * time.Hour
	// mostWriters is how many writers of a table are looked at for the commits that a declared one has made before.
	mostWriters = 1000
)

// WriterStore keeps what people say of writers. Absent ones are fault.NotFound.
type WriterStore interface {
	Writer(ctx context.Context, id string) (models.NamedWriter, error)
	// SaveWriter makes a writer, or changes what people declare of one that is there: how often it commits, and its state. To
	// retire it resolves its findings.
	SaveWriter(ctx context.Context, w models.TableWriter, event models.AuditEvent) error
	PrincipalByName(ctx context.Context, name string) (models.Principal, error)
}

// Writers gives writers in order of id: of one table, or with ref "" of all tables of the catalogs the caller manages. It is
// for whoever may see the ledger.
func (s *Service) Writers(ctx context.Context, caller policy.Caller, ref string, f models.WriterFilter) ([]models.NamedWriter, error) {
	if err := s.scope(ctx, caller, policy.ListWriters, policy.ListAllWriters, ref, &f.CatalogID, &f.TableID); err != nil {
		return nil, err
	}
	return s.reports.Writers(ctx, f)
}

// Writer gives one writer. To a caller who may neither list its table nor its writers, it does not exist.
func (s *Service) Writer(ctx context.Context, caller policy.Caller, id string) (models.NamedWriter, error) {
	return s.writerFor(ctx, caller, policy.ListWriters, id)
}

// writerFor finds a writer and requires what the operation takes on its table, or on its catalog when that is gone.
func (s *Service) writerFor(ctx context.Context, caller policy.Caller, op policy.Operation, id string) (models.NamedWriter, error) {
	w, err := s.store.Writer(ctx, id)
	if err != nil {
		return models.NamedWriter{}, err
	}
	about := aboutTable{catalogID: w.CatalogID, tableID: w.TableID, name: w.CatalogName + "." + w.Table, what: "writer"}
	if err := s.admit(ctx, caller, op, about, noSuchWriter(id)); err != nil {
		return models.NamedWriter{}, err
	}
	return w, nil
}

func noSuchWriter(id string) *fault.Error {
	return fault.New(fault.NotFound, "There is no writer with the id %q.", id)
}

// DeclareWriter says that a principal is to commit to a table at least so often, by whatever engine. Declared again, it is
// waited for anew.
func (s *Service) DeclareWriter(ctx context.Context, caller policy.Caller, ref, principal string, every time.Duration) (models.NamedWriter, error) {
	if err := checkEvery(every); err != nil {
		return models.NamedWriter{}, err
	}
	at, row, err := s.governed(ctx, caller, policy.DeclareWriter, ref)
	if err != nil {
		return models.NamedWriter{}, err
	}
	if _, err := s.store.PrincipalByName(ctx, principal); fault.Is(err, fault.NotFound) {
		return models.NamedWriter{}, fault.About(fault.Invalid, fault.Principal, "There is no principal %q. Name the one whose token the job has.", principal)
	} else if err != nil {
		return models.NamedWriter{}, err
	}
	w, err := s.expectedWriter(ctx, row, at.name(row.Name), principal)
	if err != nil {
		return models.NamedWriter{}, err
	}
	w.Every = every.Milliseconds()
	event := s.tableEvent(caller, models.AuditWriterDeclared, at, row, declared(w))
	if err := s.store.SaveWriter(ctx, w, event); err != nil {
		return models.NamedWriter{}, err
	}
	return s.store.Writer(ctx, w.ID)
}

// expectedWriter starts a declared writer with what its principal has committed so far.
func (s *Service) expectedWriter(ctx context.Context, row models.Table, name, principal string) (models.TableWriter, error) {
	w := models.TableWriter{
		ID: writers.ExpectedID(row.ID, principal), CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, Table: name,
		Kind: models.ExpectedWriter, Principal: principal, State: models.WriterActive, CreatedAt: s.now(),
	}
	known, err := s.reports.Writers(ctx, models.WriterFilter{TableID: row.ID, Limit: mostWriters})
	for _, k := range known {
		if k.Principal != principal || k.LastCommitAt == nil {
			continue
		}
		if k.Kind != models.ExpectedWriter {
			w.Commits += k.Commits
		}
		if w.FirstCommitAt == nil || k.FirstCommitAt != nil && k.FirstCommitAt.Before(*w.FirstCommitAt) {
			w.FirstCommitAt = k.FirstCommitAt
		}
		if w.LastCommitAt == nil || k.LastCommitAt.After(*w.LastCommitAt) {
			w.LastCommitAt, w.LastCommit = k.LastCommitAt, k.LastCommit
			w.Engine, w.Version, w.Client, w.TokenID, w.Ref = k.Engine, k.Version, k.Client, k.TokenID, k.Ref
		}
	}
	return w, err
}

// declared is what the audit says of a declaration.
func declared(w models.TableWriter) map[string]any {
	return map[string]any{
		"writerId": w.ID, "writerKind": string(w.Kind), "key": w.Key, "writerPrincipal": w.Principal,
		"every": (time.Duration(w.Every) * time.Millisecond).String(),
	}
}

func checkEvery(every time.Duration) error {
	if every < leastEvery || every > mostEvery {
		return fault.New(fault.Invalid, "A writer commits every second at the most and once a year at least: %s is neither.", every)
	}
	return nil
}

// SetWriterCadence says how often a writer is to commit; nil goes by what it is used to.
func (s *Service) SetWriterCadence(ctx context.Context, caller policy.Caller, id string, every *time.Duration) (models.NamedWriter, error) {
	if every != nil {
		if err := checkEvery(*every); err != nil {
			return models.NamedWriter{}, err
		}
	}
	w, err := s.governedWriter(ctx, caller, policy.UpdateWriter, id)
	if err != nil {
		return models.NamedWriter{}, err
	}
	before := w.Every
	w.Every = 0
	if every != nil {
		w.Every = every.Milliseconds()
	}
	if w.Every == before {
		return w, nil
	}
	details := declared(w.TableWriter)
	details["from"] = (time.Duration(before) * time.Millisecond).String()
	return s.saveWriter(ctx, w, s.writerEvent(caller, models.AuditWriterDeclared, w, details))
}

// RetireWriter says that a writer owes nothing any more, until it commits again.
func (s *Service) RetireWriter(ctx context.Context, caller policy.Caller, id, note string) (models.NamedWriter, error) {
	w, err := s.governedWriter(ctx, caller, policy.RetireWriter, id)
	if err != nil || w.State == models.WriterRetired {
		return w, err
	}
	now := s.now()
	w.State, w.RetiredAt, w.RetiredBy = models.WriterRetired, &now, caller.Principal
	return s.saveWriter(ctx, w, s.writerEvent(caller, models.AuditWriterRetired, w, map[string]any{
		"writerId": w.ID, "writerKind": string(w.Kind), "key": w.Key, "writerPrincipal": w.Principal, "note": note,
	}))
}

func (s *Service) governedWriter(ctx context.Context, caller policy.Caller, op policy.Operation, id string) (models.NamedWriter, error) {
	if err := refuseGoverning(caller, "change what is expected of a writer"); err != nil {
		return models.NamedWriter{}, err
	}
	return s.writerFor(ctx, caller, op, id)
}

func (s *Service) saveWriter(ctx context.Context, w models.NamedWriter, event models.AuditEvent) (models.NamedWriter, error) {
	if err := s.store.SaveWriter(ctx, w.TableWriter, event); err != nil {
		return models.NamedWriter{}, err
	}
	return s.store.Writer(ctx, w.ID)
}

// writerEvent is an event about a writer, whose table may be gone.
func (s *Service) writerEvent(caller policy.Caller, typ models.AuditType, w models.NamedWriter, details map[string]any) models.AuditEvent {
	e := s.event(caller, typ, models.Catalog{Name: w.CatalogName}, details)
	e.Table, e.TableUUID = w.Table, w.TableUUID
	if i := strings.LastIndexByte(w.Table, '.'); i > 0 {
		e.Namespace = w.Table[:i]
	}
	return e
}

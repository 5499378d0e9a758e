package export

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

// What one commit adds at most: it is in memory as a whole. An event may have 20 KiB.
const (
	exportPage  = 50_000
	exportBytes = 64 << 20
)

// Core is the catalog that has the table.
type Core interface {
	tableio.Core
	CreateNamespace(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.NamespaceInput) (catalog.NamespaceView, error)
	CreateTable(ctx context.Context, caller policy.Caller, cat models.Catalog, in catalog.CreateTableInput) (catalog.TableView, error)
	LoadTable(ctx context.Context, caller policy.Caller, cat models.Catalog, ident models.TableIdent) (catalog.TableView, error)
	SetWritePolicy(ctx context.Context, caller policy.Caller, ref string, p models.WritePolicy) (models.TableState, error)
	SetProtection(ctx context.Context, caller policy.Caller, ref string, protected bool) (models.TableState, error)
}

// Ledger is the audit.
type Ledger interface {
	AuditState(ctx context.Context) (models.AuditState, error)
	AuditRecords(ctx context.Context, after, through int64, each func(*audit.Record) error) error
	// SetExported notes up to which place the exported table has the audit; it never goes back.
	SetExported(ctx context.Context, seq int64) error
	AppendAudit(ctx context.Context, event models.AuditEvent) error
	Catalogs(ctx context.Context) ([]models.Catalog, error)
}

// Deps is what an Exporter needs.
type Deps struct {
	Core    Core
	Files   tableio.Files
	Ledger  Ledger
	Catalog string // name of the catalog that gets the table; "" for the oldest
	Page    int    // events of one commit at most; 0: 50,000
	Bytes   int    // text of these events from which on the commit has no more; 0: 64 MiB
	Now     func() time.Time
}

// Exporter keeps the exported table. Of several that run at once one appends; the others find that it did.
type Exporter struct {
	Deps
	io *tableio.IO
}

// New makes an exporter.
func New(d Deps) *Exporter {
	if d.Page <= 0 {
		d.Page = exportPage
	}
	if d.Bytes <= 0 {
		d.Bytes = exportBytes
	}
	return &Exporter{Deps: d, io: tableio.New(d.Core, d.Files, d.Now)}
}

// Export appends a page of sealed events that the table lacks. What is in the table, the table says: a run that died after
// its commit is not repeated. Events about the table itself are no reason for a commit, or each would make the next.
func (e *Exporter) Export(ctx context.Context) (events int64, more bool, err error) {
	state, err := e.Ledger.AuditState(ctx)
	if err != nil || state.Seq <= state.ExportedSeq {
		return 0, false, err
	}
	cat, err := e.catalog(ctx)
	if err != nil {
		return 0, false, err
	}
	caller := platform(cat)
	view, err := e.table(ctx, caller, cat)
	if err != nil {
		return 0, false, err
	}
	after := e.after(state, view)
	b, err := e.batch(ctx, view, after, min(state.Seq, after+int64(e.Page)))
	if err != nil {
		return 0, false, err
	}
	through := b.through
	if !b.foreign && through == state.Seq {
		return 0, false, nil
	}
	_, err = e.io.Append(ctx, caller, cat, tableio.Append{
		Table: ident(), Base: view.Document, Rows: []arrow.RecordBatch{b.rows.rows()}, Sorted: b.rows.ordered,
		Summary: map[string]string{firstSeqKey: strconv.FormatInt(after+1, 10), lastSeqKey: strconv.FormatInt(through, 10)},
	})
	if err != nil {
		return 0, false, err
	}
	return b.events, through < state.Seq, e.Ledger.SetExported(ctx, through)
}

// after gives the last event that the table has. An empty table has none, whatever the state says: it was made anew.
func (e *Exporter) after(state models.AuditState, view catalog.TableView) int64 {
	seq, known := exportedBy(view.Document)
	if _, filled := view.Document.CurrentSnapshotID(); filled && !known {
		seq = state.ExportedSeq
	}
	return max(seq, state.PrunedSeq)
}

// batch is a page of events.
type batch struct {
	rows    *events
	events  int64
	through int64 // place of the last one
	foreign bool  // one of them is not about the table itself
}

func (e *Exporter) batch(ctx context.Context, view catalog.TableView, after, through int64) (*batch, error) {
	schema, err := tableio.Schema(view.Document)
	if err != nil {
		return nil, err
	}
	b := &batch{through: through}
	if b.rows, err = newEvents(schema, view.Document); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The audit is not exported: the table %s.%s is not as Sluice made it. Drop or rename it; Sluice makes a new one.", Namespace, TableName)
	}
	bytes := 0
	err = e.Ledger.AuditRecords(ctx, after, through, func(r *audit.Record) error {
		b.rows.add(r)
		b.events++
		b.foreign = b.foreign || !about(r, view.Row.UUID)
		if bytes += len(r.Details) + len(r.Reason) + len(r.Table) + len(r.Namespace); bytes >= e.Bytes {
			b.through = r.Seq
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		err = nil
	}
	return b, err
}

// errFull ends the reading of a page.
var errFull = errors.New("the page is full")

// about tells whether an event is one that exports themselves cause.
func about(r *audit.Record, tableUUID string) bool {
	return r.TableUUID == tableUUID || r.Type == string(models.AuditExported)
}

func (e *Exporter) catalog(ctx context.Context) (models.Catalog, error) {
	all, err := e.Ledger.Catalogs(ctx)
	if err != nil {
		return models.Catalog{}, err
	}
	var found *models.Catalog
	for i, c := range all {
		if e.Catalog != "" && c.Name == e.Catalog || e.Catalog == "" && (found == nil || c.CreatedAt.Before(found.CreatedAt)) {
			found = &all[i]
		}
	}
	if found == nil {
		return models.Catalog{}, fault.About(fault.NotFound, fault.Catalog, "The audit is not exported: there is no catalog %q. Correct the setting audit-export-catalog.", e.Catalog)
	}
	return *found, nil
}

// table gives the table, which it makes where it is missing, closed to everybody's writes and protected against a drop.
func (e *Exporter) table(ctx context.Context, caller policy.Caller, cat models.Catalog) (catalog.TableView, error) {
	view, err := e.Core.LoadTable(ctx, caller, cat, ident())
	if fault.Is(err, fault.NotFound) {
		view, err = e.create(ctx, caller, cat)
	}
	if err != nil {
		return view, err
	}
	ref := cat.Name + "." + Namespace + "." + TableName
	changed := false
	if view.Row.WritePolicy != models.GovernedOnly {
		changed = true
		if _, err := e.Core.SetWritePolicy(ctx, caller, ref, models.GovernedOnly); err != nil {
			return view, err
		}
	}
	if !view.Row.Protected {
		changed = true
		if _, err := e.Core.SetProtection(ctx, caller, ref, true); err != nil {
			return view, err
		}
	}
	if !changed {
		return view, nil
	}
	return e.Core.LoadTable(ctx, caller, cat, ident()) // it was stamped
}

func (e *Exporter) create(ctx context.Context, caller policy.Caller, cat models.Catalog) (catalog.TableView, error) {
	_, err := e.Core.CreateNamespace(ctx, caller, cat, catalog.NamespaceInput{
		Levels: []string{Namespace}, Properties: map[string]string{"comment": "What Sluice keeps about itself"},
	})
	if err != nil && !fault.Is(err, fault.AlreadyExists) {
		return catalog.TableView{}, err
	}
	schema, spec, order, err := definition()
	if err != nil {
		return catalog.TableView{}, err
	}
	view, err := e.Core.CreateTable(ctx, caller, cat, catalog.CreateTableInput{
		Namespace: []string{Namespace}, Name: TableName, Schema: schema, PartitionSpec: spec, WriteOrder: order,
		Properties: map[string]string{"comment": "The sealed audit, in order of seq", "write.metadata.delete-after-commit.enabled": "true"},
	})
	if err != nil {
		return view, err
	}
	return view, e.note(ctx, cat, view)
}

// note says in the audit that the table was made.
func (e *Exporter) note(ctx context.Context, cat models.Catalog, view catalog.TableView) error {
	return e.Ledger.AppendAudit(ctx, models.AuditEvent{
		EventID: uuid.NewString(), Type: models.AuditExported, At: e.Now(), Principal: platformPrincipal, Allowed: true,
		Catalog: cat.Name, Namespace: Namespace, Table: ident().String(), TableUUID: view.Row.UUID,
		Details: models.JSON[map[string]any]{V: map[string]any{"table": cat.Name + "." + ident().String()}},
	})
}

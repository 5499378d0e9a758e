package dataplane

import (
	"context"
	"io"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// OnViolation says what becomes of rows that cannot land: those that are no rows of the table, and those whose content is
// more sensitive than where it would land.
type OnViolation string

// The ways.
const (
	RejectViolations     OnViolation = "reject"     // the write is refused as a whole
	QuarantineViolations OnViolation = "quarantine" // they land in a restricted table beside it, the others where they belong
)

// WriteInput is a request to write rows.
type WriteInput struct {
	Mode        models.WriteMode // "" for append
	Format      rows.Format
	Body        io.Reader
	Label       models.Classification // what the caller says of all rows, "" for nothing
	OnViolation OnViolation           // "" for reject
	Key         string                // the Idempotency-Key, "" for none

	received *counted // Body, counted
}

// WriteResult is what a write came to. A write of no rows commits nothing and has neither snapshot nor audit id.
type WriteResult struct {
	AuditID         string                          `json:"audit-id"`
	SnapshotID      int64                           `json:"snapshot-id,string"` // 0: nothing landed in the table itself
	Rows            int64                           `json:"rows"`               // that landed
	Updated         *int64                          `json:"updated"`            // rows of the table that they replaced; nil for who may not learn which keys there are
	Superseded      int64                           `json:"superseded"`         // sent, and followed by another of the same key
	Quarantined     int64                           `json:"quarantined"`
	QuarantineTable string                          `json:"quarantine-table,omitempty"`
	Level           models.Classification           `json:"level,omitempty"` // the highest of a row
	Levels          map[models.Classification]int64 `json:"levels"`          // rows of each
	Tags            map[string]int64                `json:"tags"`            // rows that have each
}

// resultOf tells a client what it wrote.
func resultOf(w models.GovernedWrite) WriteResult {
	r := WriteResult{
		AuditID: w.ID, SnapshotID: w.SnapshotID, Rows: w.Rows, Updated: &w.Updated, Superseded: w.Superseded, Quarantined: w.Quarantined,
		QuarantineTable: w.QuarantineTable, Level: w.Level, Levels: w.Levels.V, Tags: w.Tags.V,
	}
	return r.filled()
}

func (r WriteResult) filled() WriteResult {
	if r.Levels == nil {
		r.Levels = map[models.Classification]int64{}
	}
	if r.Tags == nil {
		r.Tags = map[string]int64{}
	}
	return r
}

// Write lands rows in a table in one commit, all or none, with the audit of each. Rows are checked, classified and written
// to files while they arrive; until the commit nobody sees them, and of a write that fails nothing is left.
//
// Errors: *WriteErrors when rows are to blame; Invalid for what can never be written; Conflict when the table changed so
// that the rows no longer fit, or was changed by others without end; UnknownState when the outcome is in doubt. After
// any other error nothing landed.
func (s *Service) Write(ctx context.Context, caller policy.Caller, ref string, in WriteInput) (out WriteResult, err error) {
	end := s.metrics.start(kindWrite)
	body := &counted{from: in.Body, most: s.Limits.RequestBytes}
	in.Body, in.received = body, body
	defer func() { end(out.Rows, body.bytes, err) }()
	ctx, done, err := s.begin(ctx, caller.PrincipalID)
	if err != nil {
		return WriteResult{}, err
	}
	defer done()
	body.ctx = ctx
	table, err := s.Catalog.FindForData(ctx, caller, policy.WriteRows, ref)
	if err != nil {
		return WriteResult{}, err
	}
	if in, err = in.checked(); err != nil {
		return WriteResult{}, err
	}
	if in.Key == "" {
		out, err = s.write(ctx, caller, table, in, nil)
	} else {
		out, err = s.writeOnce(ctx, caller, table, in)
	}
	if !seesKeys(caller, table) {
		out.Updated = nil
	}
	if fault.Is(err, fault.UnknownState) {
		return out, err
	}
	return out, late(ctx, err)
}

// seesKeys tells whether the caller may know which keys the table has: it sees all rows, and the key of each.
func seesKeys(caller policy.Caller, table catalog.DataTable) bool {
	schema, err := table.Document.CurrentSchema()
	if err != nil {
		return false
	}
	if _, all := policy.RowFilterFor(caller.RoleNames, table.Row.RowFilters.V); !all {
		return false
	}
	masks := policy.MasksFor(caller.Clearance, table.Row, schema)
	for _, name := range append(identifierColumns(schema), table.Row.IdentityColumns.V...) {
		if _, masked := policy.MaskOf(masks, name); masked {
			return false
		}
	}
	return true
}

func (in WriteInput) checked() (WriteInput, error) {
	if in.Mode == "" {
		in.Mode = models.AppendRows
	}
	if in.OnViolation == "" {
		in.OnViolation = RejectViolations
	}
	switch {
	case in.Mode != models.AppendRows && in.Mode != models.UpsertRows:
		return in, fault.New(fault.Invalid, "The mode %q is neither append nor upsert.", in.Mode)
	case in.OnViolation != RejectViolations && in.OnViolation != QuarantineViolations:
		return in, fault.New(fault.Invalid, "on-violation %q is neither reject nor quarantine.", in.OnViolation)
	case in.Label != "" && in.Label.Rank() < 0:
		return in, fault.New(fault.Invalid, "The label %q is no classification: use public, internal, confidential or restricted.", in.Label)
	}
	return in, nil
}

// write is one write, without what its key asks for. With a claim the commit settles it.
func (s *Service) write(ctx context.Context, caller policy.Caller, table catalog.DataTable, in WriteInput, claim *idempotency.Claim) (WriteResult, error) {
	w, err := s.newWriting(ctx, caller, table, in, claim)
	if err != nil {
		return WriteResult{}, err
	}
	defer func() { w.close(ctx) }()
	if err := w.receive(ctx); err != nil {
		return WriteResult{}, err
	}
	out, err := w.finish(ctx)
	if err != nil {
		return WriteResult{}, err
	}
	s.suggest(ctx, table, w)
	return out.filled(), nil
}

// suggest passes on what the content of columns looks like.
func (s *Service) suggest(ctx context.Context, table catalog.DataTable, w *writing) {
	if s.NoteSuggestions == nil {
		return
	}
	if found := w.rules.Suggestions(); len(found) > 0 {
		s.NoteSuggestions(context.WithoutCancel(ctx), table.Row.ID, found)
	}
}

// counted counts what is read of a body, and ends it where it is too large or takes too long: rows that trickle in would
// hold memory and a turn for as long as their sender likes.
type counted struct {
	ctx   context.Context //nolint:containedctx // of the write, whose body is read through io.Reader
	from  io.Reader
	most  int64
	bytes int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.from.Read(p)
	if c.bytes += int64(n); c.bytes > c.most {
		return n, fault.New(fault.TooLarge, "One write takes at most %d bytes. Split the rows over several writes.", c.most)
	}
	return n, err
}

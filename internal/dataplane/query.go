package dataplane

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rows"
)

// QueryInput says which rows a caller wants, and how.
type QueryInput struct {
	Select     []string        // names of columns, nested ones with dots; nil for all
	Filter     json.RawMessage // an Iceberg expression; nil for all rows
	Where      string          // the same as text, such as region = 'EU'; both must be true
	Limit      int64           // 0 for none
	SnapshotID *int64          // nil for the newest
	AsOf       time.Time       // the snapshot that was current then; zero for the newest
	PageSize   int             // rows of a page; 0 for all rows at once, or for a default beside a token
	PageToken  string          // of the page before; "" for the first
	Format     rows.Format
}

// paged tells whether pages are wanted. Otherwise all rows are.
func (in QueryInput) paged() bool { return in.PageSize > 0 || in.PageToken != "" }

// Head is what an answer says before its rows.
type Head struct {
	Format        rows.Format
	SnapshotID    *int64 // nil of an empty table
	Rows          *int64 // of the snapshot, deletes aside; nil where that is not known or not for the caller
	NextPageToken string // "" where no page follows
}

// Sink takes an answer. Begin is called once everything was found to be well; what happens later cuts the answer off.
type Sink interface {
	Begin(h Head) (io.Writer, error)
}

// Query answers with the rows that match and that the caller may see, as the caller may see them. Errors before the sink
// was begun are refusals; a later one means that the answer is not whole.
func (s *Service) Query(ctx context.Context, caller policy.Caller, ref string, in QueryInput, sink Sink) (err error) {
	ctx, end, err := s.begin(ctx, caller.PrincipalID)
	if err != nil {
		return err
	}
	defer end()
	out := &answer{sink: sink, most: s.Limits.AnswerBytes, over: ctx.Err}
	counted := s.metrics.start(kindQuery)
	defer func() { counted(out.rows, out.bytes, err) }()
	q, err := s.newQuery(ctx, caller, ref, in)
	if err != nil {
		return late(ctx, err)
	}
	s.Catalog.NoteGovernedRead(ctx, caller, q.table)
	switch {
	case in.paged():
		err = s.answerPage(ctx, q, out)
	case in.Format == rows.JSON:
		err = s.answerWhole(ctx, q, out)
	default:
		err = s.stream(ctx, q, out)
	}
	return late(ctx, err)
}

// query is one that was found to make sense.
type query struct {
	*lens
	in     QueryInput
	view   *projection
	filter *expression.Filter // of the caller, and of the rows that it may see
	digest []byte             // of what a page token is good for
	after  *pageToken         // nil for the first page
}

func (s *Service) newQuery(ctx context.Context, caller policy.Caller, ref string, in QueryInput) (*query, error) {
	if err := s.check(in); err != nil {
		return nil, err
	}
	table, err := s.Catalog.FindForData(ctx, caller, policy.QueryRows, ref)
	if err != nil {
		return nil, err
	}
	q := &query{in: in}
	at, err := s.stateOf(caller, table, q)
	if err != nil {
		return nil, err
	}
	if q.lens, err = newLens(caller, table, at); err != nil {
		return nil, err
	}
	if q.view, err = s.project(ctx, q.lens, in.Select); err != nil {
		return nil, err
	}
	if q.filter, err = q.userFilter(); err != nil {
		return nil, err
	}
	q.filter = expression.And(q.filter, q.rows)
	if q.digest, err = q.digestOf(); err != nil {
		return nil, err
	}
	if q.after != nil && !q.after.isOf(q.digest) {
		return nil, errWrongToken()
	}
	return q, nil
}

func (s *Service) check(in QueryInput) error {
	switch {
	case in.Limit < 0 || in.PageSize < 0:
		return fault.New(fault.Invalid, "A limit and a page size are at least 1.")
	case in.PageSize > s.Limits.Rows:
		return fault.New(fault.Invalid, "A page has at most %d rows. Ask for smaller pages, or for a stream without pages as %s or %s.", s.Limits.Rows, rows.NDJSON, rows.ArrowStream)
	case in.SnapshotID != nil && !in.AsOf.IsZero():
		return fault.New(fault.Invalid, "A query names a snapshot or a time, not both.")
	case in.Select != nil && len(in.Select) == 0:
		return fault.New(fault.Invalid, "The selection is empty. Name at least one column, or leave it out for all of them.")
	}
	return nil
}

// stateOf gives the state of the table that the query reads: with a token, that of the first page.
func (s *Service) stateOf(caller policy.Caller, table catalog.DataTable, q *query) (snapshotAt, error) {
	if q.in.PageToken != "" {
		token, err := s.openToken(caller, table, q.in.PageToken)
		if err != nil {
			return snapshotAt{}, err
		}
		q.after = token
		if _, ok := table.Document.Snapshot(int64(token.Snapshot)); !ok {
			return snapshotAt{}, fault.New(fault.NotFound, "The snapshot that the pages before were of is gone from table %s. Start again without the page token.", table.Name)
		}
		return withSchema(table, int64(token.Snapshot), token.Schema)
	}
	return stateFor(table, q.in.SnapshotID, q.in.AsOf)
}

// stateFor gives the state of a table at a snapshot or a time, else the newest.
func stateFor(table catalog.DataTable, snapshot *int64, at time.Time) (snapshotAt, error) {
	switch {
	case snapshot != nil:
		return past(table, *snapshot)
	case !at.IsZero():
		id, err := asOf(table, at)
		if err != nil {
			return snapshotAt{}, err
		}
		return past(table, id)
	}
	return head(table.Document)
}

// userFilter reads both forms of the filter. It may name no masked column.
func (q *query) userFilter() (*expression.Filter, error) {
	raw := q.in.Filter
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	written, err := expression.Parse(raw, q.at.schema, false)
	if err != nil {
		return nil, err
	}
	said, err := expression.ParseText(q.in.Where, q.at.schema)
	if err != nil {
		return nil, err
	}
	f := expression.And(written, said)
	paths := pathsOf(q.at.schema)
	for _, one := range []*expression.Filter{written, said} { // a constant in the one must not hide the other
		for _, id := range one.Columns() {
			if err := q.requireSeen(paths[id], "filtered by"); err != nil {
				return nil, err
			}
		}
	}
	return f, f.Evaluable()
}

// answer counts what goes into a sink, and begins it with the first byte.
type answer struct {
	sink  Sink
	to    io.Writer // nil: not begun
	most  int64     // bytes
	over  func() error
	rows  int64
	bytes int64
}

func (a *answer) begin(h Head) (err error) {
	a.to, err = a.sink.Begin(h)
	return err
}

// Write passes on until the answer is as large as one may be, or its time is over: that a client takes it slowly does not
// let it have rows in memory for longer.
func (a *answer) Write(p []byte) (int, error) {
	if err := a.over(); err != nil {
		return 0, err
	}
	if a.bytes+int64(len(p)) > a.most {
		return 0, fault.New(fault.TooLarge, "The answer is larger than the limit of %d bytes. Select fewer columns, filter, or page.", a.most)
	}
	n, err := a.to.Write(p)
	a.bytes += int64(n)
	return n, err
}

// headOf is the head of an answer to a query.
func headOf(l *lens, f rows.Format) Head {
	h := Head{Format: f, SnapshotID: l.at.id}
	if l.whole {
		h.Rows = l.at.rows
	}
	return h
}

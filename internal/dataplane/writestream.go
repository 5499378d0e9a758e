package dataplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/classify"
	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// writing is one write under way: rows go from the body through the rules into files, and into the log of what lands.
type writing struct {
	s      *Service
	caller policy.Caller
	table  catalog.DataTable
	in     WriteInput
	claim  *idempotency.Claim // nil: the request has no key
	id     string             // of the write, and of its audit

	schema   *arrow.Schema
	defaults map[int][]byte // of columns that rows leave out
	rules    *classify.Classifier
	hasher   *rowaudit.Hasher
	identity []string // columns that the hashes are of
	keys     *keyColumns

	digest  hash.Hash // of the body
	memory  *reservation
	sink    sink
	aside   *quarantine
	log     rowLog
	refused refusals
	settled bool // it landed, or it may have: what was written stays
}

// sink takes the rows that are to land.
type sink interface {
	// add takes a batch, which is valid during the call, and the identity hashes of its rows.
	add(ctx context.Context, batch arrow.RecordBatch, hashes [][16]byte) error
	// finish gives what a commit has to put in place.
	finish(ctx context.Context) (cargo, error)
	// abort removes what was written, and release gives back what is held of rows.
	abort(ctx context.Context)
	release()
}

func (s *Service) newWriting(
	ctx context.Context, caller policy.Caller, table catalog.DataTable, in WriteInput, claim *idempotency.Claim,
) (*writing, error) {
	schema, err := table.Document.CurrentSchema()
	if err != nil {
		return nil, err
	}
	w := &writing{s: s, caller: caller, table: table, in: in, claim: claim, digest: sha256.New(), identity: identityColumns(table.Row, schema), defaults: writeDefaults(schema)}
	if w.schema, err = writableSchema(schema); err != nil {
		return nil, err
	}
	if in.Mode == models.UpsertRows {
		if w.keys, err = newKeyColumns(table, schema); err != nil {
			return nil, err
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	w.id = id.String()
	w.rules = classify.New(classify.Spec{Level: table.Row.Classification, Columns: table.Row.Columns.V, Label: in.Label, Schema: w.schema})
	key, err := s.keys.get(ctx, identityPurpose)
	if err != nil {
		return nil, err
	}
	if w.hasher, err = rowaudit.NewHasher(key, w.identity, w.schema); err != nil {
		return nil, err
	}
	if w.keys != nil {
		if err := w.keys.hashWith(key, w); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// writableSchema gives the Arrow schema of a table that rows can be written to.
func writableSchema(schema metadata.Schema) (*arrow.Schema, error) {
	out, err := columnar.FromMetadata(schema)
	if fault.Is(err, fault.Unsupported) {
		return nil, fault.Wrap(err, fault.Invalid, "Rows cannot be written to this table: %s Write to it with an engine.", fault.PublicMessage(err))
	}
	return out, err
}

// identityColumns are what tells rows apart for the audit: what governance says, else the table's identifier fields, else
// all columns.
func identityColumns(row models.Table, schema metadata.Schema) []string {
	if len(row.IdentityColumns.V) > 0 {
		return row.IdentityColumns.V
	}
	if ids := identifierColumns(schema); len(ids) > 0 {
		return ids
	}
	all := make([]string, len(schema.Fields))
	for i, f := range schema.Fields {
		all[i] = f.Path
	}
	return all
}

// receive reads the body to its end. Where rows are to blame for the write's refusal, the others are still checked, so
// that the client is told of all at once.
func (w *writing) receive(ctx context.Context) error {
	body, small := w.peek()
	var err error
	if w.memory, err = w.s.writes.reserve(ctx, small); err != nil {
		return err
	}
	if w.sink, err = w.newSink(ctx); err != nil {
		return err
	}
	from := io.TeeReader(body, w.digest)
	reader, err := rows.NewReader(from, w.in.Format, w.schema, rows.ReadOptions{
		BatchBytes: w.memory.batch(), KeepText: w.in.OnViolation == QuarantineViolations, MostErrors: mostErrors, Defaults: w.defaults,
	})
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = w.take(ctx, batch)
			batch.Release()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, from); err != nil { // the digest is of all that was sent
		return broken(err)
	}
	return w.refused.err()
}

// take passes a batch on: what can land to the sink, what cannot to the quarantine or into the refusal.
func (w *writing) take(ctx context.Context, batch *rows.Batch) error {
	if err := w.memory.grow(ctx, batch.Rows.NumRows()*loggedRow); err != nil {
		return err
	}
	found := w.judge(batch)
	if err := w.turnAway(ctx, batch, found); err != nil {
		return err
	}
	if w.refused.total > 0 {
		return nil
	}
	kept, err := without(batch.Rows, &found.out)
	if err != nil || kept.NumRows() == 0 {
		return err
	}
	defer kept.Release()
	hashes, err := w.hasher.Hash(kept)
	if err != nil {
		return err
	}
	w.log.add(hashes, withoutValues(found.levels, &found.out), withoutValues(found.tags, &found.out))
	return w.sink.add(ctx, kept, hashes)
}

// close removes what did not land.
func (w *writing) close(ctx context.Context) {
	if w.sink != nil {
		if !w.settled {
			w.sink.abort(ctx)
		}
		w.sink.release()
	}
	if w.aside != nil {
		if !w.settled {
			w.aside.abort(ctx)
		}
		w.aside.builder.Release()
	}
	w.memory.release()
}

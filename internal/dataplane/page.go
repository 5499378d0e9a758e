package dataplane

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/rows"
)

// defaultPage is the rows of a page where the client does not say.
const defaultPage = 1000

// answerPage answers with the page that follows the token, or the first. Pages are in order of the identity columns, where
// the caller sees them, so that each costs what the first costs.
func (s *Service) answerPage(ctx context.Context, q *query, out *answer) error {
	size := q.in.PageSize
	if size == 0 {
		size = min(defaultPage, s.Limits.Rows)
	}
	left := q.in.Limit // 0: no limit
	if q.after != nil {
		left = q.after.Left
	}
	if left > 0 {
		size = int(min(int64(size), left))
	}
	page, err := s.Reader.Page(ctx, q.scan(q.view.read, q.filter), q.order(), q.after.position(), size)
	if err != nil {
		return err
	}
	defer page.Release()
	next := ""
	if page.More && page.Rows != nil && (left == 0 || left > page.Rows.NumRows()) {
		token := pageToken{Snapshot: fixed(*q.at.id), Schema: q.at.schema.ID, Digest: q.digest, Key: page.Last.Key, Path: page.Last.Path, Row: page.Last.Row}
		if left > 0 {
			token.Left = left - page.Rows.NumRows()
		}
		if next, err = s.sealToken(q.caller, q.table, token); err != nil {
			return err
		}
	}
	return s.writePage(q, out, page.Rows, next)
}

// writePage writes rows, nil for none, with what an answer in JSON says around them.
func (s *Service) writePage(q *query, out *answer, batch arrow.RecordBatch, next string) error {
	head := headOf(q.lens, q.in.Format)
	head.NextPageToken = next
	var shown arrow.RecordBatch
	if batch != nil {
		var err error
		if shown, err = q.view.show(batch); err != nil {
			return err
		}
		defer shown.Release()
		out.rows = shown.NumRows()
	}
	var before, after []byte
	if q.in.Format == rows.JSON {
		var err error
		if before, after, err = q.around(next); err != nil {
			return err
		}
	}
	if err := out.begin(head); err != nil {
		return err
	}
	if _, err := out.Write(before); err != nil {
		return err
	}
	if err := writeRows(out, q.in.Format, q.view.masker.Schema(), shown); err != nil {
		return err
	}
	_, err := out.Write(after)
	return err
}

func writeRows(to io.Writer, f rows.Format, schema *arrow.Schema, batch arrow.RecordBatch) error {
	w, err := rows.NewWriter(to, f, schema)
	if err != nil {
		return err
	}
	if batch != nil {
		if err := w.Write(batch); err != nil {
			return err
		}
	}
	return w.Close()
}

// around gives what stands before and after the rows of an answer in JSON.
func (q *query) around(next string) (before, after []byte, err error) {
	tail := struct {
		Schema   answerSchema `json:"schema"`
		Snapshot *int64       `json:"snapshot-id,string"`
		Next     *string      `json:"next-page-token"`
	}{Schema: schemaOf(q.lens, q.view.masker.Schema()), Snapshot: q.at.id}
	if next != "" {
		tail.Next = &next
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tail); err != nil {
		return nil, nil, err
	}
	rest := b.Bytes()
	rest[0] = ',' // in the place of the brace
	return []byte(`{"rows":`), rest, nil
}

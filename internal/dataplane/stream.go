package dataplane

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// stream answers with all rows as they are read, in no order. The answer begins with the first of them, so that what
// fails before is refused.
func (s *Service) stream(ctx context.Context, q *query, out *answer) error {
	w, err := rows.NewWriter(out, q.in.Format, q.view.masker.Schema())
	if err != nil {
		return err
	}
	scan := q.scan(q.view.read, q.filter)
	scan.Limit = q.in.Limit
	_, err = s.Reader.Scan(ctx, scan, func(batch arrow.RecordBatch) error {
		shown, err := q.view.show(batch)
		if err != nil {
			return err
		}
		defer shown.Release()
		if err := out.beginOnce(headOf(q.lens, q.in.Format)); err != nil {
			return err
		}
		out.rows += shown.NumRows()
		return w.Write(shown)
	})
	if err != nil {
		return err
	}
	if err := out.beginOnce(headOf(q.lens, q.in.Format)); err != nil {
		return err
	}
	return w.Close()
}

func (a *answer) beginOnce(h Head) error {
	if a.to != nil {
		return nil
	}
	return a.begin(h)
}

// answerWhole answers with all rows as one JSON object, which clients hold in memory as a whole.
func (s *Service) answerWhole(ctx context.Context, q *query, out *answer) error {
	most := int64(s.Limits.Rows)
	asked := q.in.Limit > 0 && q.in.Limit <= most
	if asked {
		most = q.in.Limit
	}
	page, err := s.Reader.Page(ctx, q.scan(q.view.read, q.filter), nil, nil, int(most))
	if err != nil {
		return err
	}
	defer page.Release()
	if page.More && page.Rows != nil && page.Rows.NumRows() < most {
		return fault.New(fault.TooLarge, "The rows take more memory than there is for an answer in JSON. Set a smaller limit or a page-size, select fewer columns, or ask for a stream: Accept: %s or %s.",
			rows.NDJSON, rows.ArrowStream)
	}
	if page.More && !asked {
		return fault.New(fault.Invalid, "An answer in JSON has at most %d rows, and more match. Set a limit or a page-size, or ask for a stream: Accept: %s or %s.",
			most, rows.NDJSON, rows.ArrowStream)
	}
	return s.writePage(q, out, page.Rows, "")
}

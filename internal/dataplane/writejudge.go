package dataplane

import (
	"context"
	"strings"

	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// judgement is what the rules say of a batch.
type judgement struct {
	levels []uint8
	tags   []uint32
	errs   []rows.RowError // of rows of the batch that cannot land
	out    rowSet          // these rows, by their places in the batch
	keys   bool            // a key is NULL: such rows are none of the table's
}

// judge classifies the rows of a batch and finds those that may not land.
func (w *writing) judge(batch *rows.Batch) *judgement {
	result := w.rules.Classify(batch.Rows)
	j := &judgement{levels: result.Levels, tags: result.Tags}
	for _, v := range result.Violations {
		j.out.add(int64(v.Row))
		j.errs = append(j.errs, rows.RowError{Row: batch.Numbers[v.Row], Field: v.Column, Message: v.Message})
	}
	if w.keys != nil {
		w.keys.eachNull(batch.Rows, func(row int, column string) {
			j.keys = true
			j.out.add(int64(row))
			j.errs = append(j.errs, rows.RowError{
				Row: batch.Numbers[row], Field: column, Message: "The column is part of the key of rows and may not be NULL.",
			})
		})
	}
	return j
}

// turnAway deals with the rows that cannot land.
func (w *writing) turnAway(ctx context.Context, batch *rows.Batch, j *judgement) error {
	if len(batch.Bad) == 0 && j.out.len() == 0 {
		return nil
	}
	if w.in.OnViolation == QuarantineViolations {
		return w.setAside(ctx, batch, j)
	}
	errs := j.errs
	for _, bad := range batch.Bad {
		errs = append(errs, bad.Errors...)
	}
	w.refused.add(errs, j.out.len()+int64(len(batch.Bad)), j.keys || len(batch.Bad) > 0)
	return nil
}

// setAside puts the rows that cannot land into the quarantine.
func (w *writing) setAside(ctx context.Context, batch *rows.Batch, j *judgement) error {
	if w.aside == nil {
		aside, err := w.s.openQuarantine(ctx, w)
		if err != nil {
			return err
		}
		w.aside = aside
	}
	for _, bad := range batch.Bad { // what is no row cannot be classified
		err := w.aside.add(asideRow{number: bad.Number, reason: reasons(bad.Errors), level: models.Restricted, payload: bad.Text})
		if err != nil {
			return err
		}
	}
	levels, names := levelsByRank(), tagSets{tags: w.rules.TagNames(), known: map[uint32][]string{}}
	byRow := map[int64][]rows.RowError{}
	for _, e := range j.errs {
		byRow[e.Row] = append(byRow[e.Row], e)
	}
	for i, number := range batch.Numbers {
		if !j.out.has(int64(i)) {
			continue
		}
		err := w.aside.add(asideRow{
			number: number, reason: reasons(byRow[number]), tags: names.of(j.tags[i]), level: levels[j.levels[i]], payload: batch.Text(i),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reasons says in words what is wrong with a row.
func reasons(errs []rows.RowError) string {
	said := make([]string, len(errs))
	for i, e := range errs {
		said[i] = inWords(e)
	}
	return strings.Join(said, "; ")
}

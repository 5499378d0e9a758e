package dataplane

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/rows"
)

// mostErrors is how many errors of rows a refusal tells.
const mostErrors = 100

// WriteErrors refuses a write because of its rows: nothing landed. It unwraps to the fault that says so.
type WriteErrors struct { //nolint:errname // it has many
	Rows  []rows.RowError // the first hundred, in order of rows
	Total int64           // rows that cannot land
	fault *fault.Error
}

// Error gives the public sentence.
func (e *WriteErrors) Error() string { return e.fault.Error() }

// Unwrap gives the fault.
func (e *WriteErrors) Unwrap() error { return e.fault }

// refusals gathers what is wrong with rows.
type refusals struct {
	first   []rows.RowError
	total   int64 // rows
	invalid bool  // one of them is no row of the table
}

// add takes the errors of a batch, which has that many rows that cannot land.
func (r *refusals) add(errs []rows.RowError, total int64, invalid bool) {
	r.total += total
	r.invalid = r.invalid || invalid
	slices.SortStableFunc(errs, func(a, b rows.RowError) int { return cmp.Compare(a.Row, b.Row) })
	r.first = append(r.first, errs[:min(len(errs), mostErrors-len(r.first))]...)
}

// err gives the refusal; nil when all rows can land.
func (r *refusals) err() error {
	if r.total == 0 {
		return nil
	}
	e := &WriteErrors{Rows: r.first, Total: r.total}
	if r.invalid {
		e.fault = fault.New(fault.Invalid, "%s cannot be written, and so nothing was: %s", counting(r.total), told(r.first))
	} else {
		e.fault = fault.New(fault.Unprocessable, "%s may not land in this table as it is classified, and so nothing did: %s. "+
			"Leave such values out, have the table or the column classified as what it holds, or send the write with on-violation quarantine, which puts these rows aside.",
			counting(r.total), told(r.first))
	}
	return e
}

func counting(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// told gives the first error in words.
func told(errs []rows.RowError) string {
	if len(errs) == 0 {
		return "see errors"
	}
	return fmt.Sprintf("row %d: %s", errs[0].Row, inWords(errs[0]))
}

// inWords names the field of an error, if its message does not.
func inWords(e rows.RowError) string {
	if e.Field == "" || strings.Contains(e.Message, e.Field) {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

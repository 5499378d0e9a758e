package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-data/sluice/internal/fault"
)

// Target makes changes. It answers fault.NotFound when what a change is on is not there. Making a change again that is
// made already is no error. Credentials are those of a principal that it made, also where it failed after that.
type Target interface {
	Do(ctx context.Context, c Change) (*Credentials, error)
}

// Report is told of each change when it is made; creds are those of a new principal, else nil. An error of it ends the
// work.
type Report func(c Change, creds *Credentials) error

// Skipped is a grant that was not made, because what it is on is not there yet.
type Skipped struct {
	Change Change
	Reason error
}

// Apply makes the changes in their order. A grant on a namespace, a table or a view that is not there is left out, and
// the rest goes on; at any other failure it ends, and the error says how far it came. What was made stays: applying the
// same file again goes on from there.
func Apply(ctx context.Context, target Target, changes []Change, report Report) ([]Skipped, error) {
	var skipped []Skipped
	for i, c := range changes {
		creds, err := target.Do(ctx, c)
		if c.awaitsItsObject() && fault.Is(err, fault.NotFound) {
			skipped = append(skipped, Skipped{Change: c, Reason: err})
			continue
		}
		if err != nil {
			if creds != nil { // made, and shown this once, though not all of the change is done
				err = errors.Join(err, report(c, creds))
			}
			return skipped, &InterruptedError{Change: c, Made: i - len(skipped), Of: len(changes), Err: err}
		}
		if err := report(c, creds); err != nil {
			return skipped, &InterruptedError{Change: c, Made: i + 1 - len(skipped), Of: len(changes), Err: err}
		}
	}
	return skipped, nil
}

// awaitsItsObject tells whether the change is a grant on something that an engine makes, which may be later.
func (c Change) awaitsItsObject() bool {
	return c.Kind == OfGrant && c.Action == Add && len(c.Grant.Namespace) > 0
}

// InterruptedError says how far Apply came.
type InterruptedError struct {
	Change Change // that failed
	Made   int
	Of     int
	Err    error
}

// Error names the change that failed, why, and what is made.
func (i *InterruptedError) Error() string {
	return fmt.Sprintf("`%s` failed: %v; %d of %d changes were made, and applying the file again goes on from there", i.Change, i.Err, i.Made, i.Of)
}

// Unwrap gives the cause.
func (i *InterruptedError) Unwrap() error { return i.Err }

package maintenance

import (
	"context"
	"errors"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/objects"
)

// References adds to kept the files inside location that another table refers to, and counts the files of that table that
// are gone or damaged: nobody reads through those, so that they keep nothing, and one damaged table does not stop the
// purge of every other. They are logged. What only Sluice cannot read is an error: it might name any file.
func (p *Purger) References(ctx context.Context, other Table, location string, kept FileSet, beat func()) (unreadable int, err error) {
	within, err := objects.Parse(location)
	if err != nil {
		return 0, err
	}
	note := func(path string) {
		if loc, err := objects.Parse(path); err == nil && objects.Within(within, loc) {
			kept.add(loc)
		}
	}
	skip := func(err error) error {
		if ctx.Err() != nil || !damaged(err) {
			return err
		}
		unreadable++
		p.log.WarnContext(ctx, "a purge does without a file of another table that nobody can read", "purged", location, "table", other.Location, "error", err)
		return nil
	}
	c, err := p.read(ctx, other, beat, skip)
	if err != nil {
		return unreadable, err
	}
	for _, path := range c.files() {
		note(path)
	}
	for _, m := range c.manifests {
		beat()
		err := p.reader.EachFile(ctx, m, func(path string, _ int64) error {
			note(path)
			return nil
		})
		if err != nil {
			if err = skip(err); err != nil {
				return unreadable, err
			}
		}
	}
	return unreadable, nil
}

// damaged tells a file that is gone or malformed from one that is too large for Sluice or out of its reach, which a
// reader of files reports as invalid too.
func damaged(err error) bool {
	if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
		return false
	}
	for inner := err; inner != nil; {
		f, ok := errors.AsType[*fault.Error](inner)
		if !ok {
			return true
		}
		if f.Code != fault.NotFound && f.Code != fault.Invalid {
			return false
		}
		inner = f.Cause
	}
	return true
}

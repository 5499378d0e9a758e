package reconcile

import (
	"context"
	"errors"

	"github.com/sluice-data/sluice/internal/fault"
)

// Files reads whole objects by location. An absent one is fault.NotFound.
type Files interface {
	ReadFile(ctx context.Context, location string) ([]byte, error)
}

// errDecode marks a file that was read and makes no sense: whoever wrote it is to blame, not the store.
var errDecode = errors.New("malformed")

// fetch reads a file that a client's commit names. A file that is missing or that no store could hold is the client's
// error; every other failure means that nothing was done and that the commit may be tried again.
func fetch(ctx context.Context, files Files, kind, location string) ([]byte, error) {
	raw, err := files.ReadFile(ctx, location)
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fault.Is(err, fault.NotFound):
		return nil, fault.Wrap(err, fault.Invalid, "The %s %s does not exist. Write it before committing.", kind, location)
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.Forbidden), fault.Is(err, fault.TooLarge):
		return nil, fault.Wrap(err, fault.Invalid, "The %s %s cannot be read: %s", kind, location, fault.PublicMessage(err))
	}
	return nil, fault.Wrap(err, fault.Unavailable, "The %s %s could not be read just now. Nothing was changed: try again.", kind, location)
}

// malformed is the client's error for a file that cannot be decoded.
func malformed(err error, kind, location string) error {
	return fault.Wrap(err, fault.Invalid, "The %s %s is not a valid Avro file of Iceberg. Write it again and commit the new one.", kind, location)
}

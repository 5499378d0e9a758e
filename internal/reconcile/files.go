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

// boundedFiles reads whole objects up to a size; a larger one is fault.TooLarge and costs nothing.
type boundedFiles interface {
	ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error)
}

// errDecode marks a file that was read and makes no sense: whoever wrote it is to blame, not the store.
var errDecode = errors.New("malformed")

// read reads a file that a client's commit names, of the size that a manifest list states, 0 if it does not. A file that is
// missing or that no store could hold is the client's error; every other failure means that nothing was done and that the
// commit may be tried again. The memory is set aside until release is called. Waiting for it ends with ctx.
func (s source) read(ctx context.Context, kind, location string, stated int64) (raw []byte, release func(), err error) {
	if stated > maxFile {
		stated = 0
	}
	stated = max(stated, firstGuess)
	for _, size := range []int64{stated, maxFile} {
		if release, err = hold(ctx, s.budget.files, size); err != nil {
			return nil, nil, err
		}
		raw, err = s.readUpTo(ctx, location, size)
		if err == nil {
			return raw, release, nil
		}
		release()
		if !fault.Is(err, fault.TooLarge) {
			break
		}
	}
	return nil, nil, readFault(ctx, err, kind, location)
}

func (s source) readUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	if bounded, ok := s.files.(boundedFiles); ok {
		return bounded.ReadFileUpTo(ctx, location, limit)
	}
	raw, err := s.files.ReadFile(ctx, location)
	if err == nil && int64(len(raw)) > limit {
		return nil, fault.New(fault.TooLarge, "It has %d bytes; at most %d are read.", len(raw), limit)
	}
	return raw, err
}

// readFault says why a file could not be read; nil if it could.
func readFault(ctx context.Context, err error, kind, location string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case fault.Is(err, fault.NotFound):
		return fault.Wrap(err, fault.Invalid, "The %s %s does not exist. Write it before committing.", kind, location)
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.Forbidden), fault.Is(err, fault.TooLarge):
		return fault.Wrap(err, fault.Invalid, "The %s %s cannot be read: %s", kind, location, fault.PublicMessage(err))
	}
	return fault.Wrap(err, fault.Unavailable, "The %s %s could not be read just now. Nothing was changed: try again.", kind, location)
}

// malformed is the client's error for a file that cannot be decoded. What is no fault of the file stays what it is.
func malformed(err error, kind, location string) error {
	if _, ok := errors.AsType[inexactError](err); ok {
		return err
	}
	if fault.Is(err, fault.TooLarge) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.Wrap(err, fault.Invalid, "The %s %s is not a valid Avro file of Iceberg. Write it again and commit the new one.", kind, location)
}

package objects

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
)

// HoldsFiles tells whether there is an object at the location or below it.
func (r *Router) HoldsFiles(ctx context.Context, location string) (bool, error) {
	found, err := r.List(ctx, location, "", 1)
	if err != nil || len(found) > 0 {
		return len(found) > 0, err
	}
	return r.Exists(ctx, location)
}

// Exists tells whether an object is there.
func (r *Router) Exists(ctx context.Context, location string) (bool, error) {
	_, err := r.Stat(ctx, location)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

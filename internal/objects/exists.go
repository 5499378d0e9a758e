package objects

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
)

// Exists tells whether an object is there.
func (r *Router) Exists(ctx context.Context, location string) (bool, error) {
	_, err := r.Stat(ctx, location)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

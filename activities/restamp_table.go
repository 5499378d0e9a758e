package activities

import (
	"context"

	"github.com/sluice-data/sluice/internal/fault"
)

// RestampTableInput names the table.
type RestampTableInput struct {
	Target Target `json:"target"`
}

// RestampTableResult gives the property keys that were changed.
type RestampTableResult struct {
	Restamped []string `json:"restamped,omitempty"`
}

// RestampTable writes the governance properties of a table where they differ from what governance says, as a platform commit
// of its own that adds no snapshot: a writer's commit is never undone or refused for it. It compares before it
// writes, so that a second run changes nothing; a lost race is a conflict and retried.
func (a *Activities) RestampTable(ctx context.Context, in RestampTableInput) (RestampTableResult, error) {
	keys, err := a.ports.Restamper.Restamp(ctx, in.Target.TableID)
	if fault.Is(err, fault.NotFound) {
		return RestampTableResult{}, nil // dropped meanwhile: nothing to stamp
	}
	return RestampTableResult{Restamped: keys}, toTemporal(ctx, err)
}

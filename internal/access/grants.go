package access

import (
	"context"
	"slices"
	"sync"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// maxKept bounds the principals whose grants are kept in memory.
const maxKept = 10_000

// grants keeps what principals hold, each as of a version of all grants.
type grants struct {
	store Store
	mu    sync.Mutex
	kept  map[string]keptGrants // by principal id
}

type keptGrants struct {
	version int64
	held    *policy.Held
}

func newGrants(store Store) *grants { return &grants{store: store, kept: map[string]keptGrants{}} }

// of gives what a principal holds at the version. What is read may be newer than the version it is kept under, never
// older: the next request then sees a newer version and reads again.
func (g *grants) of(ctx context.Context, principalID string, version int64) (*policy.Held, error) {
	g.mu.Lock()
	known, ok := g.kept[principalID]
	g.mu.Unlock()
	if ok && known.version == version {
		return known.held, nil
	}
	held, err := g.read(ctx, principalID)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.kept) >= maxKept {
		clear(g.kept)
	}
	g.kept[principalID] = keptGrants{version: version, held: held}
	return held, nil
}

func (g *grants) read(ctx context.Context, principalID string) (*policy.Held, error) {
	roles, err := g.store.PrincipalRoleNames(ctx, principalID)
	if err != nil {
		return nil, err
	}
	held, err := g.store.PrincipalGrants(ctx, principalID)
	if err != nil {
		return nil, err
	}
	var service []models.Privilege
	if slices.Contains(roles, models.ServiceAdminRole) {
		service = append(service, models.ServiceManageAccess)
	}
	return policy.NewHeld(service, held), nil
}

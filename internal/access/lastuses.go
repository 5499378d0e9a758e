package access

import (
	"sync"
	"time"

	"github.com/sluice-data/sluice/models"
)

const (
	// touchEvery bounds how often a token's last use is written: it is told to the minute.
	touchEvery = time.Minute
	maxUses    = 20_000
)

// lastUses knows which tokens' last use this process has written, and when it was.
type lastUses struct {
	mu   sync.Mutex
	uses map[string]time.Time // by id of the token
}

func newLastUses() *lastUses { return &lastUses{uses: map[string]time.Time{}} }

// due tells whether the token's use now is to be written, and holds it for written.
func (u *lastUses) due(t models.Token, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, known := u.uses[t.ID]
	if t.LastUsedAt != nil && t.LastUsedAt.After(last) {
		last, known = *t.LastUsedAt, true
	}
	if known && now.Sub(last) < touchEvery {
		return false
	}
	if len(u.uses) >= maxUses {
		clear(u.uses)
	}
	u.uses[t.ID] = now.Truncate(touchEvery)
	return true
}

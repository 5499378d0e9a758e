package catalog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sluice-data/sluice/models"
)

const (
	// recordEvery is how often at most one token is recorded to reach one table in one way.
	recordEvery = time.Minute
	// mostRecorded bounds the memory of what was recorded.
	mostRecorded = 50_000
)

// accesses records how tokens reach the files of tables. A record that cannot be written is logged: nobody is kept from a
// table by that.
type accesses struct {
	store StorageStore
	log   *slog.Logger
	now   func() time.Time

	mu   sync.Mutex
	last map[accessKey]time.Time
}

type accessKey struct {
	table, token string
	mode         models.DelegationMode
}

func newAccesses(store StorageStore, log *slog.Logger, now func() time.Time) *accesses {
	return &accesses{store: store, log: log, now: now, last: map[accessKey]time.Time{}}
}

// record adds to the record, unless that was done less than a minute ago.
func (a *accesses) record(ctx context.Context, use StorageUse, mode models.DelegationMode) {
	if a.due(use, mode) {
		a.write(ctx, use, mode)
	}
}

// due tells whether something is to be recorded, and takes it as recorded. Staged tables have no record.
func (a *accesses) due(use StorageUse, mode models.DelegationMode) bool {
	if use.TableID == "" {
		return false
	}
	key, now := accessKey{use.TableID, use.Caller.TokenID, mode}, a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if last, ok := a.last[key]; ok && now.Sub(last) < recordEvery {
		return false
	}
	if len(a.last) >= mostRecorded {
		clear(a.last)
	}
	a.last[key] = now
	return true
}

func (a *accesses) write(ctx context.Context, use StorageUse, mode models.DelegationMode) {
	err := a.store.RecordAccess(context.WithoutCancel(ctx), models.StorageRecord{
		TableID: use.TableID, TokenID: use.Caller.TokenID, Mode: mode, Principal: use.Caller.Principal, LastAt: a.now(),
	})
	if err != nil {
		a.log.WarnContext(ctx, "how a table's files are reached could not be recorded", "tableId", use.TableID, "mode", mode, "error", err)
	}
}

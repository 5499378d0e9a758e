package dataplane

import (
	"context"
	"time"

	"github.com/sluice-data/sluice/internal/contend"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
	"github.com/sluice-data/sluice/models"
)

// What the summary of a governed write's snapshot says.
const (
	writeIDKey   = "sluice.write-id"
	writeModeKey = "sluice.write-mode"
	engineKey    = "engine-name"
	engineName   = "sluice"
)

const (
	// lookFor is how long it is looked for a write of which it is not known whether it landed.
	lookFor   = 10 * time.Second
	lookEvery = 500 * time.Millisecond
)

// landing is a write whose rows are in files that nobody sees yet, to be committed with its audit.
type landing struct {
	write  models.GovernedWrite // all but what the commit decides
	caller policy.Caller        // who wrote
	fit    fit
	cargo  cargo
	aside  *asideCargo    // nil: nothing is quarantined
	keys   *keyColumns    // of an upsert
	seen   tableread.Seen // the rows that were found with these keys, at earlier attempts
	// blocks packs the audit of the rows that land; updated are those that replace others, by their places among them.
	blocks func(updated *rowSet) ([]models.RowAuditBlock, error)
	claim  *idempotency.Claim // that the commit settles; nil for none
	// open tells whether the write may still be committed, for one that several may be at; nil: it may.
	open func(ctx context.Context) error
}

// asideCargo is what a commit puts into the quarantine.
type asideCargo struct {
	uuid, rowID string
	fit         fit
	adds        []*tableio.Written
	manifests   []tableio.ManifestRef
}

const (
	// mostAttempts is how often a commit is made anew that lost to another, before the client is asked to try again.
	mostAttempts = 40
	// reserveAfter is how often it may lose before the others have to wait for it.
	reserveAfter = 2
	firstPause   = 10 * time.Millisecond
	lastPause    = time.Second
)

// land commits a write, anew as long as others are faster. The error is fault.UnknownState when the outcome is in doubt;
// after any other nothing landed, and the data files are the caller's to remove.
func (s *Service) land(ctx context.Context, l *landing) (models.GovernedWrite, error) {
	tables := l.tables()
	unlock, err := s.writes.locks.Lock(ctx, tables...)
	if err != nil {
		return models.GovernedWrite{}, err
	}
	defer unlock()
	keep := &keeping{s: s, holder: l.write.ID, tables: tables}
	defer keep.end(ctx)
	for attempt := 0; ; attempt++ {
		write, err := s.tryLand(ctx, l)
		if !fault.Is(err, fault.Conflict) || lasting(err) {
			return write, err
		}
		if attempt == mostAttempts {
			return write, fault.Wrap(err, fault.Conflict, "The table is changed by others all the time. Nothing was written: send the rows again.")
		}
		if attempt+1 >= reserveAfter && keep.ask(ctx) {
			continue
		}
		if err := contend.Pause(ctx, attempt, firstPause, lastPause); err != nil {
			return write, err
		}
	}
}

// tryLand commits a write after the heads of its tables as they are now.
func (s *Service) tryLand(ctx context.Context, l *landing) (models.GovernedWrite, error) {
	platform := platformFor(l.caller, l.write.CatalogID)
	write := l.write
	var staged staging
	cat, err := s.stage(ctx, platform, l, &write, &staged)
	if err == nil && l.open != nil {
		err = l.open(ctx)
	}
	if err == nil {
		write.CommittedAt = s.Now().UTC() // after those whose snapshots it goes on from
		err = s.commit(ctx, platform, cat, l.claim, &write, staged)
	}
	if err == nil {
		return write, nil
	}
	landed, err := s.outcome(ctx, write.ID, err)
	if landed != nil {
		return *landed, nil
	}
	if !fault.Is(err, fault.UnknownState) {
		for _, one := range staged {
			one.Discard(ctx)
		}
	}
	return write, err
}

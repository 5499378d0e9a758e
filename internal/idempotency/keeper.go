package idempotency

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sluice-data/sluice/internal/contend"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

const (
	// settleWithin bounds the write that settles a key without a mutation; its client may have hung up.
	settleWithin = 10 * time.Second
	// maxMessage bounds, in bytes, what is kept of refusals, which may quote what a client sent. A longer one is not
	// kept: a repeat is judged anew.
	maxMessage = 16 << 10
)

// Store keeps settled keys.
type Store interface {
	// IdempotencyKey gives a settled key; fault.NotFound when there is none or it is past its lifetime.
	IdempotencyKey(ctx context.Context, principalID, key string) (models.IdempotencyKey, error)
	// SettleIdempotencyKey writes a key that no mutation settled; Used when it is taken.
	SettleIdempotencyKey(ctx context.Context, row models.IdempotencyKey) error
	// PruneIdempotencyKeys removes keys past their lifetime, a bounded number at a time, and gives how many.
	PruneIdempotencyKeys(ctx context.Context) (int64, error)
}

// Deps is what a Keeper needs; Logger may be nil.
type Deps struct {
	Store    Store
	Lifetime time.Duration // how long a key is remembered
	Now      func() time.Time
	Logger   *slog.Logger
}

// Keeper answers for the keys of all principals. It is safe for concurrent use, and many processes may share a Store.
type Keeper struct {
	store    Store
	lifetime time.Duration
	now      func() time.Time
	log      *slog.Logger
	running  *contend.Locks // one request of a key at a time; between processes the store's key decides
}

// New makes a Keeper.
func New(d Deps) *Keeper {
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return &Keeper{store: d.Store, lifetime: d.Lifetime, now: d.Now, log: d.Logger, running: contend.NewLocks()}
}

// Lifetime is how long a repeat is recognised.
func (k *Keeper) Lifetime() time.Duration { return k.lifetime }

// Adopt gives a claim that was begun in another process what Begin gives it, for a mutation that settles it here.
func (k *Keeper) Adopt(c *Claim) { c.lifetime = k.lifetime }

// Begin waits for an earlier request of the same key in this process and gives what the key was settled with, nil for
// a key that is new. The caller calls end when its request is over. A key that was used for another request is
// fault.Unprocessable.
func (k *Keeper) Begin(ctx context.Context, c *Claim) (kept *models.IdempotencyKey, end func(), err error) {
	c.lifetime = k.lifetime
	end, err = k.running.Lock(ctx, c.PrincipalID+"\x00"+c.Key)
	if err != nil {
		return nil, nil, err
	}
	if kept, err = k.Kept(ctx, c); err != nil {
		end()
		return nil, nil, err
	}
	return kept, end, nil
}

// Kept looks up what the key was settled with; nil when it is new.
func (k *Keeper) Kept(ctx context.Context, c *Claim) (*models.IdempotencyKey, error) {
	row, err := k.store.IdempotencyKey(ctx, c.PrincipalID, c.Key)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if row.Route != c.Route || row.RequestHash != c.RequestHash {
		return nil, fault.New(fault.Unprocessable, "This Idempotency-Key was used for another request. Make a new key for each request, and repeat one only with the same route and body.")
	}
	return &row, nil
}

// Settle keeps the outcome of a request that no mutation settled: a success that changed nothing, or a refusal that
// every repeat would get. Anything else may yet succeed and is not kept. It gives what the key is settled with
// instead, when another process was faster.
func (k *Keeper) Settle(ctx context.Context, c *Claim, outcome error) *models.IdempotencyKey {
	if c.Written() || outcome != nil && !final(outcome) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	row := c.Row(k.now())
	if outcome != nil {
		row.Status, row.Result = string(fault.CodeOf(outcome)), ""
		row.Subject, row.Message = string(subjectOf(outcome)), fault.PublicMessage(outcome)
	}
	err := k.store.SettleIdempotencyKey(ctx, row)
	if IsUsed(err) {
		kept, err := k.Kept(ctx, c)
		if err == nil {
			return kept
		}
	}
	if err != nil {
		k.log.WarnContext(ctx, "an idempotency key is not kept; its request changed nothing", "error", err)
	}
	return nil
}

// final tells whether an error is the same for every repeat of the request, as long as nobody else changes anything.
func final(err error) bool {
	if len(fault.PublicMessage(err)) > maxMessage {
		return false
	}
	switch fault.CodeOf(err) {
	case fault.Invalid, fault.Forbidden, fault.NotFound, fault.Unsupported, fault.AlreadyExists, fault.Conflict,
		fault.NotEmpty, fault.Unprocessable:
		return true
	}
	return false
}

func subjectOf(err error) fault.Subject {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Subject
	}
	return fault.NoSubject
}

// Refusal gives the error that a key was settled with; nil when its request succeeded. What it refuses is in the audit
// since the first time.
func Refusal(row models.IdempotencyKey) error {
	if row.Status == models.IdempotencyDone {
		return nil
	}
	refusal := fault.About(fault.Code(row.Status), fault.Subject(row.Subject), "%s", row.Message)
	refusal.Audited = true
	return refusal
}

// Run removes keys past their lifetime until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(max(k.lifetime/20, time.Second))
	defer tick.Stop()
	for {
		for {
			n, err := k.store.PruneIdempotencyKeys(ctx)
			if err != nil && ctx.Err() == nil {
				k.log.WarnContext(ctx, "expired idempotency keys are still there", "error", err)
			}
			if err != nil || n == 0 {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

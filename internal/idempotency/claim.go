package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// keyLength is that of a UUID's canonical text, the only form taken.
const keyLength = 36

// ParseKey checks a key, which must be a UUID in its 36 characters, and gives it in lower case.
func ParseKey(raw string) (string, error) {
	id, err := uuid.Parse(raw)
	if err != nil || len(raw) != keyLength {
		return "", fault.New(fault.Invalid, "The Idempotency-Key must be a UUID of 36 characters, best a UUIDv7 made for this request alone.")
	}
	return id.String(), nil
}

// Claim is one request under a key. Its first mutation settles it.
type Claim struct {
	PrincipalID string
	Key         string // as ParseKey gives it
	Route       string // method and path
	RequestHash string // of what the request says

	lifetime time.Duration // set by the Keeper

	mu      sync.Mutex
	result  string
	written bool
}

type contextKey struct{}

// With gives a context whose mutation settles the claim.
func With(ctx context.Context, c *Claim) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From gives the claim that a mutation of the context has to settle; nil when there is none, or it is settled.
func From(ctx context.Context) *Claim {
	c, _ := ctx.Value(contextKey{}).(*Claim)
	if c == nil || c.Written() {
		return nil
	}
	return c
}

// SetResult keeps what a repeat of the request cannot derive from the current state. Call it before the mutation.
func SetResult(ctx context.Context, v any) {
	c := From(ctx)
	if c == nil {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		return // a repeat is answered with the current state
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result = string(b)
}

// Row is what the store keeps of the claim when its mutation succeeds at the time now.
func (c *Claim) Row(now time.Time) models.IdempotencyKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return models.IdempotencyKey{
		PrincipalID: c.PrincipalID, Key: c.Key, Route: c.Route, RequestHash: c.RequestHash,
		Status: models.IdempotencyDone, Result: c.result, CreatedAt: now, ExpiresAt: now.Add(c.lifetime),
	}
}

// Written tells whether the mutation has settled the claim.
func (c *Claim) Written() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// MarkWritten is the store's to call once the transaction is committed.
func (c *Claim) MarkWritten() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = true
}

// errUsed is the cause of Used.
var errUsed = errors.New("the idempotency key is taken")

// Used is the store's refusal to settle a key again: the transaction was rolled back. Whoever does not look for the
// kept answer may let the client try again.
func Used() error {
	return fault.Wrap(errUsed, fault.Unavailable, "The request of this Idempotency-Key was settled just now. Send it again for its answer.")
}

// IsUsed tells whether an error is Used.
func IsUsed(err error) bool { return errors.Is(err, errUsed) }

package oidc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// freshFor is how long keys are used before they are fetched anew, beside the requests that use them: a key that
	// its issuer withdraws counts that long.
	freshFor = 10 * time.Minute
	// goodFor is how long keys are used while their issuer cannot be asked.
	goodFor = 24 * time.Hour
	// fetchEvery is the least time between two fetches, whatever key ids tokens name and however they fail.
	fetchEvery = 5 * time.Second
	// fetchTimeout bounds one fetch, document and keys together.
	fetchTimeout = 10 * time.Second
)

// keys keeps the keys of one issuer. They are fetched when the first token needs them; requests that need the same
// fetch share it.
type keys struct {
	issuer  string
	fetch   func(context.Context) (*keySet, error)
	timeout time.Duration
	now     func() time.Time
	log     *slog.Logger

	mu      sync.Mutex
	set     *keySet   // nil before the first
	fetched time.Time // when the issuer last published set
	next    time.Time // no fetch begins before
	err     error     // of the last fetch
	running *fetching
}

// fetching is one fetch that is under way; set and err are there once done is closed.
type fetching struct {
	done chan struct{}
	set  *keySet
	err  error
}

// usable gives keys to verify with. It waits for the issuer only when there are none, or none that are still good.
func (k *keys) usable(ctx context.Context) (*keySet, error) {
	k.mu.Lock()
	set := k.good(ctx)
	if set == nil {
		return k.wait(ctx, nil)
	}
	k.mu.Unlock()
	return set, nil
}

// newer gives keys that were fetched after those that did not do; the same when the issuer was asked a moment ago.
func (k *keys) newer(ctx context.Context, than *keySet) (*keySet, error) {
	k.mu.Lock()
	if k.set != than && k.set != nil {
		defer k.mu.Unlock()
		return k.set, nil
	}
	return k.wait(ctx, than)
}

// current gives the keys that are good without asking anybody, nil for none.
func (k *keys) current(ctx context.Context) *keySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.good(ctx)
}

// good gives the keys that are young enough, nil for none, and has them fetched anew in time. It is called with the lock.
func (k *keys) good(ctx context.Context) *keySet {
	age := k.now().Sub(k.fetched)
	if k.set == nil || age >= goodFor {
		return nil
	}
	if age >= freshFor {
		k.begin(ctx)
	}
	return k.set
}

// wait gives what the fetch that is under way, or is begun now, brings; otherwise when none may begin yet. It is called
// with the lock and gives it back.
func (k *keys) wait(ctx context.Context, otherwise *keySet) (*keySet, error) {
	running := k.begin(ctx)
	if running == nil {
		defer k.mu.Unlock()
		if k.err != nil || otherwise == nil {
			return nil, k.unavailable(k.err)
		}
		return otherwise, nil
	}
	k.mu.Unlock()
	select {
	case <-running.done:
		if running.err != nil {
			return nil, k.unavailable(running.err)
		}
		return running.set, nil
	case <-ctx.Done():
		return nil, k.unavailable(ctx.Err())
	}
}

func (k *keys) unavailable(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, "The issuer %s gives no keys now, so its tokens cannot be checked. Try again later.", k.issuer)
}

// begin gives the fetch that is under way, or starts one; nil when it is too early for one. It is called with the lock.
func (k *keys) begin(ctx context.Context) *fetching {
	if k.running != nil {
		return k.running
	}
	now := k.now()
	if now.Before(k.next) {
		return nil
	}
	k.next = now.Add(fetchEvery)
	k.running = &fetching{done: make(chan struct{})}
	go k.run(context.WithoutCancel(ctx), k.running)
	return k.running
}

// run fetches. It outlives the request that began it: others may wait for it too.
func (k *keys) run(ctx context.Context, f *fetching) {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	started := k.now()
	set, err := k.fetch(ctx)

	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil:
		k.log.WarnContext(ctx, "the keys of an issuer were not read", "issuer", k.issuer, "err", err)
	case k.set != nil && k.set.fingerprint == set.fingerprint:
		k.fetched, set = started, k.set // so that tokens stay known that the same keys verified
	default:
		k.log.InfoContext(ctx, "read the keys of an issuer", "issuer", k.issuer, "keys", len(set.keys))
		k.fetched, k.set = started, set
	}
	k.err, k.running = err, nil
	f.set, f.err = set, err
	close(f.done)
}

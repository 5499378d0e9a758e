package oidc

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"time"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/fault"
)

// Issuers verifies tokens of the configured issuers. It is safe for concurrent use.
type Issuers struct {
	sources  map[string]*source // by the issuer's URL
	verified *verified
	now      func() time.Time
}

var _ access.Issuers = (*Issuers)(nil)

// source is one issuer with its keys.
type source struct {
	issuer
	keys *keys
	now  func() time.Time
}

// New makes an Issuers. It asks no issuer for anything before a token of it comes.
func New(cfg Config, log *slog.Logger, now func() time.Time) *Issuers {
	all := &Issuers{sources: map[string]*source{}, verified: newVerified(mostVerified), now: now}
	for _, i := range cfg.issuers {
		all.sources[i.url] = &source{issuer: i, now: now, keys: &keys{
			issuer: i.url, fetch: newFetcher(i).keys, timeout: fetchTimeout, now: now, log: log,
		}}
	}
	return all
}

// Identify gives who a token is of; false when it is no token of a configured issuer. A token that is one and is no
// good is fault.Unauthenticated, and fault.Unavailable where its issuer cannot be asked for its keys. Who it is of is given
// with the error where that is verified, as of a token that has expired.
func (a *Issuers) Identify(ctx context.Context, bearer string) (access.External, bool, error) {
	if !looksLikeJWT(bearer) {
		return access.External{}, false, nil
	}
	if len(bearer) > mostToken {
		return access.External{}, true, fault.New(fault.Unauthenticated,
			"The token is larger than 16 KiB. Have its issuer put fewer claims, such as groups, into it.")
	}
	hash := sha256.Sum256([]byte(bearer))
	if k, ok := a.verified.find(hash, a.now()); ok && k.source.keys.current(ctx) == k.set {
		return copied(k.who), true, nil
	}
	head, iss, ok := peek(bearer)
	from := a.sources[iss]
	if !ok || from == nil {
		return access.External{}, false, nil
	}
	k, err := from.identify(ctx, bearer, head)
	if err != nil {
		return k.who, true, err
	}
	a.verified.keep(hash, k, a.now())
	return copied(k.who), true, nil
}

// copied keeps what is remembered from those who get it.
func copied(who access.External) access.External {
	who.Roles = slices.Clone(who.Roles)
	return who
}

package main

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/api"
	apicatalog "github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/governance"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/dispatch"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

// router makes the HTTP surface of the API. r holds the encryption keys.
func (b *base) router(
	cat *catalog.Service, rows *dataplane.Service, starter *workflows.Starter, r *keyring.Ring, checks ...api.Check,
) (http.Handler, error) {
	who, err := b.newIdentity(r)
	if err != nil {
		return nil, err
	}
	admin, err := b.newManagement(r)
	if err != nil {
		return nil, err
	}
	proxies, _ := b.cfg.TrustedProxies() // checked when the settings were read
	facade := b.cfg.Facade
	deps := api.Deps{
		Log: b.log, Metrics: b.metrics,
		Authenticator: who.auth, Management: admin, JWKS: who.keys, Denials: access.NewDenials(b.store, time.Now),
		Catalog: apicatalog.Deps{
			Resolver: cat, Namespaces: cat, Tables: cat, Views: cat, Commits: cat,
			OAuth:    who.oauth,
			Readable: cat, Scans: b.scans, Metrics: cat, Storage: cat,
		},
		Governance: governance.Deps{
			Tokens:   defaultLifetime{b.newTokens(), b.cfg.Tokens.Engine},
			Policies: cat, Tables: cat, Records: cat, Metrics: cat, Drops: cat, Explainer: admin, Storage: admin, Accesses: cat, Findings: cat,
			Writers: cat, Limits: b.lateness(), Webhooks: b.newWebhooks(starter, r), Feed: b.feed, Checkpoints: audit.NewReader(b.store),
		},
		Data:   b.dataDeps(rows),
		Codec:  temporalx.AllowOrigin(b.uiURI, temporalx.CodecHandler(r)),
		Health: api.Health(), Ready: api.Ready(checks...), MetricsPage: b.metricsPage(),
		Limits: api.Limits{
			BodyBytes: int64(b.cfg.Limits.Body), InFlight: facade.InFlight, DataInFlight: dataInFlight(b.cfg.Data), PerSecond: facade.PerSecond,
		},
		TrustedProxies: proxies,
	}
	deps.Catalog.PublicURL = b.cfg.PublicURL
	deps.Catalog.NamespaceSeparator, _ = b.cfg.Separator() // checked likewise
	if keeper := b.newKeeper(); keeper != nil {
		deps.Catalog.Idempotency = keeper
	}
	return api.Router(deps), nil
}

// probes is the HTTP surface of a process without an API.
func (b *base) probes(checks ...api.Check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", api.ProbesIndex("sluice worker"))
	mux.Handle("GET /healthz", api.Health())
	mux.Handle("GET /readyz", api.Ready(checks...))
	mux.Handle("GET /metrics", b.metricsPage())
	return mux
}

func (b *base) metricsPage() http.Handler {
	return promhttp.HandlerFor(b.metrics, promhttp.HandlerOpts{Registry: b.metrics})
}

func temporalCheck(c client.Client) api.Check {
	return api.Check{Name: "temporal", Run: func(ctx context.Context) error {
		_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}}
}

// newDispatcher makes the dispatcher from the outbox to Temporal.
func (b *base) newDispatcher(starter *workflows.Starter) (*dispatch.Dispatcher, error) {
	d := b.cfg.Dispatch
	return dispatch.New(b.store, starter, dispatch.Options{
		PollInterval: d.PollInterval, BatchThreshold: d.BatchAfter, BatchSize: d.BatchSize,
		Registerer: b.metrics, Logger: b.log,
	})
}

// background runs f until its stop is called, which waits for it to return.
func background(f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// defaultLifetime gives tokens that are minted without a lifetime the configured one.
type defaultLifetime struct {
	governance.Tokens
	lifetime time.Duration // 0 for tokens that do not expire
}

func (d defaultLifetime) MintToken(ctx context.Context, caller policy.Caller, in access.MintInput) (models.Token, string, error) {
	if in.ExpiresIn == 0 {
		in.ExpiresIn = d.lifetime
	}
	return d.Tokens.MintToken(ctx, caller, in)
}

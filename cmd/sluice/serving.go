package main

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/api"
	apicatalog "github.com/sluice-data/sluice/api/catalog"
	"github.com/sluice-data/sluice/api/governance"
	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dispatch"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// router makes the HTTP surface of the API.
func (b *base) router(cat *catalog.Service, checks ...api.Check) http.Handler {
	proxies, _ := b.cfg.TrustedProxies() // checked when the settings were read
	return api.Router(api.Deps{
		Log: b.log, Metrics: b.metrics,
		Authenticator: access.NewAuthenticator(b.store, time.Now),
		Catalog: apicatalog.Deps{
			Resolver: cat, Namespaces: cat, Tables: cat, Commits: cat,
			OAuth: access.NewOAuth(b.store, b.cfg.Tokens.Access, time.Now),
		},
		Governance: governance.Deps{
			Tokens:   defaultLifetime{b.newTokens(), b.cfg.Tokens.Engine},
			Policies: cat, Tables: cat, Records: cat,
		},
		Health: api.Health(), Ready: api.Ready(checks...), MetricsPage: b.metricsPage(),
		Limits: api.Limits{BodyBytes: int64(b.cfg.Limits.Body)}, TrustedProxies: proxies,
	})
}

// probes is the HTTP surface of a process without an API.
func (b *base) probes(checks ...api.Check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", api.Health())
	mux.Handle("GET /readyz", api.Ready(checks...))
	mux.Handle("GET /metrics", b.metricsPage())
	return mux
}

func (b *base) metricsPage() http.Handler {
	return promhttp.HandlerFor(b.metrics, promhttp.HandlerOpts{Registry: b.metrics})
}

// databaseCheck is part of readiness wherever there is a database.
func (b *base) databaseCheck() api.Check { return api.Check{Name: "database", Run: b.store.Ping} }

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

// newWorker makes the Temporal workers of the process.
func (b *base) newWorker(c client.Client, cat *catalog.Service, starter *workflows.Starter, o worker.Options) *worker.Worker {
	return worker.New(c, activities.New(activities.Ports{
		Ledger: b.store, Catalogs: b.store, Documents: cat,
		Counter: reconcile.NewCounter(b.files), Restamper: cat, Starter: starter,
	}), o)
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

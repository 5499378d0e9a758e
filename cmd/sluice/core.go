package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/events"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/objects"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/telemetry"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

// metadataCache is the budget of the cache of table metadata, in bytes.
const metadataCache = 64 << 20

// manifestCache is the budget of the cache of what plans of reads read in manifests, in bytes.
const manifestCache = 64 << 20

// base is what every server command has: settings, rows, files, and how to tell about itself.
type base struct {
	cfg      *config.Config
	log      *slog.Logger
	metrics  *prometheus.Registry
	store    *store.Store
	files    *objects.Router
	scans    *scan.Planner
	profiles *objects.Profiles
	feed     *events.Feed
	sender   *webhooks.Sender
	roots    []string // of the warehouses, as URIs
	uiURI    string   // of the Temporal Web UI, "" where none is known
}

// openBase opens the database and what is in it about stores. It takes the warehouse over: closing the base closes it.
func openBase(ctx context.Context, cfg *config.Config, log *slog.Logger, databaseURL string, w warehouse, r *keyring.Ring) (*base, error) {
	b := &base{cfg: cfg, log: log, metrics: telemetry.NewRegistry(telemetry.ReadBuild()), roots: w.roots, files: w.files, scans: scan.New(w.files, scan.WithCache(manifestCache))}
	var err error
	b.store, err = store.Open(ctx, store.Config{URL: databaseURL, MaxConns: cfg.Database.MaxConns, Logger: log})
	if err != nil {
		return nil, errors.Join(err, w.files.Close())
	}
	if err := b.openProfiles(w, r); err != nil {
		return nil, errors.Join(err, w.files.Close(), b.store.Close())
	}
	b.feed = events.NewFeed(b.store, log)
	b.sender = webhooks.NewSender(webhooks.SenderOptions{Private: cfg.Webhooks.Private, Now: time.Now})
	b.measure()
	return b, nil
}

// measure registers what is read from the database when the metrics are.
func (b *base) measure() {
	for _, c := range []prometheus.Collector{
		newFindingsMetric(b.store.OpenFindings, time.Now), newWritersMetric(b.store.Writers, b.lateness(), time.Now),
		webhooks.NewBacklogs(b.store.WebhookBacklogs, time.Now),
	} {
		if err := b.metrics.Register(c); err != nil {
			b.log.Warn("some metrics are not shown", "error", err)
		}
	}
}

func (b *base) close() {
	b.feed.Close()
	b.sender.Close()
	if err := errors.Join(b.profiles.Close(), b.files.Close(), b.store.Close()); err != nil {
		b.log.Warn("database or object store did not close cleanly", "error", err)
	}
}

// newCatalog makes the catalog's use cases. waker may be nil when no dispatcher runs in this process.
func (b *base) newCatalog(starter *workflows.Starter, waker catalog.Waker) *catalog.Service {
	formats, _ := b.cfg.FormatVersions() // checked when the settings were read
	return catalog.New(catalog.Deps{
		Store: b.store, Reports: b.store, Files: b.files, Locations: objects.Rules{},
		Inspector:  reconcile.NewInspector(b.files, objects.WithinStrings),
		Reconciler: reconciler{starter}, Waker: waker, StorageKeys: b.newStorageKeys(),
		Logger: b.log, Now: time.Now,
		Folders: b.files, Existence: b.files, Missing: b.countMissing(),
		Drops:          catalog.Drops{Grace: b.cfg.Drops.Grace, PurgeAll: b.cfg.Drops.PurgeAll},
		ReservedPrefix: b.cfg.ReservedPrefix, AnyLocation: b.cfg.Storage.AnyLocation, CacheBytes: metadataCache, FormatVersions: formats,
	})
}

// cleanUpWithin bounds how long a stopping process goes on removing obsolete metadata files; what is left is garbage.
const cleanUpWithin = 2 * time.Second

// finish lets the catalog end what it does in the background.
func finish(cat *catalog.Service) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpWithin)
	defer cancel()
	cat.Drain(ctx)
}

// countMissing counts loads and commits of tables whose metadata file is gone: somebody has to restore it.
func (b *base) countMissing() func(string) {
	counter := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sluice_metadata_files_missing_total", Help: "Times that a table was asked for whose current metadata file is gone; the log names it.",
	})
	if err := b.metrics.Register(counter); err != nil {
		b.log.Warn("missing metadata files are not counted", "error", err)
	}
	return func(string) { counter.Inc() }
}

// newKeeper makes the keeper of idempotency keys, nil when none are offered.
func (b *base) newKeeper() *idempotency.Keeper {
	if b.cfg.Facade.IdempotencyLifetime == 0 {
		return nil
	}
	return idempotency.New(idempotency.Deps{
		Store: b.store, Lifetime: b.cfg.Facade.IdempotencyLifetime, Now: time.Now, Logger: b.log,
	})
}

// pruneKeys removes expired idempotency keys until its stop is called.
func (b *base) pruneKeys() (stop func()) {
	keeper := b.newKeeper()
	if keeper == nil {
		return func() {}
	}
	return background(keeper.Run)
}

// reconciler takes people's wishes for a reconciliation to Temporal.
type reconciler struct{ starter *workflows.Starter }

func (r reconciler) RequestReconcile(ctx context.Context, event models.OutboxEvent) (string, error) {
	return r.starter.ReconcileNow(ctx, workflows.TargetOf(event))
}

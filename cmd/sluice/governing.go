package main

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/audit"
	"github.com/sluice-data/sluice/internal/audit/export"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/webhooks"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// newWorker makes the Temporal workers of the process. r holds the encryption keys, nil where there are none: then nothing
// goes to webhooks, and checkpoints are not signed.
func (b *base) newWorker(
	c client.Client, cat *catalog.Service, rows *dataplane.Service, starter *workflows.Starter, r *keyring.Ring, keys *audit.Keys, o worker.Options,
) *worker.Worker {
	files := reconcile.NewRecent(b.files, nil) // counting and recording a commit read the same manifests
	ports := activities.Ports{
		Ledger: b.store, Catalogs: b.store, Documents: cat,
		Counter:   reconcile.NewCounter(files, reconcile.WithScanLimit(int64(b.cfg.Watch.ScanLimit))),
		Restamper: cat, Starter: starter,
		Files: b.store, Watcher: maintenance.NewWatcher(files),
		Writers: b.store, Findings: b.store, Checks: b.store, Arrivals: maintenance.NewArrivals(b.files, b.store),
		Thresholds: b.thresholds(), ReservedPrefix: b.cfg.ReservedPrefix,
		Purges: b.store, Purger: maintenance.NewPurger(b.files, b.log), PurgeStarter: starter,
		Courier:     b.newCourier(r),
		Sampler:     maintenance.NewSampler(b.files, maintenance.Sampling{}),
		AuditPruner: audit.NewPruner(b.store, keys, b.cfg.Audit.Retention, b.cfg.Audit.Export > 0, time.Now),
	}
	if rows != nil {
		ports.RowWriter = rows
	}
	if b.cfg.Audit.Export > 0 {
		ports.AuditExporter = export.New(export.Deps{
			Core: cat, Files: b.files, Ledger: b.store, Catalog: b.cfg.Audit.ExportCatalog, Now: time.Now,
		})
	}
	return worker.New(c, activities.New(ports), o)
}

// thresholds are from when on something is a finding.
func (b *base) thresholds() findings.Thresholds {
	w := b.cfg.Watch
	return findings.Thresholds{
		Stall: b.lateness(), TokenWarning: w.TokenWarning,
		SnapshotsHourly: int64(w.SnapshotsHourly), SmallFile: int64(w.SmallFile), EqualityDeletes: int64(w.EqualityDeletes),
		MetadataBytes: int64(w.MetadataSize),
	}
}

// lateness is from when on a writer is late.
func (b *base) lateness() writers.Limits {
	return writers.Limits{Factor: float64(b.cfg.Watch.StallFactor), Floor: b.cfg.Watch.StallFloor}
}

// auditKeys are what checkpoints of the audit are signed with; a process makes them once.
func (b *base) auditKeys(r *keyring.Ring) *audit.Keys {
	return audit.NewKeys(b.store, auditVault(r), time.Now, b.log)
}

// sealAudit gives audit events their places until its stop is called.
func (b *base) sealAudit(keys *audit.Keys) (stop func(), err error) {
	sealer, err := audit.NewSealer(b.store, keys, audit.SealerOptions{
		Checkpoint: b.cfg.Audit.Checkpoint, Registerer: b.metrics, Logger: b.log, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	return background(sealer.Run), nil
}

// webhookPurpose is what the secrets of webhooks are sealed for.
const webhookPurpose = "webhooks"

// newCourier makes what takes events to webhooks. Without encryption keys it leaves them to processes that have some.
func (b *base) newCourier(r *keyring.Ring) *webhooks.Courier {
	deps := webhooks.CourierDeps{
		Store: b.store, Sealed: b.store, Sender: b.sender, Source: b.eventSource(),
		GiveUp: b.cfg.Webhooks.GiveUp, Registerer: b.metrics, Log: b.log, Now: time.Now,
	}
	if r != nil {
		deps.Sealer = r.For(webhookPurpose)
	}
	return webhooks.NewCourier(deps)
}

// eventSource is where CloudEvents say that they come from: the URL of the installation, else what it is.
func (b *base) eventSource() string {
	if b.cfg.PublicURL != "" {
		return b.cfg.PublicURL
	}
	return "sluice"
}

// newWebhooks makes the use cases of webhooks.
func (b *base) newWebhooks(starter webhooks.Waker, r *keyring.Ring) *webhooks.Service {
	return webhooks.New(webhooks.Deps{
		Store: b.store, Catalogs: b.store, Sealer: r.For(webhookPurpose), Sender: b.sender, Waker: starter,
		Source: b.eventSource(), Private: b.cfg.Webhooks.Private, Log: b.log, Now: time.Now,
	})
}

// scheduleRetry is how soon the schedules are looked at again when Temporal could not tell.
const scheduleRetry = 5 * time.Second

// keepSchedules makes the schedules what they are to be, beside everything else: after a kill -9 Temporal says nothing
// of a schedule until its dead run times out, and commits need not wait for that.
func (b *base) keepSchedules(c client.Client) (stop func()) {
	options := workflows.ScheduleOptions{
		SweepEvery: b.cfg.SweepInterval, CheckEvery: b.cfg.CheckInterval, WatchEvery: b.cfg.Watch.Interval,
		FileMemory: b.cfg.Watch.FileMemory, ExportEvery: b.cfg.Audit.Export,
	}
	return background(func(ctx context.Context) {
		for {
			err := workflows.EnsureSchedules(ctx, c, options)
			if err == nil || ctx.Err() != nil {
				return
			}
			b.log.Warn("the schedules are not up to date yet", "error", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(scheduleRetry):
			}
		}
	})
}

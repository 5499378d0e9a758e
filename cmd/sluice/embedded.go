package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/keyring"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

const (
	// drainTimeout is what requests under way get at a stop.
	drainTimeout = 2 * time.Second
	// embeddedWorkerStop is what activities under way get; they are safe to repeat.
	embeddedWorkerStop = time.Second
	// stopTimeout bounds a whole stop: whatever hangs then is safe to be killed.
	stopTimeout = 9 * time.Second
)

// embedded is a running serve: everything in this process, on one data folder.
type embedded struct {
	log      *slog.Logger
	folder   *dataFolder
	root     rootState
	file     bootstrapFile
	roots    []string    // of the warehouse
	strays   []misplaced // catalogs outside of them
	http     *httpServer
	ring     *keyring.Ring
	fatal    chan error
	cleanups []func() // run in reverse
}

// startEmbedded starts every part and returns once everything works. Whatever fails, nothing is left running.
func startEmbedded(ctx context.Context, cfg *config.Config, log *slog.Logger) (*embedded, error) {
	e := &embedded{log: log, fatal: make(chan error, 4)}
	if err := e.start(ctx, cfg); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

func (e *embedded) start(ctx context.Context, cfg *config.Config) (err error) {
	if _, _, err := configuredIssuers(cfg); err != nil {
		return err
	}
	if e.folder, err = openDataFolder(cfg.DataDir); err != nil {
		return err
	}
	e.onStop(e.folder.release)
	if e.http, err = listen(cfg.Listen, e.log); err != nil {
		return err
	}
	if err := e.folder.withdraw(); err != nil {
		return err
	}
	// Before the storage, which makes credentials: a start that fails must not have shown them to nobody.
	t := cfg.Temporal
	if err := temporalx.CheckPorts(temporalx.ServerOptions{IP: t.IP, FrontendPort: t.Port, UIPort: t.UIPort}); err != nil {
		return err
	}
	if e.ring, err = folderRing(cfg, e.folder); err != nil {
		return err
	}
	b, err := e.openStorage(ctx, cfg)
	if err != nil {
		return err
	}
	temporal, err := e.startTemporal(ctx, cfg)
	if err != nil {
		return err
	}
	if err := e.startServices(b, temporal); err != nil {
		return err
	}
	return e.announce(cfg)
}

func (e *embedded) onStop(f func()) { e.cleanups = append(e.cleanups, f) }

// openStorage opens database and warehouse and makes the root principal in a new one.
func (e *embedded) openStorage(ctx context.Context, cfg *config.Config) (*base, error) {
	url := cfg.Database.URL.Reveal()
	if url == "" {
		url = e.folder.databaseURL()
	}
	w, err := e.openWarehouse(ctx, cfg)
	if err != nil {
		return nil, err
	}
	b, err := openBase(ctx, cfg, e.log, url, w, e.ring)
	if err != nil {
		return nil, err
	}
	roots := w.roots
	e.onStop(b.close)
	if strings.HasPrefix(url, "sqlite") || cfg.Database.Migrate {
		err = store.Migrate(ctx, b.store)
	} else {
		err = b.store.CheckSchema(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := b.store.ReleaseClaims(ctx); err != nil {
		return nil, err
	}
	if e.root, err = b.ensureRoot(ctx, e.folder, w.founding); err != nil {
		return nil, err
	}
	e.roots = roots
	e.strays, err = misplacedCatalogs(ctx, b.store, roots, cfg.Storage.AllowOther)
	for _, stray := range e.strays {
		e.log.Warn(stray.detail(roots), "remedy", stray.remedy())
	}
	return b, err
}

func (e *embedded) openWarehouse(ctx context.Context, cfg *config.Config) (warehouse, error) {
	if roots := warehouses(cfg); len(roots) > 0 {
		return configuredWarehouse(ctx, cfg, roots)
	}
	return e.localWarehouse(ctx, cfg)
}

func (e *embedded) startTemporal(ctx context.Context, cfg *config.Config) (client.Client, error) {
	t := cfg.Temporal
	if err := os.MkdirAll(e.folder.temporalDir(), 0o700); err != nil {
		return nil, unusable(e.folder.path, err)
	}
	server, err := temporalx.StartServer(ctx, temporalx.ServerOptions{
		DataDir: e.folder.temporalDir(), IP: t.IP, FrontendPort: t.Port, UIPort: t.UIPort,
		Namespace: t.Namespace, Retention: t.Retention, Logger: e.log,
	})
	if err != nil {
		return nil, err
	}
	e.onStop(server.Stop)
	e.file.TemporalAddress, e.file.TemporalUIURI = server.Address(), server.UIAddress()
	options := temporalx.ClientOptions{Address: server.Address(), Namespace: t.Namespace, Logger: sdkLogger(e.log)}
	c, err := temporalx.Dial(ctx, withCodec(options, t, e.ring))
	if err != nil {
		return nil, err
	}
	e.onStop(c.Close)
	return c, temporalx.EnsureNamespace(ctx, c, t.Namespace, t.Retention, workflows.SearchAttributes())
}

// startServices starts what runs on database, warehouse and Temporal, the API last.
func (e *embedded) startServices(b *base, c client.Client) error {
	starter := workflows.NewStarter(c, b.store)
	dispatcher, err := b.newDispatcher(starter)
	if err != nil {
		return err
	}
	cat := b.newCatalog(starter, dispatcher)
	e.onStop(func() { finish(cat) })
	keys := b.auditKeys(e.ring)
	stopSealing, err := b.sealAudit(keys)
	if err != nil {
		return err
	}
	e.onStop(stopSealing)
	rows := b.newDataPlane(cat, starter, e.ring)
	w := b.newWorker(c, cat, rows, starter, e.ring, keys, worker.Options{StopTimeout: embeddedWorkerStop, OnFatal: func(queue string, err error) {
		e.fatal <- fmt.Errorf("the worker of %s gave up: %w", queue, err)
	}})
	e.onStop(w.Stop)
	if err := w.Start(); err != nil {
		return err
	}
	e.onStop(background(dispatcher.Run))
	e.onStop(b.keepSchedules(c))
	e.onStop(b.pruneKeys())
	e.http.onDrain(b.feed.Close)
	b.uiURI = e.file.TemporalUIURI
	handler, err := b.router(cat, rows, starter, e.ring, append(b.writeChecks(), temporalCheck(c))...)
	if err != nil {
		return err
	}
	e.http.use(handler)
	return nil
}

// announce writes bootstrap.json, for which scripts wait.
func (e *embedded) announce(cfg *config.Config) error {
	base := e.http.base()
	if cfg.PublicURL != "" {
		base = strings.TrimRight(cfg.PublicURL, "/")
	}
	file := newBootstrapFile(base)
	file.TemporalAddress, file.TemporalUIURI, file.S3Endpoint = e.file.TemporalAddress, e.file.TemporalUIURI, e.file.S3Endpoint
	file.Catalog, file.Principal, file.rootCredentials = cfg.Catalog, models.RootPrincipal, e.root.rootCredentials
	e.file = file
	return writeJSONFile(e.folder.file(bootstrapName), file)
}

// stop ends everything in reverse order of its start, but the API first, within stopTimeout.
func (e *embedded) stop() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if e.folder != nil {
			if err := e.folder.withdraw(); err != nil {
				e.log.Warn(bootstrapName+" could not be removed", "error", err)
			}
		}
		if e.http != nil {
			e.http.drain(drainTimeout)
		}
		for i := len(e.cleanups) - 1; i >= 0; i-- {
			e.cleanups[i]()
		}
		e.cleanups = nil
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout):
		e.log.Warn("some parts are still stopping; nothing is lost", "waited", stopTimeout.String())
	}
}

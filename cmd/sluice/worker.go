package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/worker"
	"github.com/sluice-data/sluice/workflows"
)

// probesDrain is what probes under way get when a worker stops.
const probesDrain = time.Second

func (c *cli) workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Govern commits: run the dispatcher and the workflows on an external Temporal",
		Long: "Takes commits from the outbox to Temporal and runs the workflows that govern them; many may run at once.\n" +
			"/healthz, /readyz and /metrics are served on --listen. The schema must be this program's: see `sluice migrate`.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runWorker(cmd.Context()) },
	}
	c.bindAll(cmd, config.External, config.Governing)
	hideData(cmd)
	return cmd
}

func (c *cli) runWorker(ctx context.Context) error {
	b, err := c.openExternal(ctx)
	if err != nil {
		return err
	}
	stopped := func() {}
	defer func() { stopped() }()
	defer b.close()
	r, err := ring(c.cfg)
	if err != nil {
		return err
	}
	if r == nil {
		b.log.Warn("no encryption keys are configured: nothing goes to webhooks, and checkpoints of the audit are not signed", "remedy", "set SLUICE_ENCRYPTION_KEYS, the same for every process")
	}
	server, err := listen(c.cfg.Listen, b.log)
	if err != nil {
		return err
	}
	defer server.drain(probesDrain)
	temporal, err := c.connectTemporal(ctx, b)
	if err != nil {
		return err
	}
	defer temporal.Close()
	starter := workflows.NewStarter(temporal, b.store)
	dispatcher, err := b.newDispatcher(starter)
	if err != nil {
		return err
	}
	cat := b.newCatalog(starter, dispatcher)
	defer finish(cat)
	keys := b.auditKeys(r)
	stopSealing, err := b.sealAudit(keys)
	if err != nil {
		return err
	}
	defer stopSealing()
	fatal := make(chan error, 2)
	w := b.newWorker(temporal, cat, b.newDataPlane(cat, starter, r), starter, r, keys, worker.Options{OnFatal: func(queue string, err error) {
		fatal <- fmt.Errorf("the worker of %s gave up: %w", queue, err)
	}})
	defer w.Stop()
	if err := w.Start(); err != nil {
		return err
	}
	defer background(dispatcher.Run)()
	defer b.keepSchedules(temporal)()
	server.use(b.probes(append(b.writeChecks(), temporalCheck(temporal))...))
	b.log.Info("the worker is ready", "address", server.listener.Addr().String())
	err = waitFor(ctx, server, fatal)
	stopped = b.stopping()
	return err
}

// connectTemporal waits for the configured Temporal and makes what Sluice needs in it.
func (c *cli) connectTemporal(ctx context.Context, b *base) (client.Client, error) {
	t := c.cfg.Temporal
	options, err := externalTemporal(t, b.log)
	if err != nil {
		return nil, err
	}
	keys := ring
	if t.EncryptPayloads {
		keys = requiredRing
	}
	r, err := keys(c.cfg)
	if err != nil {
		return nil, err
	}
	temporal, err := temporalx.Dial(ctx, withCodec(options, t, r))
	if err != nil {
		return nil, err
	}
	err = temporalx.EnsureNamespace(ctx, temporal, t.Namespace, t.Retention, workflows.SearchAttributes())
	if err != nil {
		temporal.Close()
		return nil, err
	}
	return temporal, nil
}

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
	"github.com/sluice-data/sluice/internal/temporalx"
	"github.com/sluice-data/sluice/workflows"
)

// apiDrain is what requests under way get when an api stops.
const apiDrain = 8 * time.Second

func (c *cli) apiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Run the catalog and the governance API on PostgreSQL, Temporal and an object store",
		Long: "Runs the HTTP API against the configured database, Temporal and object store; many may run at once.\n" +
			"It does not wait for Temporal: while that is down, commits go on and their reconciliation follows later.\n" +
			"The schema must be this program's: see `sluice migrate`. Commits are governed by `sluice worker`.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runAPI(cmd.Context()) },
	}
	c.bindAll(cmd, config.External, config.Serving)
	hideData(cmd)
	return cmd
}

func (c *cli) runAPI(ctx context.Context) error {
	if _, _, err := configuredIssuers(c.cfg); err != nil {
		return err
	}
	b, err := c.openExternal(ctx)
	if err != nil {
		return err
	}
	stopped := func() {}
	defer func() { stopped() }()
	defer b.close()
	r, err := requiredRing(c.cfg)
	if err != nil {
		return err
	}
	options, err := externalTemporal(c.cfg.Temporal, b.log)
	if err != nil {
		return err
	}
	temporal, err := temporalx.NewLazyClient(withCodec(options, c.cfg.Temporal, r))
	if err != nil {
		return err
	}
	defer temporal.Close()
	server, err := listen(c.cfg.Listen, b.log)
	if err != nil {
		return err
	}
	defer server.drain(apiDrain)
	server.onDrain(b.feed.Close)
	defer b.pruneKeys()()
	starter := workflows.NewStarter(temporal, b.store)
	cat := b.newCatalog(starter, nil)
	defer finish(cat)
	b.uiURI = c.cfg.Temporal.UIURL
	handler, err := b.router(cat, b.newDataPlane(cat, starter, r), starter, r, b.writeChecks()...)
	if err != nil {
		return err
	}
	server.use(handler)
	b.log.Info("the API is ready", "address", server.listener.Addr().String())
	err = waitFor(ctx, server, nil)
	stopped = b.stopping()
	return err
}

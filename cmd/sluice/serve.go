package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/config"
)

func (c *cli) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run everything in one process on a local folder",
		Long: "Runs the catalog, the governance API, Temporal with its Web UI and the workers in one process, with nothing else\n" +
			"installed. Everything is kept in the data folder. While all works, bootstrap.json in it has addresses and credentials.",
		Example: "  sluice serve --data ./sluice-data\n  sluice serve --data /tmp/s --listen 127.0.0.1:0 --temporal-port 0 --ui-port 0",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := startEmbedded(cmd.Context(), c.cfg, c.logger())
			if err != nil {
				if cmd.Context().Err() != nil {
					return nil // stopped while starting
				}
				return err
			}
			c.say("%s", banner(e, c.program))
			err = waitFor(cmd.Context(), e.http, e.fatal)
			e.log.Info("stopping")
			e.stop()
			e.log.Info("stopped")
			return err
		},
	}
	c.bindAll(cmd, config.Embedded, config.Serving, config.Governing, config.Founding)
	return cmd
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/telemetry"
)

func (c *cli) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			b := telemetry.ReadBuild()
			if c.format == formatJSON {
				return c.showJSON(b)
			}
			revision := b.Revision
			if b.Modified {
				revision += " with changes"
			}
			if revision != "" {
				revision = " (" + revision + ")"
			}
			c.say("sluice %s%s, %s\n", b.Version, revision, b.Go)
			return nil
		},
	}
	c.outputFlag(cmd)
	return cmd
}

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
			c.say("%s\n", buildLine(b))
			return nil
		},
	}
	c.outputFlag(cmd)
	return cmd
}

func buildLine(b telemetry.Build) string {
	line := "sluice " + b.Version
	if b.Revision != "" {
		line += " (" + b.Revision
		if b.Modified {
			line += " with changes"
		}
		line += ")"
	}
	return line + ", " + b.Go
}

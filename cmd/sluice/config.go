package main

import "github.com/spf13/cobra"

func (c *cli) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "List every setting, its value and where it came from",
		Long: "Lists every setting with its value and where that came from.\n" +
			"A setting is given as --NAME, as the environment variable, or as NAME in the YAML file; the first wins.\n" +
			"Secrets have no flag and are never shown.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			rows := make([]map[string]any, 0, len(c.sources))
			for _, s := range c.cfg.Settings() {
				rows = append(rows, map[string]any{
					"name": s.Name, "value": s.Value.String(), "source": string(c.sources[s.Name]), "env": s.Env(), "usage": s.Usage,
				})
			}
			return c.show(rows, columns{{"NAME", "name"}, {"VALUE", "value"}, {"FROM", "source"}, {"ENVIRONMENT", "env"}, {"WHAT IT IS", "usage"}})
		},
	}
	c.outputFlag(cmd)
	return cmd
}

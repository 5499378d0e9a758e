package main

import "github.com/spf13/cobra"

func (c *cli) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "List every setting, its value and where it came from",
		Long: "Lists every setting with its value and where that came from.\n" +
			"A setting is given as --NAME, as the environment variable, or as NAME in the YAML file; the first wins.\n" +
			"Secrets are never shown and have no flag, except --database-url: the process list shows that one, so prefer\n" +
			"SLUICE_DATABASE_URL, or leave the password out of it and set PGPASSWORD.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			rows := make([]shownSetting, 0, len(c.sources))
			for _, s := range c.cfg.Settings() {
				rows = append(rows, shownSetting{s.Name, s.Value.String(), string(c.sources[s.Name]), s.Env(), s.Usage})
			}
			return c.show(rows, columns{{"NAME", "name"}, {"VALUE", "value"}, {"FROM", "source"}, {"ENVIRONMENT", "env"}, {"WHAT IT IS", "usage"}})
		},
	}
	c.outputFlag(cmd)
	return cmd
}

// shownSetting is a setting as the command shows it.
type shownSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Env    string `json:"env"`
	Usage  string `json:"usage"`
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
)

func (c *cli) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Long: "Brings the schema of the database at SLUICE_DATABASE_URL up to date. It may be run any number of times.\n" +
			"serve does this for its own SQLite file by itself; api and worker never do and refuse to run on an older schema.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.cfg.Database.URL == "" {
				return usageError{fault.New(fault.Invalid, "no database is configured: set SLUICE_DATABASE_URL")}
			}
			st, err := store.Open(cmd.Context(), store.Config{URL: c.cfg.Database.URL.Reveal(), MaxConns: c.cfg.Database.MaxConns, Logger: c.logger()})
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			if err := store.Migrate(cmd.Context(), st); err != nil {
				return err
			}
			version, _, err := st.SchemaVersion(cmd.Context())
			if err != nil {
				return err
			}
			return c.done(map[string]int64{"version": version}, "The schema is at version %d.\n", version)
		},
	}
	c.bind(cmd, false, "database-url", "database-max-conns")
	c.outputFlag(cmd)
	hideData(cmd)
	return cmd
}

package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/internal/fault"
)

func (c *cli) rootCommand() *cobra.Command {
	return group("root", "Make the root principal, or give it new credentials", c.rootCreateCommand(), c.rootResetCommand())
}

func (c *cli) rootCreateCommand() *cobra.Command {
	var ifMissing bool
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make the root principal and the first catalog in the configured database",
		Long: "Makes the root principal and the first catalog in the database at SLUICE_DATABASE_URL and shows root's\n" +
			"credentials, once. serve does this for its own data folder by itself.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := c.openExternal(cmd.Context())
			if err != nil {
				return err
			}
			defer b.close()
			root, err := b.createRoot(cmd.Context(), warehouses(c.cfg), func(rootCredentials) error { return nil })
			if ifMissing && fault.Is(err, fault.AlreadyExists) {
				return c.done(map[string]any{"created": false}, "There is a root principal already; nothing was changed.\n")
			}
			if err != nil {
				return err
			}
			if root.Token, err = b.mintRootToken(cmd.Context()); err != nil {
				return err
			}
			return c.showRoot(root)
		},
	}
	cmd.Flags().BoolVar(&ifMissing, "if-missing", false, "succeed without a change when there is a root principal already")
	c.bind(cmd, false, "database-url", "database-max-conns", "warehouse", "catalog", "s3-endpoint", "s3-region", "s3-access-key", "s3-path-style")
	c.outputFlag(cmd)
	return cmd
}

func (c *cli) rootResetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset-credentials",
		Short: "Give root a new client secret and a new token; the old ones stop working",
		Long: "Gives root a new client secret and a new token, and revokes the token of the old bootstrap.json. With\n" +
			"SLUICE_DATABASE_URL set it works on that database; else on the data folder, whose serve must be stopped.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := c.resetRoot(cmd.Context())
			if err != nil {
				return err
			}
			return c.showRoot(root)
		},
	}
	c.bind(cmd, false, "database-url", "database-max-conns")
	c.outputFlag(cmd)
	return cmd
}

func (c *cli) resetRoot(ctx context.Context) (rootCredentials, error) {
	keep := func(rootCredentials) error { return nil }
	url := c.cfg.Database.URL.Reveal()
	if url == "" {
		if _, err := existingFolder(c.cfg.DataDir); err != nil {
			return rootCredentials{}, err
		}
		folder, err := openDataFolder(c.cfg.DataDir)
		if err != nil {
			return rootCredentials{}, err
		}
		defer folder.release()
		if err := folder.withdraw(); err != nil { // left by a serve that was killed, with the old credentials
			return rootCredentials{}, err
		}
		url, keep = folder.databaseURL(), folder.saveCredentials
	}
	st, err := c.openStore(ctx, url)
	if err != nil {
		return rootCredentials{}, err
	}
	defer func() { _ = st.Close() }()
	return (&base{cfg: c.cfg, store: st}).resetRoot(ctx, keep)
}

func (c *cli) showRoot(root rootCredentials) error {
	object, err := json.Marshal(root) //nolint:gosec // these credentials are what the command is asked to show
	if err != nil {
		return err
	}
	return c.showObject(object, "clientId", "clientSecret", "token")
}

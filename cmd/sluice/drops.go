package main

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) tablesDroppedCommand() *cobra.Command {
	var o listOptions
	var catalog, state string
	cmd := &cobra.Command{
		Use:   "dropped",
		Short: "List dropped tables that can be undropped or are being purged",
		Long: "Lists dropped tables, newest first. PURGE AFTER is when the files of a table may be deleted; without it they stay.\n" +
			"--state shows others: purged, undropped, unregistered, registered, forgotten, or all.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := filled(map[string]string{"catalog": catalog, "state": state})
			return c.list(cmd.Context(), []string{"dropped-tables"}, query, o, columns{
				{"ID", "id"}, {"TABLE", "ref"}, {"STATE", "state"}, {"DROPPED", "droppedAt"}, {"BY", "droppedBy"}, {"PURGE AFTER", "purgeAfter"},
			})
		},
	}
	cmd.Flags().StringVar(&catalog, "catalog", "", "of this catalog alone")
	cmd.Flags().StringVar(&state, "state", "", "drops in this state, or all")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tablesUndropCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "undrop ID",
		Short:   "Bring a dropped table back",
		Long:    "Brings the dropped table ID back with its governance and history; `sluice tables dropped` lists the ids.",
		Example: "  sluice tables undrop 0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d --name sales.orders_restored",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var body any
			if name != "" {
				body = map[string]string{"name": name}
			}
			return c.object(cmd.Context(), http.MethodPost, []string{"dropped-tables", args[0], "undrop"}, body, tableFields()...)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "namespace.table to bring it back as, where its name is taken")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tablesForgetCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Give up a dropped table: its files stay, and it cannot be undropped",
		Long:  "Gives up the dropped or unregistered table ID. Its files stay for ever and its location is free for another table.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usageError{errors.New("nothing was forgotten: add --yes, because it cannot be taken back")}
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			if err := api.call(cmd.Context(), http.MethodPost, []string{"dropped-tables", args[0], "forget"}, nil, nil, nil); err != nil {
				return err
			}
			return c.done(map[string]any{"id": args[0], "state": "forgotten"}, "%s: forgotten\n", args[0])
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "it cannot be taken back")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tablesProtectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "protect TABLE",
		Short: "Protect a table against being dropped",
		Long:  "Protects TABLE, which is catalog.namespace.table or a table UUID, against being dropped, unregistered or registered over.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return c.setProtection(cmd, args[0], true) },
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tablesUnprotectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unprotect TABLE",
		Short: "Clear a table's protection",
		Long:  "Clears the protection of TABLE, which is catalog.namespace.table or a table UUID.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return c.setProtection(cmd, args[0], false) },
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) setProtection(cmd *cobra.Command, table string, protected bool) error {
	return c.object(cmd.Context(), http.MethodPut, []string{"tables", table, "protection"}, map[string]bool{"protected": protected}, tableFields()...)
}

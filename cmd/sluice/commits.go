package main

import "github.com/spf13/cobra"

func (c *cli) commitsCommand() *cobra.Command {
	return group("commits", "Show the commit ledger", c.commitsListCommand())
}

func (c *cli) commitsListCommand() *cobra.Command {
	var o listOptions
	var table string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List commits, newest first, and how far their reconciliation is",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := filled(map[string]string{"table": table})
			return c.list(cmd.Context(), []string{"commits"}, query, o, columns{
				{"COMMITTED", "committedAt"}, {"TABLE", "ref"}, {"SNAPSHOT", "snapshotId"}, {"OPERATION", "operation"}, {"KIND", "kind"},
				{"STATUS", "status"}, {"ADDED", "addedRows"}, {"REMOVED", "removedRows"}, {"ROWS BEFORE", "rowCountBefore"}, {"ROWS AFTER", "rowCountAfter"}, {"WRITER", "writer.principal"}, {"ENGINE", "writer.engine"},
			})
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "of this table alone: catalog.namespace.table or a table UUID")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

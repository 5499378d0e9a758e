package main

import (
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) reconcileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reconcile TABLE",
		Short: "Reconcile a table's newest commit now",
		Long:  "Starts the reconciliation of TABLE's head: recount, restamp, audit. It happens by itself after each commit, and doing it twice does no harm.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.object(cmd.Context(), http.MethodPost, []string{"tables", args[0], "reconcile"}, nil, "workflowId")
		},
	}
	c.clientFlags(cmd)
	return cmd
}

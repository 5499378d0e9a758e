package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func (c *cli) auditCheckpointsCommand() *cobra.Command {
	var o listOptions
	var lines bool
	cmd := &cobra.Command{
		Use:   "checkpoints",
		Short: "List the signed checkpoints of the audit, newest first",
		Long: "Lists the signed checkpoints of the audit, newest first. With --lines it writes all of them, one JSON object a line, to be\n" +
			"kept where nobody who can change the database can change them: `sluice audit verify --from-checkpoint-file` holds the\n" +
			"audit against them, and so notices an end that was cut off and a chain that was computed anew.",
		Example: "  sluice audit checkpoints --lines > checkpoints.jsonl",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines {
				return c.writeCheckpoints(cmd.Context())
			}
			return c.list(cmd.Context(), []string{"audit", "checkpoints"}, nil, o, columns{
				{"AT", "at"}, {"SEQ", "seq"}, {"HASH", "hash"}, {"PRUNED", "pruned"}, {"KEY", "keyId"}, {"PUBLIC KEY", "publicKey"},
			})
		},
	}
	cmd.Flags().BoolVar(&lines, "lines", false, "every checkpoint, one JSON object a line")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// writeCheckpoints writes every checkpoint as the server gives it.
func (c *cli) writeCheckpoints(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	query := url.Values{"limit": {"1000"}}
	for {
		var one page
		if err := api.call(ctx, http.MethodGet, []string{"audit", "checkpoints"}, query, nil, &one); err != nil {
			return err
		}
		for _, item := range one.Items {
			if _, err := fmt.Fprintf(c.out, "%s\n", item); err != nil {
				return err
			}
		}
		if one.Next == "" {
			return nil
		}
		query.Set("after", one.Next)
	}
}

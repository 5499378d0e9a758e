package main

import (
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) whoamiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Say whose token this is and what it opens",
		Long: "Says which principal the token is of, with which of its roles and what clearance it acts, whether it may write and govern,\n" +
			"when it expires, and the catalog that it is bound to; without one it opens every catalog.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.object(cmd.Context(), http.MethodGet, []string{"whoami"}, nil,
				"principal", "kind", "tokenId", "principalRoles", "clearance", "canWrite", "canGovern", "catalog", "expiresAt")
		},
	}
	c.clientFlags(cmd)
	return cmd
}

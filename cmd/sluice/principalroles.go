package main

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) principalRolesCommand() *cobra.Command {
	return group("principal-roles", "Make and change principal roles, and say who has them",
		c.principalRolesCreateCommand(), c.principalRolesDeleteCommand(), c.principalRolesGetCommand(), c.principalRolesListCommand(),
		c.principalRolesUpdateCommand(), c.principalRolesGrantCommand(), c.principalRolesRevokeCommand())
}

func (c *cli) principalRolesCreateCommand() *cobra.Command {
	var props []string
	var federated bool
	cmd := &cobra.Command{
		Use:   "create ROLE",
		Short: "Make a principal role",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := properties(props)
			if err != nil {
				return err
			}
			role := entity{"name": args[0], "properties": all}
			if federated {
				role["federated"] = true
			}
			return c.change(cmd.Context(), http.MethodPost, []string{"principal-roles"}, entity{"principalRole": role}, "Principal role %s is made", args[0])
		},
	}
	propertyFlag(cmd, &props)
	cmd.Flags().BoolVar(&federated, "federated", false, "the identity provider says who has it, token by token")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalRolesDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete ROLE",
		Short: "Delete a principal role; who had it has it no more, at once",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd.Context(), http.MethodDelete, []string{"principal-roles", args[0]}, nil, "Principal role %s is deleted", args[0])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalRolesGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get ROLE",
		Short: "Show a principal role",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.get(cmd.Context(), []string{"principal-roles", args[0]}, "name", "federated", "properties")
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalRolesListCommand() *cobra.Command {
	var principal, catalog, catalogRole string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List principal roles, all of them or those of a principal or with a catalog role",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := []string{"principal-roles"}
			switch {
			case principal != "" && catalogRole != "":
				return usageError{errors.New("--principal and --catalog-role exclude each other")}
			case principal != "":
				path = []string{"principals", principal, "principal-roles"}
			case catalogRole != "":
				if err := required(cmd, "catalog"); err != nil {
					return err
				}
				path = []string{"catalogs", catalog, "catalog-roles", catalogRole, "principal-roles"}
			}
			return c.whole(cmd.Context(), path, "roles", "No principal roles.", columns{
				{"PRINCIPAL ROLE", "name"}, {"FEDERATED", "federated"}, {"PROPERTIES", "properties"}, {"VERSION", "entityVersion"},
			})
		},
	}
	cmd.Flags().StringVar(&principal, "principal", "", "those of this principal alone")
	cmd.Flags().StringVar(&catalogRole, "catalog-role", "", "those alone that have this catalog role, of --catalog")
	cmd.Flags().StringVar(&catalog, "catalog", "", "the catalog of --catalog-role")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalRolesUpdateCommand() *cobra.Command {
	var props propertyFlags
	var federated bool
	cmd := &cobra.Command{
		Use:   "update ROLE",
		Short: "Change a principal role's properties, make it federated or not",
		Long: "Changes what is given of ROLE; the rest stays. Who has a role assigned keeps it when it becomes federated, and nobody has it\n" +
			"by a token any more when it is federated no longer.",
		Example: "  sluice principal-roles update analysts --federated",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.modify(cmd.Context(), []string{"principal-roles", args[0]}, func(is, update entity) error {
				if cmd.Flags().Changed("federated") {
					update["federated"] = federated
				}
				return props.change(is, update)
			}, "Principal role %s is changed", args[0])
		},
	}
	props.flags(cmd)
	cmd.Flags().BoolVar(&federated, "federated", false, "the identity provider says who has it, token by token; --federated=false: no longer")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalRolesGrantCommand() *cobra.Command {
	var principal string
	cmd := &cobra.Command{
		Use:     "grant ROLE",
		Short:   "Give a principal role to a principal",
		Example: "  sluice principal-roles grant --principal etl writers",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "principal"); err != nil {
				return err
			}
			body := entity{"principalRole": entity{"name": args[0]}}
			return c.change(cmd.Context(), http.MethodPut, []string{"principals", principal, "principal-roles"}, body, "Principal %s has principal role %s", principal, args[0])
		},
	}
	cmd.Flags().StringVar(&principal, "principal", "", "who gets it")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) principalRolesRevokeCommand() *cobra.Command {
	var principal string
	cmd := &cobra.Command{
		Use:   "revoke ROLE",
		Short: "Take a principal role from a principal, at once",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "principal"); err != nil {
				return err
			}
			path := []string{"principals", principal, "principal-roles", args[0]}
			return c.change(cmd.Context(), http.MethodDelete, path, nil, "Principal %s no longer has principal role %s", principal, args[0])
		},
	}
	cmd.Flags().StringVar(&principal, "principal", "", "whom it is taken from")
	c.clientFlags(cmd)
	return cmd
}

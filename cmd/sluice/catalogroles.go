package main

import (
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) catalogRolesCommand() *cobra.Command {
	return group("catalog-roles", "Make and change catalog roles, and say which principal roles have them",
		c.catalogRolesCreateCommand(), c.catalogRolesDeleteCommand(), c.catalogRolesGetCommand(), c.catalogRolesListCommand(),
		c.catalogRolesUpdateCommand(), c.catalogRolesGrantCommand(), c.catalogRolesRevokeCommand())
}

func (c *cli) catalogRolesCreateCommand() *cobra.Command {
	var catalog string
	var props []string
	cmd := &cobra.Command{
		Use:     "create ROLE",
		Short:   "Make a catalog role, which `sluice privileges` fills",
		Example: "  sluice catalog-roles create --catalog main ingest",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			all, err := properties(props)
			if err != nil {
				return err
			}
			body := entity{"catalogRole": entity{"name": args[0], "properties": all}}
			return c.change(cmd.Context(), http.MethodPost, []string{"catalogs", catalog, "catalog-roles"}, body, "Catalog role %s.%s is made", catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	propertyFlag(cmd, &props)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogRolesDeleteCommand() *cobra.Command {
	var catalog string
	cmd := &cobra.Command{
		Use:   "delete ROLE",
		Short: "Delete a catalog role with its grants",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			path := []string{"catalogs", catalog, "catalog-roles", args[0]}
			return c.change(cmd.Context(), http.MethodDelete, path, nil, "Catalog role %s.%s is deleted", catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogRolesGetCommand() *cobra.Command {
	var catalog string
	cmd := &cobra.Command{
		Use:   "get ROLE",
		Short: "Show a catalog role",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			return c.get(cmd.Context(), []string{"catalogs", catalog, "catalog-roles", args[0]}, "name", "properties")
		},
	}
	catalogFlag(cmd, &catalog)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogRolesListCommand() *cobra.Command {
	var principalRole string
	cmd := &cobra.Command{
		Use:   "list CATALOG",
		Short: "List the roles of a catalog, all of them or those of a principal role",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := []string{"catalogs", args[0], "catalog-roles"}
			if principalRole != "" {
				path = []string{"principal-roles", principalRole, "catalog-roles", args[0]}
			}
			return c.whole(cmd.Context(), path, "roles", "No catalog roles.", columns{
				{"CATALOG ROLE", "name"}, {"PROPERTIES", "properties"}, {"VERSION", "entityVersion"},
			})
		},
	}
	cmd.Flags().StringVar(&principalRole, "principal-role", "", "those alone that this principal role has")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogRolesUpdateCommand() *cobra.Command {
	var catalog string
	var props propertyFlags
	cmd := &cobra.Command{
		Use:   "update ROLE",
		Short: "Change a catalog role's properties",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			path := []string{"catalogs", catalog, "catalog-roles", args[0]}
			return c.modify(cmd.Context(), path, props.change, "Catalog role %s.%s is changed", catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	props.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogRolesGrantCommand() *cobra.Command {
	var catalog, principalRole string
	cmd := &cobra.Command{
		Use:     "grant ROLE",
		Short:   "Give a catalog role to a principal role",
		Example: "  sluice catalog-roles grant --catalog main --principal-role writers ingest",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog", "principal-role"); err != nil {
				return err
			}
			body := entity{"catalogRole": entity{"name": args[0]}}
			path := []string{"principal-roles", principalRole, "catalog-roles", catalog}
			return c.change(cmd.Context(), http.MethodPut, path, body, "Principal role %s has catalog role %s.%s", principalRole, catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	cmd.Flags().StringVar(&principalRole, "principal-role", "", "which role gets it")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) catalogRolesRevokeCommand() *cobra.Command {
	var catalog, principalRole string
	cmd := &cobra.Command{
		Use:   "revoke ROLE",
		Short: "Take a catalog role from a principal role, at once",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog", "principal-role"); err != nil {
				return err
			}
			path := []string{"principal-roles", principalRole, "catalog-roles", catalog, args[0]}
			return c.change(cmd.Context(), http.MethodDelete, path, nil, "Principal role %s no longer has catalog role %s.%s", principalRole, catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	cmd.Flags().StringVar(&principalRole, "principal-role", "", "which role it is taken from")
	c.clientFlags(cmd)
	return cmd
}

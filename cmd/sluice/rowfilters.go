package main

import (
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
)

// rowFiltersSegment is the path of a table's row filters below it.
const rowFiltersSegment = "row-filters"

func (c *cli) rowFiltersCommand() *cobra.Command {
	return group("row-filters", "Show and set which rows of a table the members of a role see",
		c.rowFiltersListCommand(), c.rowFiltersSetCommand(), c.rowFiltersRemoveCommand())
}

func (c *cli) rowFiltersListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list TABLE",
		Short: "List the row filters of a table",
		Long:  "Lists the row filters of TABLE, which is catalog.namespace.table or a table UUID.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var found page
			if err := api.call(cmd.Context(), http.MethodGet, []string{"tables", args[0], rowFiltersSegment}, nil, nil, &found); err != nil {
				return err
			}
			if c.format == formatJSON {
				return c.showJSON(found)
			}
			return c.showPage(found, rowFiltersSegment, listOptions{}, columns{{"ROLE", "role"}, {"FILTER", "filter"}})
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) rowFiltersSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set TABLE ROLE FILTER",
		Short: "Let the members of a role see the rows that match a condition",
		Long: "Lets the members of the principal role ROLE see the rows of TABLE that match FILTER, a condition as of SQL's WHERE.\n" +
			"Who has several such roles sees what any of their filters lets through; TRUE is every row. Once a table has a\n" +
			"filter, who has a role with none sees no rows, stewards too, and only who sees every row may read its files.",
		Example: "  sluice row-filters set main.sales.orders eu_analysts \"region = 'EU' AND NOT test\"\n" +
			"  sluice row-filters set main.sales.orders auditors TRUE",
		Args: usageArgs(cobra.ExactArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var answer json.RawMessage
			body := map[string]string{"filter": args[2]}
			if err := api.call(cmd.Context(), http.MethodPut, []string{"tables", args[0], rowFiltersSegment, args[1]}, nil, body, &answer); err != nil {
				return err
			}
			return c.done(answer, "%s sees the rows of %s where %s\n", args[1], args[0], args[2])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) rowFiltersRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove TABLE ROLE",
		Short: "Take the row filter of a role away",
		Long: "Takes the row filter of the principal role ROLE on TABLE away. While the table has others, the role's members see no\n" +
			"rows by it; without any, everybody who may read the table sees all of them.",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			if err := api.call(cmd.Context(), http.MethodDelete, []string{"tables", args[0], rowFiltersSegment, args[1]}, nil, nil, nil); err != nil {
				return err
			}
			return c.done(map[string]string{"table": args[0], "role": args[1]}, "The row filter of %s on %s is removed.\n", args[1], args[0])
		},
	}
	c.clientFlags(cmd)
	return cmd
}

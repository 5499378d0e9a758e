package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func (c *cli) namespacesCommand() *cobra.Command {
	return group("namespaces", "Make, show and delete namespaces",
		c.namespacesCreateCommand(), c.namespacesListCommand(), c.namespacesDeleteCommand(), c.namespacesGetCommand())
}

func (c *cli) namespacesCreateCommand() *cobra.Command {
	var catalog, location string
	var props []string
	cmd := &cobra.Command{
		Use:     "create NAMESPACE",
		Short:   "Make a namespace",
		Long:    "Makes NAMESPACE, whose levels are separated by dots, in the catalog. What it lies in must be there.",
		Example: "  sluice namespaces create --catalog main sales.eu",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			all, err := properties(props)
			if err != nil {
				return err
			}
			if location != "" {
				all["location"] = location
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			var answer json.RawMessage
			body := entity{"namespace": strings.Split(args[0], "."), "properties": all}
			if err := api.on(facadePath).call(cmd.Context(), http.MethodPost, []string{catalog, "namespaces"}, nil, body, &answer); err != nil {
				return err
			}
			return c.done(answer, "Namespace %s.%s is made.\n", catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	cmd.Flags().StringVar(&location, "location", "", "where its tables lie (default: a folder of the catalog)")
	propertyFlag(cmd, &props)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) namespacesListCommand() *cobra.Command {
	var catalog, parent string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the namespaces of a catalog, or of a namespace, that you may see",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			var in []string
			if parent != "" {
				in = strings.Split(parent, ".")
			}
			found, err := api.on(facadePath).namespacesIn(cmd.Context(), catalog, in)
			if err != nil {
				return err
			}
			if c.format == formatJSON {
				return c.showJSON(entity{"namespaces": append([][]string{}, found...)})
			}
			rows := make([]map[string]any, 0, len(found))
			for _, levels := range found {
				rows = append(rows, map[string]any{"namespace": strings.Join(levels, ".")})
			}
			return c.showRows(rows, "No namespaces.", columns{{"NAMESPACE", "namespace"}})
		},
	}
	catalogFlag(cmd, &catalog)
	cmd.Flags().StringVar(&parent, "parent", "", "namespace in which they lie (default: directly in the catalog)")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) namespacesDeleteCommand() *cobra.Command {
	var catalog string
	cmd := &cobra.Command{
		Use:   "delete NAMESPACE",
		Short: "Delete an empty namespace",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			if err := api.on(facadePath).call(cmd.Context(), http.MethodDelete, namespacePath(catalog, args[0]), nil, nil, nil); err != nil {
				return err
			}
			return c.done(entity{"namespace": args[0], "deleted": true}, "Namespace %s.%s is deleted.\n", catalog, args[0])
		},
	}
	catalogFlag(cmd, &catalog)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) namespacesGetCommand() *cobra.Command {
	var catalog string
	cmd := &cobra.Command{
		Use:   "get NAMESPACE",
		Short: "Show a namespace and its properties",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "catalog"); err != nil {
				return err
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			var answer json.RawMessage
			if err := api.on(facadePath).call(cmd.Context(), http.MethodGet, namespacePath(catalog, args[0]), nil, nil, &answer); err != nil {
				return err
			}
			return c.showObject(answer, "namespace", "properties")
		},
	}
	catalogFlag(cmd, &catalog)
	c.clientFlags(cmd)
	return cmd
}

func catalogFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "catalog", "", "the catalog it is in")
}

func namespacePath(catalog, name string) []string {
	return []string{catalog, "namespaces", strings.ReplaceAll(name, ".", levelSeparator)}
}

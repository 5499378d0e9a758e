package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) policyCommand() *cobra.Command {
	return group("policy", "Show and set what engines may commit",
		c.policyGetCommand(), c.policySetCommand(), c.policyGetDefaultCommand(), c.policySetDefaultCommand(), c.policyDuplicatesCommand())
}

const policyNames = "POLICY is governed_only (no external commit), open_append (verified appends and additive changes)\n" +
	"or open_full (every commit the principal's privileges allow)."

func (c *cli) policyGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get TABLE",
		Short: "Show a table's write policy",
		Long:  "Shows the write policy of TABLE, which is catalog.namespace.table or a table UUID.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var table struct {
				Ref         string `json:"ref"`
				WritePolicy string `json:"writePolicy"`
			}
			if err := api.call(cmd.Context(), http.MethodGet, []string{"tables", args[0]}, nil, nil, &table); err != nil {
				return err
			}
			return c.done(table, "%s\n", cell(table.WritePolicy))
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) policySetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set TABLE POLICY",
		Short:   "Set a table's write policy",
		Long:    "Sets the write policy of TABLE, which is catalog.namespace.table or a table UUID.\n" + policyNames,
		Example: "  sluice policy set main.sales.orders open_append",
		Args:    policyArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.setPolicy(cmd, []string{"tables", args[0], "write-policy"}, args)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) policySetDefaultCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set-default CATALOG[.NAMESPACE] POLICY",
		Short:   "Set the write policy that new tables get",
		Long:    "Sets the write policy of tables made from now on in the catalog or namespace; existing tables keep theirs.\n" + policyNames,
		Example: "  sluice policy set-default main.landing open_append",
		Args:    policyArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.setPolicy(cmd, []string{kindOfDefault(args[0]), args[0], defaultPolicySegment}, args)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

const defaultPolicySegment = "default-write-policy"

// kindOfDefault says what a ref of a catalog or a namespace names.
func kindOfDefault(ref string) string {
	if strings.ContainsAny(ref, "."+levelSeparator) {
		return "namespaces"
	}
	return "catalogs"
}

// defaultPolicyPath names the default write policy of a namespace, or without levels of its catalog.
func defaultPolicyPath(catalog string, levels []string) []string {
	ref := strings.Join(append([]string{catalog}, levels...), levelSeparator)
	return []string{kindOfDefault(ref), ref, defaultPolicySegment}
}

// defaultPolicyAnswer is the write policy that new tables get.
type defaultPolicyAnswer struct {
	Ref       string             `json:"ref"`
	Policy    models.WritePolicy `json:"policy"`
	Inherited bool               `json:"inherited"`
}

func (c *cli) policyGetDefaultCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get-default CATALOG[.NAMESPACE]",
		Short: "Show the write policy that new tables get",
		Long: "Shows the write policy of tables made from now on in the catalog or namespace. One that has none of its own inherits\n" +
			"that of what it lies in.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var answer defaultPolicyAnswer
			path := []string{kindOfDefault(args[0]), args[0], defaultPolicySegment}
			if err := api.call(cmd.Context(), http.MethodGet, path, nil, nil, &answer); err != nil {
				return err
			}
			text := string(answer.Policy)
			if answer.Inherited {
				text += " (inherited)"
			}
			return c.done(answer, "%s\n", cell(text))
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) policyDuplicatesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "duplicate-commits TABLE [audit|reject]",
		Short: "Show or set what becomes of commits that a table has already",
		Long: "Shows, or sets, what becomes of a commit to TABLE that brings a checkpoint, epoch or data file which the table has already.\n" +
			"audit (the default): it is taken, and is a finding. reject: it is refused (409), which costs each commit a look at its files.",
		Example: "  sluice policy duplicate-commits main.sales.orders reject",
		Args:    usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var table struct {
				Ref              string `json:"ref"`
				DuplicateCommits string `json:"duplicateCommits"`
			}
			path := []string{"tables", args[0]}
			if len(args) == 1 {
				err = api.call(cmd.Context(), http.MethodGet, path, nil, nil, &table)
			} else {
				err = api.call(cmd.Context(), http.MethodPut, append(path, "duplicate-commits"), nil, map[string]string{"mode": args[1]}, &table)
			}
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return c.done(table, "%s: %s\n", table.Ref, cell(table.DuplicateCommits))
			}
			return c.done(table, "%s\n", cell(table.DuplicateCommits))
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) setPolicy(cmd *cobra.Command, path, args []string) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	body := map[string]string{"policy": args[1]}
	if err := api.call(cmd.Context(), http.MethodPut, path, nil, body, &answer); err != nil {
		return err
	}
	return c.done(answer, "%s: %s\n", args[0], args[1])
}

func policyArgs(cmd *cobra.Command, args []string) error {
	if err := usageArgs(cobra.ExactArgs(2))(cmd, args); err != nil {
		return err
	}
	if _, err := models.ParseWritePolicy(args[1]); err != nil {
		return usageError{err}
	}
	return nil
}

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) tablesCommand() *cobra.Command {
	return group("tables", "Show governed tables, classify and protect them, take drops back",
		c.tablesListCommand(), c.tablesGetCommand(), c.tablesCheckCommand(), c.tablesClassifyCommand(),
		c.tablesDroppedCommand(), c.tablesUndropCommand(), c.tablesForgetCommand(), c.tablesProtectCommand(), c.tablesUnprotectCommand())
}

func (c *cli) tablesListCommand() *cobra.Command {
	var o listOptions
	var catalog string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tables with their policy, classification and pending commits",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.list(cmd.Context(), []string{"tables"}, filled(map[string]string{"catalog": catalog}), o, columns{
				{"TABLE", "ref"}, {"POLICY", "writePolicy"}, {"CLASSIFICATION", "classification"},
				{"ROWS", "rowCount"}, {"SNAPSHOT", "currentSnapshotId"}, {"PENDING", "pendingCommits"},
			})
		},
	}
	cmd.Flags().StringVar(&catalog, "catalog", "", "of this catalog alone")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) tablesGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get TABLE",
		Short: "Show a table as its governors see it",
		Long:  "Shows TABLE, which is catalog.namespace.table or a table UUID.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.object(cmd.Context(), http.MethodGet, []string{"tables", args[0]}, nil, tableFields()...)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func tableFields() []string {
	return []string{"ref", "uuid", "writePolicy", "duplicateCommits", "protected", "classification", "identityColumns", "columns", "columnLevels", "rowFilters", "rowCount", "currentSnapshotId", "recordedSnapshotId", "pendingCommits"}
}

func (c *cli) tablesClassifyCommand() *cobra.Command {
	var identity, columnFlags []string
	cmd := &cobra.Command{
		Use:   "classify TABLE LEVEL",
		Short: "Say how sensitive a table and its columns are",
		Long: "Classifies TABLE as LEVEL: public, internal, confidential or restricted. What no flag says stays as it is;\n" +
			"--column and --identity-columns replace all that was said of columns, and an empty one (--column '') says nothing of any.\n" +
			"A column is NAME=SENSITIVITY[:TAG[:MASK]]; masks are null, redact, partial, hash and truncate.",
		Example: "  sluice tables classify main.crm.people confidential --identity-columns id --column email=restricted:email:partial",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := classification(args[1], given(cmd, "identity-columns", identity), given(cmd, "column", columnFlags))
			if err != nil {
				return usageError{err}
			}
			return c.object(cmd.Context(), http.MethodPut, []string{"tables", args[0], "classification"}, body, tableFields()...)
		},
	}
	cmd.Flags().StringSliceVar(&identity, "identity-columns", nil, "columns that identify a row's subject, separated by commas")
	cmd.Flags().StringArrayVar(&columnFlags, "column", nil, "NAME=SENSITIVITY[:TAG[:MASK]]; may be given several times")
	c.clientFlags(cmd)
	return cmd
}

// given gives what a flag lists: nil when it is not there, and nothing but not nil when it is there and empty.
func given(cmd *cobra.Command, flag string, listed []string) []string {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return slices.DeleteFunc(append([]string{}, listed...), func(s string) bool { return s == "" })
}

// classificationBody is the request that classifies a table. What is nil stays as it is: what is said of columns masks
// them, and is not to be lost with a change of something else.
type classificationBody struct {
	Level           models.Classification              `json:"level"`
	IdentityColumns []string                           `json:"identityColumns,omitzero"`
	Columns         map[string]models.ColumnGovernance `json:"columns,omitzero"`
}

func classification(level string, identity, columnFlags []string) (classificationBody, error) {
	parsed, err := models.ParseClassification(level)
	if err != nil {
		return classificationBody{}, err
	}
	body := classificationBody{Level: parsed, IdentityColumns: identity}
	if columnFlags != nil {
		body.Columns = map[string]models.ColumnGovernance{}
	}
	for _, text := range columnFlags {
		name, governance, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return body, fmt.Errorf("column %q is not NAME=SENSITIVITY[:TAG[:MASK]]", text)
		}
		if body.Columns[name], err = columnGovernance(governance); err != nil {
			return body, fmt.Errorf("column %s: %w", name, err)
		}
	}
	return body, nil
}

func columnGovernance(text string) (models.ColumnGovernance, error) {
	parts := append(strings.SplitN(text, ":", 3), "", "")
	sensitivity, err := models.ParseClassification(parts[0])
	if err != nil {
		return models.ColumnGovernance{}, err
	}
	mask, err := models.ParseMask(parts[2])
	return models.ColumnGovernance{Sensitivity: sensitivity, Tag: parts[1], Mask: mask}, err
}

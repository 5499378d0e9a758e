package main

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) findingsCommand() *cobra.Command {
	return group("findings", "Show what should be looked at, and say that it was", c.findingsListCommand(), c.findingsResolveCommand())
}

func (c *cli) findingsListCommand() *cobra.Command {
	var o listOptions
	var table, kind, state string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List findings, newest first",
		Long: "Lists findings that nobody has resolved and that are still so: file_changed, missing_file, summary_mismatch.\n" +
			"--state shows others: resolved, or all.",
		Example: "  sluice findings list --table main.sales.orders --kind file_changed -o json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			open, ok := map[string]string{"open": "true", "resolved": "false", "all": ""}[state]
			if !ok {
				return usageError{errors.New("--state must be open, resolved or all")}
			}
			o.prepare = func(row map[string]any) { row["detail"] = findingDetail(row) }
			query := filled(map[string]string{"table": table, "kind": kind, "open": open})
			return c.list(cmd.Context(), []string{"findings"}, query, o, columns{
				{"ID", "id"}, {"LAST SEEN", "lastSeenAt"}, {"KIND", "kind"}, {"SEVERITY", "severity"}, {"TABLE", "ref"}, {"SUBJECT", "subject"},
				{"DETAIL", "detail"}, {"RESOLVED", "resolvedAt"},
			})
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "of this table alone: catalog.namespace.table or a table UUID")
	cmd.Flags().StringVar(&kind, "kind", "", "of this kind alone, such as file_changed")
	cmd.Flags().StringVar(&state, "state", "open", "open, resolved or all")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// findingDetail is what a table of findings says of one beside its subject: what somebody resolved it with, what a file
// was and is, what was observed.
func findingDetail(row map[string]any) any {
	if note := row["note"]; note != nil {
		return note
	}
	evidence, _ := row["evidence"].(map[string]any)
	if observed, ok := evidence["observed"].([]any); ok && len(observed) > 0 {
		return observed[0]
	}
	then, now := lookup(evidence, "then.size"), lookup(evidence, "now.size")
	switch {
	case then == nil:
		return nil
	case now == nil:
		return cell(then) + " bytes → gone"
	case cell(then) == cell(now):
		return "another content of " + cell(then) + " bytes"
	}
	return cell(then) + " → " + cell(now) + " bytes"
}

func (c *cli) findingsResolveCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "resolve ID...",
		Short: "Say that findings were looked at and things are right as they are",
		Long: "Resolves the findings ID; `sluice findings list` shows the ids. A changed file is held against what it is now from\n" +
			"then on, and a missing one is watched no more. It needs CATALOG_MANAGE_ACCESS. Findings about files resolve by\n" +
			"themselves when the files are as they were.",
		Example: "  sluice findings resolve 0197a0de-7c1b-7f5e-9d3c-0d8a1f2b3c4d --note 'repaired by hand'",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			for _, id := range args {
				var answer json.RawMessage
				if err := api.call(cmd.Context(), http.MethodPost, []string{"findings", id, "resolve"}, nil, map[string]string{"note": note}, &answer); err != nil {
					return err
				}
				if err := c.showObject(answer, "id", "kind", "ref", "subject", "resolvedAt", "resolvedBy", "note"); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "what was found and done, for the audit")
	c.clientFlags(cmd)
	return cmd
}

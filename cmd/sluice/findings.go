package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) findingsCommand() *cobra.Command {
	return group("findings", "Show what should be looked at, and say that it was", c.findingsListCommand(), c.findingsResolveCommand())
}

func (c *cli) findingsListCommand() *cobra.Command {
	var o listOptions
	var table, writer, kind, state string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List findings, newest first",
		Long: "Lists findings that nobody has resolved and that are still so. --state shows others: resolved, or all. With -o json each\n" +
			"has its evidence, and what to do. Kinds:\n" + kindLines(),
		Example: "  sluice findings list --table main.sales.orders --kind file_changed -o json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			open, ok := map[string]string{"open": "true", "resolved": "false", "all": ""}[state]
			if !ok {
				return usageError{errors.New("--state must be open, resolved or all")}
			}
			o.prepare = func(row map[string]any) { row["detail"] = findingDetail(row) }
			query := filled(map[string]string{"table": table, "writer": writer, "kind": kind, "open": open})
			return c.list(cmd.Context(), []string{"findings"}, query, o, columns{
				{"ID", "id"}, {"LAST SEEN", "lastSeenAt"}, {"KIND", "kind"}, {"SEVERITY", "severity"}, {"TABLE", "ref"}, {"SUBJECT", "subject"},
				{"DETAIL", "detail"}, {"RESOLVED", "resolvedAt"},
			})
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "of this table alone: catalog.namespace.table or a table UUID")
	cmd.Flags().StringVar(&writer, "writer", "", "about this writer alone: an id that writers list shows")
	cmd.Flags().StringVar(&kind, "kind", "", "of this kind alone, such as file_changed")
	cmd.Flags().StringVar(&state, "state", "open", "open, resolved or all")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// kindLines names the kinds of findings, some to a line.
func kindLines() string {
	const wide = 110
	var text, line strings.Builder
	for _, kind := range models.FindingKinds() {
		if line.Len()+len(kind) > wide {
			text.WriteString(line.String() + "\n")
			line.Reset()
		}
		line.WriteString(" " + string(kind))
	}
	return text.String() + line.String()
}

// findingDetail is what a table of findings says of one beside its subject: what somebody resolved it with, what a file
// was and is, what was observed, what to do.
func findingDetail(row map[string]any) any {
	if note := row["note"]; note != nil {
		return note
	}
	evidence, _ := row["evidence"].(map[string]any)
	if observed, ok := evidence["observed"].([]any); ok && len(observed) > 0 {
		return observed[0]
	}
	if earlier := evidence["earlierSnapshot"]; earlier != nil {
		return twinDetail(evidence, cell(earlier))
	}
	then, now := lookup(evidence, "then.size"), lookup(evidence, "now.size")
	switch {
	case then == nil:
		return evidence["remedy"]
	case now == nil:
		return cell(then) + " bytes → gone"
	case cell(then) == cell(now):
		return "another content of " + cell(then) + " bytes"
	}
	return cell(then) + " → " + cell(now) + " bytes"
}

// twinDetail names the earlier of two commits, and where the later stands to it.
func twinDetail(evidence map[string]any, earlier string) string {
	unit, before := evidence["unit"], evidence["earlierUnit"]
	switch {
	case unit == nil || before == nil:
		return "compare with snapshot " + earlier
	case unit == before:
		return cell(unit) + " is in snapshot " + earlier + " already"
	}
	return cell(unit) + " after " + cell(before) + " of snapshot " + earlier
}

func (c *cli) findingsResolveCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "resolve ID...",
		Short: "Say that findings were looked at and things are right as they are",
		Long: "Resolves the findings ID; `sluice findings list` shows the ids. A changed file is held against what it is now from\n" +
			"then on, and a missing one is watched no more. It needs CATALOG_MANAGE_ACCESS. Most findings resolve by\n" +
			"themselves when their cause is gone.",
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

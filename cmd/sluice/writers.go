package main

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) writersCommand() *cobra.Command {
	return group("writers", "Show who commits to tables and how far each is, and say how often they are to",
		c.writersListCommand(), c.writersShowCommand(), c.writersDeclareCommand(), c.writersSetCommand(), c.writersRetireCommand())
}

func (c *cli) writersListCommand() *cobra.Command {
	var o listOptions
	var table, state string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the writers of tables: streaming jobs, and engines in somebody's hands",
		Long: "Lists writers with their last commit and when the next is due. The state is active, late (it owes a commit), never (it was\n" +
			"declared and has not committed), finished (a bounded job that is done) or retired.",
		Example: "  sluice writers list --state late\n  sluice writers list --table main.sales.orders -o json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.prepare = func(row map[string]any) { row["rhythm"] = rhythm(row) }
			query := filled(map[string]string{"table": table, "state": state})
			return c.list(cmd.Context(), []string{"writers"}, query, o, columns{
				{"ID", "id"}, {"TABLE", "ref"}, {"KIND", "kind"}, {"PRINCIPAL", "principal"}, {"KEY", "key"}, {"STATE", "state"},
				{"LAST COMMIT", "lastCommitAt"}, {"EVERY", "rhythm"}, {"DUE", "dueAt"},
			})
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "of this table alone: catalog.namespace.table or a table UUID")
	cmd.Flags().StringVar(&state, "state", "", "in this state alone: active, late, never, finished or retired")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// rhythm is how often a writer commits: as it was declared, else as it was learned.
func rhythm(row map[string]any) any {
	if every := lookup(row, "cadence.every"); every != nil {
		return every
	}
	if median := lookup(row, "cadence.learned.median"); median != nil {
		return "about " + cell(median)
	}
	return nil
}

func writerFields() []string {
	return []string{
		"id", "ref", "kind", "key", "principal", "engine", "version", "job", "state", "commits", "firstCommitAt", "lastCommitAt",
		"lastSnapshotId", "cadence", "dueAt", "watermark", "validThrough", "credential",
	}
}

func (c *cli) writersShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a writer: its job, how far it is, how often it commits, what its credentials are",
		Long:  "Shows the writer ID; `sluice writers list` has the ids.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.object(cmd.Context(), http.MethodGet, []string{"writers", args[0]}, nil, writerFields()...)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) writersDeclareCommand() *cobra.Command {
	var every string
	cmd := &cobra.Command{
		Use:   "declare TABLE PRINCIPAL",
		Short: "Say that a principal is to commit to a table at least so often",
		Long: "Declares that PRINCIPAL commits to TABLE at least so often as --every says, with whatever engine. When it does not, that is a finding\n" +
			"(stalled_writer), from now on, whether or not it has ever committed. TABLE is catalog.namespace.table or a table UUID.",
		Example: "  sluice writers declare main.sales.orders nightly-etl --every 25h",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cadence(every); err != nil {
				return err
			}
			body := map[string]string{"table": args[0], "principal": args[1], "every": every}
			return c.object(cmd.Context(), http.MethodPost, []string{"writers"}, body, writerFields()...)
		},
	}
	everyFlag(cmd, &every)
	c.clientFlags(cmd)
	return cmd
}

func everyFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "every", "", "the longest time between two commits, such as 10m, 25h or 7d")
}

// cadence refuses what is no length of time before anybody is called.
func cadence(every string) error {
	if every == "" {
		return usageError{errors.New("--every is missing: the longest time between two commits, such as 10m or 25h")}
	}
	if d, err := models.ParseDuration(every); err != nil || d <= 0 {
		return usageError{errors.New("--every must be a length of time such as 10m, 25h or 7d")}
	}
	return nil
}

func (c *cli) writersSetCommand() *cobra.Command {
	var every string
	var learned bool
	cmd := &cobra.Command{
		Use:   "set ID",
		Short: "Say how often a writer is to commit, or leave it to what it did so far",
		Long: "Sets the longest time that may pass between two commits of the writer ID. With --learned it is what the writer's own\n" +
			"commits show: batch jobs without a regular rhythm are waited for by nobody then.",
		Example: "  sluice writers set 4f1c… --every 15m",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := map[string]*string{"every": nil}
			switch {
			case learned && every != "":
				return usageError{errors.New("--every and --learned contradict each other")}
			case !learned:
				if err := cadence(every); err != nil {
					return err
				}
				body["every"] = &every
			}
			return c.object(cmd.Context(), http.MethodPut, []string{"writers", args[0]}, body, writerFields()...)
		},
	}
	everyFlag(cmd, &every)
	cmd.Flags().BoolVar(&learned, "learned", false, "as often as it did so far")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) writersRetireCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "retire ID",
		Short: "Say that a writer is done, so that nobody waits for it",
		Long: "Retires the writer ID: its findings about being late and about its token are resolved, and it owes no commit. Should it\n" +
			"commit again, it is active again.",
		Example: "  sluice writers retire 4f1c… --note 'moved to the new pipeline'",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.object(cmd.Context(), http.MethodPost, []string{"writers", args[0], "retire"}, map[string]string{"note": note}, writerFields()...)
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, for the audit")
	c.clientFlags(cmd)
	return cmd
}

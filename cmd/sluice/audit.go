package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) auditCommand() *cobra.Command {
	return group("audit", "Search, follow and verify the audit", c.auditListCommand(), c.auditTailCommand(), c.auditVerifyCommand(), c.auditCheckpointsCommand())
}

func (c *cli) auditListCommand() *cobra.Command {
	var o listOptions
	filters := map[string]*string{}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List audit events, newest first",
		Example: "  sluice audit list --type table.commit_denied --since 24h --all -o json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := map[string]string{}
			for name, value := range filters {
				given[name] = *value
			}
			var err error
			if given["since"], err = sinceTime(given["since"], time.Now()); err != nil {
				return usageError{err}
			}
			o.prepare = func(row map[string]any) { row["detail"] = auditDetail(row) }
			return c.list(cmd.Context(), []string{"audit"}, filled(given), o, columns{
				{"AT", "at"}, {"EVENT", "type"}, {"ALLOWED", "allowed"}, {"PRINCIPAL", "principal"}, {"TARGET", "ref"},
				{"SNAPSHOT", "snapshotId"}, {"DETAIL", "detail"},
			})
		},
	}
	for name, usage := range map[string]string{
		"type":      "of this kind, such as table.commit_denied",
		"table":     "on this table: catalog.namespace.table or a table UUID",
		"catalog":   "on this catalog and what is in it",
		"principal": "of this principal",
		"since":     "not older than this: a time such as 2026-01-31T12:00:00Z, or an age such as 24h or 7d",
	} {
		filters[name] = cmd.Flags().String(name, "", usage)
	}
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// sinceTime gives the RFC 3339 form of a time or of an age.
func sinceTime(text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if age, err := models.ParseDuration(text); err == nil && age > 0 {
		return now.Add(-age).UTC().Format(time.RFC3339), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", fmt.Errorf("since %q is neither a time such as 2026-01-31T12:00:00Z nor an age such as 24h or 7d", text)
	}
	return at.UTC().Format(time.RFC3339), nil
}

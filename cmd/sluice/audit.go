package main

import (
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

func (c *cli) auditCommand() *cobra.Command {
	return group("audit", "Search the audit", c.auditListCommand())
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
			query := url.Values{}
			for name, value := range filters {
				if *value != "" {
					query.Set(name, *value)
				}
			}
			since, err := sinceTime(*filters["since"], time.Now())
			if err != nil {
				return usageError{err}
			}
			if since != "" {
				query.Set("since", since)
			}
			return c.list(cmd.Context(), []string{"audit"}, query, o, columns{
				{"AT", "at"}, {"EVENT", "type"}, {"ALLOWED", "allowed"}, {"PRINCIPAL", "principal"}, {"TABLE", "table"},
				{"SNAPSHOT", "snapshotId"}, {"REASON", "reason"},
			})
		},
	}
	for name, usage := range map[string]string{
		"type":      "of this kind, such as table.commit_denied",
		"table":     "on this table: catalog.namespace.table or a table UUID",
		"principal": "of this principal",
		"since":     "not older than this: a time such as 2026-01-31T12:00:00Z, or an age such as 24h",
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
	if age, err := time.ParseDuration(text); err == nil && age > 0 {
		return now.Add(-age).UTC().Format(time.RFC3339), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", fmt.Errorf("since %q is neither a time such as 2026-01-31T12:00:00Z nor an age such as 24h", text)
	}
	return at.UTC().Format(time.RFC3339), nil
}

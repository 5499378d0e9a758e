package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

const dataPath = "/data/v1"

func (c *cli) rowsCommand() *cobra.Command {
	return group("rows", "Read and write rows through governance, and see who wrote them",
		c.rowsQueryCommand(), c.rowsWriteCommand(), c.rowsProfileCommand(), c.rowsWritesCommand(), c.rowsAuditCommand(), c.rowsFindCommand())
}

// query is what a governed query is asked for.
type query struct {
	columns  []string
	where    string
	limit    int64 // 0 for all
	snapshot string
	asOf     string
}

func (q query) body() map[string]any {
	body := map[string]any{}
	if q.limit > 0 {
		body["limit"] = q.limit
	}
	if len(q.columns) > 0 {
		body["select"] = q.columns
	}
	for name, value := range map[string]string{"where": q.where, "snapshot-id": q.snapshot, "as-of": q.asOf} {
		if value != "" {
			body[name] = value
		}
	}
	return body
}

func (c *cli) rowsQueryCommand() *cobra.Command {
	var q query
	cmd := &cobra.Command{
		Use:   "query TABLE",
		Short: "Read rows, masked as your clearance asks for",
		Example: "  sluice rows query main.crm.people --columns id,email --where \"country = 'DE' AND since >= DATE '2026-01-01'\"\n" +
			"  sluice rows query main.crm.people -o json > people.ndjson",
		Long: "Reads the rows of TABLE that you may see, and shows the first of them. With -o json each row is a line of its own, and without\n" +
			"--limit all of them are there, as they come.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.limit < 0 || q.limit == 0 && cmd.Flags().Changed("limit") {
				return usageError{errors.New("--limit is a number of rows, from 1 on; without it -o json has all rows")}
			}
			if c.format == formatJSON {
				return c.streamRows(cmd.Context(), args[0], q.body())
			}
			return c.tableOfRows(cmd.Context(), args[0], q)
		},
	}
	cmd.Flags().StringSliceVar(&q.columns, "columns", nil, "columns to read, separated by commas; all without it")
	cmd.Flags().StringVar(&q.where, "where", "", "rows to read, in SQL's words: =, <>, <, AND, OR, NOT, IN, BETWEEN, LIKE 'x%', IS NULL")
	cmd.Flags().Int64Var(&q.limit, "limit", 0, "rows at most (default: 50 in a table, and all with -o json)")
	cmd.Flags().StringVar(&q.snapshot, "snapshot-id", "", "as of this snapshot")
	cmd.Flags().StringVar(&q.asOf, "as-of", "", "as of this time, such as 2026-01-31T08:00:00Z")
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) rowsProfileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile TABLE",
		Short: "Show what the columns of a table hold: nulls, least, greatest, and about how many values",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var answer struct {
				Columns []map[string]any `json:"columns"`
				Rows    int64            `json:"rows"`
				Sampled bool             `json:"sampled"`
			}
			var raw json.RawMessage
			api, err := c.client()
			if err != nil {
				return err
			}
			if err := api.on(dataPath).call(cmd.Context(), http.MethodGet, []string{"tables", args[0], "profile"}, nil, nil, &raw); err != nil {
				return err
			}
			if c.format == formatJSON {
				return c.showJSON(raw)
			}
			if err := decodeJSON(raw, &answer); err != nil {
				return err
			}
			if answer.Sampled {
				_, _ = fmt.Fprintf(c.errOut, "Reading all rows would take too long: these are figures of %d of them.\n", answer.Rows)
			}
			return writeTable(c.out, answer.Columns, columns{
				{"COLUMN", "name"}, {"TYPE", "type"}, {"LEVEL", "level"}, {"TAG", "tag"}, {"MASK", "mask"}, {"NULLS", "nulls"}, {"DISTINCT", "distinct"},
				{"MIN", "min"}, {"MAX", "max"},
			})
		},
	}
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) rowsWritesCommand() *cobra.Command {
	var o listOptions
	var principal string
	cmd := &cobra.Command{
		Use:   "writes TABLE",
		Short: "List governed writes, newest first",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.api = dataPath
			return c.list(cmd.Context(), []string{"tables", args[0], "writes"}, filled(map[string]string{"principal": principal}), o, writeColumns(""))
		},
	}
	cmd.Flags().StringVar(&principal, "principal", "", "of this principal alone")
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

// writeColumns shows writes that are at a path of each row.
func writeColumns(at string) columns {
	return columns{
		{"COMMITTED", at + "committed-at"}, {"AUDIT ID", at + "audit-id"}, {"MODE", at + "mode"}, {"PRINCIPAL", at + "principal"}, {"ROWS", at + "rows"},
		{"UPDATED", at + "updated"}, {"QUARANTINED", at + "quarantined"}, {"LEVEL", at + "level"}, {"SNAPSHOT", at + "snapshot-id"},
	}
}

func (c *cli) rowsAuditCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "audit AUDIT-ID",
		Short: "List the rows that a governed write landed, by the hashes of their identities",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.api = dataPath
			return c.list(cmd.Context(), []string{"writes", args[0], "rows"}, url.Values{}, o, columns{
				{"IDENTITY", "hash"}, {"LEVEL", "level"}, {"TAGS", "tags"}, {"UPDATED", "updated"},
			})
		},
	}
	o.flags(cmd)
	c.clientFlags(cmd)
	return cmd
}

func (c *cli) rowsFindCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "find TABLE COLUMN=VALUE…",
		Short:   "Find the governed writes that landed the row of an identity",
		Example: "  sluice rows find main.crm.people id=42",
		Args:    usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			identity := map[string]any{}
			for _, arg := range args[1:] {
				name, value, err := identityValue(arg)
				if err != nil {
					return usageError{err}
				}
				identity[name] = value
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := api.on(dataPath).call(cmd.Context(), http.MethodPost, []string{"tables", args[0], "row-audit"}, nil, map[string]any{"identity": identity}, &raw); err != nil {
				return err
			}
			if c.format == formatJSON {
				return c.showJSON(raw)
			}
			var found page
			if err := decodeJSON(raw, &found); err != nil {
				return err
			}
			return c.showPage(found, "writes", listOptions{}, writeColumns("write."))
		},
	}
	c.clientFlags(cmd)
	return cmd
}

// identityValue reads COLUMN=VALUE. The server takes numbers as text; null, true and false are what they say.
func identityValue(arg string) (name string, value any, err error) {
	name, text, ok := strings.Cut(arg, "=")
	if !ok || name == "" {
		return "", nil, fmt.Errorf("%q is not COLUMN=VALUE", arg)
	}
	switch text {
	case "null":
		return name, nil, nil
	case "true", "false":
		flag, _ := strconv.ParseBool(text)
		return name, flag, nil
	}
	return name, text, nil
}

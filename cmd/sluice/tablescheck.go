package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func (c *cli) tablesCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check TABLE",
		Short: "Look whether the files that a table's snapshots stand on are there",
		Long: "Looks at the metadata file of TABLE and at the manifest list of every snapshot, and names the last good snapshot: the newest\n" +
			"of main whose files are there, to roll back to. TABLE is catalog.namespace.table or a table UUID. The exit code is 1\n" +
			"unless everything is there.",
		Example: "  sluice tables check main.sales.orders",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.client()
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := api.call(cmd.Context(), http.MethodGet, []string{"tables", args[0], "check"}, nil, nil, &raw); err != nil {
				return err
			}
			return c.showCheck(raw)
		},
	}
	c.clientFlags(cmd)
	return cmd
}

// showCheck prints a check of a table; one that found something missing is the answer no.
func (c *cli) showCheck(raw json.RawMessage) error {
	var check struct {
		OK        bool             `json:"ok"`
		Ref       string           `json:"ref"`
		Metadata  string           `json:"metadata"`
		LastGood  *string          `json:"lastGoodSnapshotId"`
		Snapshots []map[string]any `json:"snapshots"`
		Remedy    string           `json:"remedy"`
	}
	if err := decodeJSON(raw, &check); err != nil {
		return err
	}
	if c.format == formatJSON {
		if err := c.showJSON(raw); err != nil {
			return err
		}
	} else if err := c.printCheck(check.Ref, check.Metadata, check.LastGood, check.Snapshots, check.Remedy); err != nil {
		return err
	}
	if !check.OK {
		return noError{}
	}
	return nil
}

func (c *cli) printCheck(ref, metadata string, lastGood *string, snapshots []map[string]any, remedy string) error {
	c.say("table               %s\nmetadata file       %s\n", cell(ref), cell(metadata))
	last := "-"
	if lastGood != nil {
		last = *lastGood
	}
	c.say("last good snapshot  %s\n", cell(last))
	if len(snapshots) > 0 {
		_, _ = fmt.Fprintln(c.out)
		cols := columns{{"SNAPSHOT", "id"}, {"COMMITTED", "committedAt"}, {"ON MAIN", "onMain"}, {"FILES", "state"}, {"MANIFEST LIST", "manifestList"}}
		if err := writeTable(c.out, snapshots, cols); err != nil {
			return err
		}
	}
	if remedy != "" {
		c.say("\n%s\n", printable(remedy))
	}
	return nil
}

package main

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/sluice-data/sluice/models"
)

func (c *cli) classificationCommand() *cobra.Command {
	return group("classification", "Show and set how sensitive new tables are taken to be", c.classificationDefaultCommand())
}

// defaultLevelAnswer is the level that new tables get.
type defaultLevelAnswer struct {
	Ref       string                `json:"ref"`
	Level     models.Classification `json:"level"`
	Inherited bool                  `json:"inherited"`
}

func (c *cli) classificationDefaultCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "default CATALOG[.NAMESPACE] [LEVEL]",
		Short: "Show or set the classification that new tables get",
		Long: "Shows, or sets, the classification of tables made from now on in the catalog or namespace; existing tables keep theirs.\n" +
			"LEVEL is public, internal, confidential or restricted. What has none of its own inherits that of what it lies in;\n" +
			"without any it is internal. A table itself is classified with tables classify.",
		Example: "  sluice classification default main.crm confidential",
		Args:    usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var body any
			method := http.MethodGet
			if len(args) == 2 {
				level, err := models.ParseClassification(args[1])
				if err != nil {
					return usageError{err}
				}
				method, body = http.MethodPut, map[string]models.Classification{"level": level}
			}
			api, err := c.client()
			if err != nil {
				return err
			}
			var answer defaultLevelAnswer
			path := []string{kindOfDefault(args[0]), args[0], "default-classification"}
			if err := api.call(cmd.Context(), method, path, nil, body, &answer); err != nil {
				return err
			}
			if len(args) == 2 {
				return c.done(answer, "%s: %s\n", args[0], args[1])
			}
			text := string(answer.Level)
			if answer.Inherited {
				text += " (inherited)"
			}
			return c.done(answer, "%s\n", cell(text))
		},
	}
	c.clientFlags(cmd)
	return cmd
}

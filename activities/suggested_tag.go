package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// suggestions finds columns that look like personal data, and resolves what was found of columns that somebody classified
// or that are gone. What is found stays until then, whatever the newest rows hold.
func (c *tableCheck) suggestions(ctx context.Context, doc *metadata.Document) error {
	schema, err := doc.CurrentSchema()
	if err != nil {
		return nil // the table does not load, which is a finding of its own
	}
	for _, f := range c.open {
		column := findings.SuggestedColumn(f)
		if f.Kind != models.FindingSuggestedTag {
			continue
		}
		if findings.Said(c.t.Table, column) {
			c.resolve(f, "The column is classified.")
		} else if _, ok := schema.FieldByName(column); !ok {
			c.resolve(f, "The column is gone.")
		}
	}
	if c.acts.ports.Sampler == nil || !c.full() && c.t.Last.Version == c.t.Table.Version {
		return nil
	}
	suggested, err := c.acts.ports.Sampler.Sample(ctx, doc)
	if err != nil { // files that cannot be read are found by who looks for them
		activity.GetLogger(ctx).Debug("rows of a table could not be looked at", "table", c.t.Name, "error", err)
		return ctx.Err()
	}
	for _, one := range suggested {
		if f, ok := findings.OfSuggestion(c.t.Table, one); ok {
			c.find(f)
		}
	}
	return nil
}

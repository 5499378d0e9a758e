package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/sluice-data/sluice/models"
)

// tablePage is how many tables one run of CheckTablePage looks at.
const tablePage = 500

// CheckTablePageInput asks for one page of tables that changed since they were looked at, or were not for long.
type CheckTablePageInput struct {
	After  string    `json:"after,omitempty"` // table id: the page starts behind it
	Before time.Time `json:"before"`          // what was looked at before is looked at again
}

// CheckTablePageResult says how far the page went and what it found.
type CheckTablePageResult struct {
	Tables   int    `json:"tables,omitempty"`  // looked at
	Failed   int    `json:"failed,omitempty"`  // could not be: the store does not say
	Stamped  int    `json:"stamped,omitempty"` // whose stamped properties were put right
	Opened   int    `json:"opened,omitempty"`  // findings
	Resolved int    `json:"resolved,omitempty"`
	Next     string `json:"next,omitempty"` // After of the next page; "" at the end
}

// CheckTablePage holds a page of tables against what governance says of them, and looks for their metadata and the manifest
// lists of their snapshots. It may run any number of times: of each table, kind and subject one finding is open, and what
// was put right is right. A table that cannot be looked at has its turn again, and holds up no other.
func (a *Activities) CheckTablePage(ctx context.Context, in CheckTablePageInput) (CheckTablePageResult, error) {
	defer heartbeat(ctx)()
	out, err := a.checkTablePage(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) checkTablePage(ctx context.Context, in CheckTablePageInput) (CheckTablePageResult, error) {
	var out CheckTablePageResult
	tables, err := a.ports.Checks.TablesToCheck(ctx, in.Before, in.After, tablePage)
	if err != nil {
		return out, err
	}
	var looked []models.TableCheck
	for _, t := range tables {
		c := &tableCheck{acts: a, t: t, before: in.Before, now: a.ports.Now().UTC()}
		err := c.run(ctx)
		out.Opened, out.Resolved = out.Opened+c.counts.Opened, out.Resolved+c.counts.Resolved
		if c.stamped {
			out.Stamped++
		}
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			if out.Failed == 0 { // one is enough to look for the reason
				activity.GetLogger(ctx).Warn("a table could not be checked", "table", t.Name, "error", err)
			}
			out.Failed++
		case !c.again:
			looked = append(looked, c.done())
		}
	}
	if _, err := a.settleFindings(ctx, FindingSettlement{Checks: looked}); err != nil {
		return out, err
	}
	out.Tables = len(tables)
	if len(tables) == tablePage {
		out.Next = tables[len(tables)-1].Table.ID
	}
	return out, nil
}

// full tells whether a table is to be looked at as a whole, rather than at what is new of it.
func (c *tableCheck) full() bool { return c.t.Last == nil || c.t.Last.CheckedAt.Before(c.before) }

// done gives the note that the table was looked at. Its time is that of the last look at all of it.
func (c *tableCheck) done() models.TableCheck {
	out := models.TableCheck{TableID: c.t.Table.ID, Version: c.t.Table.Version, Stamp: c.t.Stamp, CheckedAt: c.now}
	if !c.full() {
		out.CheckedAt = c.t.Last.CheckedAt
	} else if out.CheckedAt.Before(c.before) {
		out.CheckedAt = c.before.UTC() // whatever this machine's clock says, or it would come again
	}
	return out
}

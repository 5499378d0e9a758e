package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/findings"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// sampler finds what it is told, and counts how often it is asked.
type sampler struct {
	found []findings.Suggestion
	err   error
	asked int
}

func (s *sampler) Sample(context.Context, *metadata.Document) ([]findings.Suggestion, error) {
	s.asked++
	return s.found, s.err
}

func newSampledRig(t *testing.T) (*rig, *clock, *sampler, activities.Target) {
	t.Helper()
	s, now := &sampler{}, &clock{at: start}
	r := newRig(t, func(p *activities.Ports) { p.Sampler, p.Now = s, func() time.Time { return now.at } })
	table := r.world.AddTable("people")
	r.world.Table(table).Schemas = [][]string{{"id", "mail"}}
	return r, now, s, table
}

func TestColumnsThatLookLikePersonalDataAreAFindingUntilTheyAreClassified(t *testing.T) {
	r, now, s, table := newSampledRig(t)
	s.found = []findings.Suggestion{{Column: "mail", Tag: "email", Matches: 900, Values: 1000}}
	require.Equal(t, 1, r.checkTables(now).Opened)
	f := r.open()[0]
	require.Equal(t, models.FindingSuggestedTag, f.Kind)
	require.Equal(t, "column mail", f.Subject)
	require.Equal(t, "confidential", f.Evidence.V["sensitivity"])
	require.Equal(t, "partial", f.Evidence.V["mask"])

	s.found = nil // the newest rows have others: it is no reason to believe that there are none
	r.world.Publish(table)
	require.Zero(t, r.checkTables(now).Resolved)
	require.Len(t, r.open(), 1)

	s.found = []findings.Suggestion{{Column: "mail", Tag: "email", Matches: 900, Values: 1000}}
	r.world.Table(table).Row.Columns.V = map[string]models.ColumnGovernance{"mail": {Sensitivity: models.Public}}
	r.world.Publish(table)
	require.Equal(t, activities.CheckTablePageResult{Tables: 1, Resolved: 1}, r.checkTables(now))
	require.Contains(t, r.world.Findings()[0].Note, "classified")
}

func TestWhatIsSuggestedOfAColumnThatIsGoneIsResolved(t *testing.T) {
	r, now, s, table := newSampledRig(t)
	s.found = []findings.Suggestion{{Column: "mail", Tag: "email", Matches: 900, Values: 1000}}
	r.checkTables(now)
	s.found = nil
	is := r.world.Table(table)
	is.Schemas, is.Schema = [][]string{{"id", "mail"}, {"id"}}, 1
	r.world.Publish(table)
	require.Equal(t, 1, r.checkTables(now).Resolved)
	require.Contains(t, r.world.Findings()[0].Note, "gone")
}

// Rows are looked at when they may be others, and when all is looked at; what cannot be read holds nothing up.
func TestWhenRowsAreLookedAt(t *testing.T) {
	r, now, s, table := newSampledRig(t)
	r.checkTables(now)
	require.Equal(t, 1, s.asked)
	r.checkTables(now)
	require.Equal(t, 1, s.asked, "nothing changed")
	r.world.Publish(table)
	r.checkTables(now)
	require.Equal(t, 2, s.asked, "its pointer moved")
	now.at = now.at.Add(2 * time.Hour)
	s.err = errors.New("the store fails")
	require.Equal(t, activities.CheckTablePageResult{Tables: 1}, r.checkTables(now))
	require.Equal(t, 3, s.asked, "an old check is done again")
	require.Zero(t, r.checkTables(now))
}

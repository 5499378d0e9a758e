package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
)

func TestNothingIsDeletedOfATableThatMayComeBack(t *testing.T) {
	r := newRig(t)
	target := r.world.DropForPurge(r.world.AddTable("orders"))
	for _, state := range []models.DropState{models.StateDropped, models.StateUndropped, models.StatePurged, models.StateUnregistered, models.StateForgotten} {
		r.world.SetDrop(target, state)
		for name, part := range map[string]func() error{
			"data": func() error {
				_, err := run(r, r.acts.PurgeDataFiles, activities.PurgeFilesInput{Target: target})
				return err
			},
			"metadata": func() error {
				_, err := run(r, r.acts.PurgeMetadataFiles, activities.PurgeFilesInput{Target: target})
				return err
			},
			"leftovers": func() error {
				_, err := run(r, r.acts.PurgeLeftovers, activities.PurgeFilesInput{Target: target})
				return err
			},
		} {
			app := asApplication(t, part())
			require.True(t, app.NonRetryable(), "%s of a table that is %s", name, state)
		}
	}
	require.Zero(t, r.world.Calls("DeleteData")+r.world.Calls("DeleteMetadata")+r.world.Calls("DeleteLeftovers"))
}

func TestLeftoversOfASharedFolderStay(t *testing.T) {
	for name, c := range map[string]struct {
		sharers activities.Sharers
		foreign bool
		want    bool
	}{
		"alone":            {activities.Sharers{}, false, true},
		"registered table": {activities.Sharers{}, true, false},
		"overlapped":       {activities.Sharers{Overlapped: true}, false, false},
		"others elsewhere": {activities.Sharers{Tables: []activities.Sharer{{Location: "s3://b/o", MetadataLocation: "s3://b/o/m"}}}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			target := r.world.DropForPurge(r.world.AddTable("orders"))
			r.world.SetDrop(target, models.StatePurging)
			r.world.SetSharers(target, c.sharers, c.foreign)
			out := must(r, r.acts.PurgeLeftovers, activities.PurgeFilesInput{Target: target})
			require.Equal(t, !c.want, out.Skipped)
			require.Equal(t, c.want, out.Files > 0)
			require.Equal(t, len(c.sharers.Tables), r.world.Calls("References"))
		})
	}
}

func TestAnInterruptedPartGoesOnWhereItWas(t *testing.T) {
	r := newRig(t)
	target := r.world.DropForPurge(r.world.AddTable("orders"))
	r.world.SetDrop(target, models.StatePurging)
	r.env.SetHeartbeatDetails(maintenance.Progress{Done: activitiestest.FilesPerPart - 1, Files: 2, Bytes: 200})
	out := must(r, r.acts.PurgeDataFiles, activities.PurgeFilesInput{Target: target})
	require.Equal(t, activities.PurgeFilesResult{Files: 3, Bytes: 300}, out)
	require.Equal(t, 1, r.world.Calls("DeleteData"))
}

// A sharer whose metadata Sluice cannot read might need any file, and the table stays where it can be undropped.
func TestAnUnreadableSharerStopsThePurge(t *testing.T) {
	r := newRig(t)
	target := r.world.DropForPurge(r.world.AddTable("orders"))
	r.world.SetSharers(target, activities.Sharers{Tables: []activities.Sharer{{Location: "s3://b/o"}}}, false)
	r.world.SetFail(func(port, _ string) error {
		if port == "References" {
			return fault.New(fault.Invalid, "The manifest is damaged.")
		}
		return nil
	})
	_, err := run(r, r.acts.ClaimPurge, activities.ClaimPurgeInput{Target: target})
	require.True(t, asApplication(t, err).NonRetryable())
	require.Equal(t, models.StateDropped, dropState(t, r.world, target))
	r.world.SetDrop(target, models.StatePurging)
	_, err = run(r, r.acts.PurgeDataFiles, activities.PurgeFilesInput{Target: target})
	require.True(t, asApplication(t, err).NonRetryable())
	require.Zero(t, r.world.Calls("DeleteData"))
	require.True(t, must(r, r.acts.ClaimPurge, activities.ClaimPurgeInput{Target: target}).Claimed, "what was begun goes on")
}

func TestAPurgeIsRecordedOnce(t *testing.T) {
	r := newRig(t)
	target := r.world.DropForPurge(r.world.AddTable("orders"))
	require.True(t, must(r, r.acts.ClaimPurge, activities.ClaimPurgeInput{Target: target}).Claimed)
	require.True(t, must(r, r.acts.ClaimPurge, activities.ClaimPurgeInput{Target: target}).Claimed)
	in := activities.FinishPurgeInput{Target: target, Files: 9, Bytes: 900, WorkflowID: "purge/u"}
	require.True(t, must(r, r.acts.FinishPurge, in).Recorded)
	require.False(t, must(r, r.acts.FinishPurge, in).Recorded)
	require.Equal(t, activities.ClaimPurgeResult{State: models.StatePurged}, must(r, r.acts.ClaimPurge, activities.ClaimPurgeInput{Target: target}))
	events := r.world.Audits()
	require.Len(t, events, 1)
	e := events[0]
	require.Equal(t, models.AuditTablePurged, e.Type)
	require.Equal(t, "purged/"+target.DropID, *e.DedupeKey)
	require.Equal(t, []string{"main", "sales", "sales.orders", target.TableUUID}, []string{e.Catalog, e.Namespace, e.Table, e.TableUUID})
	require.Equal(t, time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), e.At)
	require.EqualValues(t, 9, e.Details.V["files"])
	require.EqualValues(t, 900, e.Details.V["bytes"])
}

func TestTheSweepStartsWhatIsDue(t *testing.T) {
	r := newRig(t)
	due := r.world.DropForPurge(r.world.AddTable("due"))
	interrupted := r.world.DropForPurge(r.world.AddTable("interrupted"))
	r.world.SetDrop(interrupted, models.StatePurging)
	r.world.Undrop(r.world.DropForPurge(r.world.AddTable("back")))
	require.Equal(t, activities.StartDuePurgesResult{Started: 2}, must(r, r.acts.StartDuePurges, activities.StartDuePurgesInput{}))
	require.Equal(t, []activities.PurgeTarget{due, interrupted}, r.world.PurgesStarted())
}

func dropState(t *testing.T, w *activitiestest.World, target activities.PurgeTarget) models.DropState {
	t.Helper()
	record, err := w.DroppedTable(t.Context(), target.DropID)
	require.NoError(t, err)
	return record.State
}

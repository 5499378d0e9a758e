package workflows

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-data/sluice/internal/fault"
)

const (
	defaultSweepEvery = 5 * time.Minute
	defaultSweepQuiet = time.Minute
	defaultCheckEvery = time.Hour
	defaultWatchEvery = time.Minute
	defaultFileMemory = 30 * 24 * time.Hour
	// sweepCatchUp bounds how late a missed sweep is made good: an older one is covered by the next.
	sweepCatchUp = time.Hour
)

// ScheduleOptions say how often scheduled workflows run.
type ScheduleOptions struct {
	SweepEvery time.Duration // default 5 minutes
	SweepQuiet time.Duration // changes younger than this are left to the dispatcher; default 1 minute
	CheckEvery time.Duration // from one check of the files to the next; default an hour
	WatchEvery time.Duration // from one look at the writers to the next; default a minute
	FileMemory time.Duration // how long a file that was removed is remembered; default 30 days
	// ExportEvery is the time from one export of the audit to the next; default an hour, for the removal of old events alone.
	ExportEvery time.Duration
}

func (o *ScheduleOptions) fill() {
	for _, d := range []struct {
		value *time.Duration
		is    time.Duration
	}{
		{&o.SweepEvery, defaultSweepEvery},
		{&o.SweepQuiet, defaultSweepQuiet},
		{&o.CheckEvery, defaultCheckEvery},
		{&o.WatchEvery, defaultWatchEvery},
		{&o.FileMemory, defaultFileMemory},
		{&o.ExportEvery, defaultExportEvery},
	} {
		if *d.value <= 0 {
			*d.value = d.is
		}
	}
}

// EnsureSchedules makes every schedule exist as the options say. It may be called by every process at every start: it creates what is
// missing and changes what differs, and a schedule that an operator paused stays paused.
func EnsureSchedules(ctx context.Context, c client.Client, o ScheduleOptions) error {
	o.fill()
	for _, want := range []client.ScheduleOptions{
		schedule(o.SweepEvery, SweepScheduleID, SweepCatalogName, SweepCatalogInput{Quiet: o.SweepQuiet}),
		schedule(o.SweepEvery, SweepDroppedScheduleID, SweepDroppedName, SweepDroppedInput{}),
		schedule(o.CheckEvery, CheckFilesScheduleID, CheckFilesName, CheckFilesInput{}),
		schedule(o.SweepEvery, CheckTablesScheduleID, CheckTablesName, CheckTablesInput{Every: o.CheckEvery}),
		schedule(o.WatchEvery, WatchWritersScheduleID, WatchWritersName, WatchWritersInput{Every: o.WatchEvery, FileMemory: o.FileMemory}),
		schedule(DeliverEvery, DeliverWebhooksScheduleID, DeliverWebhooksName, DeliverWebhooksInput{}),
		schedule(o.ExportEvery, ExportAuditScheduleID, ExportAuditName, ExportAuditInput{}),
	} {
		if err := ensureSchedule(ctx, c, want); err != nil {
			return fault.Wrap(err, fault.Unavailable, "The schedule %s cannot be made: check that Temporal runs and that its namespace is ready.", want.ID)
		}
	}
	return nil
}

// schedule runs a workflow every so often, one run at a time: one that is due while another runs is left out.
func schedule(every time.Duration, id, workflow string, in any) client.ScheduleOptions {
	return client.ScheduleOptions{
		ID: id,
		Spec: client.ScheduleSpec{
			Intervals: []client.ScheduleIntervalSpec{{Every: every}},
			Jitter:    min(every/10, 30*time.Second),
		},
		Action: &client.ScheduleWorkflowAction{
			ID:        id,
			Workflow:  workflow,
			Args:      []any{in},
			TaskQueue: MaintenanceQueue,
		},
		Overlap:        enums.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow:  sweepCatchUp,
		PauseOnFailure: false,
	}
}

func ensureSchedule(ctx context.Context, c client.Client, want client.ScheduleOptions) error {
	_, err := c.ScheduleClient().Create(ctx, want)
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return err
	}
	return c.ScheduleClient().GetHandle(ctx, want.ID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			s := in.Description.Schedule
			s.Spec, s.Action = &want.Spec, want.Action
			s.Policy = &client.SchedulePolicies{Overlap: want.Overlap, CatchupWindow: want.CatchupWindow, PauseOnFailure: want.PauseOnFailure}
			return &client.ScheduleUpdate{Schedule: &s}, nil
		},
	})
}

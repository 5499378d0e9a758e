package workflows

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
)

const (
	// DeliverWebhooksName is the name under which the workflow is registered.
	DeliverWebhooksName = "DeliverWebhooks"
	// DeliverWebhooksScheduleID is that of its schedule, and the start of its runs' ids.
	DeliverWebhooksScheduleID = "deliver-webhooks"
	// DeliveryQueue has the activities that wait for receivers, so that these hold up nothing else.
	DeliveryQueue = "sluice-webhooks"

	stageWaiting    = "waiting"
	stageDelivering = "delivering"
)

const (
	// DeliverEvery is how often the schedule looks whether the workflow runs.
	DeliverEvery = time.Minute
	// deliverRun is how long one run goes on before it continues as a new one.
	deliverRun = time.Minute
	// idleWait is how long a run waits for events at a time, and busyWait while it is delivering.
	idleWait = 20 * time.Second
	busyWait = time.Second
	// mostAtOnce bounds the webhooks that are delivered to side by side.
	mostAtOnce = 16
	// slowPage is from when on a page of deliveries is one that others should not wait for.
	slowPage = 2 * time.Second
)

// DeliverWebhooksInput is what a run is begun with. Done is what the runs before it came to.
type DeliverWebhooksInput struct {
	Done DeliverWebhooksResult `json:"done,omitzero"`
}

// DeliverWebhooksResult counts attempts by how they ended.
type DeliverWebhooksResult struct {
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	Dead      int `json:"dead"`
}

// DeliverWebhooks takes sealed events to webhooks for as long as there are any that are not disabled; without one it ends
// at once, and its schedule looks again. Webhooks are delivered to side by side. What is delivered is in the database, so
// that a run that is stopped anywhere loses nothing.
func DeliverWebhooks(ctx workflow.Context, in DeliverWebhooksInput) (DeliverWebhooksResult, error) {
	d := &deliverWebhooks{in: in, running: map[string]bool{}, slow: map[string]bool{}}
	if err := d.setup(ctx); err != nil {
		return DeliverWebhooksResult{}, err
	}
	return d.run(ctx)
}

type deliverWebhooks struct {
	in       DeliverWebhooksInput
	progress Progress
	until    time.Time       // when it begins to end
	running  map[string]bool // ids of webhooks that are being delivered to
	slow     map[string]bool // of those whose last page took long
}

func (d *deliverWebhooks) setup(ctx workflow.Context) error {
	d.until = workflow.Now(ctx).Add(deliverRun)
	d.progress = Progress{Stage: stageWaiting, Done: d.in.Done.Delivered}
	return d.progress.answer(ctx)
}

func (d *deliverWebhooks) run(ctx workflow.Context) (DeliverWebhooksResult, error) {
	for first := true; ; first = false {
		if d.ending(ctx) && len(d.running) == 0 {
			return DeliverWebhooksResult{}, workflow.NewContinueAsNewError(ctx, DeliverWebhooks, d.in)
		}
		work, err := ordinary(ctx, polling(), references().FanOutWebhooks, activities.FanOutWebhooksInput{
			Busy: d.busy(), Wait: d.wait(ctx), Prune: first,
		})
		if err != nil {
			return DeliverWebhooksResult{}, err
		}
		if work.Webhooks == 0 && len(d.running) == 0 {
			d.progress.Stage = stageDone
			return d.in.Done, nil
		}
		d.begin(ctx, work.Due)
	}
}

// ending tells whether the run is to be continued as a new one.
func (d *deliverWebhooks) ending(ctx workflow.Context) bool {
	return !workflow.Now(ctx).Before(d.until) || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

func (d *deliverWebhooks) wait(ctx workflow.Context) time.Duration {
	if len(d.running) > 0 {
		return busyWait
	}
	return min(idleWait, max(d.until.Sub(workflow.Now(ctx)), busyWait))
}

// busy gives the webhooks that are not to be begun.
func (d *deliverWebhooks) busy() []string {
	return workflow.DeterministicKeys(d.running)
}

// begin starts pages for webhooks that are due. A run that ends waits for slow receivers, and goes on with the others as
// long as it does, so that nobody waits for them.
func (d *deliverWebhooks) begin(ctx workflow.Context, due []string) {
	for _, id := range due {
		switch {
		case d.running[id] || len(d.running) >= mostAtOnce:
			continue
		case d.ending(ctx) && (d.slow[id] || !d.slowRuns()):
			continue
		}
		d.running[id] = true
		d.progress.Stage, d.progress.Total = stageDelivering, len(d.running)
		workflow.Go(ctx, func(ctx workflow.Context) { d.page(ctx, id) })
	}
}

func (d *deliverWebhooks) slowRuns() bool {
	for _, id := range workflow.DeterministicKeys(d.running) {
		if d.slow[id] {
			return true
		}
	}
	return false
}

// page delivers a page. When it cannot, after some tries, the next look finds the webhook due again.
func (d *deliverWebhooks) page(ctx workflow.Context, id string) {
	began := workflow.Now(ctx)
	out, err := ordinary(ctx, delivering(), references().DeliverPage, activities.DeliverPageInput{WebhookID: id})
	if err != nil {
		workflow.GetLogger(ctx).Warn("deliveries could not be made", "webhook", id, "error", err)
	}
	d.in.Done.Delivered += out.Delivered
	d.in.Done.Failed += out.Failed
	d.in.Done.Dead += out.Dead
	delete(d.running, id)
	d.slow[id] = workflow.Now(ctx).Sub(began) > slowPage
	d.progress.Done, d.progress.Failed, d.progress.Total = d.in.Done.Delivered, d.in.Done.Failed, len(d.running)
	if len(d.running) == 0 {
		d.progress.Stage = stageWaiting
	}
}

// polling is for waiting for something to do. The next run begins anew, so that an outage is not waited out for ever.
func polling() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue: DeliveryQueue, StartToCloseTimeout: 2 * time.Minute, HeartbeatTimeout: 30 * time.Second, ScheduleToCloseTimeout: time.Hour,
		RetryPolicy: backoff(10 * time.Second),
	}
}

// delivering is for a page of deliveries, which ends within seconds whatever receivers do.
func delivering() workflow.ActivityOptions {
	o := polling()
	o.ScheduleToCloseTimeout = 5 * time.Minute
	return o
}

// WakeDelivery starts DeliverWebhooks where it does not run, without waiting for its schedule's time. Errors are
// fault.Unavailable.
func (s *Starter) WakeDelivery(ctx context.Context) error {
	err := s.client.ScheduleClient().GetHandle(ctx, DeliverWebhooksScheduleID).
		Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP})
	var absent *serviceerror.NotFound
	if err == nil || errors.As(err, &absent) { // a worker makes the schedule
		return nil
	}
	return fault.Wrap(err, fault.Unavailable, "Temporal cannot be asked to deliver to webhooks: check that it runs.")
}

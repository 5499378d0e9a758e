package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/workflows"
)

func deliver(t *testing.T, world *activitiestest.World) workflows.DeliverWebhooksResult {
	t.Helper()
	var out workflows.DeliverWebhooksResult
	require.NoError(t, newRig(t, world).run(workflows.DeliverWebhooks, workflows.DeliverWebhooksInput{}, &out))
	return out
}

func deliverMany(world *activitiestest.World) any {
	world.AddWebhook("a", 120, 0)
	world.AddWebhook("b", 10, 300*time.Millisecond)
	return workflows.DeliverWebhooksInput{}
}

func deliverNothing(*activitiestest.World) any { return workflows.DeliverWebhooksInput{} }

func TestDeliverWebhooksDeliversAllOfEach(t *testing.T) {
	world := activitiestest.New()
	deliverMany(world)
	require.Equal(t, workflows.DeliverWebhooksResult{Delivered: 130}, deliver(t, world))
	require.Equal(t, 4, world.Calls("Deliver"), "three pages and one")
	require.Equal(t, 1, world.Calls("Prune"), "once in a run")
}

// Without a webhook a run is one look.
func TestDeliverWebhooksWithoutAny(t *testing.T) {
	world := activitiestest.New()
	require.Zero(t, deliver(t, world))
	require.Equal(t, 1, world.Calls("Await"))
	require.Zero(t, world.Calls("Deliver"))
}

// A receiver that takes long for each page keeps no other from its deliveries.
func TestDeliverWebhooksDeliversSideBySide(t *testing.T) {
	world := activitiestest.New()
	world.AddWebhook("slow", 1, 2*time.Second)
	world.AddWebhook("quick", 300, 0)
	var before []int
	world.SetFail(func(port, id string) error {
		if port == "Await" {
			before = append(before, world.Calls("Deliver"))
		}
		return nil
	})
	began := time.Now()
	require.Equal(t, workflows.DeliverWebhooksResult{Delivered: 301}, deliver(t, world))
	require.Less(t, time.Since(began), 10*time.Second)
	require.Equal(t, 7, world.Calls("Deliver"))
	require.Contains(t, before, 7, "the quick one's six pages went while the slow one's first was on its way")
}

func TestDeliverWebhooksSurvivesAnOutage(t *testing.T) {
	for _, port := range []string{"Await", "Deliver", "Prune"} {
		t.Run(port, func(t *testing.T) {
			world := activitiestest.New()
			world.AddWebhook("a", 10, 0)
			failTimes(world, port, 3, unavailable())
			require.Equal(t, workflows.DeliverWebhooksResult{Delivered: 10}, deliver(t, world))
		})
	}
}

// What cannot be delivered for good ends neither the run nor the other deliveries.
func TestDeliverWebhooksGoesOnWithoutTheOneThatFails(t *testing.T) {
	world := activitiestest.New()
	world.AddWebhook("bad", 10, 0)
	world.AddWebhook("good", 60, 0)
	var bad int
	world.SetFail(func(port, id string) error {
		if port != "Deliver" || id != "bad" {
			return nil
		}
		if bad++; bad > 3 {
			return nil
		}
		return fault.New(fault.Invalid, "The webhook is malformed.")
	})
	require.Equal(t, workflows.DeliverWebhooksResult{Delivered: 70}, deliver(t, world))
}

func TestDeliverWebhooksContinuesAsANewRun(t *testing.T) {
	world := activitiestest.New()
	world.AddWebhook("a", 10, 0)
	r := newRig(t, world)
	r.env.SetContinueAsNewSuggested(true)
	err := r.run(workflows.DeliverWebhooks, workflows.DeliverWebhooksInput{Done: workflows.DeliverWebhooksResult{Delivered: 7}}, nil)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.Equal(t, workflows.DeliverWebhooksName, next.WorkflowType.Name)
	var in workflows.DeliverWebhooksInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	require.Equal(t, 7, in.Done.Delivered)
	var out workflows.DeliverWebhooksResult
	require.NoError(t, newRig(t, world).run(workflows.DeliverWebhooks, in, &out))
	require.Equal(t, workflows.DeliverWebhooksResult{Delivered: 17}, out, "counts are carried over")
}

// While nothing happens a run is a few looks, and after a minute there is another run.
func TestDeliverWebhooksWaitsInFewSteps(t *testing.T) {
	r := newRig(t, activitiestest.New())
	var waits []time.Duration
	r.env.OnActivity(activities.FanOutWebhooksName, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.FanOutWebhooksInput) (activities.FanOutWebhooksResult, error) {
			waits = append(waits, in.Wait)
			return activities.FanOutWebhooksResult{Webhooks: 1}, nil
		}).After(20 * time.Second)
	err := r.run(workflows.DeliverWebhooks, workflows.DeliverWebhooksInput{}, nil)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.Equal(t, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second}, waits)
}

// At the end of a run the slow receiver is waited for, and the others are served as long as it is.
func TestDeliverWebhooksEndsWithoutHoldingUpAnybody(t *testing.T) {
	r := newRig(t, activitiestest.New())
	began := r.env.Now()
	pages := map[string][]int{} // when they ended, in seconds
	r.env.OnActivity(activities.FanOutWebhooksName, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.FanOutWebhooksInput) (activities.FanOutWebhooksResult, error) {
			out := activities.FanOutWebhooksResult{Webhooks: 2}
			for _, id := range []string{"quick", "slow"} {
				if !slices.Contains(in.Busy, id) {
					out.Due = append(out.Due, id)
				}
			}
			return out, nil
		}).After(time.Second)
	page := func(id string, takes time.Duration) {
		r.env.OnActivity(activities.DeliverPageName, mock.Anything, activities.DeliverPageInput{WebhookID: id}).Return(
			func(context.Context, activities.DeliverPageInput) (activities.DeliverPageResult, error) {
				pages[id] = append(pages[id], int(r.env.Now().Sub(began).Seconds()))
				return activities.DeliverPageResult{Delivered: 1, More: true}, nil
			}).After(takes)
	}
	page("slow", 15*time.Second)
	page("quick", 100*time.Millisecond)
	err := r.run(workflows.DeliverWebhooks, workflows.DeliverWebhooksInput{}, nil)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	ended := int(r.env.Now().Sub(began).Seconds())
	slow, quick := pages["slow"], pages["quick"]
	require.Less(t, slow[len(slow)-1]-15, 60, "it is not begun anew at the end: %v", slow)
	require.Greater(t, slow[len(slow)-1], 60, "it was on its way")
	require.LessOrEqual(t, ended-quick[len(quick)-1], 3, "the other went on until then: %v", quick)
	for i := 1; i < len(quick); i++ {
		require.LessOrEqual(t, quick[i]-quick[i-1], 3, "%v", quick)
	}
}

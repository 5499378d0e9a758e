package main

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/sluice-data/sluice/internal/temporalx"
)

const (
	// clockPatience is how long doctor waits to be noticed by Temporal.
	clockPatience = 3 * time.Second
	// clockPoll is how long its question may stay open; Temporal warns of short ones.
	clockPoll = 30 * time.Second
)

// checkTemporalClock compares clocks. No call of Temporal tells its time, but it notes when a worker last asked a task queue
// for work: doctor asks one that nobody else has, which leaves nothing behind.
func checkTemporalClock(ctx context.Context, o temporalx.ClientOptions) finding {
	dialing, cancel := context.WithTimeout(ctx, diagnosisTimeout/3)
	defer cancel()
	c, err := temporalx.Dial(dialing, o)
	if err != nil {
		return broken("Temporal cannot be asked for the time", "see the check of temporal")
	}
	defer c.Close()
	there, asked, err := temporalTime(ctx, c, o.Namespace)
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		return warn("Temporal was not asked for its time", "see the check of temporal")
	}
	if err != nil {
		return warn("Temporal did not tell its time", "compare the clocks of both machines yourself")
	}
	return judgeSkew(there.Sub(asked), "Temporal")
}

// temporalTime gives Temporal's time and when, here, it was asked.
func temporalTime(ctx context.Context, c client.Client, namespace string) (there, asked time.Time, err error) {
	polling, stop := context.WithTimeout(ctx, clockPoll)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, clockPatience)
	defer cancel()
	queue := &taskqueue.TaskQueue{Name: "sluice-doctor-" + uuid.NewString(), Kind: enums.TASK_QUEUE_KIND_NORMAL}
	asked = time.Now()
	go func() {
		_, _ = c.WorkflowService().PollWorkflowTaskQueue(polling, &workflowservice.PollWorkflowTaskQueueRequest{
			Namespace: namespace, TaskQueue: queue, Identity: "sluice doctor",
		})
	}()
	for {
		seen, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: namespace, TaskQueue: queue, TaskQueueType: enums.TASK_QUEUE_TYPE_WORKFLOW,
		})
		if err != nil {
			return there, asked, err
		}
		if pollers := seen.GetPollers(); len(pollers) > 0 {
			return pollers[0].GetLastAccessTime().AsTime(), asked, nil
		}
		select {
		case <-ctx.Done():
			return there, asked, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func countAll() *workflowservice.CountWorkflowExecutionsRequest {
	return &workflowservice.CountWorkflowExecutionsRequest{}
}

package worker

import (
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/workflows"
)

// defaultStopTimeout leaves the rest of the process time to stop within 10 s.
const defaultStopTimeout = 6 * time.Second

// Options size the workers. Zero fields mean the defaults.
type Options struct {
	// StopTimeout is how long Stop waits for running activities; they are then cancelled and retried elsewhere. Default 6 s.
	StopTimeout time.Duration
	// LocalActivities bounds the short steps at once: as many connections and files are in use. Default 32.
	LocalActivities int
	// Activities bounds the long steps at once, for each queue: each may hold a scan in memory. Default 4.
	Activities int
	// WorkflowTasks bounds the workflow tasks at once, for each queue. Default 16.
	WorkflowTasks int
	// OnFatal is told when a worker gives up, such as when its namespace was deleted. May be nil.
	OnFatal func(queue string, err error)
}

// Worker is the workers of a process.
type Worker struct {
	queues []sdkworker.Worker
	stop   sync.Once
}

// deliverySlots is how many activities that wait for receivers run at once: as many as a run of DeliverWebhooks begins, and
// the one that looks for more.
const deliverySlots = 20

// New makes the workers of all queues, not yet running. Use the starter's client, so that workflows begin in the answer to
// their start.
func New(c client.Client, a *activities.Activities, o Options) *Worker {
	o = o.withDefaults()
	w := &Worker{}
	for _, queue := range []string{workflows.ReconcileQueue, workflows.MaintenanceQueue, workflows.DeliveryQueue, workflows.DataQueue} {
		options := o.sdk(queue)
		options.DisableWorkflowWorker = queue == workflows.DeliveryQueue || queue == workflows.DataQueue
		if queue == workflows.DeliveryQueue {
			options.MaxConcurrentActivityExecutionSize = deliverySlots
		}
		q := sdkworker.New(c, queue, options)
		if !options.DisableWorkflowWorker {
			workflows.RegisterWorkflows(q)
		}
		workflows.RegisterActivities(q, a)
		w.queues = append(w.queues, q)
	}
	return w
}

// Start begins polling; the error says why a worker cannot. Stop must be called after an error too.
func (w *Worker) Start() error {
	var errs []error
	for _, q := range w.queues {
		errs = append(errs, q.Start())
	}
	return errors.Join(errs...)
}

// Stop ends polling and waits for running tasks, StopTimeout at most. Further calls do nothing.
func (w *Worker) Stop() {
	w.stop.Do(func() {
		var all sync.WaitGroup
		for _, q := range w.queues {
			all.Go(q.Stop)
		}
		all.Wait()
	})
}

func (o Options) withDefaults() Options {
	if o.StopTimeout <= 0 {
		o.StopTimeout = defaultStopTimeout
	}
	if o.LocalActivities <= 0 {
		o.LocalActivities = 32
	}
	if o.Activities <= 0 {
		o.Activities = 4
	}
	if o.WorkflowTasks <= 0 {
		o.WorkflowTasks = 16
	}
	return o
}

func (o Options) sdk(queue string) sdkworker.Options {
	return sdkworker.Options{
		MaxConcurrentActivityExecutionSize:      o.Activities,
		MaxConcurrentLocalActivityExecutionSize: o.LocalActivities,
		MaxConcurrentWorkflowTaskExecutionSize:  o.WorkflowTasks,
		WorkerStopTimeout:                       o.StopTimeout,
		OnFatalError: func(err error) {
			if o.OnFatal != nil {
				o.OnFatal(queue, err)
			}
		},
	}
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// stepOptions says how a step is run: first as a local activity, inside the workflow task, which costs no round trip to the
// server; and if that does not succeed soon, as an ordinary activity, which waits out an outage without holding
// the task and growing the history.
type stepOptions struct {
	local    workflow.LocalActivityOptions
	ordinary workflow.ActivityOptions
}

// A workflow task is 10 s, and a local activity that comes near it makes the server hand out another: each local
// preset ends well before.

// quick is for steps of a few milliseconds on the database.
func quick() stepOptions {
	return stepOptions{
		local: workflow.LocalActivityOptions{
			StartToCloseTimeout: 3 * time.Second, ScheduleToCloseTimeout: 6 * time.Second, RetryPolicy: soon(),
		},
		ordinary: patient(),
	}
}

// counting is for reading a snapshot's manifests: usually one small file, sometimes thousands.
func counting() stepOptions {
	return stepOptions{
		local: workflow.LocalActivityOptions{
			StartToCloseTimeout: 2 * time.Second, ScheduleToCloseTimeout: 4 * time.Second, RetryPolicy: soon(),
		},
		ordinary: scan(),
	}
}

// brief is for what may fail for a while without holding up the audit, such as stamping a table under heavy writing.
func brief() stepOptions {
	o := quick()
	o.ordinary.ScheduleToCloseTimeout = time.Minute
	return o
}

// patient waits for the database or the store as long as an outage may last; then the sweep begins anew.
func patient() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Second, ScheduleToCloseTimeout: 24 * time.Hour, RetryPolicy: backoff(time.Minute),
	}
}

// scan is for reading many objects. A worker that died is noticed by its heartbeat.
func scan() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour, HeartbeatTimeout: 30 * time.Second, ScheduleToCloseTimeout: 24 * time.Hour,
		RetryPolicy: backoff(5 * time.Minute),
	}
}

// sweeping is for a page of the sweep: the next run begins anew, so that one does not insist.
func sweeping() workflow.ActivityOptions {
	o := scan()
	o.StartToCloseTimeout, o.ScheduleToCloseTimeout = 5*time.Minute, 15*time.Minute
	return o
}

// looking is for a page of tables each of which may name many files: it lasts longer, and is as little insisted on.
func looking() workflow.ActivityOptions {
	o := scan()
	o.ScheduleToCloseTimeout = 2 * time.Hour
	return o
}

// landing is for the steps of a governed write: somebody waits for it, so that workers for it alone take them.
func landing() workflow.ActivityOptions {
	o := scan()
	o.TaskQueue = DataQueue
	o.RetryPolicy = backoff(30 * time.Second)
	return o
}

// destructive is for deleting many objects. It goes on where the last heartbeat was; what cannot be deleted for a day ends
// it, for people to see, and the next sweep begins anew.
func destructive() workflow.ActivityOptions {
	o := scan()
	o.StartToCloseTimeout, o.HeartbeatTimeout = 24*time.Hour, time.Minute
	return o
}

func soon() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: time.Second, MaximumAttempts: 4}
}

func backoff(most time.Duration) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: most}
}

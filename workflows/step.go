package workflows

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
)

// references gives a nil receiver: workflows name activities by their methods and never call them.
func references() *activities.Activities { return nil }

// step runs an activity as its options say and waits for the result.
func step[I, R any](ctx workflow.Context, o stepOptions, activity func(context.Context, I) (R, error), in I) (R, error) {
	var out R
	local := workflow.WithLocalActivityOptions(ctx, o.local)
	err := workflow.ExecuteLocalActivity(local, activity, in).Get(ctx, &out)
	if err == nil || isFinal(err) {
		return out, err
	}
	workflow.GetLogger(ctx).Warn("a step is retried as an ordinary activity", "error", err)
	return ordinary(ctx, o.ordinary, activity, in)
}

// ordinary runs an activity on a task queue and waits for the result.
func ordinary[I, R any](ctx workflow.Context, o workflow.ActivityOptions, activity func(context.Context, I) (R, error), in I) (R, error) {
	var out R
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), activity, in).Get(ctx, &out)
	return out, err
}

// isFinal tells whether trying again is pointless.
func isFinal(err error) bool {
	if temporal.IsCanceledError(err) {
		return true
	}
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && app.NonRetryable()
}

// messageOf gives the sentence of an activity's error, without the SDK's wrapping.
func messageOf(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	return err.Error()
}

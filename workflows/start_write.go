package workflows

import (
	"context"
	"errors"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// StartWrite starts the workflow that lands a split write. One that runs or is done is no error: a write has one id.
func (s *Starter) StartWrite(ctx context.Context, w models.SplitWrite) error {
	table := activities.Target{TableUUID: w.TableUUID, TableName: w.TableName}
	return s.start(ctx, WriteRowsName, WriteRowsInput{Target: activities.WriteTarget(w)}, client.StartWorkflowOptions{
		ID:                    WriteRowsID(w.WriteID),
		TaskQueue:             MaintenanceQueue,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		TypedSearchAttributes: attributesOf(table, s.catalogName(ctx, w.CatalogID), ""),
	})
}

// AwaitWrite waits until a split write is over. The error is what it failed with, the context's, or fault.UnknownState when
// Temporal does not say.
func (s *Starter) AwaitWrite(ctx context.Context, writeID string) error {
	err := s.client.GetWorkflow(ctx, WriteRowsID(writeID), "").Get(ctx, nil)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return fault.Wrap(err, activities.CodeOf(activities.ErrorType(app.Type())), "%s", app.Message())
	}
	return fault.Wrap(err, fault.UnknownState, "It is not known yet whether the write landed. Send it again under the same Idempotency-Key, or look at the table's writes.")
}

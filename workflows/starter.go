package workflows

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// Catalogs names catalogs for the search attributes.
type Catalogs interface {
	CatalogByID(ctx context.Context, id string) (models.Catalog, error)
}

var (
	_ activities.Starter      = (*Starter)(nil)
	_ activities.PurgeStarter = (*Starter)(nil)
)

// Starter is the only place that starts workflows. Give it the client that the process's workers have: a workflow
// then begins in the answer to its start, without a wait.
//
// Errors are fault.Unavailable while Temporal cannot be asked and fault.Invalid for a start it will never take. Starting what
// already runs is no error.
type Starter struct {
	client   client.Client
	catalogs Catalogs

	mu    sync.Mutex
	names map[string]string // of catalogs by id: names do not change
}

// NewStarter makes a starter. catalogs may be nil: operators then see catalog ids.
func NewStarter(c client.Client, catalogs Catalogs) *Starter {
	return &Starter{client: c, catalogs: catalogs, names: map[string]string{}}
}

// StartReconcile starts the reconciliation of an outbox event. One that is done is no error either; one that failed or was
// terminated starts again. So does one that was done for another row of the catalog: a table that was dropped and is
// registered again has the uuid and the snapshots of before, and must not take its reconciliation for done.
func (s *Starter) StartReconcile(ctx context.Context, event models.OutboxEvent) error {
	t := TargetOf(event)
	o := s.reconcileOptions(ctx, t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
	o.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL
	o.WorkflowExecutionErrorWhenAlreadyStarted = true
	o.EnableEagerStart = true
	_, err := s.client.ExecuteWorkflow(ctx, o, ReconcileCommitName, ReconcileCommitInput{Target: t})
	if !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return startError(err, o.ID)
	}
	run, err := s.client.DescribeWorkflow(ctx, o.ID, "")
	switch {
	case err != nil:
		return startError(err, o.ID)
	case rowOf(run) == t.TableID:
		return nil
	case run.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return fault.New(fault.Unavailable, "Workflow %s still runs for the table that had this uuid before; it will be started when that is done.", o.ID)
	}
	return s.RepairCommit(ctx, t)
}

// memoRow is the memo that tells for which row of the catalog a reconciliation runs.
const memoRow = "tableId"

// rowOf reads the memo; "" when it cannot be read, which then counts as another's.
func rowOf(run *client.WorkflowExecutionDescription) string {
	var id string
	if run.GetMemoValue(memoRow, &id) != nil {
		return ""
	}
	return id
}

// StartReconcileBatch starts one workflow for many events, which must be in order of their ids. One that is done is no error.
func (s *Starter) StartReconcileBatch(ctx context.Context, events []models.OutboxEvent) error {
	if len(events) == 0 {
		return nil
	}
	id, targets := batchOf(events)
	return s.batch(ctx, id, targets, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
}

// AwaitReconcileBatch waits for the end of a batch that StartReconcileBatch started for the same events; the error is of the batch, or of
// the waiting.
func (s *Starter) AwaitReconcileBatch(ctx context.Context, events []models.OutboxEvent) error {
	id, _ := batchOf(events)
	return s.client.GetWorkflow(ctx, id, "").Get(ctx, nil)
}

func batchOf(events []models.OutboxEvent) (id string, targets []activities.Target) {
	targets = make([]activities.Target, 0, len(events))
	for _, e := range events {
		targets = append(targets, TargetOf(e))
	}
	return ReconcileBatchID(events[0].ID, events[len(events)-1].ID, targets), targets
}

// RepairCommit starts a reconciliation that the database says is missing: unlike StartReconcile, also where a workflow for it has
// completed, which happens when the database was restored from a backup.
func (s *Starter) RepairCommit(ctx context.Context, t activities.Target) error {
	_, err := s.ReconcileNow(ctx, t)
	return err
}

// RepairBatch is RepairCommit for many, whose workflow id has no range of the outbox.
func (s *Starter) RepairBatch(ctx context.Context, targets []activities.Target) error {
	return s.batch(ctx, ReconcileBatchID(0, 0, targets), targets, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
}

// ReconcileNow starts a reconciliation that somebody asks for, whatever was done before, and gives its workflow id.
func (s *Starter) ReconcileNow(ctx context.Context, t activities.Target) (workflowID string, err error) {
	return s.reconcile(ctx, t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
}

// StartPurge starts the purge of a dropped table, also where one for an earlier drop, or one that failed, is closed: the
// record of the drop decides what may be done.
func (s *Starter) StartPurge(ctx context.Context, t activities.PurgeTarget) error {
	table := activities.Target{TableUUID: t.TableUUID, TableName: t.TableName}
	return s.start(ctx, PurgeTableName, PurgeTableInput{Target: t}, client.StartWorkflowOptions{
		ID:                    PurgeTableID(t.TableUUID),
		TaskQueue:             MaintenanceQueue,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes: attributesOf(table, s.catalogName(ctx, t.CatalogID), ""),
	})
}

// TargetOf names the commit of an outbox event.
func TargetOf(e models.OutboxEvent) activities.Target {
	return activities.Target{
		CatalogID: e.CatalogID, TableID: e.TableID, TableUUID: e.TableUUID, TableName: e.TableName, SnapshotID: e.SnapshotID,
	}
}

func (s *Starter) reconcile(ctx context.Context, t activities.Target, reuse enums.WorkflowIdReusePolicy) (string, error) {
	o := s.reconcileOptions(ctx, t, reuse)
	return o.ID, s.start(ctx, ReconcileCommitName, ReconcileCommitInput{Target: t}, o)
}

func (s *Starter) reconcileOptions(ctx context.Context, t activities.Target, reuse enums.WorkflowIdReusePolicy) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                    ReconcileCommitID(t.TableUUID, t.SnapshotID),
		TaskQueue:             ReconcileQueue,
		WorkflowIDReusePolicy: reuse,
		Memo:                  map[string]any{memoRow: t.TableID},
		TypedSearchAttributes: attributesOf(t, s.catalogName(ctx, t.CatalogID), strconv.FormatInt(t.SnapshotID, 10)),
	}
}

func (s *Starter) batch(ctx context.Context, id string, targets []activities.Target, reuse enums.WorkflowIdReusePolicy) error {
	return s.start(ctx, ReconcileBatchName, ReconcileBatchInput{Targets: targets}, client.StartWorkflowOptions{
		ID: id, TaskQueue: ReconcileQueue, WorkflowIDReusePolicy: reuse,
	})
}

// start adds what every start has: an open run of the same id is used, whatever is closed and may not be repeated is left
// alone without an error, and the first workflow task comes with the answer.
func (s *Starter) start(ctx context.Context, name string, in any, o client.StartWorkflowOptions) error {
	o.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	o.WorkflowExecutionErrorWhenAlreadyStarted = false
	o.EnableEagerStart = true
	_, err := s.client.ExecuteWorkflow(ctx, o, name, in)
	return startError(err, o.ID)
}

func startError(err error, id string) error {
	if err == nil || temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return nil
	}
	if _, invalid := errors.AsType[*serviceerror.InvalidArgument](err); invalid {
		return fault.Wrap(err, fault.Invalid, "Temporal refuses to start workflow %s: look at the log for its reason.", id)
	}
	return fault.Wrap(err, fault.Unavailable, "Temporal cannot be reached; workflow %s will be started when it can.", id)
}

func (s *Starter) catalogName(ctx context.Context, id string) string {
	s.mu.Lock()
	name, ok := s.names[id]
	s.mu.Unlock()
	if ok || s.catalogs == nil {
		return firstOf(name, id)
	}
	c, err := s.catalogs.CatalogByID(ctx, id)
	if err != nil {
		return id // an attribute is not worth a failed start
	}
	s.mu.Lock()
	s.names[id] = c.Name
	s.mu.Unlock()
	return firstOf(c.Name, id)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

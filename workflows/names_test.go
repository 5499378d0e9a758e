package workflows_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/workflows"
)

var update = flag.Bool("update", false, "rewrite testdata/names.golden")

// registered notes what is registered, instead of a worker.
type registered struct {
	worker.WorkflowRegistry
	worker.ActivityRegistry
	names []string
}

func (r *registered) RegisterWorkflowWithOptions(fn any, o workflow.RegisterOptions) {
	r.names = append(r.names, fmt.Sprintf("workflow %s %s", o.Name, shape(fn)))
}

func (r *registered) RegisterActivityWithOptions(fn any, o activity.RegisterOptions) {
	r.names = append(r.names, fmt.Sprintf("activity %s %s", o.Name, shape(fn)))
}

// shape is a function's input and result.
func shape(fn any) string {
	t := reflect.TypeOf(fn)
	return fmt.Sprintf("%s -> %s", t.In(1), t.Out(0))
}

// TestNamesOnTheWire pins what histories, operators' queries and other processes hold. A line that changes needs a way for
// open workflows: a new name beside the old one, or a version.
func TestNamesOnTheWire(t *testing.T) {
	r := &registered{}
	workflows.RegisterWorkflows(r)
	workflows.RegisterActivities(r, activities.New(activities.Ports{}))
	lines := append(r.names,
		"query "+workflows.ProgressQuery,
		"queue "+workflows.ReconcileQueue,
		"queue "+workflows.MaintenanceQueue,
		"queue "+workflows.DeliveryQueue,
		"queue "+workflows.DataQueue,
		"schedule "+workflows.SweepScheduleID,
		"schedule "+workflows.SweepDroppedScheduleID,
		"schedule "+workflows.CheckFilesScheduleID,
		"schedule "+workflows.DeliverWebhooksScheduleID,
		"schedule "+workflows.CheckTablesScheduleID,
		"schedule "+workflows.WatchWritersScheduleID,
		"schedule "+workflows.ExportAuditScheduleID,
		"error "+workflows.BatchFailedError,
		"id "+workflows.ReconcileCommitID("7d9a", 42),
		"id "+workflows.PurgeTableID("7d9a"),
		"id "+workflows.WriteRowsID("7d9a"),
		"id "+workflows.ReconcileBatchID(3, 9, []activities.Target{{TableUUID: "7d9a", SnapshotID: 42}}),
	)
	for name, kind := range workflows.SearchAttributes() {
		lines = append(lines, fmt.Sprintf("attribute %s %s", name, kind))
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "names.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "if this is meant: go test ./workflows -run TestNamesOnTheWire -update")
}

// Every exported method of Activities is an activity; one that is not registered cannot be called.
func TestEveryActivityIsRegistered(t *testing.T) {
	r := &registered{}
	workflows.RegisterActivities(r, activities.New(activities.Ports{}))
	methods := reflect.TypeFor[*activities.Activities]()
	require.Len(t, r.names, methods.NumMethod())
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		require.True(t, slices.ContainsFunc(r.names, func(line string) bool { return strings.HasPrefix(line, "activity "+name+" ") }), name)
	}
}

func TestWorkflowIDs(t *testing.T) {
	for _, snapshot := range []int64{0, 1, -1, 9_007_199_254_740_993} {
		id := workflows.ReconcileCommitID("0b8c5d1e-0000-4000-8000-000000000001", snapshot)
		uuid, got, err := workflows.ParseReconcileCommitID(id)
		require.NoError(t, err)
		require.Equal(t, "0b8c5d1e-0000-4000-8000-000000000001", uuid)
		require.Equal(t, snapshot, got)
	}
	first, last, err := workflows.ParseReconcileBatchID(workflows.ReconcileBatchID(17, 116, nil))
	require.NoError(t, err)
	require.Equal(t, [2]int64{17, 116}, [2]int64{first, last})
	for _, id := range []string{"", "reconcile/", "reconcile/x", "reconcile//1", "reconcile/x/y", "reconcile-batch/1-2", "reconcile-batch/a-b-c", "sweep-catalog"} {
		_, _, err := workflows.ParseReconcileCommitID(id)
		require.Error(t, err, id)
		_, _, err = workflows.ParseReconcileBatchID(id)
		require.Error(t, err, id)
	}
}

func TestPurgeIDs(t *testing.T) {
	uuid, err := workflows.ParsePurgeTableID(workflows.PurgeTableID("0b8c5d1e"))
	require.NoError(t, err)
	require.Equal(t, "0b8c5d1e", uuid)
	for _, id := range []string{"", "purge/", "reconcile/x/1", "sweep-dropped"} {
		_, err := workflows.ParsePurgeTableID(id)
		require.Error(t, err, id)
	}
}

// TestDestructiveWorkflowsAreNobodysToStart pins what deletes for good, and that nothing but the sweep over the records of
// drops starts it: no schedule runs it, and outside this package and its port no code names it.
func TestDestructiveWorkflowsAreNobodysToStart(t *testing.T) {
	require.Equal(t, []string{"PurgeTable"}, workflows.DestructiveWorkflows(), "a new one needs a claim that people can still win, and a test that it refuses")
	starts := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "activitiestest") {
			return nil
		}
		source, err := os.ReadFile(path)
		if strings.Contains(string(source), "PurgeTableName") || strings.Contains(string(source), ".StartPurge(") {
			starts[filepath.ToSlash(path)] = true
		}
		return err
	}))
	require.Equal(t, map[string]bool{
		"../activities/start_due_purges.go": true, // the sweep
		"../workflows/names.go":             true,
		"../workflows/register.go":          true,
		"../workflows/starter.go":           true,
	}, starts)
}

// The same range of the outbox may hold other commits when another process reads it.
func TestBatchesOfOtherCommitsHaveOtherIDs(t *testing.T) {
	a := activities.Target{TableUUID: "u", SnapshotID: 1}
	require.NotEqual(t,
		workflows.ReconcileBatchID(1, 3, []activities.Target{a, a.At(3)}),
		workflows.ReconcileBatchID(1, 3, []activities.Target{a, a.At(2), a.At(3)}))
}

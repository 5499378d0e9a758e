package workflows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/activities/activitiestest"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/models"
	"github.com/sluice-data/sluice/workflows"
)

var (
	record     = flag.Bool("record", false, "record testdata/histories anew from a real server")
	recordOnly = flag.String("record-only", "", "the start of the names of the histories to record")
)

// recording makes one history: it prepares a world and gives the workflow to run.
type recording struct {
	file     string
	workflow string
	prepare  func(*activitiestest.World) any
}

func recordings() []recording {
	return []recording{
		{"ReconcileCommit.v1.append.json", workflows.ReconcileCommitName, noFiles(appendOne)},
		{"ReconcileCommit.v1.ancestors.json", workflows.ReconcileCommitName, noFiles(ancestors(0))},
		{"ReconcileCommit.v1.continued.json", workflows.ReconcileCommitName, noFiles(ancestors(2))},
		{"ReconcileCommit.v1.large-table.json", workflows.ReconcileCommitName, noFiles(largeTable)},
		{"ReconcileCommit.v1.nothing-left.json", workflows.ReconcileCommitName, nothingLeft},
		{"ReconcileCommit.v1.table-gone.json", workflows.ReconcileCommitName, tableGone},
		{"ReconcileCommit.v1.outage.json", workflows.ReconcileCommitName, noFiles(outage)},
		{"ReconcileCommit.v1.stamp-failed.json", workflows.ReconcileCommitName, noFiles(stampFailed)},
		{"ReconcileCommit.v2.files.json", workflows.ReconcileCommitName, ancestors(0)},
		{"ReconcileCommit.v2.many-files.json", workflows.ReconcileCommitName, manyFiles},
		{"ReconcileCommit.v2.files-outage.json", workflows.ReconcileCommitName, filesOutage},
		{"ReconcileCommit.v2.files-refused.json", workflows.ReconcileCommitName, filesRefused},
		{"ReconcileBatch.v1.tables.json", workflows.ReconcileBatchName, noFiles(tables(false))},
		{"ReconcileBatch.v1.table-failed.json", workflows.ReconcileBatchName, noFiles(tables(true))},
		{"ReconcileBatch.v2.files.json", workflows.ReconcileBatchName, tables(false)},
		{"CheckFiles.v1.pages.json", workflows.CheckFilesName, checkFiles},
		{"CheckTables.v1.pages.json", workflows.CheckTablesName, checkTables},
		{"WatchWriters.v1.pages.json", workflows.WatchWritersName, watchWriters},
		{"WatchWriters.v1.hour-only.json", workflows.WatchWritersName, watchHour},
		{"SweepCatalog.v1.pages.json", workflows.SweepCatalogName, sweep},
		{"SweepDropped.v1.pages.json", workflows.SweepDroppedName, sweepDropped},
		{"PurgeTable.v1.purged.json", workflows.PurgeTableName, purgeDue},
		{"PurgeTable.v1.undropped.json", workflows.PurgeTableName, purgeUndropped},
		{"PurgeTable.v1.data-kept.json", workflows.PurgeTableName, purgeDataKept},
		{"PurgeTable.v1.failed.json", workflows.PurgeTableName, purgeFailed},
		{"DeliverWebhooks.v1.pages.json", workflows.DeliverWebhooksName, deliverMany},
		{"DeliverWebhooks.v1.none.json", workflows.DeliverWebhooksName, deliverNothing},
		{"ExportAudit.v1.pages.json", workflows.ExportAuditName, exportMany},
		{"WriteRows.v1.chunks.json", workflows.WriteRowsName, splitMany},
		{"WriteRows.v1.refused.json", workflows.WriteRowsName, splitRefused},
	}
}

// TestRecordHistories writes the histories that TestReplay replays; see testdata/README.md for when.
func TestRecordHistories(t *testing.T) {
	if !*record {
		t.Skip("only with -record")
	}
	e := startTemporal(t)
	for _, r := range recordings() {
		if !strings.HasPrefix(r.file, *recordOnly) {
			continue
		}
		t.Run(r.file, func(t *testing.T) {
			world := activitiestest.New()
			in := r.prepare(world)
			e.work(t, world)
			queue := workflows.ReconcileQueue
			switch r.workflow {
			case workflows.SweepCatalogName, workflows.SweepDroppedName, workflows.PurgeTableName, workflows.CheckFilesName,
				workflows.CheckTablesName, workflows.WatchWritersName, workflows.DeliverWebhooksName, workflows.ExportAuditName, workflows.WriteRowsName:
				queue = workflows.MaintenanceQueue
			}
			run, err := e.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "recorded/" + r.file, TaskQueue: queue}, r.workflow, in)
			require.NoError(t, err)
			runID := run.GetRunID() // of the first run, before it continues as another
			_ = run.Get(t.Context(), nil)
			e.save(t, "recorded/"+r.file, runID, filepath.Join("testdata", "histories", r.file))
		})
	}
}

func (e *cluster) save(t *testing.T, id, runID, file string) {
	t.Helper()
	var h history.History
	events := e.client.GetWorkflowHistory(t.Context(), id, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, event)
	}
	raw, err := protojson.Marshal(&h)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	require.NoError(t, decoder.Decode(&tree))
	host, err := os.Hostname()
	require.NoError(t, err)
	raw, err = json.MarshalIndent(anonymous(tree, host), "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(raw, '\n'), 0o644))
}

// anonymous takes out the name of the machine that recorded: identities, and sticky queues that begin with it.
func anonymous(v any, host string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "identity" {
				value = "recorder"
			}
			v[key] = anonymous(value, host)
		}
	case []any:
		for i := range v {
			v[i] = anonymous(v[i], host)
		}
	case string:
		if rest, ok := strings.CutPrefix(v, host+":"); ok {
			return "recorder:" + rest
		}
	}
	return v
}

func appendOne(world *activitiestest.World) any {
	return workflows.ReconcileCommitInput{Target: world.Commit(world.AddTable("orders"))}
}

func ancestors(pageSize int) func(*activitiestest.World) any {
	return func(world *activitiestest.World) any {
		table := world.AddTable("orders")
		world.Commit(table)
		world.CommitUnseen(table)
		return workflows.ReconcileCommitInput{Target: world.Commit(table), PageSize: pageSize}
	}
}

// noFiles makes commits that change no files, which reconcile as all did before files were recorded.
func noFiles(prepare func(*activitiestest.World) any) func(*activitiestest.World) any {
	return func(world *activitiestest.World) any {
		world.NoFiles()
		return prepare(world)
	}
}

func manyFiles(world *activitiestest.World) any {
	table := world.AddTable("orders")
	world.Table(table).Adds = 700
	return workflows.ReconcileCommitInput{Target: world.Commit(table)}
}

func filesOutage(world *activitiestest.World) any {
	in := appendOne(world)
	failTimes(world, "RecordFiles", 5, unavailable())
	return in
}

func filesRefused(world *activitiestest.World) any {
	in := appendOne(world)
	failTimes(world, "RecordFiles", -1, fault.New(fault.Forbidden, "The location is outside the allowed storage roots."))
	return in
}

func checkFiles(world *activitiestest.World) any {
	recordMany(world, 2500) // two pages and a half
	return workflows.CheckFilesInput{}
}

func checkTables(world *activitiestest.World) any {
	checkMany(world, 501) // a page and one
	return workflows.CheckTablesInput{Every: time.Hour}
}

func watchWriters(world *activitiestest.World) any {
	declare(world, 501) // a page and one
	return watchInput()
}

func watchHour(world *activitiestest.World) any {
	declare(world, 1)
	in := watchInput()
	in.Done.DailyAt = time.Now()
	return in
}

// recordMany records a table's files, the last of which somebody changed.
func recordMany(world *activitiestest.World, n int) activities.Target {
	table := world.AddTable("orders")
	world.Table(table).Adds = n
	target := world.Commit(table)
	var records []models.FileRecord
	for i := range n {
		path := world.FileOf(target, i)
		records = append(records, models.FileRecord{
			ID: models.FileRecordID(target.TableID, path), TableID: target.TableID, Location: path, SnapshotID: target.SnapshotID,
			Size: activitiestest.FileSize, ETag: fmt.Sprint("e", i),
		})
	}
	_ = world.RecordFiles(context.Background(), activities.FileRecording{Added: records})
	world.SetObject(world.FileOf(target, n-1), maintenance.Sighting{Found: true, Size: activitiestest.FileSize, ETag: "other"})
	return target
}

func largeTable(world *activitiestest.World) any {
	table := world.AddTable("orders")
	world.Table(table).Files = 50_000
	return workflows.ReconcileCommitInput{Target: world.Commit(table)}
}

func nothingLeft(world *activitiestest.World) any {
	target := world.Commit(world.AddTable("orders"))
	world.SetCommit(models.Commit{TableID: target.TableID, SnapshotID: target.SnapshotID, Status: models.CommitReconciled})
	return workflows.ReconcileCommitInput{Target: target}
}

func tableGone(world *activitiestest.World) any {
	target := world.Commit(world.AddTable("orders"))
	world.Drop(target)
	return workflows.ReconcileCommitInput{Target: target}
}

func outage(world *activitiestest.World) any {
	in := appendOne(world)
	failTimes(world, "RecordCommit", 5, unavailable())
	return in
}

func stampFailed(world *activitiestest.World) any {
	in := appendOne(world)
	failTimes(world, "Restamp", -1, fault.New(fault.Unprocessable, "The table's metadata cannot be changed."))
	return in
}

func tables(oneFails bool) func(*activitiestest.World) any {
	return func(world *activitiestest.World) any {
		var targets []activities.Target
		for _, name := range []string{"orders", "customers", "orders", "items", "customers"} {
			table := world.AddTable(name)
			targets = append(targets, world.Commit(table))
		}
		if oneFails {
			bad := targets[1].TableID
			world.SetFail(func(port, table string) error {
				if port == "RecordCommit" && table == bad {
					return fault.New(fault.Invalid, "The ledger row is malformed.")
				}
				return nil
			})
		}
		return workflows.ReconcileBatchInput{Targets: targets}
	}
}

func sweep(world *activitiestest.World) any {
	for i := range 201 { // a page and one
		world.Commit(world.AddTable("t" + string(rune('a'+i/26)) + string(rune('a'+i%26))))
	}
	return workflows.SweepCatalogInput{}
}

func sweepDropped(world *activitiestest.World) any {
	dropMany(world, 101) // a page and one
	return workflows.SweepDroppedInput{}
}

func purgeDue(world *activitiestest.World) any {
	return workflows.PurgeTableInput{Target: world.DropForPurge(world.AddTable("orders"))}
}

func purgeUndropped(world *activitiestest.World) any {
	target := world.DropForPurge(world.AddTable("orders"))
	world.Undrop(target)
	return workflows.PurgeTableInput{Target: target}
}

func purgeDataKept(world *activitiestest.World) any {
	world.KeepsData()
	return purgeDue(world)
}

func purgeFailed(world *activitiestest.World) any {
	failTimes(world, "DeleteMetadata", -1, fault.New(fault.Forbidden, "The location is outside the allowed storage roots."))
	return purgeDue(world)
}

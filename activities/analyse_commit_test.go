package activities_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// start is when the first commit of a test is made.
var start = time.Date(2026, 5, 4, 2, 0, 0, 0, time.UTC)

func flink(job string, checkpoint int) map[string]string {
	return map[string]string{
		"operation": "append", "flink.operator-id": "op-1", "flink.job-id": job,
		"flink.max-committed-checkpoint-id": fmt.Sprint(checkpoint), "added-records": "10", "added-data-files": "1", "added-files-size": "1000",
	}
}

var etl = models.Writer{Principal: "etl", TokenID: "tok-1", Engine: "flink"}

// stream commits a Flink job's checkpoints, a minute apart, and reconciles them.
func (r *rig) stream(table activities.Target, job string, from, to int) []activities.Target {
	r.t.Helper()
	var out []activities.Target
	for n := from; n <= to; n++ {
		target := r.world.CommitBy(table, etl, start.Add(time.Duration(n)*time.Minute), flink(job, n))
		require.True(r.t, r.reconcile(target))
		out = append(out, target)
	}
	return out
}

// kinds gives the kinds of the open findings.
func (r *rig) kinds() []models.FindingKind {
	out := []models.FindingKind{}
	for _, f := range r.open() {
		out = append(out, f.Kind)
	}
	return out
}

func TestAPieceOfAStreamThatIsThereAlreadyIsAFinding(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	first := r.stream(table, "job-a", 11, 14)
	require.Empty(t, r.open(), "a healthy stream")

	target := r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 13))
	require.True(t, r.reconcile(target))
	require.Equal(t, []models.FindingKind{models.FindingDuplicateCheckpoint}, r.kinds())
	f := r.open()[0]
	require.Equal(t, [3]string{"main", "sales.orders", table.TableID}, [3]string{f.Catalog, f.Table, f.TableID})
	require.Equal(t, fmt.Sprint(target.SnapshotID), f.Evidence.V["snapshot"])
	require.Equal(t, fmt.Sprint(first[2].SnapshotID), f.Evidence.V["earlierSnapshot"])
	require.Equal(t, target.SnapshotID, *f.SnapshotID)
	audits := r.world.Audits()
	require.Equal(t, []map[string]any{{"kind": "duplicate_checkpoint", "subject": f.Subject}}, audits[len(audits)-1].Details.V["findings"])
	require.False(t, r.reconcile(target))
	require.Len(t, r.open(), 1, "a second run finds nothing new")
}

// What was rolled back is right to be written again.
func TestAPieceThatWasRolledBackMayComeAgain(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 14)
	r.world.RollBack(table)
	require.True(t, r.reconcile(r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 14))))
	require.Empty(t, r.open())
}

// The ledger knows what the table has forgotten.
func TestAPieceIsKnownAfterItsSnapshotExpired(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 14)
	r.world.Expire(table, 3)
	require.True(t, r.reconcile(r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 12))))
	require.Equal(t, []models.FindingKind{models.FindingDuplicateCheckpoint}, r.kinds())
}

func TestTheOrderOfReconciliationDoesNotMatter(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 14)
	twin := r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 14))
	next := r.world.CommitBy(table, etl, start.Add(2*time.Hour), flink("job-b", 15))
	require.True(t, r.reconcile(next))
	require.Empty(t, r.open())
	require.True(t, r.reconcile(twin))
	require.Equal(t, []models.FindingKind{models.FindingDuplicateCheckpoint}, r.kinds())
	w := r.world.Writer(writerOf(table))
	require.Equal(t, next.SnapshotID, *w.LastCommit, "the row is as of the newest commit")
}

func writerOf(table activities.Target) string {
	return writers.Identify(table.TableID, "main", etl, flink("job-a", 1)).ID
}

func TestAWriterIsKept(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	r.stream(table, "job-a", 11, 18)
	w := r.world.Writer(writerOf(table))
	require.Equal(t, models.FlinkWriter, w.Kind)
	require.Equal(t, "op-1", w.Key)
	require.Equal(t, "job-a", w.Job)
	require.EqualValues(t, 8, w.Commits)
	require.EqualValues(t, 60_000, w.Median)
	require.Equal(t, map[string]int64{"checkpoint": 18}, w.Watermark.V)
	require.Equal(t, start.Add(18*time.Minute), *w.LastCommitAt)
}

func TestADeclaredWriterIsKeptWhateverEngineItUses(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	id := writers.ExpectedID(table.TableID, "etl")
	r.world.SetWriter(models.NamedWriter{TableWriter: models.TableWriter{
		ID: id, TableID: table.TableID, Kind: models.ExpectedWriter, Principal: "etl", Every: 600_000, State: models.WriterActive, CreatedAt: start,
	}})
	targets := r.stream(table, "job-a", 11, 12)
	w := r.world.Writer(id)
	require.Equal(t, targets[1].SnapshotID, *w.LastCommit)
	require.Equal(t, start.Add(12*time.Minute), *w.LastCommitAt)
	require.EqualValues(t, 600_000, w.Every)
	require.EqualValues(t, 2, w.Commits)
}

// A ledger that does not answer loses neither the commit nor what is wrong with it.
func TestAnalysisWaitsForTheLedger(t *testing.T) {
	for _, port := range []string{"History", "LatestOf", "ExpectedWriter"} {
		t.Run(port, func(t *testing.T) {
			r := newRig(t)
			table := r.world.AddTable("orders")
			r.stream(table, "job-a", 11, 14)
			target := r.world.CommitBy(table, etl, start.Add(time.Hour), flink("job-b", 14))
			down := true
			r.world.SetFail(func(called, _ string) error {
				if called == port && down {
					return fmt.Errorf("the connection broke")
				}
				return nil
			})
			_, err := run(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, Catalog: "main", OnMain: true, WorkflowID: workflowID})
			require.False(t, asApplication(t, err).NonRetryable())
			require.Empty(t, r.open())
			down = false
			require.True(t, r.reconcile(target))
			require.Equal(t, []models.FindingKind{models.FindingDuplicateCheckpoint}, r.kinds())
		})
	}
}

func TestEqualityDeletesThatPileUpAreAFindingUntilTheyAreCompacted(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	commit := func(live int64, operation string) {
		target := r.world.Commit(table)
		c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
		require.NoError(t, err)
		c.Operation = operation
		r.world.SetCommit(c)
		counts := activities.RecountSnapshotResult{LiveEqualityDeletes: &live}
		require.True(t, must(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, Catalog: "main", OnMain: true, Counts: counts}).Recorded)
	}
	commit(999, "overwrite")
	require.Empty(t, r.open())
	commit(1000, "overwrite")
	commit(1001, "overwrite")
	require.Equal(t, []models.FindingKind{models.FindingDeletePileup}, r.kinds())
	require.EqualValues(t, 1001, r.open()[0].Evidence.V["equalityDeleteFiles"])
	commit(0, "replace")
	require.Empty(t, r.open())
}

func TestASchemaThatCameBackIsAFinding(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	is := r.world.Table(table)
	change := func(schema int, schemas ...[]string) {
		is.Schemas, is.Schema = schemas, schema
		r.world.Publish(table)
	}
	filed := func() activities.Target {
		target := r.world.Commit(table)
		files := r.record(target)
		counts := must(r, r.acts.RecountSnapshot, activities.RecountSnapshotInput{Target: target})
		require.True(t, must(r, r.acts.RecordCommit, activities.RecordCommitInput{
			Target: target, Catalog: "main", OnMain: true, Counts: counts, Files: files, WorkflowID: workflowID,
		}).Recorded)
		return target
	}
	filed()
	change(1, []string{"id"}, []string{"id", "email"})
	filed()
	change(0, []string{"id"}, []string{"id", "email"})
	filed()
	require.Empty(t, r.open(), "somebody changed the schema without a commit")

	change(1, []string{"id"}, []string{"id", "email"})
	is.Schema = 0 // with the commit itself
	bad := filed()
	require.Equal(t, []models.FindingKind{models.FindingSchemaRegression}, r.kinds())
	f := r.open()[0]
	require.Equal(t, bad.SnapshotID, *f.SnapshotID)
	require.Equal(t, []string{"email"}, f.Evidence.V["lostColumns"])
	require.Equal(t, "sales.orders", f.Table)
}

// CREATE OR REPLACE TABLE AS SELECT with the columns of an earlier schema sets that one, and builds on no snapshot.
func TestATableThatIsReplacedHasTheSchemaThatWasMeant(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	is := r.world.Table(table)
	is.Schemas, is.Schema = [][]string{{"id"}, {"id", "email"}}, 1
	r.world.Publish(table)
	r.record(r.world.Commit(table))
	is.Schema = 0
	target := r.world.Commit(table)
	c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	require.NotNil(t, c.ParentSnapshotID)
	c.ParentSnapshotID = nil
	r.world.SetCommit(c)
	files := r.record(target)
	require.True(t, files.SchemaBehind)
	require.True(t, must(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, OnMain: true, Files: files}).Recorded)
	require.Empty(t, r.open())
}

// A newer schema that lacks a column is what somebody meant, and stays so when there is another one since.
func TestAColumnThatIsDroppedIsNoSchemaThatCameBack(t *testing.T) {
	r := newRig(t)
	table := r.world.AddTable("orders")
	is := r.world.Table(table)
	is.Schemas = [][]string{{"id", "email"}}
	r.world.Publish(table)
	is.Schemas, is.Schema = [][]string{{"id", "email"}, {"id"}}, 1
	target := r.world.Commit(table)
	is.Schemas, is.Schema = append(is.Schemas, []string{"id", "phone"}), 2
	r.world.Publish(table)
	files := r.record(target)
	require.True(t, files.SchemaBehind)
	require.True(t, must(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, OnMain: true, Files: files}).Recorded)
	require.Empty(t, r.open())
}

func TestWhatWasCountedIsInTheLedgerAndTheAudit(t *testing.T) {
	r := newRig(t, counting(reconcile.Counts{AddedRows: 10, AddedFiles: 1, TotalRows: 10, Exact: true}))
	target := r.world.Commit(r.world.AddTable("orders"))
	n := func(n int64) *int64 { return &n }
	counts := activities.RecountSnapshotResult{
		Rows: n(10), Files: n(1), Bytes: n(1000), RowCountBefore: n(5), RowCountAfter: n(12), Exact: true,
		RemovedRows: n(3), RemovedFiles: n(2), RemovedBytes: n(700), DeleteFiles: n(4),
		Partitions: []models.PartitionChange{{Partition: "day=1", AddedRows: 10}},
	}
	require.True(t, must(r, r.acts.RecordCommit, activities.RecordCommitInput{Target: target, Counts: counts}).Recorded)
	c, err := r.world.Ledger().Commit(t.Context(), target.TableID, target.SnapshotID)
	require.NoError(t, err)
	require.Equal(t, [4]int64{3, 2, 700, 4}, [4]int64{*c.RemovedRows, *c.RemovedFiles, *c.RemovedBytes, *c.DeleteFiles})
	require.Equal(t, counts.Partitions, c.Partitions.V)
	d := r.world.Audits()[0].Details.V
	require.Equal(t, [4]any{int64(3), int64(2), int64(700), int64(4)}, [4]any{d["removedRows"], d["removedFiles"], d["removedBytes"], d["deleteFiles"]})
	require.Equal(t, counts.Partitions, d["partitions"])
}

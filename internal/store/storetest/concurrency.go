package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// together runs n callers at once and waits for all.
func together(n int, run func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; run(i) })
	}
	close(start)
	wg.Wait()
}

func concurrencyCases() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"every success is one step of the version":              oneStepEach,
		"several tables move together or not at all":            allOrNothing,
		"a name is given once":                                  nameOnce,
		"overlapping locations are given once":                  locationOnce,
		"a namespace is dropped or gets a child, never both":    noOrphans,
		"a commit is recorded once by many reconcilers":         recordedOnce,
		"opposite orders of the same tables do not block":       noDeadlock,
		"readers see whole commits while writers are at work":   wholeReads,
		"a table's swaps and its recording do not block either": swapsAndRecords,
	}
}

func oneStepEach(t *testing.T, f *fixture) {
	row := f.table(t, "hot")
	const callers, wins = 32, 3
	var won, lost, snapshot atomic.Int64
	together(callers, func(int) {
		for range wins {
			for {
				current, err := f.s.TableByID(t.Context(), row.ID)
				if !assert.NoError(t, err) {
					return
				}
				err = f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(current, snapshot.Add(1), 1)})
				if err == nil {
					won.Add(1)
					break
				}
				if !assert.Equal(t, fault.Conflict, fault.CodeOf(err), "%v", err) {
					return
				}
				lost.Add(1)
			}
		}
	})
	require.EqualValues(t, callers*wins, won.Load())
	got := f.load(t, row.ID)
	assert.Equal(t, row.Version+won.Load(), got.Version)
	commits, err := f.s.Commits(t.Context(), models.CommitFilter{TableID: row.ID})
	require.NoError(t, err)
	assert.Len(t, commits, callers*wins)
	assert.Equal(t, *got.CurrentSnapshotID, commits[0].SnapshotID, "the ledger is in the order of the commits")
	assert.Len(t, f.outbox(t), callers*wins)
	assert.Len(t, f.audit(t, models.AuditTableCommitted), callers*wins)
	t.Logf("%d swaps lost", lost.Load())
}

func allOrNothing(t *testing.T, f *fixture) {
	ids := []string{f.table(t, "a").ID, f.table(t, "b").ID, f.table(t, "c").ID}
	var won, snapshot atomic.Int64
	together(12, func(int) {
		for range 5 {
			var swaps []catalog.Swap
			n := snapshot.Add(1)
			for _, id := range ids {
				row, err := f.s.TableByID(t.Context(), id)
				if !assert.NoError(t, err) {
					return
				}
				swaps = append(swaps, swapTo(row, n, 1))
			}
			switch err := f.s.SwapTables(t.Context(), swaps); fault.CodeOf(err) {
			case "":
				won.Add(1)
			case fault.Conflict:
			default:
				assert.NoError(t, err)
			}
		}
	})
	require.Positive(t, won.Load())
	var heads []int64
	for _, id := range ids {
		row := f.load(t, id)
		assert.Equal(t, 1+won.Load(), row.Version)
		heads = append(heads, *row.CurrentSnapshotID)
	}
	assert.Equal(t, []int64{heads[0], heads[0], heads[0]}, heads)
	assert.Len(t, f.outbox(t), int(3*won.Load()))
	assert.Len(t, f.audit(t, models.AuditTableCommitted), int(3*won.Load()))
}

func nameOnce(t *testing.T, f *fixture) {
	var won atomic.Int64
	together(16, func(int) {
		err := f.s.CreateTable(t.Context(), f.newTable("one"), catalog.Effects{Audit: []models.AuditEvent{event(models.AuditTableCreated)}})
		if err == nil {
			won.Add(1)
			return
		}
		assert.Equal(t, fault.AlreadyExists, fault.CodeOf(err), "%v", err)
	})
	assert.EqualValues(t, 1, won.Load())
	assert.Len(t, f.audit(t, models.AuditTableCreated), 1)
}

func locationOnce(t *testing.T, f *fixture) {
	var won atomic.Int64
	catalogs := []*fixture{f, f.otherCatalog(t, "second"), f.otherCatalog(t, "third")}
	together(12, func(i int) {
		row := catalogs[i%len(catalogs)].newTable(fmt.Sprint("t", i))
		row.Location = "s3://lake/same" + []string{"", "/below"}[i%2]
		err := f.s.CreateTable(t.Context(), row, catalog.Effects{})
		if err == nil {
			won.Add(1)
			return
		}
		assert.Equal(t, fault.Conflict, fault.CodeOf(err), "%v", err)
	})
	assert.EqualValues(t, 1, won.Load())
}

func noOrphans(t *testing.T, f *fixture) {
	for round := range 10 {
		parent := f.namespace(t, fmt.Sprint("p", round))
		row := f.newTable("child")
		row.NamespaceID = parent.ID
		sub := f.newNamespace(fmt.Sprint("p", round), "child")
		errs := make([]error, 3)
		together(3, func(i int) {
			switch i {
			case 0:
				errs[i] = f.s.DropNamespace(t.Context(), parent.ID, event(models.AuditNamespaceDropped))
			case 1:
				errs[i] = f.s.CreateTable(t.Context(), row, catalog.Effects{})
			case 2:
				errs[i] = f.s.CreateNamespace(t.Context(), sub, event(models.AuditNamespaceCreated))
			}
		})
		if errs[0] == nil {
			requireFault(t, errs[1], fault.NotFound, fault.Namespace)
			requireFault(t, errs[2], fault.NotFound, fault.Namespace)
			continue
		}
		requireFault(t, errs[0], fault.NotEmpty, fault.Namespace)
		assert.True(t, errs[1] == nil || errs[2] == nil, "%v", errs)
	}
}

func recordedOnce(t *testing.T, f *fixture) {
	row := f.commit(t, f.table(t, "orders"), 1, 1)
	var won atomic.Int64
	together(16, func(i int) {
		n := int64(1 + i%2) // snapshot 2 arrived unseen
		recorded, err := f.s.RecordCommit(t.Context(), recording(row, n, n))
		assert.NoError(t, err)
		if recorded {
			won.Add(1)
		}
	})
	assert.EqualValues(t, 2, won.Load())
	assert.Len(t, f.audit(t, models.AuditCommitReconciled), 2)
}

func noDeadlock(t *testing.T, f *fixture) {
	a, b := f.table(t, "a"), f.table(t, "b")
	together(16, func(i int) {
		for n := range 10 {
			rowA, errA := f.s.TableByID(t.Context(), a.ID)
			rowB, errB := f.s.TableByID(t.Context(), b.ID)
			if !assert.NoError(t, errA) || !assert.NoError(t, errB) {
				return
			}
			id := int64(i*100 + n)
			swaps := []catalog.Swap{swapTo(rowA, id, 1), swapTo(rowB, id, 1)}
			if i%2 == 0 {
				swaps[0], swaps[1] = swaps[1], swaps[0]
			}
			if err := f.s.SwapTables(t.Context(), swaps); err != nil {
				assert.Equal(t, fault.Conflict, fault.CodeOf(err), "%v", err)
			}
		}
	})
}

func wholeReads(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				before := f.load(t, row.ID)
				if before.CurrentSnapshotID == nil {
					continue
				}
				_, err := f.s.Commit(t.Context(), row.ID, *before.CurrentSnapshotID)
				assert.NoError(t, err, "a pointer without its ledger row")
			}
		})
	}
	current := row
	for n := int64(1); n <= 50; n++ {
		current = f.commit(t, current, n, n)
	}
	close(done)
	readers.Wait()
}

func swapsAndRecords(t *testing.T, f *fixture) {
	row := f.table(t, "orders")
	together(2, func(i int) {
		current := row
		for n := int64(1); n <= 40; n++ {
			if i == 1 {
				_, err := f.s.RecordCommit(t.Context(), recording(row, n, n))
				assert.NoError(t, err)
				continue
			}
			current = f.commit(t, current, n, n)
		}
	})
	got := f.load(t, row.ID)
	assert.EqualValues(t, 41, got.Version)
	f.requireRecorded(t, row.ID, 40)
}

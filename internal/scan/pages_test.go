package scan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
)

type restTask = table.FileScanTask

func many(t *testing.T, manifests, files int) *lake {
	l := newLake(t, 2, schemaOf(field(1, "id", iceberg.PrimitiveTypes.Int64)))
	var list []iceberg.ManifestFile
	for m := range manifests {
		var in []file
		for f := range files {
			in = append(in, data(fmt.Sprintf("%03d-%03d", m, f), nil, 10))
		}
		list = append(list, l.manifest(0, l.id(), false, in...))
	}
	l.commit("append", list...)
	return l
}

func TestLargePlansArePaged(t *testing.T) {
	l := many(t, 40, 7)
	all, pages := l.everything(scan.Request{})
	require.Len(t, all, 280)
	require.Equal(t, 1, pages)
	for _, size := range [][2]int{{10, 1000}, {1, 2}, {1000, 3}, {9, 11}} {
		tasks, pages := l.everything(scan.Request{}, scan.WithPages(size[0], size[1]))
		assert.Greater(t, pages, 1)
		names := paths(tasks)
		slices.Sort(names)
		assert.Equal(t, paths(all), names, "each file is in one page, pages of %v", size)
	}
	plan := l.plan(scan.Request{}, scan.WithPages(10, 1000))
	assert.Len(t, plan.Tasks, 10)
	assert.Greater(t, len(plan.PlanTasks), 1, "parts can be fetched side by side")
}

func TestAPageEndsWhenItHasTheRowsAskedFor(t *testing.T) {
	l := many(t, 3, 7)
	plan := l.plan(scan.Request{MinRows: 25})
	assert.Len(t, plan.Tasks, 3)
	tasks, _ := l.everything(scan.Request{MinRows: 25})
	assert.Len(t, tasks, 21)
}

func TestPlansOutliveCommitsAndProcesses(t *testing.T) {
	l := many(t, 3, 7)
	plan := l.plan(scan.Request{}, scan.WithPages(5, 1000))
	l.commit("append", l.manifest(0, l.id(), false, data("later", nil, 1)))
	other := scan.New(l)
	page, err := other.Tasks(t.Context(), l.doc(), plan.PlanTasks[0])
	require.NoError(t, err)
	assert.NotContains(t, paths(page.Tasks), "later")
	again, err := other.Poll(t.Context(), l.doc(), plan.ID)
	require.NoError(t, err)
	assert.Len(t, again.Tasks, 21)
	require.NoError(t, other.Cancel(t.Context(), l.doc(), plan.ID))
}

func TestTokensOfNoPlan(t *testing.T) {
	l := many(t, 3, 7)
	plan := l.plan(scan.Request{}, scan.WithPages(5, 1000))
	p, task := scan.New(l), plan.PlanTasks[0]
	foreign := strings.ReplaceAll(string(l.json()), "9c12d441", "00000000")
	gone := strings.ReplaceAll(string(l.json()), `"snapshot-id":1`, `"snapshot-id":2`)
	gone = strings.ReplaceAll(gone, `"current-snapshot-id":1`, `"current-snapshot-id":2`)
	for name, c := range map[string]struct{ doc, token string }{
		"unknown":           {string(l.json()), "abc"},
		"empty":             {string(l.json()), ""},
		"damaged":           {string(l.json()), task[:20] + "x" + task[21:]},
		"cut":               {string(l.json()), task[:len(task)-2]},
		"a plan id":         {string(l.json()), plan.ID},
		"of another table":  {foreign, task},
		"snapshot was gone": {gone, task},
	} {
		_, err := p.Tasks(t.Context(), parse(t, c.doc), c.token)
		assert.Equal(t, fault.NotFound, fault.CodeOf(err), name)
		requireSubject(t, err, fault.PlanTask)
	}
	for _, id := range []string{"", "abc", task} {
		_, err := p.Poll(t.Context(), l.doc(), id)
		requireSubject(t, err, fault.Plan)
		requireSubject(t, p.Cancel(t.Context(), l.doc(), id), fault.Plan)
	}
	_, err := p.Poll(t.Context(), parse(t, foreign), plan.ID)
	requireSubject(t, err, fault.Plan)
}

func TestALongFilterIsNotRepeatedInEveryTask(t *testing.T) {
	l := many(t, 40, 7)
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprint(i * 1000003)
	}
	req := filter(`{"type":"in","term":"id","values":[` + strings.Join(values, ",") + `]}`)
	plan := l.plan(req, scan.WithPages(10, 1000))
	assert.Len(t, plan.PlanTasks, 1)
	assert.Nil(t, plan.Tasks[0].Residual, "the engine has the filter")
	tasks, _ := l.everything(req, scan.WithPages(10, 1000))
	assert.Len(t, tasks, 280)
}

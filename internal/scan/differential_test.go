package scan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/scan"
)

// TestNoMatchingFileIsLost plans random filters over random tables whose rows are known: every file with a matching row
// must be planned, whichever logic the engine follows, and its residual must be right for every row. Where iceberg-go
// plans fewer files, it must be one of the cases in which it is wrong or means something else.
func TestNoMatchingFileIsLost(t *testing.T) {
	seed, trials := uint64(20260301), 40
	if testing.Short() {
		trials = 10
	}
	for trial := range trials {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		w := newWorld(t, r)
		for range 20 {
			w.check(randomExpr(r, 2, w.favourites))
		}
	}
}

// world is a lake with the rows of its files.
type world struct {
	*lake
	rows       map[string][]row
	table      *table.Table
	document   *metadata.Document
	planner    *scan.Planner
	favourites []col // the sources of partition fields
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	specs := []iceberg.PartitionSpec{randomSpec(r, 0, 1000), randomSpec(r, 1, 1010)}
	w := &world{lake: newLake(t, 1+r.IntN(3), worldSchema(), specs...), rows: map[string][]row{}}
	for _, spec := range specs {
		for _, f := range spec.Fields() {
			w.favourites = append(w.favourites, worldColumns()[f.SourceIDs[0]-1])
		}
	}
	for range 3 {
		spec := r.IntN(2)
		groups, keys := map[string][]row{}, []string{}
		for range 15 {
			one := randomRow(r)
			key := fmt.Sprint(partitionOf(t, specs[spec], one))
			if groups[key] == nil {
				keys = append(keys, key)
			}
			groups[key] = append(groups[key], one)
		}
		var files []file
		for _, key := range keys {
			rows := groups[key]
			f := data(fmt.Sprintf("%d-%d", len(w.rows), len(rows)), nil, int64(len(rows)), statsFrom(t, rows))
			f.partition, f.logical, f.fixed = stored(partitionOf(t, specs[spec], rows[0]))
			w.rows[f.path[len(location+"/data/"):]] = rows
			files = append(files, f)
		}
		w.commit("append", w.manifest(spec, w.id(), false, files...))
	}
	w.document, w.planner = w.doc(), scan.New(w.lake, scan.WithCache(256<<10))
	w.table = table.New(table.Identifier{"db", "t"}, w.meta(), location+"/metadata/v.json",
		func(context.Context) (iceio.IO, error) { return memory{w.lake}, nil }, nil)
	return w
}

func (w *world) check(e expr) {
	w.t.Helper()
	raw := e.json()
	plan, err := w.planner.Plan(w.t.Context(), w.document, filter(raw))
	require.NoError(w.t, err, raw)
	tasks := plan.Tasks
	planned := paths(tasks)
	for i, task := range tasks {
		residual := e
		if task.Residual != nil {
			residual = parseExpr(w.t, task.Residual, e.literals(map[string]any{}))
		}
		for _, one := range w.rows[planned[i]] {
			require.Equal(w.t, sqlTrue(e, one), sqlTrue(residual, one), "residual of %s is %s for %v", raw, task.Residual, one)
			require.Equal(w.t, e.twoValued(one), residual.twoValued(one), "residual of %s is %s for %v", raw, task.Residual, one)
		}
	}
	matching := map[string]bool{}
	for path, rows := range w.rows {
		for _, one := range rows {
			if sqlTrue(e, one) || e.twoValued(one) {
				matching[path] = true
			}
		}
		if matching[path] {
			require.Contains(w.t, planned, path, "the file has a row that matches %s, of %v, specs %v", raw, rows, w.specs)
		}
	}
	if e.special() {
		return
	}
	theirs := w.icebergGo(raw)
	for _, path := range planned {
		if !slices.Contains(theirs, path) && !matching[path] {
			require.Failf(w.t, "looser than need be", "%s is planned for %s, of %v, specs %v", path, raw, w.rows[path], w.specs)
		}
	}
}

func (w *world) icebergGo(raw string) []string {
	w.t.Helper()
	e, err := iceberg.ParseExpr([]byte(raw), w.schema())
	require.NoError(w.t, err)
	tasks, err := w.table.Scan(table.WithRowFilter(e)).PlanFiles(w.t.Context())
	require.NoError(w.t, err)
	var out []string
	for _, task := range tasks {
		out = append(out, task.File.FilePath()[len(location+"/data/"):])
	}
	return out
}

// memory is a lake's files for iceberg-go.
type memory struct{ l *lake }

type memoryFile struct {
	*bytes.Reader
	size int64
}

func (m memory) Open(name string) (iceio.File, error) {
	raw, err := m.l.ReadFile(context.Background(), name)
	return memoryFile{bytes.NewReader(raw), int64(len(raw))}, err
}

func (memory) Remove(string) error { return nil }

func (memoryFile) Close() error { return nil }

func (memoryFile) Stat() (fs.FileInfo, error) { return nil, io.ErrUnexpectedEOF }

// parseExpr reads what randomExpr can write; literals has the values.
func parseExpr(t *testing.T, raw json.RawMessage, literals map[string]any) expr {
	t.Helper()
	switch string(raw) {
	case "true":
		return expr{op: "true"}
	case "false":
		return expr{op: "false"}
	}
	var n struct {
		Type               string          `json:"type"`
		Term               string          `json:"term"`
		Value              json.RawMessage `json:"value"`
		Values             []json.RawMessage
		Left, Right, Child json.RawMessage
	}
	require.NoError(t, json.Unmarshal(raw, &n))
	e := expr{op: n.Type, column: n.Term}
	switch n.Type {
	case "and", "or":
		e.parts = []expr{parseExpr(t, n.Left, literals), parseExpr(t, n.Right, literals)}
	case "not":
		e.parts = []expr{parseExpr(t, n.Child, literals)}
	default:
		if n.Value != nil {
			n.Values = []json.RawMessage{n.Value}
		}
		for _, v := range n.Values {
			value, ok := literals[n.Term+" "+string(v)]
			require.True(t, ok, "%s is no literal of the filter", v)
			e.values = append(e.values, value)
		}
	}
	return e
}

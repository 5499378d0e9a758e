package tableio_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/reconcile"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/models"
)

const modelFields = `{"id":1,"name":"id","required":true,"type":"long"},{"id":2,"name":"name","required":false,"type":"string"},{"id":3,"name":"day","required":false,"type":"date"}`

// modelSpecs are the partition specs that tables of the model begin with.
func modelSpecs() []string {
	return []string{
		"",
		`{"source-id":1,"field-id":1000,"name":"b","transform":"bucket[3]"}`,
		`{"source-id":2,"field-id":1000,"name":"n","transform":"truncate[1]"},{"source-id":3,"field-id":1001,"name":"m","transform":"month"}`,
		`{"source-id":3,"field-id":1000,"name":"d","transform":"identity"}`,
	}
}

// model is a table beside what should be in it.
type model struct {
	*site
	random *rand.Rand
	rows   []string // live ones
	next   int64    // id of the next row
}

func (m *model) batch(n int) arrow.RecordBatch {
	m.t.Helper()
	schema, err := tableio.Schema(m.doc)
	require.NoError(m.t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for range n {
		b.Field(0).(*array.Int64Builder).Append(m.next)
		m.next++
		if m.random.IntN(5) == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(strconv.Itoa(m.random.IntN(40)))
		}
		if m.random.IntN(5) == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Date32Builder).Append(arrow.Date32(m.random.IntN(100) - 50))
		}
	}
	rows := b.NewRecordBatch()
	for i := range n {
		m.rows = append(m.rows, text(rows, i))
	}
	return rows
}

// delta makes a change: rows that come, in files of this process or in manifests of others, and rows that go.
func (m *model) delta() tableio.Delta {
	m.t.Helper()
	var d tableio.Delta
	if m.doc.SnapshotCount() > 0 && m.doc.FormatVersion() > 1 && m.random.IntN(3) > 0 {
		d.Removes = m.removals()
	}
	for range m.random.IntN(3) + 1 {
		if len(d.Removes) > 0 && m.random.IntN(3) == 0 {
			break
		}
		written := m.write(tableio.FileOptions{TargetBytes: []int64{0, 1, 2000}[m.random.IntN(3)], MemoryBytes: []int64{0, 5000}[m.random.IntN(2)]},
			m.batch(m.random.IntN(30)+1), m.batch(m.random.IntN(3)))
		if m.random.IntN(3) > 0 {
			d.Adds = append(d.Adds, written)
			continue
		}
		ref, err := written.Manifest(m.t.Context())
		require.NoError(m.t, err)
		d.Manifests = append(d.Manifests, ref)
	}
	return d
}

// removals are random live rows, looked up with nothing of what wrote them.
func (m *model) removals() []tableio.Removal {
	m.t.Helper()
	all := m.files()
	deletes := map[string]iceberg.ManifestEntry{}
	for _, e := range all.data {
		deletes[e.DataFile().FilePath()] = e
	}
	files, err := scan.New(m).Files(m.t.Context(), m.doc, nil, m.doc.CurrentSchemaID(), nil)
	require.NoError(m.t, err)
	require.Len(m.t, files, len(all.data))
	var out []tableio.Removal
	for _, f := range files {
		if m.random.IntN(3) == 0 {
			continue
		}
		r := tableio.Removal{File: f, Deleted: dv.NewRoaringPositionBitmap()}
		gone, at := m.deleted(all, deletes[f.Path]), int64(0)
		for p := range gone {
			r.Deleted.Set(uint64(p)) //nolint:gosec // not negative
		}
		eachRow(m.parquet(f.Path), func(b arrow.RecordBatch, i int) {
			if !gone[at] && m.random.IntN(4) == 0 {
				r.Positions = append(r.Positions, at)
				row := slices.Index(m.rows, text(b, i))
				require.GreaterOrEqual(m.t, row, 0)
				m.rows = slices.Delete(m.rows, row, row+1)
			}
			at++
		})
		if len(gone) == 0 && m.random.IntN(2) == 0 {
			r.Deleted = nil
		}
		if len(r.Positions) > 0 {
			out = append(out, r)
		}
	}
	m.random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// step makes a change and commits it, sometimes after it lost to another.
func (m *model) step() {
	m.t.Helper()
	d := m.delta()
	if len(d.Removes) == 0 && m.doc.SnapshotCount() > 0 && m.random.IntN(4) == 0 {
		d.Table, d.Base = m.ident(), m.doc
		staged, err := m.io().Stage(m.t.Context(), d)
		require.NoError(m.t, err)
		m.commit(tableio.Delta{Adds: []*tableio.Written{m.write(tableio.FileOptions{}, m.batch(1))}})
		before := len(m.paths())
		_, err = m.CommitTable(m.t.Context(), policy.Caller{}, models.Catalog{}, staged.Input)
		require.Error(m.t, err)
		staged.Discard(m.t.Context())
		require.Less(m.t, len(m.paths()), before)
	}
	m.commit(d)
}

// evolve changes how the table is written: another spec, the next format version, another name of a column.
func (m *model) evolve() {
	m.t.Helper()
	switch m.random.IntN(4) {
	case 0:
		m.apply(`{"action":"add-spec","spec":{"fields":[{"source-id":3,"transform":"year","name":"y`+strconv.FormatInt(m.next, 10)+`"}]}}`, `{"action":"set-default-spec","spec-id":-1}`)
	case 1:
		if v := m.doc.FormatVersion(); v < 3 {
			m.apply(fmt.Sprintf(`{"action":"upgrade-format-version","format-version":%d}`, v+1))
		}
	}
}

func (m *model) check(counter *reconcile.Counter) {
	m.t.Helper()
	want := slices.Clone(m.rows)
	slices.Sort(want)
	require.Equal(m.t, want, m.read())
	counts, err := counter.Count(m.t.Context(), m.doc, m.head())
	require.NoError(m.t, err)
	require.True(m.t, counts.Exact, counts.Why)
	require.EqualValues(m.t, len(want), counts.TotalRows)
	m.checkSummary(counts)
	m.checkSequences()
	m.checkRowIDs()
}

func (m *model) checkSummary(counts reconcile.Counts) {
	m.t.Helper()
	all, summary := m.files(), m.head().Summary
	size, positions := int64(0), int64(0)
	for _, e := range all.data {
		size += e.DataFile().FileSizeBytes()
	}
	for _, e := range all.deletes {
		positions += e.DataFile().Count()
		if own := e.DataFile().ContentSizeInBytes(); own != nil {
			size += *own
		} else {
			size += e.DataFile().FileSizeBytes()
		}
	}
	for name, n := range map[string]int64{
		"total-records": counts.LiveRows, "total-data-files": int64(len(all.data)), "total-delete-files": int64(len(all.deletes)),
		"total-position-deletes": positions, "total-files-size": size, "total-equality-deletes": 0,
	} {
		require.Equal(m.t, strconv.FormatInt(n, 10), summary[name], name)
	}
}

// checkSequences wants files to keep the sequence number and the snapshot that they came with.
func (m *model) checkSequences() {
	m.t.Helper()
	all := m.files()
	for _, e := range slices.Concat(all.data, all.deletes) {
		snapshot, ok := m.doc.Snapshot(e.SnapshotID())
		require.True(m.t, ok)
		require.Equal(m.t, snapshot.SequenceNumber, e.SequenceNum())
	}
	for _, file := range all.manifests {
		require.LessOrEqual(m.t, file.MinSequenceNum(), file.SequenceNum())
	}
}

// checkRowIDs wants each row of v3 to have an id of its own.
func (m *model) checkRowIDs() {
	m.t.Helper()
	next, counted := m.doc.NextRowID()
	if !counted || m.head().FirstRowID == nil {
		return
	}
	type span struct{ from, to int64 }
	var spans []span
	for _, e := range m.files().data {
		first := e.DataFile().FirstRowID()
		require.NotNil(m.t, first)
		spans = append(spans, span{*first, *first + e.DataFile().Count()})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	last := int64(0)
	for _, s := range spans {
		require.GreaterOrEqual(m.t, s.from, last)
		last = s.to
	}
	require.LessOrEqual(m.t, last, next)
}

// Whatever is appended and removed, in whichever order, is what a reader finds.
func TestChangesEqualTheModel(t *testing.T) {
	seeds := uint64(12) // each format version with each spec
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 8))
			m := &model{random: random}
			m.site = newSite(t, int(seed%3)+1, modelFields, modelSpecs()[seed/3%4])
			m.set("commit.manifest.min-count-to-merge", "3")
			counter := reconcile.NewCounter(m)
			for range 6 {
				if random.IntN(4) == 0 {
					m.evolve()
				}
				m.step()
				m.check(counter)
			}
		})
	}
}

package reconcile_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/reconcile"
)

var modelSeed = flag.Uint64("seed", 1, "of the random tables")

// modelRow is a row; nil is null.
type modelRow [2]any // id and name

// modelData and modelDelete are files of a table, with what decides which rows are removed, and nothing else.
type modelData struct {
	name, city string
	sequence   int64
	rows       []modelRow
}

type modelDelete struct {
	name, city string // "" is in no partition
	sequence   int64
	columns    []int // of an equality delete
	rows       []modelRow
	of         string // data file of positions
	positions  map[int64]bool
	isVector   bool
}

// model is a table whose rows are counted in the simplest way there is: the specification's sentences, one row at a time.
type model struct {
	*tableLake
	random  *rand.Rand
	data    []modelData
	deletes []modelDelete
	holds   map[string]string // by manifest, its file
	made    int
}

func (m *model) left() int64 {
	var n int64
	for _, f := range m.data {
		for at, row := range f.rows {
			if !m.removed(f, int64(at), row) {
				n++
			}
		}
	}
	return n
}

func (m *model) removed(f modelData, at int64, row modelRow) bool {
	hasVector := slices.ContainsFunc(m.deletes, func(d modelDelete) bool { return d.isVector && d.of == f.name })
	return slices.ContainsFunc(m.deletes, func(d modelDelete) bool {
		if d.of != "" {
			return d.of == f.name && d.isVector == hasVector && d.sequence >= f.sequence && d.positions[at]
		}
		return d.sequence > f.sequence && (d.city == "" || d.city == f.city) && slices.ContainsFunc(d.rows, func(key modelRow) bool {
			return !slices.ContainsFunc(d.columns, func(id int) bool { return key[id-1] != row[id-1] })
		})
	})
}

func (m *model) name(kind string) string {
	m.made++
	return fmt.Sprintf("%s%d.parquet", kind, m.made)
}

func (m *model) randomRows(most int) []modelRow {
	rows := make([]modelRow, 1+m.random.IntN(most))
	for n := range rows {
		rows[n] = modelRow{m.random.IntN(30), fmt.Sprint("n", m.random.IntN(3))}
		for c := range 2 {
			if m.random.IntN(10) == 0 {
				rows[n][c] = nil
			}
		}
	}
	return rows
}

func (m *model) parquet(name string, rows []modelRow, columns ...int) {
	if len(columns) == 0 {
		columns = []int{1, 2}
	}
	schema, names := idAndName(), []string{"id", "name"}
	if len(columns) == 1 && columns[0] == 1 {
		schema = idColumn()
	}
	texts := make([]string, len(rows))
	for n, r := range rows {
		var members []any
		for _, f := range schema.Fields() {
			members = append(members, f.Name, r[slices.Index(names, f.Name)])
		}
		texts[n] = object(members...)
	}
	options := []parquet.WriterProperty{parquet.WithMaxRowGroupLength(int64(1 + m.random.IntN(20)))}
	if m.random.IntN(2) == 0 {
		options = append(options, parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2))
	}
	m.write(name, parquetOf(m.t, schema, texts, options...))
}

func (m *model) addData() row {
	cities := []string{"Bern", "Zug"}
	f := modelData{m.name("d"), cities[m.random.IntN(2)], m.next, m.randomRows(60)}
	m.data = append(m.data, f)
	m.parquet(f.name, f.rows)
	return row{status: added, path: f.name, records: int64(len(f.rows)), city: f.city}
}

func (m *model) addEquality() row {
	d := modelDelete{
		name: m.name("e"), city: []string{"Bern", "Zug"}[m.random.IntN(2)], sequence: m.next, rows: m.randomRows(8),
		columns: [][]int{{1}, {1}, {1}, {2}, {1, 2}, {2, 1}}[m.random.IntN(6)],
	}
	m.deletes = append(m.deletes, d)
	m.parquet(d.name, d.rows, d.columns...)
	return row{
		status: added, path: d.name, records: int64(len(d.rows)), city: d.city, content: iceberg.EntryContentEqDeletes,
		change: func(b *iceberg.DataFileBuilder) { b.EqualityFieldIDs(d.columns) },
	}
}

// addPositions removes some rows of a data file; by a vector, which takes the place of the one before, in v3.
func (m *model) addPositions() (row, bool) {
	if len(m.data) == 0 {
		return row{}, false
	}
	f := m.data[m.random.IntN(len(m.data))]
	d := modelDelete{name: m.name("p"), city: f.city, sequence: m.next, of: f.name, positions: map[int64]bool{}, isVector: m.version == 3}
	var list []int64
	for range 1 + m.random.IntN(6) {
		list = append(list, m.random.Int64N(int64(len(f.rows))))
		d.positions[list[len(list)-1]] = true
	}
	if !d.isVector {
		m.deletes = append(m.deletes, d)
		paths := slices.Repeat([]string{f.name}, len(list))
		r := m.positions(d.name, paths, list)
		r.city = f.city
		return r, true
	}
	if slices.ContainsFunc(m.deletes, func(d modelDelete) bool { return d.isVector && d.of == f.name && d.sequence == m.next }) {
		return row{}, false // one was added in this commit
	}
	m.deletes = slices.DeleteFunc(m.deletes, func(old modelDelete) bool {
		replaced := old.isVector && old.of == f.name
		if replaced {
			m.forget(old.name)
		}
		return replaced
	})
	m.deletes = append(m.deletes, d)
	var unique []uint64
	for p := range d.positions {
		unique = append(unique, uint64(p))
	}
	r := m.vector(d.name, f.name, unique...)
	r.city = f.city
	return r, true
}

// forget drops the manifest of a file.
func (m *model) forget(name string) {
	m.manifests = slices.DeleteFunc(m.manifests, func(f iceberg.ManifestFile) bool { return m.holds[f.FilePath()] == name })
}

// remove takes a file of before away, as compaction and expiry do.
func (m *model) remove() {
	if n := len(m.data); n > 3 && m.random.IntN(2) == 0 {
		if at := m.random.IntN(n); m.data[at].sequence < m.next {
			m.forget(m.data[at].name)
			m.data = slices.Delete(m.data, at, at+1)
		}
	} else if n := len(m.deletes); n > 3 {
		if at := m.random.IntN(n); m.deletes[at].sequence < m.next {
			m.forget(m.deletes[at].name)
			m.deletes = slices.Delete(m.deletes, at, at+1)
		}
	}
}

func (m *model) step() {
	var rows []row
	for range 1 + m.random.IntN(3) {
		switch m.random.IntN(6) {
		case 0, 1:
			rows = append(rows, m.addData())
		case 2, 3:
			rows = append(rows, m.addEquality())
		case 4:
			if r, ok := m.addPositions(); ok {
				rows = append(rows, r)
			}
		default:
			m.remove()
		}
	}
	for n, r := range rows {
		m.holds[m.path(fmt.Sprintf("m%d-%d.avro", m.next, n))] = r.path
	}
	m.commit(rows...)
}

// Whatever the deletes, the order of commits, what is remembered and how many passes it takes: the count is the model's.
func TestCountsEqualTheModel(t *testing.T) {
	for _, version := range []int{2, 3} {
		for n := range 5 {
			seed := *modelSeed + uint64(n)
			t.Run(fmt.Sprintf("v%d/%d", version, seed), func(t *testing.T) {
				fields := idField + "," + nameField
				m := &model{
					tableLake: newTableLake(t, version, fields).partitioned(2, fields), random: rand.New(rand.NewPCG(seed, uint64(version))),
					holds: map[string]string{},
				}
				counters := map[string]*reconcile.Counter{
					"remembering": m.counter(), "small": m.counter(reconcile.WithKeyMemory(4000)),
					"in passes": m.counter(reconcile.WithKeysAtOnce(7)), "forgetful": m.counter(reconcile.WithKeyMemory(0)),
				}
				var snapshots []metadata.Snapshot
				var counts []int64
				for range 25 {
					m.step()
					snapshots, counts = append(snapshots, *m.head), append(counts, m.left())
					at := len(counts) - 1
					if m.random.IntN(5) == 0 {
						at = m.random.IntN(len(counts))
					}
					for name, c := range counters {
						got, err := c.Count(t.Context(), m.doc, snapshots[at])
						require.NoError(t, err)
						require.Empty(t, got.Why)
						require.Equal(t, counts[at], got.TotalRows, "%s, snapshot %d", name, at)
					}
				}
			})
		}
	}
}

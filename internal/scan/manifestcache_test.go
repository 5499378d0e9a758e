package scan_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/scan"
)

// Manifests are read once by plans of whatever kind, and again where more is wanted of them.
func TestManifestsAreReadOnce(t *testing.T) {
	l := fuzzLake(t)
	p := scan.New(l, scan.WithCache(1<<20))
	manifests := func() (n int) {
		for path, reads := range l.reads {
			if strings.HasPrefix(path, location+"/metadata/m") {
				n += reads
			}
		}
		return n
	}
	plan := func(req scan.Request) int {
		t.Helper()
		before := manifests()
		got, err := p.Plan(t.Context(), l.doc(), req)
		require.NoError(t, err)
		want, err := scan.New(l).Plan(t.Context(), l.doc(), req)
		require.NoError(t, err)
		require.Equal(t, want, got)
		return manifests() - before
	}
	fresh := plan(scan.Request{}) / 2
	require.Positive(t, fresh)
	require.Equal(t, fresh, plan(scan.Request{}), "those of the planner that keeps nothing")
	require.Equal(t, 2*fresh, plan(scan.Request{StatsFields: []string{"id"}}))
	require.Equal(t, fresh, plan(scan.Request{StatsFields: []string{"id"}}))
}

// What is set aside for entries is about what they take, and not much less.
func TestWhatKeptManifestsTake(t *testing.T) {
	for _, columns := range []int{1, 40} {
		for _, entries := range []int{1, 500} {
			var fields []iceberg.NestedField
			for id := range columns {
				fields = append(fields, iceberg.NestedField{ID: id + 1, Name: fmt.Sprint("c", id), Type: iceberg.PrimitiveTypes.Int64})
			}
			l := newLake(t, 2, iceberg.NewSchema(0, fields...))
			random := rand.New(rand.NewPCG(1, 2))
			var files []file
			for n := range entries {
				files = append(files, data(fmt.Sprintf("%d-%d.parquet", n, random.Uint64()), nil, 1+random.Int64N(1e6), func(b *iceberg.DataFileBuilder) {
					counts, bounds := map[int]int64{}, map[int][]byte{}
					for id := range columns {
						counts[id+1], bounds[id+1] = random.Int64N(1e6), binary.LittleEndian.AppendUint64(nil, random.Uint64())
					}
					b.ValueCounts(counts).NullValueCounts(counts).LowerBoundValues(bounds).UpperBoundValues(bounds)
				}))
			}
			var manifests []iceberg.ManifestFile
			for range max(500/entries, 4) { // else it is too little to be measured
				manifests = append(manifests, l.manifest(0, l.id(), false, files...))
			}
			l.commit("append", manifests...)
			p, doc := scan.New(l, scan.WithCache(1<<30)), l.doc()
			heap := func() int64 {
				var stats runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&stats)
				return int64(stats.HeapAlloc)
			}
			before := heap()
			_, err := p.Files(t.Context(), doc, nil, 0, bind(t, doc, `{"type":"is-null","term":"c0"}`))
			require.NoError(t, err)
			taken, aside := heap()-before, p.Kept()
			require.InDelta(t, 1.3, float64(aside)/float64(taken), 0.8, "%d columns, %d entries: %d bytes are set aside for %d", columns, entries, aside, taken)
		}
	}
}

// What a manifest may have much of is counted, whatever kind of plan reads it.
func TestWhatIsLargeInKeptManifests(t *testing.T) {
	const numbers, text = 100_000, 1 << 20
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "part", Type: iceberg.PrimitiveTypes.String})
	l := newLake(t, 2, schema, specOf(1, iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Name: "part", Transform: iceberg.IdentityTransform{}}))
	l.commit("append", l.manifest(0, l.id(), false,
		data("a.parquet", map[int]any{1000: "a"}, 1, func(b *iceberg.DataFileBuilder) { b.SplitOffsets(make([]int64, numbers)) }),
		data("b.parquet", map[int]any{1000: strings.Repeat("b", text)}, 1)))
	for _, req := range []scan.Request{{}, {StatsFields: []string{"part"}}} {
		p := scan.New(l, scan.WithCache(1<<30))
		_, err := p.Plan(t.Context(), l.doc(), req)
		require.NoError(t, err)
		require.Greater(t, p.Kept(), int64(8*numbers+text))
	}
}

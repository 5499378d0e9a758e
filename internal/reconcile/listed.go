package reconcile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/cache"
)

// listedFile is a live file as a manifest lists it, with what decides which rows deletes remove. It is shared between
// counts and never changed.
type listedFile struct {
	path      string
	content   iceberg.ManifestEntryContent
	format    iceberg.FileFormat
	sequence  int64
	records   int64
	spec      int64
	partition string // key of spec and values
	global    bool   // in no partition
	encrypted bool
	columns   *columnSet // of an equality delete
	refers    string     // the only data file that a position delete is for, "" for any
	offset    int64      // of a deletion vector
	size      int64
	metrics   map[int]columnMetrics
	id        key // of a delete file
}

// columnMetrics is what a manifest says of a column: nil bounds and negative counts are unknown.
type columnMetrics struct {
	lower, upper []byte
	nulls        int64
}

// weight is about what the file takes in memory, in bytes; partitions are shared.
func (f *listedFile) weight() int {
	const fixed, perColumn = 220, 80
	n := fixed + len(f.path) + len(f.refers)
	for _, m := range f.metrics {
		n += perColumn + len(m.lower) + len(m.upper)
	}
	return n
}

// isVector tells whether it is a deletion vector.
func (f *listedFile) isVector() bool {
	return f.content == iceberg.EntryContentPosDeletes && f.format == iceberg.PuffinFile
}

// mayName tells whether a position delete file may name a path, by the bounds of its paths.
func (f *listedFile) mayName(path string) bool {
	m, ok := f.metrics[pathColumnID]
	return !ok || (m.lower == nil || strings.Compare(string(m.lower), path) <= 0) &&
		(m.upper == nil || strings.Compare(string(m.upper), path) >= 0)
}

// mayRemove tells whether an equality delete may have the key of a row of the data file, by the bounds of both. Readers
// leave out by them too.
func (f *listedFile) mayRemove(data *listedFile, types *columnTypes) bool {
	for _, id := range f.columns.ids {
		mine, ok1 := f.metrics[id]
		theirs, ok2 := data.metrics[id]
		if ok1 && ok2 && (mine.nulls == 0 || theirs.nulls == 0) && apart(types.typeOf(id), mine, theirs) {
			return false
		}
	}
	return true
}

// apart tells whether no value can be within both bounds. Types whose bounds are written in more than one way, or leave
// out values, never are.
func apart(typ string, a, b columnMetrics) bool {
	if a.lower == nil || a.upper == nil || b.lower == nil || b.upper == nil {
		return false
	}
	compare := bytes.Compare
	switch kind, _, _ := strings.Cut(typ, "("); kind {
	case "int", "long", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
		if !sameWidth(typ, a, b) {
			return false
		}
		compare = compareIntegers
	case "decimal":
		compare = compareDecimals
	case "string", "binary":
	default:
		return false
	}
	return compare(a.upper, b.lower) < 0 || compare(b.upper, a.lower) < 0
}

// sameWidth tells whether all bounds are integers that may be compared: of four or eight bytes, which are mixed in a
// column that was widened from int to long alone.
func sameWidth(typ string, a, b columnMetrics) bool {
	widths := [9]bool{}
	for _, bound := range [][]byte{a.lower, a.upper, b.lower, b.upper} {
		if len(bound) != 4 && len(bound) != 8 {
			return false
		}
		widths[len(bound)] = true
	}
	return typ == "long" || !widths[4] || !widths[8]
}

func compareIntegers(a, b []byte) int {
	x, y := integerBound(a), integerBound(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func integerBound(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func compareDecimals(a, b []byte) int { return unscaled(a).Cmp(unscaled(b)) }

// unscaled reads a big-endian number in two's complement.
func unscaled(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] > 127 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// lister reads the live files of manifests, and remembers them.
type lister struct {
	source source
	cache  *listedCache
	hasher hasher
	layout *layout
	held   int // bytes of what was given
}

// listedCache remembers the live files of manifests.
type listedCache = cache.Cache[string, listedManifest]

type listedManifest struct {
	files  []*listedFile
	weight int // bytes
}

// mostHeld bounds what one count holds of files, in bytes.
const mostHeld = 512 << 20

// files gives the live files of a manifest, with the metrics that are wanted.
func (l *lister) files(ctx context.Context, m *manifest, want *wanted) ([]*listedFile, error) {
	name := m.path + "\x00" + want.text()
	found, ok := l.cache.Get(name)
	if !ok {
		var err error
		if found.files, found.weight, err = l.read(ctx, m, want); err != nil {
			return nil, err
		}
		const fixed = 200
		l.cache.Put(name, found, int64(found.weight+len(name)+fixed))
	}
	if l.held += found.weight; l.held > mostHeld {
		return nil, inexactError("the table has more files than can be held against its deletes")
	}
	return found.files, nil
}

func (l *lister) read(ctx context.Context, m *manifest, want *wanted) (files []*listedFile, weight int, err error) {
	partitions := make(map[string]string)
	err = l.source.eachWanted(ctx, m, want, func(e entry) error {
		if e.status == iceberg.EntryStatusDELETED {
			return nil
		}
		f := l.listed(m, e)
		if shared, ok := partitions[f.partition]; ok {
			f.partition = shared
		} else {
			partitions[f.partition] = f.partition
			weight += len(f.partition)
		}
		if weight += f.weight(); weight > mostHeld {
			return inexactError("the table has more files than can be held against its deletes")
		}
		files = append(files, f)
		return nil
	})
	return files, weight, err
}

func (l *lister) listed(m *manifest, e entry) *listedFile {
	d := e.details
	f := &listedFile{
		path: e.path, content: iceberg.ManifestEntryContent(e.content), format: iceberg.FileFormat(d.format),
		sequence: e.sequence, records: e.records, spec: m.spec, partition: partitionKey(m.spec, d.partition),
		global: l.layout.global(m.spec, d.partition), encrypted: d.encrypted, refers: d.refers, offset: d.offset, size: d.size,
	}
	if f.content != iceberg.EntryContentData {
		f.id = l.hasher.sum(fmt.Appendf(nil, "%s\x00%d\x00%d", f.path, f.offset, f.sequence))
	}
	if f.content == iceberg.EntryContentEqDeletes {
		f.columns = newColumnSet(d.equality)
	}
	for id := range d.lower {
		f.metric(id, d)
	}
	for id := range d.nulls {
		f.metric(id, d)
	}
	if m, ok := f.metrics[pathColumnID]; ok && f.refers == "" && m.lower != nil && bytes.Equal(m.lower, m.upper) {
		f.refers = string(m.lower)
	}
	return f
}

// metric takes over what is known of a column.
func (f *listedFile) metric(id int, d *details) {
	m := columnMetrics{lower: d.lower[id], upper: d.upper[id], nulls: -1}
	if nulls, ok := d.nulls[id]; ok {
		m.nulls = nulls
	}
	if f.metrics == nil {
		f.metrics = make(map[int]columnMetrics)
	}
	f.metrics[id] = m
}

// text tells what is wanted from what else may be.
func (w *wanted) text() string {
	ids := make([]int, 0, len(w.columns))
	for id := range w.columns {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return fmt.Sprint(w.all, ids)
}

// columnSet is the columns of an equality delete, each once and in order.
type columnSet struct {
	ids  []int
	text string
}

func newColumnSet(ids []int) *columnSet {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return &columnSet{ids, fmt.Sprint(ids)}
}

package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/iceberg-go"
)

// deleteIndex finds the delete files that reach a data file, as the specification says: equality deletes of a higher sequence
// number in its partition or in none, and its deletion vector, or else position deletes of no lower one.
type deleteIndex struct {
	everywhere  group            // equality deletes that are in no partition
	equality    map[string]group // by partition
	positions   map[string]group // by partition
	byPath      map[string]group // position deletes of one data file
	vectors     map[string]*listedFile
	columns     map[int]bool // of all equality deletes
	newest      int64        // the highest sequence number
	hasEquality bool
}

// group is delete files in order of sequence number. sums has, at n, the sum of the ids of the first n.
type group struct {
	files []*listedFile
	sums  []key
}

func (g *group) add(f *listedFile) { g.files = append(g.files, f) }

func (g *group) sort() {
	slices.SortStableFunc(g.files, func(a, b *listedFile) int { return cmp.Compare(a.sequence, b.sequence) })
	g.sums = make([]key, len(g.files)+1)
	for n, f := range g.files {
		g.sums[n+1] = g.sums[n].plus(f.id)
	}
}

// from gives the place of the first file of at least a sequence number.
func (g *group) from(sequence int64) int {
	at, _ := slices.BinarySearchFunc(g.files, sequence, func(f *listedFile, s int64) int { return cmp.Compare(f.sequence, s) })
	return at
}

// above gives the files of at least a sequence number.
func (g group) above(sequence int64) []*listedFile { return g.files[g.from(sequence):] }

// sum gives the sum of the ids of files between two sequence numbers, both included.
func (g group) sum(from, to int64) key {
	first, last := g.from(from), g.from(to+1)
	if last <= first {
		return key{}
	}
	return g.sums[last].minus(g.sums[first])
}

// indexDeletes reads the live delete files. The error is an inexactError for what no reader is known to understand.
func indexDeletes(ctx context.Context, l *lister, manifests []manifest) (*deleteIndex, error) {
	x := &deleteIndex{
		equality: make(map[string]group), positions: make(map[string]group), byPath: make(map[string]group),
		vectors: make(map[string]*listedFile), columns: make(map[int]bool),
	}
	for n := range manifests {
		if manifests[n].content != deletesContent {
			continue
		}
		files, err := l.files(ctx, &manifests[n], &wanted{partition: true, whole: true, all: true})
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if err := x.add(f); err != nil {
				return nil, err
			}
		}
	}
	x.everywhere.sort()
	for _, groups := range []map[string]group{x.equality, x.positions, x.byPath} {
		for name, g := range groups {
			g.sort()
			groups[name] = g
		}
	}
	return x, nil
}

func (x *deleteIndex) add(f *listedFile) error {
	x.newest = max(x.newest, f.sequence)
	switch {
	case f.sequence < 0:
		return inexactError(fmt.Sprintf("the delete file %s has no sequence number", f.path))
	case f.content == iceberg.EntryContentEqDeletes:
		return x.addEquality(f)
	case f.isVector():
		return x.addVector(f)
	case f.refers != "":
		addTo(x.byPath, f.refers, f)
	default:
		addTo(x.positions, f.partition, f)
	}
	return nil
}

func addTo(groups map[string]group, name string, f *listedFile) {
	g := groups[name]
	g.add(f)
	groups[name] = g
}

func (x *deleteIndex) addEquality(f *listedFile) error {
	if len(f.columns.ids) == 0 {
		return inexactError(fmt.Sprintf("the equality delete file %s names no columns", f.path))
	}
	x.hasEquality = true
	for _, id := range f.columns.ids {
		x.columns[id] = true
	}
	if f.global {
		x.everywhere.add(f)
	} else {
		addTo(x.equality, f.partition, f)
	}
	return nil
}

func (x *deleteIndex) addVector(f *listedFile) error {
	if f.refers == "" {
		return inexactError(fmt.Sprintf("the deletion vector in %s names no data file", f.path))
	}
	if x.vectors[f.refers] != nil {
		return inexactError(fmt.Sprintf("the data file %s has two deletion vectors", f.refers))
	}
	x.vectors[f.refers] = f
	return nil
}

// vectorOf gives the deletion vector of a data file, nil without one.
func (x *deleteIndex) vectorOf(f *listedFile) *listedFile {
	if v := x.vectors[f.path]; v != nil && v.sequence >= f.sequence {
		return v
	}
	return nil
}

// sum is that of the ids of all deletes that reach a data file, up to and with a sequence number.
func (x *deleteIndex) sum(f *listedFile, upTo int64) key {
	total := x.everywhere.sum(f.sequence+1, upTo).plus(x.equality[f.partition].sum(f.sequence+1, upTo))
	if v := x.vectorOf(f); v != nil {
		if v.sequence <= upTo {
			total = total.plus(v.id)
		}
		return total
	}
	return total.plus(x.byPath[f.path].sum(f.sequence, upTo)).plus(x.positions[f.partition].sum(f.sequence, upTo))
}

// equalityOf gives the equality deletes above a sequence number that may remove rows of a data file.
func (x *deleteIndex) equalityOf(f *listedFile, above int64, types *columnTypes) []*listedFile {
	var out []*listedFile
	above = max(above, f.sequence) + 1
	for _, g := range [...]group{x.everywhere, x.equality[f.partition]} {
		for _, d := range g.above(above) {
			if d.mayRemove(f, types) {
				out = append(out, d)
			}
		}
	}
	return out
}

// positionsOf gives the position deletes above a sequence number that may name a data file, none when a vector stands for
// them.
func (x *deleteIndex) positionsOf(f *listedFile, above int64) []*listedFile {
	if x.vectorOf(f) != nil {
		return nil
	}
	from := max(above+1, f.sequence)
	out := slices.Clone(x.byPath[f.path].above(from))
	for _, d := range x.positions[f.partition].above(from) {
		if d.mayName(f.path) {
			out = append(out, d)
		}
	}
	return out
}

// applies tells whether a position delete file is one for the data file.
func (x *deleteIndex) applies(d, f *listedFile) bool {
	return d.sequence >= f.sequence && (d.refers == f.path || d.refers == "" && d.partition == f.partition)
}

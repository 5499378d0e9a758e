package reconcile

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/apache/iceberg-go"

	"github.com/sluice-data/sluice/internal/cache"
)

// The limits of an exact count.
const (
	// mostPositions bounds the deleted positions that a count holds at once: 8 bytes each.
	mostPositions = 20_000_000
	// mostKeys bounds the keys of equality deletes that a count holds at once, some 40 bytes each: more are taken in passes.
	mostKeys = 4_000_000
	// mostPasses bounds the passes: each reads all data files.
	mostPasses = 32
	// mostBits bounds the row numbers that are kept from one pass to the next.
	mostBits = int64(1) << 31
	// inMemory bounds the keys and positions of all counts of a Counter together, waiting for it included.
	inMemory = 2 * mostPositions
	// readersAtOnce is how many data files a count reads at a time.
	readersAtOnce = 4
)

// exactLimits are what a Counter may be made with.
type exactLimits struct {
	scan, memory     int64 // bytes
	keys, keysAtOnce int64
}

func defaultExactLimits() exactLimits {
	return exactLimits{scan: 4 << 30, memory: 128 << 20, keys: mostKeys * mostPasses, keysAtOnce: mostKeys}
}

// exactness is what the exact counts of a Counter share.
type exactness struct {
	limits  exactLimits
	hasher  hasher
	listed  *listedCache
	counted *countedCache
	memory  *semaphore.Weighted
}

func newExactness(limits exactLimits) *exactness {
	const listedBytes = 32 << 20
	return &exactness{
		limits: limits, hasher: newHasher(), listed: cache.New[string, listedManifest](listedBytes), counted: newCountedCache(limits.memory),
		memory: semaphore.NewWeighted(inMemory),
	}
}

// inexactError ends a count that cannot be exact; its text says why.
type inexactError string

func (e inexactError) Error() string { return string(e) }

// exactCount is one count of the rows that deletes remove.
type exactCount struct {
	*exactness
	source  source
	types   *columnTypes
	layout  *layout
	index   *deleteIndex
	targets []*target
	byPath  map[string]*target
	turn    uint64
	left    atomic.Int64 // bytes that may yet be read of data files
}

// target is a live data file that deletes may reach.
type target struct {
	*listedFile
	path      key
	known     *counted      // what is remembered of it, nil when nothing is of use
	fresh     []*listedFile // equality deletes that are not yet in what is known
	positions []int64
	bits      bitset // rows that are removed, between passes
	removed   int64
	keys      *rowKeys // of what is left, to be remembered
}

// deletedRows counts the rows of live data files that live deletes remove. The error is an inexactError when that cannot be
// known.
func (c *Counter) deletedRows(ctx context.Context, manifests []manifest, layout *layout) (int64, error) {
	x := &exactCount{
		exactness: c.exact, source: c.source, types: layout.columns, layout: layout, byPath: make(map[string]*target),
		turn: c.exact.counted.begin(),
	}
	x.left.Store(x.limits.scan)
	lister := &lister{source: c.source, cache: c.exact.listed, hasher: c.exact.hasher, layout: layout}
	var err error
	if x.index, err = indexDeletes(ctx, lister, manifests); err != nil {
		return 0, err
	}
	if err := x.aim(ctx, lister, manifests); err != nil {
		return 0, err
	}
	release, err := x.hold(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := x.readPositions(ctx); err != nil {
		return 0, err
	}
	if err := x.applyEquality(ctx); err != nil {
		return 0, err
	}
	var rows int64
	for _, t := range x.targets {
		rows = addRows(rows, t.removed)
	}
	return rows, nil
}

// aim finds the data files that deletes reach, and what is known of them.
func (x *exactCount) aim(ctx context.Context, l *lister, manifests []manifest) error {
	want := &wanted{partition: true, whole: true, columns: x.index.columns}
	seen := make(map[string]bool)
	for n := range manifests {
		if manifests[n].content != dataContent {
			continue
		}
		files, err := l.files(ctx, &manifests[n], want)
		if err != nil {
			return err
		}
		for _, f := range files {
			if seen[f.path] {
				return inexactError(fmt.Sprintf("the data file %s is listed twice", f.path))
			}
			if f.sequence < 0 {
				return inexactError(fmt.Sprintf("the data file %s has no sequence number", f.path))
			}
			seen[f.path] = true
			x.consider(f)
		}
	}
	return ctx.Err()
}

// consider makes a target of a data file, unless no delete reaches it.
func (x *exactCount) consider(f *listedFile) {
	all := x.index.sum(f, x.index.newest)
	if all == (key{}) {
		return
	}
	t := &target{listedFile: f, path: x.hasher.sum([]byte(f.path))}
	if known := x.counted.get(t.path, x.turn); known != nil && x.index.sum(f, known.upTo) == known.deletes {
		if v := x.index.vectorOf(f); v == nil || v.sequence <= known.upTo {
			t.known = known
		}
	}
	x.targets, x.byPath[f.path] = append(x.targets, t), t
	if t.known == nil || t.known.deletes != all {
		x.plan(t)
		return
	}
	t.removed = t.known.removed
}

// plan finds the equality deletes that are to be applied. What is known of a file is of no use when its keys are needed
// and not held.
func (x *exactCount) plan(t *target) {
	if t.known != nil {
		t.removed = t.known.removed
		if t.fresh = x.index.equalityOf(t.listedFile, t.known.upTo, x.types); len(t.fresh) == 0 {
			return
		}
		if keys := t.known.keys; keys != nil && ofOneSet(t.fresh, keys.columns) {
			return
		}
	}
	x.restart(t)
}

// restart counts a file from its beginning.
func (x *exactCount) restart(t *target) {
	t.known, t.removed, t.positions = nil, 0, nil
	t.fresh = x.index.equalityOf(t.listedFile, 0, x.types)
}

// ofOneSet tells whether all of the equality deletes are of these columns.
func ofOneSet(deletes []*listedFile, columns string) bool {
	for _, d := range deletes {
		if d.columns.text != columns {
			return false
		}
	}
	return true
}

// hold waits for the memory that the count may take at most at a time.
func (x *exactCount) hold(ctx context.Context) (release func(), err error) {
	var units int64
	for _, t := range x.targets {
		if len(t.fresh) > 0 {
			units = x.limits.keysAtOnce
			break
		}
	}
	for _, groups := range []map[string]group{x.index.positions, x.index.byPath} {
		for _, g := range groups {
			for _, d := range g.files {
				units = min(addRows(units, d.records), inMemory/2)
			}
		}
	}
	units = max(min(units, inMemory/2), 1)
	if err := x.memory.Acquire(ctx, units); err != nil {
		return nil, err
	}
	return func() { x.memory.Release(units) }, nil
}

// each does something with targets, several at a time.
func (x *exactCount) each(ctx context.Context, targets []*target, do func(context.Context, *target) error) error {
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(readersAtOnce)
	for _, t := range targets {
		if inner.Err() != nil {
			break
		}
		work.Go(func() error { return do(inner, t) })
	}
	if err := work.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// settle remembers what was counted of a target.
func (x *exactCount) settle(t *target) {
	all := x.index.sum(t.listedFile, x.index.newest)
	if t.known != nil && t.known.deletes == all {
		return
	}
	if t.known != nil && t.keys == nil && len(t.fresh) == 0 {
		t.keys = t.known.keys
	}
	x.counted.put(t.path, &counted{all, x.index.newest, t.removed, t.keys}, x.turn)
}

// readable is nil when the rows of a file can be read.
func readable(f *listedFile, what string) error {
	if f.encrypted {
		return inexactError(fmt.Sprintf("the %s %s is encrypted", what, f.path))
	}
	if f.format != iceberg.ParquetFile {
		return inexactError(fmt.Sprintf("the %s %s is %s, not Parquet", what, f.path, f.format))
	}
	return nil
}

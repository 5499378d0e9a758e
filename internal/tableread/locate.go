package tableread

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/scan"
)

// Locate gives the data files that have live rows with the keys, in order of path. Errors are those of Scan.
func (r *Reader) Locate(ctx context.Context, l Lookup) ([]Found, error) {
	p, err := r.newPlan(Scan{Document: l.Document, SchemaID: l.SchemaID, SnapshotID: l.SnapshotID, Columns: []string{}})
	if err != nil {
		return nil, err
	}
	defer p.close()
	w := &locating{plan: p, seen: l.Seen, wanted: make(map[string]int64)}
	if err := w.keysOf(l); err != nil {
		return nil, err
	}
	if len(w.sorted) == 0 {
		return nil, nil
	}
	p.filter = w.around(l)
	if err := p.find(ctx, Scan{SnapshotID: l.SnapshotID, SchemaID: l.SchemaID}); err != nil {
		return nil, err
	}
	p.filter = expression.All() // keys are compared themselves
	return w.run(ctx)
}

// locating is a lookup that is going on.
type locating struct {
	plan   *plan
	seen   *Seen
	key    []columnPath
	want   want
	wanted map[string]int64 // keys, each with the number of the first row that has it
	sorted []string         // the same keys

	mutex sync.Mutex
	found []Found
}

// keysOf takes the keys that are looked for.
func (w *locating) keysOf(l Lookup) error {
	for _, id := range l.Key {
		path, err := w.plan.pathTo(id)
		if err != nil {
			return err
		}
		w.key = append(w.key, path)
	}
	w.want = want{columns: fieldsOf(w.key), places: true}
	var err error
	if w.want.schema, err = schemaOf(w.want.columns); err != nil {
		return err
	}
	number := int64(0)
	for _, batch := range l.Keys {
		if int(batch.NumCols()) != len(w.key) || len(w.key) == 0 {
			return fault.New(fault.Internal, "Rows are looked for by %d columns with keys of %d.", len(w.key), batch.NumCols())
		}
		key, err := encoders(batch.Columns())
		if err != nil {
			return err
		}
		var buf []byte
		for row := range int(batch.NumRows()) {
			buf = key(buf[:0], row)
			if _, ok := w.wanted[string(buf)]; !ok {
				text := string(buf)
				w.wanted[text] = number
				w.sorted = append(w.sorted, text)
			}
			number++
		}
	}
	slices.Sort(w.sorted)
	return nil
}

// run looks into each file that may have one of the keys.
func (w *locating) run(ctx context.Context) ([]Found, error) {
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(w.plan.reader.options.Workers)
	for _, f := range w.plan.files {
		if !spanOfFile(f, w.key).meets(w.sorted) {
			w.plan.skipped.Add(1)
			continue
		}
		if inner.Err() != nil {
			break
		}
		work.Go(func() error { return w.file(inner, f) })
	}
	if err := work.Wait(); err != nil {
		return nil, pageError(ctx, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(w.found, func(a, b Found) int {
		return comparePositions(&Position{Path: a.File.Path}, &Position{Path: b.File.Path})
	})
	return w.found, nil
}

func (w *locating) file(ctx context.Context, of *scan.DataFile) error {
	found, ok := w.seen.of(of)
	if !ok {
		var err error
		if found, err = w.search(ctx, of); err != nil {
			return err
		}
		w.seen.add(found)
	}
	if len(found.Positions) > 0 {
		w.mutex.Lock()
		w.found = append(w.found, found)
		w.mutex.Unlock()
	}
	return nil
}

// search reads the keys of a data file.
func (w *locating) search(ctx context.Context, of *scan.DataFile) (Found, error) {
	f, err := w.plan.open(ctx, of)
	if err != nil {
		return Found{}, err
	}
	defer f.close()
	var bindings []*binding
	if err := f.from.decode(func() (err error) {
		bindings, err = f.bindAll(w.want.columns)
		return err
	}); err != nil {
		return Found{}, err
	}
	found := Found{File: of, Deleted: f.removed}
	for index := range f.footer.meta.RowGroups {
		if !spanOfGroup(&rowGroup{from: f.from, footer: f.footer, index: index}, w.key, bindings).meets(w.sorted) {
			w.plan.groupsPruned.Add(1)
			continue
		}
		err := w.plan.group(ctx, f, index, &w.want, func(r *groupReader) error {
			return r.read(ctx, rowsToRead{}, func(batch arrow.RecordBatch, rows []int64) (bool, error) {
				return true, w.matches(batch, rows, &found)
			})
		})
		if err != nil {
			return Found{}, err
		}
	}
	if len(found.Positions) == 0 {
		found.Deleted = nil
	}
	return found, nil
}

// matches appends the rows that have one of the keys.
func (w *locating) matches(batch arrow.RecordBatch, rows []int64, out *Found) error {
	columns := make([]arrow.Array, len(w.key))
	for i := range columns {
		columns[i] = w.key[i].descend(batch.Column(i))
	}
	key, err := encoders(columns)
	if err != nil {
		return err
	}
	var buf []byte
	for i, row := range rows {
		buf = key(buf[:0], i)
		if number, ok := w.wanted[string(buf)]; ok {
			out.Positions, out.Matches = append(out.Positions, row), append(out.Matches, number)
		}
	}
	return nil
}

// mostListed is how many keys a filter for planning lists: with more, only their range counts.
const mostListed = 200

// around gives a filter that the rows with the keys pass, for leaving out files by partition and bounds.
func (w *locating) around(l Lookup) *expression.Filter {
	out := expression.All()
	for i, c := range w.key {
		if raw := aroundColumn(c, l.Keys, i); raw != nil {
			if f, err := expression.Parse(raw, w.plan.schema, false); err == nil {
				out = expression.And(out, f)
			}
		}
	}
	return out
}

// aroundColumn writes the filter of one column, nil for none.
func aroundColumn(c columnPath, keys []arrow.RecordBatch, column int) json.RawMessage {
	typ := expression.TypeNamed(c.leaf.Type)
	values := make(map[string]json.RawMessage)
	var low, high arrowValue
	for _, batch := range keys {
		a := batch.Column(column)
		key, err := encoderOf(a)
		if err != nil {
			return nil
		}
		for row := range a.Len() {
			v := arrowValue{string(key(nil, row)), valueAt(a, row)}
			if v.value == nil {
				return nil
			}
			if low.value == nil || v.key < low.key {
				low = v
			}
			if high.value == nil || v.key > high.key {
				high = v
			}
			if len(values) <= mostListed {
				values[v.key] = typ.JSON(v.value)
			}
		}
	}
	if low.value == nil {
		return nil
	}
	test := func(op string, literal any) map[string]any {
		return map[string]any{"type": op, "term": c.leaf.Path, "value": literal}
	}
	var written any
	if len(values) <= mostListed {
		listed := make([]json.RawMessage, 0, len(values))
		for _, v := range values {
			listed = append(listed, v)
		}
		written = map[string]any{"type": "in", "term": c.leaf.Path, "values": listed}
	} else {
		written = map[string]any{"type": "and", "left": test("gt-eq", typ.JSON(low.value)), "right": test("lt-eq", typ.JSON(high.value))}
	}
	raw, err := json.Marshal(written)
	if err != nil {
		return nil
	}
	return raw
}

// arrowValue is a value with its key.
type arrowValue struct {
	key   string
	value any
}

// valueAt gives a value as filters hold it, nil for those that files are not chosen by: floats have two zeros.
func valueAt(a arrow.Array, row int) any {
	if a.IsNull(row) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(row)
	case *array.Int32:
		return int64(a.Value(row))
	case *array.Int64:
		return a.Value(row)
	case *array.Date32:
		return int64(a.Value(row))
	case *array.Time64:
		return int64(a.Value(row))
	case *array.Timestamp:
		return int64(a.Value(row))
	case *array.Decimal128:
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.DataType().(*arrow.Decimal128Type).Scale)), nil)
		return new(big.Rat).SetFrac(a.Value(row).BigInt(), scale)
	case *array.String:
		return a.Value(row)
	case *array.Binary:
		return string(a.Value(row))
	case *array.FixedSizeBinary:
		return string(a.Value(row))
	case array.ExtensionArray:
		return valueAt(a.Storage(), row)
	}
	return nil
}

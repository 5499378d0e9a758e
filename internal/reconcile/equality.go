package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/file"
)

// keyTables are the keys of equality deletes with the highest sequence number that has each.
type keyTables map[tableName]map[key]int64

// tableName is what deletes are told apart by: the partition that they are in, "" for none, and their columns.
type tableName struct{ partition, columns string }

// slice is the part of all keys that a pass takes.
type slice struct{ pass, passes int64 }

func (s slice) has(k key) bool { return s.passes == 1 || k.lo%uint64(s.passes) == uint64(s.pass) }

// applyEquality counts what is yet to be counted of the targets. Their rows are read in the columns of the equality deletes
// alone, as many times as it takes to hold all keys.
func (x *exactCount) applyEquality(ctx context.Context) error {
	var pending []*target
	deletes := make(map[*listedFile]bool)
	for _, t := range x.targets {
		for _, d := range t.fresh {
			deletes[d] = true
		}
		if len(t.fresh) > 0 {
			pending = append(pending, t)
			continue
		}
		if t.known == nil {
			if err := x.countPositions(t); err != nil {
				return err
			}
		}
		x.settle(t)
	}
	if len(pending) == 0 {
		return nil
	}
	passes, err := x.passes(deletes, pending)
	if err != nil {
		return err
	}
	for pass := range passes {
		if err := x.pass(ctx, pending, deletes, slice{pass, passes}); err != nil {
			return err
		}
	}
	return nil
}

// passes gives how many passes it takes.
func (x *exactCount) passes(deletes map[*listedFile]bool, pending []*target) (int64, error) {
	var keys, rows int64
	for d := range deletes {
		keys = addRows(keys, d.records)
	}
	for _, t := range pending {
		rows = addRows(rows, t.records)
	}
	passes := max((keys-1)/x.limits.keysAtOnce+1, 1)
	if keys > x.limits.keys {
		return 0, inexactError(fmt.Sprintf("equality deletes with more than %d rows are live", x.limits.keys))
	}
	if rows > mostBits {
		return 0, inexactError(fmt.Sprintf("equality deletes reach more than %d rows", mostBits))
	}
	return passes, nil
}

func (x *exactCount) pass(ctx context.Context, pending []*target, deletes map[*listedFile]bool, part slice) error {
	tables := make(keyTables)
	for d := range deletes {
		if err := x.load(ctx, tables, d, part); err != nil {
			return err
		}
	}
	return x.each(ctx, pending, func(ctx context.Context, t *target) error {
		if err := x.apply(ctx, t, tables, part); err != nil {
			return err
		}
		if part.pass == part.passes-1 {
			x.settle(t)
			t.bits, t.positions, t.keys = nil, nil, nil
		}
		return nil
	})
}

// load reads an equality delete file into its table.
func (x *exactCount) load(ctx context.Context, tables keyTables, d *listedFile, part slice) error {
	if err := readable(d, equalityDelete); err != nil {
		return err
	}
	name := tableName{columns: d.columns.text}
	if !d.global {
		name.partition = d.partition
	}
	table := tables[name]
	if table == nil {
		table = make(map[key]int64)
		tables[name] = table
	}
	return x.read(ctx, equalityDelete, d, func(c *content) error {
		reader, err := c.parquet()
		if err != nil {
			return err
		}
		rows := rowReader{x: x, of: d, reader: reader, sets: []*columnSet{d.columns}, isDelete: true}
		return rows.each(ctx, func(_ int64, keys []key) {
			if k := keys[0]; part.has(k) {
				table[k] = max(table[k], d.sequence)
			}
		})
	})
}

// lookup is the tables of one set of columns that reach a data file.
type lookup struct {
	columns *columnSet
	tables  []map[key]int64
}

// lookups gives the tables that reach a target.
func (x *exactCount) lookups(t *target, tables keyTables) []lookup {
	sets := make(map[string]*columnSet)
	for _, d := range t.fresh {
		sets[d.columns.text] = d.columns
	}
	var out []lookup
	for _, text := range slices.Sorted(maps.Keys(sets)) {
		l := lookup{columns: sets[text]}
		for _, partition := range [...]string{"", t.partition} {
			if table := tables[tableName{partition, text}]; len(table) > 0 {
				l.tables = append(l.tables, table)
			}
		}
		out = append(out, l)
	}
	return out
}

func (l *lookup) has(k key, sequence int64) bool {
	for _, table := range l.tables {
		if table[k] > sequence {
			return true
		}
	}
	return false
}

// apply counts the rows of a target that the keys of a pass remove.
func (x *exactCount) apply(ctx context.Context, t *target, tables keyTables, part slice) error {
	lookups := x.lookups(t, tables)
	if t.known != nil {
		t.applyToKeys(&lookups[0])
		return nil
	}
	if err := readable(t.listedFile, dataFileKind); err != nil {
		return err
	}
	gone, err := x.rowsRemovedOf(ctx, t)
	if err != nil {
		return err
	}
	return x.read(ctx, dataFileKind, t.listedFile, func(c *content) error {
		reader, err := c.parquet()
		if err != nil {
			return err
		}
		return x.scan(ctx, t, reader, gone, lookups, part)
	})
}

// applyToKeys removes keys from those that are held of the target.
func (t *target) applyToKeys(l *lookup) {
	if t.keys == nil {
		t.keys = t.known.keys
	}
	some := 0
	for _, table := range l.tables {
		some += len(table)
	}
	var removed int64
	t.keys, removed = t.keys.without(some, func(yield func(key) bool) {
		for _, table := range l.tables {
			for k, sequence := range table {
				if sequence > t.sequence && !yield(k) {
					return
				}
			}
		}
	}, func(k key) bool { return l.has(k, t.sequence) })
	t.removed += removed
}

// scan reads the rows of a target and counts those that are removed, each once. It keeps the keys of the others, if there
// is one set of columns and room.
func (x *exactCount) scan(ctx context.Context, t *target, from *file.Reader, gone *removedRows, lookups []lookup, part slice) error {
	rows := rowReader{x: x, of: t.listedFile, reader: from}
	for _, l := range lookups {
		rows.sets = append(rows.sets, l.columns)
	}
	collects := part.passes == 1 && len(lookups) == 1 && t.records*keyBytes <= x.limits.memory/4
	var left []key
	err := rows.each(ctx, func(row int64, keys []key) {
		if gone.has(row) {
			if part.pass == 0 {
				t.removed++
			}
			return
		}
		if part.passes > 1 && t.bits.has(row) {
			return
		}
		for n, k := range keys {
			if part.has(k) && lookups[n].has(k, t.sequence) {
				t.removed++
				if part.passes > 1 {
					t.bits.add(row)
				}
				return
			}
		}
		if collects {
			left = append(left, keys[0])
		}
	})
	if err == nil && collects {
		slices.SortFunc(left, compareKeys)
		t.keys = &rowKeys{columns: lookups[0].columns.text, sorted: slices.Clip(left)}
	}
	return err
}

// rowReader reads the keys of a file's rows, in one or more sets of columns.
type rowReader struct {
	x        *exactCount
	of       *listedFile
	reader   *file.Reader
	sets     []*columnSet
	isDelete bool
}

// each calls visit with the keys of every row, in order; they are valid during the call alone.
func (r *rowReader) each(ctx context.Context, visit func(row int64, keys []key)) error {
	var rows int64
	for n := range r.reader.NumRowGroups() {
		rows += max(r.reader.RowGroup(n).NumRows(), 0)
	}
	if rows != r.of.records {
		return inexactError(fmt.Sprintf("%s has not the number of rows that its manifest says", r.of.path))
	}
	places, err := r.places()
	if err != nil {
		return err
	}
	start := int64(0)
	for n := range r.reader.NumRowGroups() {
		group := r.reader.RowGroup(n)
		columns, err := r.columns(group, places)
		if err != nil {
			return err
		}
		if err := r.eachOf(ctx, columns, start, group.NumRows(), visit); err != nil {
			return err
		}
		start += group.NumRows()
	}
	return nil
}

// eachOf visits the rows of a row group.
func (r *rowReader) eachOf(ctx context.Context, columns map[int]column, start, rows int64, visit func(int64, []key)) error {
	keys, buf := make([]key, len(r.sets)), []byte(nil)
	for done := int64(0); done < rows; {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := min(batchRows, rows-done)
		for _, c := range columns {
			if err := c.next(size); err != nil {
				return err
			}
		}
		for row := range int(size) {
			for n, set := range r.sets {
				buf = buf[:0]
				for _, id := range set.ids {
					buf = columns[id].appendTo(buf, row)
				}
				keys[n] = r.x.hasher.sum(buf)
			}
			visit(start+done+int64(row), keys)
		}
		done += size
	}
	return nil
}

// columns opens the columns of a row group.
func (r *rowReader) columns(group *file.RowGroupReader, places map[int]place) (map[int]column, error) {
	out := make(map[int]column, len(places))
	for id, p := range places {
		if p.at < 0 {
			out[id] = p.missing
			continue
		}
		c, err := openColumn(group, p.at, r.x.types.typeOf(id))
		if errors.Is(err, errColumn) {
			return nil, r.unknown(id, err.Error())
		}
		if err != nil {
			return nil, err
		}
		out[id] = c
	}
	return out, nil
}

func (r *rowReader) unknown(id int, why string) error {
	return inexactError(fmt.Sprintf("the column %d of an equality delete, in %s, %s", id, r.of.path, why))
}

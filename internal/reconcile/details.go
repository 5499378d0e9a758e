package reconcile

import (
	"strconv"

	"github.com/apache/iceberg-go"
)

// details is what an entry says beyond what most readers of it need.
type details struct {
	partition     []partitionValue
	format        string
	equality      []int
	refers        string // data file that a delete file is for, "" for any
	offset, size  int64  // of a deletion vector in its file, -1 unknown
	encrypted     bool
	nulls, values map[int]int64 // of the wanted columns
	lower, upper  map[int][]byte
}

// partitionValue is one value of a partition as Avro has it: nil, bool, int64, float64 or bytes in a string.
type partitionValue struct {
	id    int // of the partition field, -1 unknown
	name  string
	value any
}

// wanted says what of an entry is read. A nil one wants nothing but what entry itself has.
type wanted struct {
	partition bool
	whole     bool         // everything
	columns   map[int]bool // whose metrics
	all       bool         // the metrics of all columns
}

func (w *wanted) column(id int) bool { return w.all || w.columns[id] }

// The limits of one entry: partition fields, equality columns and kept bytes of a bound.
const (
	mostPartitionFields = 1000
	mostEqualityColumns = 1000
)

// readDetail reads a field of a data file that entry itself has no place for.
func (w *wanted) readDetail(r *avroReader, f avroField, d *details) {
	switch {
	case w == nil || f.id != 102 && !w.whole:
		r.skip(f.typ)
	case f.id == 102:
		d.partition = readPartition(r, f.typ)
	case f.id == 109:
		d.values = readMetrics(r, f.typ, w, func(t *avroType) int64 { return r.integer(t, -1) })
	case f.id == 110:
		d.nulls = readMetrics(r, f.typ, w, func(t *avroType) int64 { return r.integer(t, -1) })
	case f.id == 125:
		d.lower = readMetrics(r, f.typ, w, func(t *avroType) []byte { return append([]byte{}, r.text(t)...) })
	case f.id == 128:
		d.upper = readMetrics(r, f.typ, w, func(t *avroType) []byte { return append([]byte{}, r.text(t)...) })
	case f.id == 131:
		d.encrypted = len(r.text(f.typ)) > 0
	case f.id == 135:
		d.equality = readIDs(r, f.typ)
	case f.id == 143:
		d.refers = string(r.text(f.typ))
	case f.id == 144:
		d.offset = r.integer(f.typ, -1)
	case f.id == 145:
		d.size = r.integer(f.typ, -1)
	default:
		r.skip(f.typ)
	}
}

func readPartition(r *avroReader, t *avroType) []partitionValue {
	if t = r.resolve(t); t.kind != "record" || len(t.fields) > mostPartitionFields {
		r.fail()
		return nil
	}
	out := make([]partitionValue, 0, len(t.fields))
	for _, f := range t.fields {
		out = append(out, partitionValue{f.id, f.name, readPartitionValue(r, f.typ)})
	}
	return out
}

func readPartitionValue(r *avroReader, t *avroType) any {
	switch t = r.resolve(t); t.kind {
	case "null":
		return nil
	case "boolean":
		b := r.boolean(t)
		return b != nil && *b
	case "int", "long":
		return r.long()
	case "float", "double":
		return r.float(t)
	case "bytes", "string", "fixed":
		return string(r.text(t))
	}
	r.fail()
	return nil
}

// readMetrics reads a map from column ids, which is an array of pairs, and keeps the wanted columns.
func readMetrics[V any](r *avroReader, t *avroType, want *wanted, read func(*avroType) V) map[int]V {
	if t = r.resolve(t); t.kind == "null" {
		return nil
	}
	if !want.all && len(want.columns) == 0 || t.kind != "array" {
		r.skip(t)
		return nil
	}
	out := make(map[int]V, len(want.columns))
	r.items(func() {
		id, keep := -1, false
		r.record(t.of[0], func(f avroField) {
			switch {
			case f.name == "key":
				id = int(r.small(f.typ, -1))
				keep = want.column(id)
			case f.name == "value" && keep:
				out[id] = read(f.typ)
			default:
				r.skip(f.typ)
			}
		})
	})
	return out
}

func readIDs(r *avroReader, t *avroType) []int {
	if t = r.resolve(t); t.kind == "null" {
		return nil
	}
	if t.kind != "array" {
		r.fail()
		return nil
	}
	var out []int
	r.items(func() {
		if len(out) == mostEqualityColumns {
			r.fail()
			return
		}
		out = append(out, int(r.small(t.of[0], -1)))
	})
	return out
}

// partitionKey is a text that is equal for files of one partition: their spec and values.
func partitionKey(spec int64, values []partitionValue) string {
	out := strconv.AppendInt(nil, spec, 10)
	for _, v := range values {
		out = append(strconv.AppendInt(append(out, '|'), int64(v.id), 10), '=')
		switch value := v.value.(type) {
		case nil:
		case bool:
			out = strconv.AppendBool(out, value)
		case int64:
			out = strconv.AppendInt(out, value, 10)
		case float64:
			out = strconv.AppendFloat(out, value, 'g', -1, 64)
		case string:
			out = strconv.AppendQuote(out, value)
		}
	}
	return string(out)
}

// isVector tells whether a delete file is a deletion vector.
func (e *entry) isVector() bool {
	return e.puffin && iceberg.ManifestEntryContent(e.content) == iceberg.EntryContentPosDeletes
}

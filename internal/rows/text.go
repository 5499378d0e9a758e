package rows

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// textOf gives each row of a batch as JSON, one behind the other, with where each begins and the end.
func textOf(batch arrow.RecordBatch) (texts []byte, starts []int) {
	columns, err := encoders(batch)
	if err != nil { // a table's types can all be written
		panic(err)
	}
	names := memberNames(batch.Schema().Fields())
	starts = append(make([]int, 0, batch.NumRows()+1), 0)
	for i := range int(batch.NumRows()) {
		texts = appendRow(texts, names, columns, i)
		starts = append(starts, len(texts))
	}
	return texts, starts
}

// sourceText gives a row of the stream as JSON as far as it can be told: the row is wrong, and maybe not only for the
// table. Of one that is too large there is nothing.
func (s *arrowSource) sourceText(i int) []byte {
	if s.table.left < 0 {
		return []byte("{}")
	}
	names := memberNames(s.batch.Schema().Fields())
	var dst []byte
	for c, a := range s.batch.Columns() {
		before := append(dst, names[c]...)
		err := guarded(func() error {
			value := nullable{array: a}
			var err error
			if value.encode, err = encoderOf(a); err != nil {
				value.encode = func(dst []byte, i int) []byte { return appendText(dst, a.ValueStr(i)) }
			}
			dst = value.append(before, i)
			return nil
		})
		if err != nil || int64(len(dst)) > s.table.o.RowBytes {
			dst = append(before[:len(before):len(before)], "null"...)
		}
	}
	if len(dst) == 0 {
		return []byte("{}")
	}
	return append(dst, '}')
}

package reconcile

import (
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// place is where a file has a column: its number, -1 when it lacks it.
type place struct {
	at      int
	missing constant // its value then
}

// places finds the columns of all sets by their ids.
func (r *rowReader) places() (map[int]place, error) {
	byID, ids := columnsByID(r.reader.MetaData().Schema)
	out := make(map[int]place)
	for _, set := range r.sets {
		for _, id := range set.ids {
			if _, ok := out[id]; ok {
				continue
			}
			p, err := r.place(id, byID, ids)
			if err != nil {
				return nil, err
			}
			out[id] = p
		}
	}
	return out, nil
}

func (r *rowReader) place(id int, byID map[int]int, hasIDs bool) (place, error) {
	column, known := r.x.types.column(id)
	switch {
	case !known:
		return place{}, r.unknown(id, "is in no schema of the table")
	case column.repeated:
		return place{}, r.unknown(id, "is within a list or map")
	case !hasIDs:
		return place{}, r.unknown(id, "is not known by an id: the file has none")
	}
	if at, ok := byID[id]; ok {
		if r.reader.MetaData().Schema.Column(at).MaxRepetitionLevel() > 0 {
			return place{}, r.unknown(id, "is repeated")
		}
		return place{at: at}, nil
	}
	return r.missing(id, column)
}

// missing is the place of a column that the file lacks, as one that is older than the column does: it is null, or has the
// column's initial default. A delete has all of its columns, and a file that lacks a partition's column has the
// partition's value, which only its engine knows how to read.
func (r *rowReader) missing(id int, column tableColumn) (place, error) {
	switch {
	case r.isDelete:
		return place{}, r.unknown(id, "is missing")
	case r.x.layout.identityOf(r.of.spec)[id]:
		return place{}, r.unknown(id, "is missing, and the table is partitioned by it")
	case column.initial != nil && !column.top:
		return place{}, r.unknown(id, "is missing, and has a default within a struct")
	}
	value, err := initialValue(column)
	if err != nil {
		return place{}, r.unknown(id, err.Error())
	}
	return place{at: -1, missing: value}, nil
}

// columnsByID gives the columns of a Parquet file that have ids, and whether any has.
func columnsByID(s *schema.Schema) (map[int]int, bool) {
	out := make(map[int]int)
	for at := range s.NumColumns() {
		if id := s.Column(at).SchemaNode().FieldID(); id >= 0 {
			out[int(id)] = at
		}
	}
	return out, len(out) > 0
}

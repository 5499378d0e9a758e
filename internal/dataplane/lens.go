package dataplane

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// lens is what a caller sees of one snapshot of a table, decided before anything is read.
type lens struct {
	caller policy.Caller
	table  catalog.DataTable
	at     snapshotAt
	row    models.Table           // of the table, its governance in the names of the snapshot's schema
	masks  map[string]policy.Mask // of the columns that the caller's clearance does not reach
	rows   *expression.Filter     // that the caller may see
	whole  bool                   // that is all rows
}

func newLens(caller policy.Caller, table catalog.DataTable, at snapshotAt) (*lens, error) {
	row, err := governedAs(table.Row, table.Document, at.schema)
	if err != nil {
		return nil, err
	}
	l := &lens{caller: caller, table: table, at: at, row: row, masks: policy.MasksFor(caller.Clearance, row, at.schema)}
	l.rows, l.whole, err = rowFilter(caller, table, at.schema)
	return l, err
}

// mask gives the mask of a column, which may be that of what it is nested in.
func (l *lens) mask(path string) (policy.Mask, bool) { return policy.MaskOf(l.masks, path) }

// touchesMasked tells whether a column is masked, or something in it.
func (l *lens) touchesMasked(path string) (policy.Mask, bool) {
	if m, ok := l.mask(path); ok {
		return m, true
	}
	for _, name := range slices.Sorted(maps.Keys(l.masks)) {
		if strings.HasPrefix(name, path+".") {
			return l.masks[name], true
		}
	}
	return policy.Mask{}, false
}

// requireSeen refuses a masked column in a place where its values would show in what is answered.
func (l *lens) requireSeen(path, use string) error {
	m, masked := l.touchesMasked(path)
	if !masked {
		return nil
	}
	return fault.New(fault.Forbidden, "Column %s of table %s is %s and may not be %s: the clearance of principal %s is %s. Leave it out, or ask who governs the table.",
		path, l.table.Name, m.Level, use, l.caller.Principal, clearanceName(l.caller.Clearance))
}

func clearanceName(c models.Classification) string {
	if c == "" {
		return "none"
	}
	return string(c)
}

// hidden tells whether a top-level column shows the same in every row, so that it is never read: what is not read can make
// no difference, be it of time or memory.
func (l *lens) hidden(name string) bool {
	m, ok := l.masks[name]
	return ok && (m.Kind == policy.MaskNull || m.Kind == policy.MaskRedact)
}

// order gives the fields that pages are in order of: the identity columns, where the caller sees them as they are and they
// can be compared; else none, which is the physical order.
func (l *lens) order() []int {
	var ids []int
	for _, path := range l.row.IdentityColumns.V {
		f, ok := topLevel(l.at.schema, path)
		if _, masked := l.mask(path); !ok || masked || !expression.TypeNamed(f.Type).Ordered() {
			return nil
		}
		ids = append(ids, f.ID)
	}
	return ids
}

// topLevel finds a column that is in no other.
func topLevel(s metadata.Schema, name string) (metadata.Field, bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return metadata.Field{}, false
}

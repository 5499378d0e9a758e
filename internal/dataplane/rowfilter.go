package dataplane

import (
	"strconv"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/expression"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/policy"
)

// rowFilter gives the rows of a table that the caller may see, for a read with a schema of it. The filters name columns as
// the current schema does. What cannot be applied lets nobody see anything.
func rowFilter(caller policy.Caller, table catalog.DataTable, schema metadata.Schema) (f *expression.Filter, whole bool, err error) {
	exprs, all := policy.RowFilterFor(caller.RoleNames, table.Row.RowFilters.V)
	if all {
		return expression.All(), true, nil
	}
	current, err := table.Document.CurrentSchema()
	if err != nil {
		return nil, false, err
	}
	there, as := idsOf(schema), namedAs(schema, current)
	f = expression.None()
	for _, raw := range exprs {
		now, err := expression.Parse(raw, current, false)
		if err != nil {
			return nil, false, fault.Wrap(err, fault.Forbidden,
				"A row filter of table %s does not fit its columns any more, so that its rows are shown to nobody whom it is for. Ask who governs the table to set it again.", table.Name)
		}
		for _, id := range now.Columns() {
			if !there[id] {
				return nil, false, fault.New(fault.Forbidden,
					"A row filter of table %s needs a column that this snapshot does not have, so that its rows cannot be shown to you. Read a newer snapshot.", table.Name)
			}
		}
		one, err := expression.Parse(raw, as, false)
		if err == nil {
			err = one.Evaluable()
		}
		if err != nil {
			return nil, false, fault.Wrap(err, fault.Forbidden,
				"A row filter of table %s cannot be applied to this snapshot, so that its rows cannot be shown to you. Read a newer snapshot.", table.Name)
		}
		f = expression.Or(f, one)
	}
	return f, f.IsAll(), nil
}

// namedAs gives a schema whose columns have the names of the same columns in another one. What the other does not have gets
// a name that cannot be meant.
func namedAs(schema, names metadata.Schema) metadata.Schema {
	out := schema
	out.Fields = renamed(schema.Fields, pathsOf(names), lastNames(names))
	return out
}

func renamed(fields []metadata.Field, paths, names map[int]string) []metadata.Field {
	out := make([]metadata.Field, len(fields))
	for i, f := range fields {
		path, ok := paths[f.ID]
		if f.Path, f.Name = path, names[f.ID]; !ok {
			f.Name = "\x00" + strconv.Itoa(f.ID)
			f.Path = f.Name
		}
		f.Children = renamed(f.Children, paths, names)
		out[i] = f
	}
	return out
}

func lastNames(s metadata.Schema) map[int]string {
	names := map[int]string{}
	s.Walk(func(f metadata.Field) { names[f.ID] = f.Name })
	return names
}

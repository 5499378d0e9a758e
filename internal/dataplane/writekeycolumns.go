package dataplane

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/columnar"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/internal/rowaudit"
)

// keyColumns are what an upsert tells rows apart by.
type keyColumns struct {
	names  []string
	ids    []int            // of the fields
	hasher *rowaudit.Hasher // nil: the identity hashes are those of the keys
	paths  [][]int          // where each is in a batch: a column, and fields of structs in it
	schema *arrow.Schema    // of the key columns alone
}

// identifierColumns gives the names of a schema's identifier fields, in order of their ids.
func identifierColumns(schema metadata.Schema) []string {
	ids := slices.Sorted(slices.Values(schema.IdentifierFieldIDs))
	names := make([]string, len(ids))
	schema.Walk(func(f metadata.Field) {
		if at, ok := slices.BinarySearch(ids, f.ID); ok {
			names[at] = f.Path
		}
	})
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// newKeyColumns finds the key of a table: its identifier fields, else what governance says is the identity of its rows.
func newKeyColumns(table catalog.DataTable, schema metadata.Schema) (*keyColumns, error) {
	if table.Document.FormatVersion() < 2 {
		return nil, fault.New(fault.Invalid, "Table %s is of format version 1, which can only be appended to. Upgrade it to version 2 to upsert.", table.Name)
	}
	k := &keyColumns{names: identifierColumns(schema)}
	if len(k.names) == 0 {
		k.names = table.Row.IdentityColumns.V
	}
	if len(k.names) == 0 {
		return nil, fault.New(fault.Invalid, "Table %s has neither identifier fields nor identity columns, so that nothing says which row replaces which. "+
			"Set identifier fields with an engine, or identity columns with `sluice tables classify`.", table.Name)
	}
	fields := make([]arrow.Field, len(k.names))
	for i, name := range k.names {
		field, path, err := keyColumn(schema, name)
		if err != nil {
			return nil, err
		}
		if fields[i], err = columnar.Field(field); err != nil {
			return nil, err
		}
		fields[i].Nullable = false
		k.ids, k.paths = append(k.ids, field.ID), append(k.paths, path)
	}
	k.schema = arrow.NewSchema(fields, nil)
	return k, nil
}

// keyColumn finds a column by its dotted name, as one that values can be found by.
func keyColumn(schema metadata.Schema, name string) (metadata.Field, []int, error) {
	fields, prefix := schema.Fields, ""
	var path []int
	for {
		at := slices.IndexFunc(fields, func(f metadata.Field) bool {
			return prefix+f.Name == name || f.Type == "struct" && strings.HasPrefix(name, prefix+f.Name+".")
		})
		if at < 0 {
			return metadata.Field{}, nil, fault.New(fault.Invalid, "The key column %s is not in the schema of the table, or it is in a list or a map. Correct the identity columns of the table.", name)
		}
		f := fields[at]
		path = append(path, at)
		if prefix+f.Name != name {
			fields, prefix = f.Children, prefix+f.Name+"."
			continue
		}
		switch f.Type {
		case "float", "double", "struct", "list", "map":
			return f, nil, fault.New(fault.Invalid, "The column %s is of the type %s, and rows cannot be found by it. Choose other identity columns.", name, f.Type)
		}
		return f, path, nil
	}
}

// hashWith hashes keys with the installation's key, unless the identity hashes of rows are of the same columns.
func (k *keyColumns) hashWith(key []byte, w *writing) error {
	if slices.Equal(k.names, w.identity) {
		return nil
	}
	var err error
	k.hasher, err = rowaudit.NewHasher(key, k.names, w.schema)
	return err
}

// column gives a key column of a batch, without a reference of its own, and whether a row has it: one that is in a struct
// is missing where the struct is.
func (k *keyColumns) column(batch arrow.RecordBatch, i int) (column arrow.Array, missing func(row int) bool) {
	path := k.paths[i]
	column = batch.Column(path[0])
	above := []arrow.Array{column}
	for _, at := range path[1:] {
		column = column.(*array.Struct).Field(at)
		above = append(above, column)
	}
	return column, func(row int) bool {
		return slices.ContainsFunc(above, func(a arrow.Array) bool { return a.IsNull(row) })
	}
}

// eachNull calls fn with the rows whose key is not whole.
func (k *keyColumns) eachNull(batch arrow.RecordBatch, fn func(row int, column string)) {
	for i, name := range k.names {
		column, missing := k.column(batch, i)
		if len(k.paths[i]) == 1 && column.NullN() == 0 {
			continue
		}
		for row := range int(batch.NumRows()) {
			if missing(row) {
				fn(row, name)
			}
		}
	}
}

// of copies the key columns of a batch, whose keys are whole.
func (k *keyColumns) of(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(k.names))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range k.names {
		column, _ := k.column(batch, i)
		copied, err := gather(column, []run{{0, batch.NumRows()}})
		if err != nil {
			return nil, err
		}
		columns[i] = copied
	}
	return array.NewRecordBatch(k.schema, columns, batch.NumRows()), nil
}

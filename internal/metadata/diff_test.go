package metadata_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
)

// schemaOf parses a schema of the fields by adding it to a document.
func schemaOf(t *testing.T, identifiers, fields string) metadata.Schema {
	t.Helper()
	doc, err := metadata.Apply(golden(t, "v3"), decode(t,
		fmt.Sprintf(`{"action":"add-schema","schema":{"type":"struct","identifier-field-ids":[%s],"fields":[%s]}}`, identifiers, fields),
		`{"action":"set-current-schema","schema-id":-1}`), metadata.ApplyOptions{Now: time.UnixMilli(1)})
	require.NoError(t, err)
	schema, err := doc.Document.CurrentSchema()
	require.NoError(t, err)
	return schema
}

func TestDiffSchemas(t *testing.T) {
	base := `{"id":1,"name":"a","required":true,"type":"int"},{"id":2,"name":"b","required":false,"type":"long","doc":"d"},` +
		`{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"x","required":false,"type":"int"},{"id":5,"name":"y","required":false,"type":"int"}]}}`
	for name, c := range map[string]struct {
		identifiers, fields string
		want                []metadata.ColumnChange
	}{
		"nothing": {"1", base, nil},
		"rename retype optional doc": {
			"1", `{"id":1,"name":"a2","required":true,"type":"long"},{"id":2,"name":"b","required":true,"type":"long","doc":"e"},` +
				`{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"x2","required":false,"type":"int"},{"id":5,"name":"y","required":false,"type":"int"}]}}`,
			[]metadata.ColumnChange{
				{Kind: metadata.ColumnRename, FieldID: 1, Name: "a", Detail: "a to a2"},
				{Kind: metadata.ColumnRetype, FieldID: 1, Name: "a", Detail: "int to long"},
				{Kind: metadata.ColumnMakeRequired, FieldID: 2, Name: "b"},
				{Kind: metadata.ColumnDoc, FieldID: 2, Name: "b", Detail: `"d" to "e"`},
				{Kind: metadata.ColumnRename, FieldID: 4, Name: "s.x", Detail: "x to x2"},
			},
		},
		"drop a struct and the identifier": {
			"", `{"id":1,"name":"a","required":false,"type":"int"},{"id":2,"name":"b","required":false,"type":"long","doc":"d"}`,
			[]metadata.ColumnChange{
				{Kind: metadata.ColumnMakeOptional, FieldID: 1, Name: "a"},
				{Kind: metadata.ColumnIdentifier, FieldID: 1, Name: "a", Detail: "removed"},
				{Kind: metadata.ColumnDrop, FieldID: 3, Name: "s"},
				{Kind: metadata.ColumnDrop, FieldID: 4, Name: "s.x"},
				{Kind: metadata.ColumnDrop, FieldID: 5, Name: "s.y"},
			},
		},
		"add in the middle": {
			"1", `{"id":1,"name":"a","required":true,"type":"int"},{"id":9,"name":"n","required":true,"type":"int","initial-default":1},` +
				`{"id":2,"name":"b","required":false,"type":"long","doc":"d"},` +
				`{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"x","required":false,"type":"int"},{"id":8,"name":"z","required":false,"type":"int"},{"id":5,"name":"y","required":false,"type":"int"}]}}`,
			[]metadata.ColumnChange{
				{Kind: metadata.ColumnAddRequired, FieldID: 9, Name: "n", Detail: "int"},
				{Kind: metadata.ColumnAddOptional, FieldID: 8, Name: "s.z", Detail: "int"},
			},
		},
		"reorder and move": {
			"1", `{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":5,"name":"y","required":false,"type":"int"}]}},` +
				`{"id":1,"name":"a","required":true,"type":"int"},{"id":2,"name":"b","required":false,"type":"long","doc":"d"},{"id":4,"name":"x","required":false,"type":"int"}`,
			[]metadata.ColumnChange{
				{Kind: metadata.ColumnReorder, FieldID: 3, Name: "s"},
				{Kind: metadata.ColumnMove, FieldID: 4, Name: "s.x", Detail: "s.x to x"},
			},
		},
		"default and unknown member": {
			"1", `{"id":1,"name":"a","required":true,"type":"int","write-default":7},{"id":2,"name":"b","required":false,"type":"long","doc":"d","x":1},` +
				`{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"x","required":false,"type":"int"},{"id":5,"name":"y","required":false,"type":"int"}]}}`,
			[]metadata.ColumnChange{
				{Kind: metadata.ColumnDefault, FieldID: 1, Name: "a", Detail: "write-default null to 7"},
				{Kind: metadata.ColumnOther, FieldID: 2, Name: "b"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, metadata.DiffSchemas(schemaOf(t, "1", base), schemaOf(t, c.identifiers, c.fields)))
		})
	}
}

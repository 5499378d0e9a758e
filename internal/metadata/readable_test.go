package metadata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

const readableTable = `{"format-version":1,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"file:///t","last-updated-ms":1,"last-column-id":3,` +
	`"schema":{"type":"struct","fields":[]},"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long","doc":"d"},` +
	`{"id":2,"name":"l","required":false,"type":{"type":"list","element-id":3,"element-required":false,"element":"int"}}]}],` +
	`"partition-spec":[{"field-id":1000,"source-id":1,"name":"p","transform":"identity"}],` +
	`"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"field-id":1000,"source-id":1,"name":"p","transform":"identity"}]}],"last-partition-id":1000,` +
	`"default-sort-order-id":1,"sort-orders":[{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}]}`

const readableView = `{"view-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","format-version":1,"location":"file:///v","current-version-id":1,` +
	`"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]}],"versions":[{"version-id":1,"timestamp-ms":1,"schema-id":0,` +
	`"summary":{"a":"b"},"default-namespace":["a"],"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}],"version-log":[{"version-id":1,"timestamp-ms":1}]}`

// TestCheckReadable: documents that engines could not open. Most of them parse, for what exists must load.
func TestCheckReadable(t *testing.T) {
	t.Parallel()
	table := func(text string) error {
		doc, err := Parse([]byte(text))
		if err != nil {
			return err
		}
		return doc.CheckReadable()
	}
	view := func(text string) error {
		doc, err := ParseView([]byte(text))
		require.NoError(t, err)
		return doc.CheckReadable()
	}
	require.NoError(t, table(readableTable))
	require.NoError(t, view(readableView))
	cases := map[string]struct {
		check          func(string) error
		whole, was, is string
	}{
		"a name that is a number":     {table, readableTable, `"name":"x"`, `"name":5`},
		"a doc that is a number":      {table, readableTable, `"doc":"d"`, `"doc":5`},
		"required that is a list":     {table, readableTable, `"element-required":false`, `"element-required":[]`},
		"an unknown type":             {table, readableTable, `"type":"long"`, `"type":"x"`},
		"a schema that is no struct":  {table, readableTable, `"type":"struct","schema-id"`, `"type":5,"schema-id"`},
		"version 1's own schema":      {table, readableTable, `"schema":{"type":"struct","fields":[]}`, `"schema":[]`},
		"version 1's own spec":        {table, readableTable, `"partition-spec":[{"field-id":1000,"source-id":1`, `"partition-spec":[{"field-id":1000,"source-id":"x"`},
		"a spec's source":             {table, readableTable, `"partition-specs":[{"spec-id":0,"fields":[{"field-id":1000,"source-id":1`, `"partition-specs":[{"spec-id":0,"fields":[{"field-id":1000,"source-id":"x"`},
		"a sort order's source":       {table, readableTable, `"fields":[{"source-id":1,"transform"`, `"fields":[{"source-id":"x","transform"`},
		"a spec without an id":        {table, readableTable, `{"spec-id":0,`, `{`},
		"an order twice":              {table, readableTable, `"sort-orders":[`, `"sort-orders":[{"order-id":1,"fields":[{"source-id":1,"transform":"identity"}]},`},
		"two partitions of one name":  {table, readableTable, `"partition-specs":[{"spec-id":0,"fields":[`, `"partition-specs":[{"spec-id":0,"fields":[{"field-id":1001,"source-id":2,"name":"p","transform":"void"},`},
		"a log of words":              {table, readableTable, `"format-version":1`, `"format-version":1,"metadata-log":["x"]`},
		"a log entry without a time":  {table, readableTable, `"format-version":1`, `"format-version":1,"snapshot-log":[{"snapshot-id":1}]`},
		"statistics that are a word":  {table, readableTable, `"format-version":1`, `"format-version":1,"partition-statistics":"x"`},
		"an order without fields":     {table, readableTable, `{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}`, ``},
		"two schemas of one id":       {table, readableTable, `"schemas":[`, `"schemas":[{"type":"struct","fields":[]},`},
		"two columns of one id":       {table, readableTable, `{"id":2,`, `{"id":1,`},
		"two columns of one name":     {table, readableTable, `"name":"l"`, `"name":"x"`},
		"a table's UUID":              {table, readableTable, `"9c12d441`, `"9`},
		"a view's UUID":               {view, readableView, `"9c12d441`, `"9`},
		"a view's summary":            {view, readableView, `{"a":"b"}`, `5`},
		"a name in a view's schema":   {view, readableView, `"name":"x"`, `"name":{}`},
		"a view's column of no type":  {view, readableView, `"type":"long"`, `"type":"x"`},
		"a view without SQL":          {view, readableView, `"sql":"SELECT 1",`, ``},
		"a view of an odd namespaces": {view, readableView, `"default-namespace":["a"]`, `"default-namespace":"a"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := strings.Replace(c.whole, c.was, c.is, 1)
			require.NotEqual(t, c.whole, broken)
			require.Equal(t, fault.Invalid, fault.CodeOf(c.check(broken)))
		})
	}
}

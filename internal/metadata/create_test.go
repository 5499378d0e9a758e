package metadata_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

const tableUUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"

func createInput(version int) metadata.CreateInput {
	return metadata.CreateInput{
		UUID: tableUUID, Location: "s3://b/t", FormatVersion: version, Now: now(),
		Schema: json.RawMessage(` {"type":"struct","x-schema":1.0,"schema-id":7,"identifier-field-ids":[10],"fields":[
			{"id":10,"name":"id","required":true,"type":"long","doc":"key","x-field":9007199254740993},
			{"id":20,"name":"s","required":false,"type":{"type":"struct","fields":[
				{"id":30,"name":"l","required":false,"type":{"type":"list","element-id":31,"element-required":true,"element":{"type":"struct","fields":[{"id":32,"name":"e","required":false,"type":"int"}]}}},
				{"id":33,"name":"m","required":false,"type":{"type":"map","key-id":34,"key":"string","value-id":35,"value-required":false,"value":"date"}}]}},
			{"id":40,"name":"at","required":false,"type":"timestamptz"}]}`),
		PartitionSpec: json.RawMessage(`{"spec-id":5,"fields":[{"source-id":40,"transform":"day","name":"at_day","x-f":1.0},{"field-id":1234,"source-id":10,"transform":"bucket[8]","name":"b"}]}`),
		WriteOrder:    json.RawMessage(`{"order-id":5,"fields":[{"source-id":10,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}`),
		Properties:    map[string]string{"b": "2", "a": "1"},
	}
}

func TestNew(t *testing.T) {
	doc, err := metadata.New(createInput(0))
	require.NoError(t, err)
	requireConsistent(t, doc)
	require.JSONEq(t, `{"format-version":2,"table-uuid":"`+tableUUID+`","location":"s3://b/t","last-sequence-number":0,
		"last-updated-ms":1800000000000,"last-column-id":9,"current-schema-id":0,
		"schemas":[{"type":"struct","x-schema":1.0,"schema-id":0,"identifier-field-ids":[1],"fields":[
			{"id":1,"name":"id","required":true,"type":"long","doc":"key","x-field":9007199254740993},
			{"id":2,"name":"s","required":false,"type":{"type":"struct","fields":[
				{"id":4,"name":"l","required":false,"type":{"type":"list","element-id":6,"element-required":true,"element":{"type":"struct","fields":[{"id":7,"name":"e","required":false,"type":"int"}]}}},
				{"id":5,"name":"m","required":false,"type":{"type":"map","key-id":8,"key":"string","value-id":9,"value-required":false,"value":"date"}}]}},
			{"id":3,"name":"at","required":false,"type":"timestamptz"}]}],
		"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"source-id":3,"transform":"day","name":"at_day","x-f":1.0,"field-id":1000},{"field-id":1001,"source-id":1,"transform":"bucket[8]","name":"b"}]}],
		"last-partition-id":1001,"default-sort-order-id":1,
		"sort-orders":[{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}],
		"properties":{"a":"1","b":"2"},"current-snapshot-id":-1,"refs":{},"snapshots":[],"statistics":[],"partition-statistics":[],"snapshot-log":[],"metadata-log":[]}`,
		string(doc.Bytes()))
	require.Contains(t, string(doc.Bytes()), `"x-field":9007199254740993`)
	require.Contains(t, string(doc.Bytes()), `"x-f":1.0`)
}

func TestNewVersions(t *testing.T) {
	in := createInput(0)
	in.PartitionSpec, in.WriteOrder = nil, json.RawMessage(`null`)
	in.Properties = map[string]string{"format-version": "1"}
	doc, err := metadata.New(in)
	require.NoError(t, err)
	requireConsistent(t, doc)
	require.Equal(t, 1, doc.FormatVersion())
	require.Empty(t, doc.Properties(), "format-version is not stored")
	require.Equal(t, "[]", sectionOf(t, doc, "partition-spec"))
	require.Contains(t, sectionOf(t, doc, "schema"), `"x-field"`)
	require.Equal(t, "0", sectionOf(t, doc, "default-sort-order-id"))
	require.Equal(t, "999", sectionOf(t, doc, "last-partition-id"))
	_, ok := doc.Section("last-sequence-number")
	require.False(t, ok)

	in.Properties = nil
	in.FormatVersion = 3
	doc, err = metadata.New(in)
	require.NoError(t, err)
	require.Equal(t, "0", sectionOf(t, doc, "next-row-id"))
	require.Equal(t, "null", sectionOf(t, doc, "current-snapshot-id"))
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*metadata.CreateInput){
		"version 4":        func(in *metadata.CreateInput) { in.FormatVersion = 4 },
		"version property": func(in *metadata.CreateInput) { in.Properties = map[string]string{"format-version": "two"} },
		"no location":      func(in *metadata.CreateInput) { in.Location = "" },
		"no uuid":          func(in *metadata.CreateInput) { in.UUID = "" },
		"no schema":        func(in *metadata.CreateInput) { in.Schema = nil },
		"broken schema":    func(in *metadata.CreateInput) { in.Schema = json.RawMessage(`{"fields":[`) },
		"no fields":        func(in *metadata.CreateInput) { in.Schema = json.RawMessage(`{}`) },
		"ids twice": func(in *metadata.CreateInput) {
			in.Schema = json.RawMessage(`{"type":"struct","fields":[{"id":10,"name":"a","required":true,"type":"int"},{"id":10,"name":"b","required":true,"type":"int"}]}`)
		},
		"v3 type": func(in *metadata.CreateInput) {
			in.Schema = json.RawMessage(`{"type":"struct","fields":[{"id":10,"name":"a","required":false,"type":"variant"}]}`)
			in.PartitionSpec, in.WriteOrder = nil, nil
		},
		"spec source": func(in *metadata.CreateInput) {
			in.PartitionSpec = json.RawMessage(`{"fields":[{"source-id":1,"transform":"identity","name":"p"}]}`)
		},
		"order source": func(in *metadata.CreateInput) {
			in.WriteOrder = json.RawMessage(`{"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}`)
		},
		"identifier": func(in *metadata.CreateInput) {
			in.Schema = json.RawMessage(`{"type":"struct","identifier-field-ids":[1],"fields":[{"id":10,"name":"a","required":true,"type":"int"}]}`)
		},
		"day of long": func(in *metadata.CreateInput) {
			in.PartitionSpec = json.RawMessage(`{"fields":[{"source-id":10,"transform":"day","name":"p"}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := createInput(0)
			change(&in)
			_, err := metadata.New(in)
			require.Error(t, err)
			require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
		})
	}
}

// stagedCreate gives the updates a client sends to create a table by a commit.
func stagedCreate() []string {
	return []string{
		`{"action":"assign-uuid","uuid":"` + tableUUID + `"}`,
		`{"action":"upgrade-format-version","format-version":1}`,
		`{"action":"add-schema","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":false,"type":"long"}]},"last-column-id":1}`,
		`{"action":"set-current-schema","schema-id":-1}`,
		`{"action":"add-spec","spec":{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"x","transform":"identity"}]}}`,
		`{"action":"set-default-spec","spec-id":-1}`,
		`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`,
		`{"action":"set-default-sort-order","sort-order-id":-1}`,
		`{"action":"set-location","location":"s3://b/t"}`,
		`{"action":"set-properties","updates":{"a":"1"}}`,
	}
}

func TestStagedCreate(t *testing.T) {
	for version, text := range map[int]string{1: "1", 2: "2", 3: "3"} {
		updates := stagedCreate()
		updates[1] = `{"action":"upgrade-format-version","format-version":` + text + `}`
		result := apply(t, nil, updates...)
		require.True(t, result.Changed)
		require.Equal(t, version, result.Document.FormatVersion())
		require.Equal(t, "0", sectionOf(t, result.Document, "current-schema-id"))
		require.Equal(t, tableUUID, result.Document.UUID())
		require.Equal(t, 1, result.Changes.AddedSchemas)
		require.Empty(t, result.Changes.ColumnChanges)
		require.False(t, result.Changes.ReplacedTable)
	}
	ctas := append(stagedCreate()[2:], stagedCreate()[0], snapshotUpdate(7, 0, 1, ""), setRef("main", 7))
	doc := apply(t, nil, ctas...).Document
	require.Equal(t, 2, doc.FormatVersion(), "the default")
	current, ok := doc.CurrentSnapshotID()
	require.True(t, ok)
	require.Equal(t, int64(7), current)
	require.Equal(t, int64(1), doc.LastSequenceNumber())
}

func TestStagedCreateMustBeComplete(t *testing.T) {
	for i, part := range map[int]string{0: "uuid", 3: "current schema", 5: "default partition spec", 7: "default sort order", 8: "location"} {
		var updates []string
		for j, update := range stagedCreate() {
			if j != i {
				updates = append(updates, update)
			}
		}
		refuse(t, nil, fault.Invalid, part, updates...)
	}
	refuse(t, nil, fault.Invalid, "before a schema", snapshotUpdate(7, 0, 1, ""))
}

// DuckDB chooses the current schema after the spec and the sort order.
func TestCurrentSchemaMayBeChosenLast(t *testing.T) {
	updates := func(spec string) []metadata.Update {
		raw := []json.RawMessage{
			json.RawMessage(`{"action":"assign-uuid","uuid":"11e3daee-e0dd-4614-9723-0a54bad90351"}`),
			json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
			json.RawMessage(`{"action":"add-schema","last-column-id":1,"schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}}`),
			json.RawMessage(spec),
			json.RawMessage(`{"action":"set-default-spec","spec-id":0}`),
			json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`),
			json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":0}`),
			json.RawMessage(`{"action":"set-location","location":"s3://b/t"}`),
			json.RawMessage(`{"action":"add-snapshot","snapshot":{"snapshot-id":5,"sequence-number":1,"timestamp-ms":` + strconv.FormatInt(now().UnixMilli(), 10) +
				`,"manifest-list":"s3://b/t/metadata/l.avro","summary":{"operation":"append"},"schema-id":0}}`),
			json.RawMessage(`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":5}`),
			json.RawMessage(`{"action":"set-current-schema","schema-id":0}`),
		}
		decoded, err := metadata.DecodeUpdates(raw)
		require.NoError(t, err)
		return decoded
	}
	result, err := metadata.Apply(nil, updates(`{"action":"add-spec","spec":{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"b","transform":"bucket[4]"}]}}`), metadata.ApplyOptions{Now: now()})
	require.NoError(t, err)
	schema, err := result.Document.CurrentSchema()
	require.NoError(t, err)
	require.Len(t, schema.Fields, 1)
	_, err = metadata.Apply(nil, updates(`{"action":"add-spec","spec":{"spec-id":0,"fields":[{"source-id":9,"field-id":1000,"name":"b","transform":"bucket[4]"}]}}`), metadata.ApplyOptions{Now: now()})
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
}

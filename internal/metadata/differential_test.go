package metadata_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
)

// comparableJSON reduces metadata to what iceberg-go keeps of it: no unknown members, no empty containers,
// none of the values that mean the same as their absence.
func comparableJSON(t *testing.T, raw []byte) any {
	t.Helper()
	parsed, err := table.ParseMetadataBytes(raw)
	require.NoError(t, err, "%s", raw)
	clean, err := json.Marshal(parsed)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(clean, &doc))
	delete(doc, "last-updated-ms")
	if doc["current-snapshot-id"] == float64(-1) {
		delete(doc, "current-snapshot-id")
	}
	return pruned(doc)
}

func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			if p := pruned(member); p != nil {
				out[key] = p
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return value
}

func TestNewLikeIcebergGo(t *testing.T) {
	for version := 1; version <= 3; version++ {
		in := createInput(version)
		// iceberg-go numbers depth first, Java a level at a time: they agree when only the last field nests.
		in.Schema = json.RawMessage(`{"type":"struct","schema-id":7,"identifier-field-ids":[10],"fields":[
			{"id":10,"name":"id","required":true,"type":"long","doc":"key"},
			{"id":40,"name":"at","required":false,"type":"timestamptz"},
			{"id":20,"name":"s","required":false,"type":{"type":"struct","fields":[
				{"id":33,"name":"m","required":false,"type":{"type":"map","key-id":34,"key":"string","value-id":35,"value-required":false,"value":
					{"type":"list","element-id":31,"element-required":true,"element":{"type":"struct","fields":[{"id":32,"name":"e","required":false,"type":"int"}]}}}}]}}]}`)
		doc, err := metadata.New(in)
		require.NoError(t, err)

		var schema iceberg.Schema
		require.NoError(t, json.Unmarshal(in.Schema, &schema))
		spec := iceberg.NewPartitionSpec(
			iceberg.PartitionField{SourceIDs: []int{40}, FieldID: 1000, Name: "at_day", Transform: iceberg.DayTransform{}},
			iceberg.PartitionField{SourceIDs: []int{10}, FieldID: 1001, Name: "b", Transform: iceberg.BucketTransform{NumBuckets: 8}})
		order, err := table.NewSortOrder(1, []table.SortField{{SourceIDs: []int{10}, Transform: iceberg.IdentityTransform{}, Direction: table.SortASC, NullOrder: table.NullsFirst}})
		require.NoError(t, err)
		theirs, err := table.NewMetadataWithUUID(&schema, &spec, order, in.Location,
			iceberg.Properties{"a": "1", "b": "2", "format-version": strconv.Itoa(version)}, uuid.MustParse(tableUUID))
		require.NoError(t, err)
		want, err := json.Marshal(theirs)
		require.NoError(t, err)
		require.Equal(t, comparableJSON(t, want), comparableJSON(t, doc.Bytes()), "v%d", version)
	}
}

func TestApplyLikeIcebergGo(t *testing.T) {
	fields := `{"id":1,"name":"x","required":true,"type":"long"},{"id":2,"name":"y","required":true,"type":"long","doc":"comment"},{"id":3,"name":"z","required":true,"type":"long"},{"id":7,"name":"n","required":false,"type":{"type":"map","key-id":8,"key":"string","value-id":9,"value-required":true,"value":"decimal(9, 2)"}}`
	for name, c := range map[string]struct {
		base    string
		updates []string
	}{
		"append":            {"v2", []string{snapshotUpdate(7, newID, 35, `,"schema-id":1`), setRef("main", 7)}},
		"two appends":       {"v2", []string{snapshotUpdate(7, newID, 35, ""), setRef("main", 7), snapshotUpdate(8, 7, 36, ""), setRef("main", 8)}},
		"append v3":         {"v3", []string{snapshotUpdate(7, 20, 3, `,"first-row-id":100,"added-rows":5`), setRef("main", 7)}},
		"staged on branch":  {"v2", []string{snapshotUpdate(7, newID, 35, ""), setRef("audit", 7)}},
		"tag":               {"v2", []string{fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"t","type":"tag","snapshot-id":%d,"max-ref-age-ms":5}`, newID)}},
		"remove ref":        {"v2", []string{`{"action":"remove-snapshot-ref","ref-name":"old"}`}},
		"expire":            {"v2", []string{fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, oldID)}},
		"expire and append": {"v2", []string{fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, oldID), snapshotUpdate(7, newID, 35, ""), setRef("main", 7)}},
		"schema":            {"v2", []string{`{"action":"add-schema","schema":{"type":"struct","schema-id":2,"identifier-field-ids":[1],"fields":[` + fields + `]}}`, `{"action":"set-current-schema","schema-id":-1}`}},
		"spec":              {"v2", []string{`{"action":"add-spec","spec":{"spec-id":5,"fields":[{"source-id":6,"field-id":1001,"transform":"month","name":"at_month"}]}}`, `{"action":"set-default-spec","spec-id":-1}`, `{"action":"remove-partition-specs","spec-ids":[0]}`}},
		"order":             {"v2", []string{`{"action":"add-sort-order","sort-order":{"order-id":5,"fields":[{"source-id":1,"transform":"truncate[4]","direction":"desc","null-order":"nulls-last"}]}}`, `{"action":"set-default-sort-order","sort-order-id":-1}`}},
		"unsorted":          {"v2", []string{`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`, `{"action":"set-default-sort-order","sort-order-id":0}`}},
		"remove schema":     {"v2", []string{`{"action":"remove-schemas","schema-ids":[0]}`}},
		"properties":        {"v2", []string{`{"action":"set-properties","updates":{"a":"1"}}`, `{"action":"remove-properties","removals":["gone"]}`}},
		"location":          {"v2", []string{`{"action":"set-location","location":"s3://other"}`}},
		"upgrade 2 to 3":    {"v2", []string{`{"action":"upgrade-format-version","format-version":3}`}},
		"statistics":        {"v2", []string{fmt.Sprintf(`{"action":"set-statistics","statistics":{"snapshot-id":%d,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, newID), fmt.Sprintf(`{"action":"remove-statistics","snapshot-id":%d}`, oldID)}},
		"part statistics":   {"v2", []string{fmt.Sprintf(`{"action":"set-partition-statistics","partition-statistics":{"snapshot-id":%d,"statistics-path":"p","file-size-in-bytes":1}}`, newID)}},
		"key":               {"v3", []string{`{"action":"add-encryption-key","encryption-key":{"key-id":"k2","encrypted-key-metadata":"AA=="}}`, `{"action":"remove-encryption-key","key-id":"k1"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			base := golden(t, c.base)
			raw, err := json.Marshal(messages(c.updates...))
			require.NoError(t, err)
			var updates table.Updates
			require.NoError(t, json.Unmarshal(raw, &updates))
			parsed, err := table.ParseMetadataBytes(base.Bytes())
			require.NoError(t, err)
			theirs, err := table.UpdateTableMetadata(parsed, updates, "s3://b/previous.metadata.json")
			require.NoError(t, err)
			want, err := json.Marshal(theirs)
			require.NoError(t, err)

			result, err := metadata.Apply(base, decode(t, c.updates...), metadata.ApplyOptions{Now: now(), PreviousLocation: "s3://b/previous.metadata.json"})
			require.NoError(t, err)
			require.Equal(t, comparableJSON(t, want), comparableJSON(t, result.Document.Bytes()))
		})
	}
}

func TestStagedCreateLikeIcebergGo(t *testing.T) {
	for version := 1; version <= 3; version++ {
		updates := stagedCreate()
		updates[1] = fmt.Sprintf(`{"action":"upgrade-format-version","format-version":%d}`, version)
		raw, err := json.Marshal(messages(updates...))
		require.NoError(t, err)
		var theirs table.Updates
		require.NoError(t, json.Unmarshal(raw, &theirs))
		builder, err := table.NewMetadataBuilder(version)
		require.NoError(t, err)
		for _, update := range theirs {
			require.NoError(t, update.Apply(builder))
		}
		built, err := builder.Build()
		require.NoError(t, err)
		want, err := json.Marshal(built)
		require.NoError(t, err)
		require.Equal(t, comparableJSON(t, want), comparableJSON(t, apply(t, nil, updates...).Document.Bytes()), "v%d", version)
	}
}

func TestIcebergGoAcceptsWhatIsWritten(t *testing.T) {
	for _, name := range []string{"v1", "v2", "v3"} {
		doc := golden(t, name)
		for range 3 {
			doc = apply(t, doc, `{"action":"set-properties","updates":{"k":"`+strconv.Itoa(doc.Size())+`"}}`).Document
			_, err := table.ParseMetadataBytes(doc.Bytes())
			require.NoError(t, err)
		}
	}
}

package metadata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

const (
	oldID = 3051729675574597004
	newID = 3055729675574597004
)

func snapshotUpdate(id, parent, sequence int64, more string) string {
	text := fmt.Sprintf(`"snapshot-id":%d,"sequence-number":%d,"timestamp-ms":1702638600000,"manifest-list":"s3://b/%d.avro","summary":{"operation":"append"}`, id, sequence, id)
	if parent != 0 {
		text += fmt.Sprintf(`,"parent-snapshot-id":%d`, parent)
	}
	return `{"action":"add-snapshot","snapshot":{` + text + more + `}}`
}

func setRef(name string, id int64) string {
	return fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"%s","type":"branch","snapshot-id":%d}`, name, id)
}

func TestNoEffectiveChange(t *testing.T) {
	doc := golden(t, "v2")
	for _, update := range []string{
		`{"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"}`,
		`{"action":"upgrade-format-version","format-version":2}`,
		`{"action":"set-current-schema","schema-id":1}`,
		`{"action":"set-default-spec","spec-id":0}`,
		`{"action":"set-default-sort-order","sort-order-id":3}`,
		`{"action":"add-spec","spec":{"fields":[{"name":"x","transform":"identity","source-id":1}]}}`,
		`{"action":"add-sort-order","sort-order":` + strings.TrimSpace(`{"order-id":9,"fields":[{"transform":"identity","source-id":2,"direction":"asc","null-order":"nulls-first"},{"transform":"bucket[4]","source-id":3,"direction":"desc","null-order":"nulls-last"}]}`) + `}`,
		`{"action":"set-location","location":"s3://bucket/test/location"}`,
		`{"action":"set-properties","updates":{"gone":"1"}}`,
		`{"action":"remove-properties","removals":["absent"]}`,
		`{"action":"remove-snapshots","snapshot-ids":[1]}`,
		`{"action":"remove-snapshot-ref","ref-name":"absent"}`,
		`{"action":"remove-statistics","snapshot-id":1}`,
		`{"action":"remove-partition-statistics","snapshot-id":1}`,
		`{"action":"remove-schemas","schema-ids":[9]}`,
		`{"action":"remove-partition-specs","spec-ids":[9]}`,
		`{"action":"remove-encryption-key","key-id":"absent"}`,
		`{"action":"set-statistics","statistics":{"x-stat":1.0,"snapshot-id":3051729675574597004,"statistics-path":"s3://a/b/stats.puffin","file-size-in-bytes":413,"file-footer-size-in-bytes":42,"blob-metadata":[]}}`,
		setRef("main", newID),
	} {
		result := apply(t, doc, update)
		require.False(t, result.Changed, update)
		require.Same(t, doc, result.Document, update)
	}
	require.False(t, apply(t, doc).Changed)
}

func TestUpdateRefused(t *testing.T) {
	stats := `{"snapshot-id":1,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}`
	for name, c := range map[string]struct {
		update, part string
		code         fault.Code
	}{
		"unknown action":          {`{"action":"enable-row-lineage"}`, "unknown action enable-row-lineage", fault.Invalid},
		"view action":             {`{"action":"add-view-version","view-version":{}}`, "unknown action", fault.Invalid},
		"no action":               {`{"uuid":"x"}`, "field action", fault.Invalid},
		"not an object":           {`[]`, "not an object", fault.Invalid},
		"missing field":           {`{"action":"set-location"}`, "set-location: missing or invalid field location", fault.Invalid},
		"ill-typed field":         {`{"action":"set-current-schema","schema-id":"1"}`, "field schema-id", fault.Invalid},
		"fractional id":           {`{"action":"set-current-schema","schema-id":1.0}`, "field schema-id", fault.Invalid},
		"other uuid":              {`{"action":"assign-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c2"}`, "reassign uuid", fault.Invalid},
		"bad uuid":                {`{"action":"assign-uuid","uuid":"x"}`, "uuid", fault.Invalid},
		"downgrade":               {`{"action":"upgrade-format-version","format-version":1}`, "downgrade", fault.Invalid},
		"version 4":               {`{"action":"upgrade-format-version","format-version":4}`, "unsupported", fault.Invalid},
		"empty location":          {`{"action":"set-location","location":""}`, "location", fault.Invalid},
		"property not a string":   {`{"action":"set-properties","updates":{"a":1}}`, "property a", fault.Invalid},
		"reserved property":       {`{"action":"set-properties","updates":{"format-version":"3"}}`, "reserved", fault.Invalid},
		"removals not strings":    {`{"action":"remove-properties","removals":[1]}`, "removals", fault.Invalid},
		"unknown schema":          {`{"action":"set-current-schema","schema-id":9}`, "unknown schema", fault.Invalid},
		"no last schema":          {`{"action":"set-current-schema","schema-id":-1}`, "no schema has been added", fault.Invalid},
		"no last spec":            {`{"action":"set-default-spec","spec-id":-1}`, "no spec has been added", fault.Invalid},
		"no last order":           {`{"action":"set-default-sort-order","sort-order-id":-1}`, "no sort order has been added", fault.Invalid},
		"unknown spec":            {`{"action":"set-default-spec","spec-id":9}`, "unknown spec", fault.Invalid},
		"unknown order":           {`{"action":"set-default-sort-order","sort-order-id":9}`, "unknown sort order", fault.Invalid},
		"schema without sources":  {`{"action":"set-current-schema","schema-id":0}`, "Cannot find source column for sort order", fault.Invalid},
		"remove current schema":   {`{"action":"remove-schemas","schema-ids":[1]}`, "current schema", fault.Invalid},
		"remove default spec":     {`{"action":"remove-partition-specs","spec-ids":[0]}`, "default partition spec", fault.Invalid},
		"snapshot exists":         {snapshotUpdate(newID, oldID, 35, ""), "already exists", fault.Invalid},
		"stale sequence":          {snapshotUpdate(1, newID, 34, ""), "older than last sequence number", fault.Conflict},
		"no manifest list":        {`{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":35,"timestamp-ms":1702638600000,"summary":{"operation":"append"}}}`, "manifest-list", fault.Invalid},
		"no summary":              {`{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":35,"timestamp-ms":1702638600000,"manifest-list":"m"}}`, "summary.operation", fault.Invalid},
		"no operation":            {`{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":35,"timestamp-ms":1702638600000,"manifest-list":"m","summary":{"a":"b"}}}`, "summary.operation", fault.Invalid},
		"summary not strings":     {`{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":35,"timestamp-ms":1702638600000,"manifest-list":"m","summary":{"operation":"append","n":1}}}`, "summary", fault.Invalid},
		"no timestamp":            {`{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":35,"manifest-list":"m","summary":{"operation":"append"}}}`, "timestamp-ms", fault.Invalid},
		"timestamp back":          {`{"action":"add-snapshot","snapshot":{"snapshot-id":1,"sequence-number":35,"timestamp-ms":1602638513589,"manifest-list":"m","summary":{"operation":"append"}}}`, "before last updated", fault.Invalid},
		"ref to unknown":          {setRef("b", 1), "unknown snapshot", fault.Invalid},
		"main as tag":             {fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"main","type":"tag","snapshot-id":%d}`, newID), "must be a branch", fault.Invalid},
		"ref type":                {fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"b","type":"fork","snapshot-id":%d}`, newID), "field type", fault.Invalid},
		"tag retention":           {fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"b","type":"tag","snapshot-id":%d,"min-snapshots-to-keep":1}`, newID), "min-snapshots-to-keep", fault.Invalid},
		"ref age zero":            {fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"b","type":"tag","snapshot-id":%d,"max-ref-age-ms":0}`, newID), "max-ref-age-ms", fault.Invalid},
		"statistics unknown":      {`{"action":"set-statistics","statistics":` + stats + `}`, "unknown snapshot", fault.Invalid},
		"part statistics unknown": {`{"action":"set-partition-statistics","partition-statistics":` + stats + `}`, "unknown snapshot", fault.Invalid},
		"statistics incomplete":   {`{"action":"set-statistics","statistics":{"snapshot-id":1}}`, "statistics.", fault.Invalid},
		"key before v3":           {`{"action":"add-encryption-key","encryption-key":{"key-id":"k","encrypted-key-metadata":"AA=="}}`, "until v3", fault.Invalid},
		"duplicate key":           {`{"action":"set-location","location":"a","location":"b"}`, "duplicate key", fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) { refuse(t, golden(t, "v2"), c.code, c.part, c.update) })
	}
}

func TestTimestampMayGoBackAMinute(t *testing.T) {
	update := `{"action":"add-snapshot","snapshot":{"snapshot-id":1,"parent-snapshot-id":3055729675574597004,"sequence-number":35,"timestamp-ms":1602638513590,"manifest-list":"m","summary":{"operation":"append"}}}`
	require.True(t, apply(t, golden(t, "v2"), update).Changed)
}

func TestRowLineage(t *testing.T) {
	doc := golden(t, "v3")
	refuse(t, doc, fault.Conflict, "behind table next-row-id", snapshotUpdate(30, 20, 3, `,"first-row-id":99,"added-rows":1`))
	refuse(t, doc, fault.Invalid, "first-row-id", snapshotUpdate(30, 20, 3, `,"added-rows":1`))
	refuse(t, doc, fault.Invalid, "added-rows", snapshotUpdate(30, 20, 3, `,"first-row-id":100`))
	refuse(t, doc, fault.Invalid, "added-rows", snapshotUpdate(30, 20, 3, `,"first-row-id":100,"added-rows":-1`))
	refuse(t, doc, fault.Invalid, "ahead of table next-row-id", snapshotUpdate(30, 20, 3, `,"first-row-id":9223372036854775797,"added-rows":3`))
	result := apply(t, doc, snapshotUpdate(30, 20, 3, `,"first-row-id":100,"added-rows":15`))
	next, ok := result.Document.NextRowID()
	require.True(t, ok)
	require.Equal(t, int64(115), next)
	next, _ = apply(t, result.Document, snapshotUpdate(31, 30, 4, `,"first-row-id":115,"added-rows":0`)).Document.NextRowID()
	require.Equal(t, int64(115), next)
}

func TestAppendCommit(t *testing.T) {
	doc := golden(t, "v2")
	updates := decode(t, snapshotUpdate(7, newID, 35, ""), setRef("main", 7))
	require.Equal(t, int64(7), metadata.PendingSnapshots(updates)[0].ID)
	result, err := metadata.Apply(doc, updates, metadata.ApplyOptions{Now: now(), PreviousLocation: "s3://b/00001-x.metadata.json"})
	require.NoError(t, err)
	next := result.Document
	requireConsistent(t, next)
	require.Equal(t, []int64{oldID, newID, 7}, next.SnapshotIDs())
	require.Equal(t, int64(35), next.LastSequenceNumber())
	require.Equal(t, int64(1702638600000), next.LastUpdatedMs(), "the time of the snapshot, as engines expect")
	require.True(t, next.IsAncestor(oldID, 7))
	require.Equal(t, []metadata.RefChange{{
		Name:   "main",
		Before: &metadata.Ref{SnapshotID: newID, Type: "branch"}, After: &metadata.Ref{SnapshotID: 7, Type: "branch"},
	}}, result.Changes.RefChanges)
	require.Equal(t, int64(7), result.Changes.AddedSnapshots[0].ID)
	require.False(t, result.Changes.ReplacedTable)
	require.Contains(t, sectionOf(t, next, "refs"), `"x-ref":1.0`)
	require.JSONEq(t, `[{"metadata-file":"s3://bucket/.../v1.json","timestamp-ms":1515100},{"metadata-file":"s3://b/00001-x.metadata.json","timestamp-ms":1602638573590}]`,
		sectionOf(t, next, "metadata-log"))
	require.JSONEq(t, fmt.Sprintf(`[{"snapshot-id":%d,"timestamp-ms":1515100955770},{"snapshot-id":%d,"timestamp-ms":1555100955770},{"snapshot-id":7,"timestamp-ms":1702638600000}]`, oldID, newID),
		sectionOf(t, next, "snapshot-log"))
	require.Equal(t, 2, doc.SnapshotCount(), "the base is unchanged")
	again, err := metadata.Apply(doc, updates, metadata.ApplyOptions{Now: now(), PreviousLocation: "s3://b/00001-x.metadata.json"})
	require.NoError(t, err)
	require.Equal(t, string(next.Bytes()), string(again.Document.Bytes()), "updates can be applied again")
	refuse(t, next, fault.Invalid, "already exists", snapshotUpdate(7, newID, 36, ""))
}

func TestMetadataLogIsBounded(t *testing.T) {
	doc := apply(t, golden(t, "v2"), `{"action":"set-properties","updates":{"write.metadata.previous-versions-max":"2"}}`).Document
	for i := range 4 {
		result, err := metadata.Apply(doc, decode(t, fmt.Sprintf(`{"action":"set-properties","updates":{"n":"%d"}}`, i)),
			metadata.ApplyOptions{Now: now(), PreviousLocation: fmt.Sprintf("m%d", i)})
		require.NoError(t, err)
		doc = result.Document
	}
	require.JSONEq(t, `[{"timestamp-ms":1800000000000,"metadata-file":"m2"},{"timestamp-ms":1800000000000,"metadata-file":"m3"}]`, sectionOf(t, doc, "metadata-log"))
}

func TestIntermediateSnapshotLeavesNoLogEntry(t *testing.T) {
	result := apply(t, golden(t, "v2"), snapshotUpdate(7, newID, 35, ""), setRef("main", 7), snapshotUpdate(8, 7, 36, ""), setRef("main", 8))
	require.NotContains(t, sectionOf(t, result.Document, "snapshot-log"), `"snapshot-id":7}`)
	require.Contains(t, sectionOf(t, result.Document, "snapshot-log"), `"snapshot-id":8}`)
	require.Len(t, result.Changes.RefChanges, 2)
	net := result.Changes.NetRefs()
	require.Len(t, net, 1)
	require.Equal(t, int64(newID), net[0].Before.SnapshotID)
	require.Equal(t, int64(8), net[0].After.SnapshotID)
}

func TestRemoveSnapshots(t *testing.T) {
	result := applyAt(t, golden(t, "v2"), 1702638600000, fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d,1]}`, oldID))
	next := result.Document
	require.Equal(t, []int64{newID}, next.SnapshotIDs())
	require.Equal(t, []int64{oldID}, result.Changes.RemovedSnapshots)
	require.NotContains(t, next.Refs(), "old")
	require.Equal(t, "old", result.Changes.RefChanges[0].Name)
	require.Nil(t, result.Changes.RefChanges[0].After)
	require.Equal(t, `[]`, sectionOf(t, next, "statistics"))
	require.JSONEq(t, fmt.Sprintf(`[{"snapshot-id":%d,"timestamp-ms":1555100955770}]`, newID), sectionOf(t, next, "snapshot-log"))
	require.Contains(t, sectionOf(t, next, "snapshots"), `"x-snap":9007199254740993`)
	after := apply(t, next, snapshotUpdate(7, newID, 35, ""), setRef("main", 7), snapshotUpdate(8, 7, 36, "")).Document
	require.Equal(t, []int64{newID, 7, 8}, after.SnapshotIDs())

	all := apply(t, golden(t, "v2"), fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d,%d]}`, oldID, newID)).Document
	require.Empty(t, all.Refs())
	_, ok := all.CurrentSnapshotID()
	require.False(t, ok)
	require.Equal(t, "-1", sectionOf(t, all, "current-snapshot-id"))
	require.Equal(t, "[]", sectionOf(t, all, "snapshot-log"))
}

func TestRemoveMain(t *testing.T) {
	result := apply(t, golden(t, "v3"), `{"action":"remove-snapshot-ref","ref-name":"main"}`)
	require.Equal(t, "null", sectionOf(t, result.Document, "current-snapshot-id"))
	require.Equal(t, 2, result.Document.SnapshotCount())
	require.False(t, result.Changes.ReplacedTable)
}

func TestReplaceTable(t *testing.T) {
	result := apply(t, golden(t, "v2"), `{"action":"remove-snapshot-ref","ref-name":"main"}`,
		`{"action":"add-schema","schema":{"type":"struct","fields":[{"id":1,"name":"x","required":true,"type":"long"},{"id":2,"name":"y2","required":true,"type":"long"},{"id":3,"name":"z","required":true,"type":"long"}]}}`,
		`{"action":"set-current-schema","schema-id":-1}`, snapshotUpdate(7, 0, 35, ""), setRef("main", 7))
	require.True(t, result.Changes.ReplacedTable)
	require.True(t, result.Changes.CurrentSchemaChanged)
	require.Contains(t, result.Changes.ColumnChanges, metadata.ColumnChange{Kind: metadata.ColumnRename, FieldID: 2, Name: "y", Detail: "y to y2"})
	require.True(t, apply(t, golden(t, "v2"), `{"action":"remove-snapshot-ref","ref-name":"main"}`, snapshotUpdate(7, 0, 35, ""), setRef("main", 7)).Changes.ReplacedTable)
}

func TestProperties(t *testing.T) {
	result := apply(t, golden(t, "v2"), `{"action":"set-properties","updated":{"a":"1","read.split.target.size":"134217728"}}`,
		`{"action":"remove-properties","removed":["gone","absent"]}`)
	require.Equal(t, map[string]string{"a": "1", "read.split.target.size": "134217728"}, result.Document.Properties())
	require.Equal(t, map[string]string{"a": "1"}, result.Changes.PropertiesSet)
	require.Equal(t, []string{"gone"}, result.Changes.PropertiesRemoved)
	both := apply(t, golden(t, "v2"), `{"action":"set-properties","updates":{"a":"1"}}`, `{"action":"remove-properties","removals":["a"]}`)
	require.False(t, both.Changed, "set and removed again")
}

func TestStatisticsAndKeys(t *testing.T) {
	set := apply(t, golden(t, "v2"), fmt.Sprintf(`{"action":"set-statistics","snapshot-id":1,"statistics":{"snapshot-id":%d,"statistics-path":"new","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[],"x":1.0}}`, oldID))
	require.True(t, set.Changes.StatisticsChanged)
	require.Equal(t, fmt.Sprintf(`[{"snapshot-id":%d,"statistics-path":"new","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[],"x":1.0}]`, oldID), sectionOf(t, set.Document, "statistics"))
	removed := apply(t, set.Document, fmt.Sprintf(`{"action":"remove-statistics","snapshot-id":%d}`, oldID))
	require.Equal(t, "[]", sectionOf(t, removed.Document, "statistics"))
	keys := apply(t, golden(t, "v3"), `{"action":"add-encryption-key","encryption-key":{"key-id":"k2","encrypted-key-metadata":"AA==","x":1.0}}`)
	require.True(t, keys.Changes.EncryptionKeysChanged)
	require.Equal(t, `[{"key-id":"k1","encrypted-key-metadata":"AAAA","x-key":1.0},{"key-id":"k2","encrypted-key-metadata":"AA==","x":1.0}]`, sectionOf(t, keys.Document, "encryption-keys"))
	require.Equal(t, `[{"key-id":"k2","encrypted-key-metadata":"AA==","x":1.0}]`,
		sectionOf(t, apply(t, keys.Document, `{"action":"remove-encryption-key","key-id":"k1"}`).Document, "encryption-keys"))
}

func TestIndexIsSharedOverManyAppends(t *testing.T) {
	doc := golden(t, "v2")
	parent := int64(newID)
	var branch *metadata.Document
	for i := range int64(1200) {
		result, err := metadata.Apply(doc, decode(t, snapshotUpdate(i+1, parent, 35+i, ""), setRef("main", i+1)), metadata.ApplyOptions{Now: now()})
		require.NoError(t, err)
		if i == 600 {
			branch = apply(t, doc, snapshotUpdate(999_999, parent, 35+i, ""), setRef("main", 999_999)).Document
		}
		doc, parent = result.Document, i+1
	}
	requireConsistent(t, doc)
	requireConsistent(t, branch)
	require.True(t, doc.IsAncestor(oldID, parent))
	require.False(t, doc.IsAncestor(999_999, parent))
	_, ok := branch.Snapshot(601)
	require.False(t, ok)
	_, ok = branch.Snapshot(999_999)
	require.True(t, ok)
}

func TestAcceptedInputAlwaysParsesAgain(t *testing.T) {
	deep := func(n int) string {
		return snapshotUpdate(7, newID, 35, `,"x":`+strings.Repeat("[", n)+strings.Repeat("]", n))
	}
	refuse(t, golden(t, "v2"), fault.Invalid, "nested too deeply", deep(479))
	require.True(t, apply(t, golden(t, "v2"), deep(478)).Changed)
}

func TestPropertiesKeepTheirOrder(t *testing.T) {
	result := apply(t, golden(t, "v2"), `{"action":"set-properties","updates":{"z":"1","a":"2","gone":"\u0033"}}`,
		`{"action":"remove-properties","removals":["z"]}`, `{"action":"set-properties","updates":{"b":"4","z":"5"}}`)
	require.Equal(t, `{"read.split.target.size":"134217728","gone":"\u0033","z":"5","a":"2","b":"4"}`, sectionOf(t, result.Document, "properties"))
}

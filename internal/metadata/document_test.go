package metadata_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func TestParseKeepsBytes(t *testing.T) {
	for _, name := range []string{"v1", "v2", "v3"} {
		raw, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(t, err)
		require.Equal(t, string(raw), string(golden(t, name).Bytes()))
	}
}

func TestSetPropertiesKeepsEveryOtherByte(t *testing.T) {
	changed := map[string][2]string{
		"v1": {`{"owner":"a\u0042", "big":"<&>"}`, `{"owner":"a\u0042","big":"<&>","k":"\u00fc<"}`},
		"v2": {`{"read.split.target.size":"134217728", "gone":"1"}`, `{"read.split.target.size":"134217728","gone":"1","k":"\u00fc<"}`},
		"v3": {`"properties":{}`, `"properties":{"k":"\u00fc<"}`},
	}
	for name, replace := range changed {
		t.Run(name, func(t *testing.T) {
			doc := golden(t, name)
			want := string(doc.Bytes())
			require.Contains(t, want, replace[0])
			want = strings.Replace(want, replace[0], replace[1], 1)
			updated := sectionOf(t, doc, "last-updated-ms")
			i := strings.Index(want, `"last-updated-ms"`)
			want = want[:i] + strings.Replace(want[i:], updated, "1800000000000", 1)
			result := apply(t, doc, `{"action":"set-properties","updates":{"k":"\u00fc<"}}`)
			require.Equal(t, want, string(result.Document.Bytes()))
			require.Equal(t, map[string]string{"k": "ü<"}, result.Changes.PropertiesSet)
		})
	}
}

func TestAddSnapshotKeepsEveryOtherByte(t *testing.T) {
	doc := golden(t, "v3")
	snapshot := `{ "snapshot-id":9007199254740993,"parent-snapshot-id":20,"sequence-number":3,"timestamp-ms":1702638600000,` +
		`"manifest-list":"s3://b/3.avro","summary":{"operation":"append"},"first-row-id":100,"added-rows":7,"x-new":1.0}`
	result := apply(t, doc, `{"action":"add-snapshot","snapshot":`+snapshot+`}`,
		`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":9007199254740993}`)
	want := string(doc.Bytes())
	for old, fresh := range map[string]string{
		`"last-sequence-number":2`:        `"last-sequence-number":3`,
		`"last-updated-ms":1702638573590`: `"last-updated-ms":1702638600000`,
		`"next-row-id":100`:               `"next-row-id":107`,
		`"current-snapshot-id":20`:        `"current-snapshot-id":9007199254740993`,
		`{"main":{"snapshot-id":20,`:      `{"main":{"snapshot-id":9007199254740993,`,
		`[1.0,9007199254740993]}}]`:       `[1.0,9007199254740993]}},` + snapshot + `]`,
		`"snapshot-id":20}]`:              `"snapshot-id":20},{"timestamp-ms":1702638600000,"snapshot-id":9007199254740993}]`,
	} {
		require.Equal(t, 1, strings.Count(want, old), old)
		want = strings.Replace(want, old, fresh, 1)
	}
	require.Equal(t, want, string(result.Document.Bytes()))
}

func TestPrettyDocumentStaysPretty(t *testing.T) {
	result := apply(t, golden(t, "v2"), `{"action":"set-partition-statistics","partition-statistics":{"snapshot-id":3051729675574597004,"statistics-path":"p","file-size-in-bytes":1}}`)
	require.True(t, strings.HasSuffix(string(result.Document.Bytes()),
		",\n  \"partition-statistics\": [{\"snapshot-id\":3051729675574597004,\"statistics-path\":\"p\",\"file-size-in-bytes\":1}]\n}\n"),
		"%s", result.Document.Bytes())
}

func TestViews(t *testing.T) {
	doc := golden(t, "v2")
	require.Equal(t, 2, doc.FormatVersion())
	require.Equal(t, int64(34), doc.LastSequenceNumber())
	require.Equal(t, 2, doc.SnapshotCount())
	current, ok := doc.CurrentSnapshotID()
	require.True(t, ok)
	require.Equal(t, int64(3055729675574597004), current)
	s, ok := doc.Snapshot(current)
	require.True(t, ok)
	require.Equal(t, "append", s.Operation)
	require.Equal(t, "s3://a/b/2.avro", s.ManifestList)
	require.Equal(t, int64(3051729675574597004), *s.ParentID)
	require.Equal(t, 1, *s.SchemaID)
	require.True(t, doc.HasIdentical(s))
	s.Summary = map[string]string{"operation": "append", "x": "2"}
	require.False(t, doc.HasIdentical(s))
	require.True(t, doc.IsAncestor(3051729675574597004, current))
	require.True(t, doc.IsAncestor(current, current))
	require.False(t, doc.IsAncestor(current, 3051729675574597004))
	require.False(t, doc.IsAncestor(1, 1), "an unknown snapshot has no ancestors")
	require.Equal(t, int64(10000000), *doc.Refs()["old"].MaxRefAgeMs)
	schema, err := doc.CurrentSchema()
	require.NoError(t, err)
	element, ok := schema.FieldByName("tags.element")
	require.True(t, ok)
	require.Equal(t, 5, element.ID)
	_, has := doc.NextRowID()
	require.False(t, has)
	_, ok, err = doc.Schema(7)
	require.NoError(t, err)
	require.False(t, ok)
	require.Greater(t, doc.Size(), len(doc.Bytes()))
}

func TestOldV1Views(t *testing.T) {
	doc := golden(t, "v1")
	require.Equal(t, metadata.Ref{SnapshotID: 3051729675574597004, Type: "branch"}, doc.Refs()["main"])
	spec, ok := doc.PartitionSpecRaw(0)
	require.True(t, ok)
	require.JSONEq(t, `{"spec-id":0,"fields":[{"name":"x","transform":"identity","source-id":1,"field-id":1000}]}`, string(spec))
	schema, err := doc.CurrentSchema()
	require.NoError(t, err)
	require.Equal(t, "decimal(10,2)", schema.Fields[2].Type)
	s, ok := doc.Snapshot(3051729675574597004)
	require.True(t, ok)
	require.Equal(t, []string{"s3://bucket/v1/m0.avro"}, s.Manifests)
}

func TestRefsOnlyBytes(t *testing.T) {
	doc := golden(t, "v3")
	slim, err := metadata.Parse(doc.RefsOnlyBytes())
	require.NoError(t, err)
	require.Equal(t, []int64{20}, slim.SnapshotIDs())
	require.Equal(t, sectionOf(t, doc, "snapshot-log"), sectionOf(t, slim, "snapshot-log"))
	want, _ := doc.Snapshot(20)
	got, _ := slim.Snapshot(20)
	require.Equal(t, want, got)
}

func TestParseRefuses(t *testing.T) {
	valid := string(golden(t, "v2").Bytes())
	replaced := func(old, fresh string) string {
		require.Equal(t, 1, strings.Count(valid, old), old)
		return strings.Replace(valid, old, fresh, 1)
	}
	for name, raw := range map[string]string{
		"empty":                  ``,
		"array":                  `[]`,
		"trailing garbage":       valid + "x",
		"second document":        valid + "{}",
		"cut":                    valid[:len(valid)/2],
		"duplicate section":      replaced(`"format-version" : 2`, `"format-version":2,"format-version":2`),
		"duplicate nested key":   replaced(`"x-ref":1.0`, `"x-ref":1.0,"x\u002dref":2`),
		"nesting bomb":           strings.Repeat(`{"a":`, 100_000),
		"array bomb":             strings.Repeat(`[`, 100_000),
		"version 4":              replaced(`"format-version" : 2`, `"format-version":4`),
		"version 0":              replaced(`"format-version" : 2`, `"format-version":0`),
		"fractional version":     replaced(`"format-version" : 2`, `"format-version":2.0`),
		"no uuid":                replaced(`"table-uuid"`, `"x-uuid"`),
		"no location":            replaced(`"location"`, `"x-location"`),
		"unknown current schema": replaced(`"current-schema-id" : 1`, `"current-schema-id":9`),
		"unknown default spec":   replaced(`"default-spec-id" : 0`, `"default-spec-id":9`),
		"unknown default order":  replaced(`"default-sort-order-id" : 3`, `"default-sort-order-id":9`),
		"property not a string":  replaced(`"gone":"1"`, `"gone":1`),
		"current is not main":    replaced(`"current-snapshot-id" : 3055729675574597004`, `"current-snapshot-id":3051729675574597004`),
		"ref to nowhere":         replaced(`"old":{"snapshot-id":3051729675574597004`, `"old":{"snapshot-id":1`),
		"sequence above last":    replaced(`"last-sequence-number" : 34`, `"last-sequence-number":0`),
		"snapshot id twice":      replaced(`{"snapshot-id":3051729675574597004,"timestamp-ms":1515100955770,"sequence`, `{"snapshot-id":3055729675574597004,"timestamp-ms":1515100955770,"sequence`),
		"invalid UTF-8":          replaced(`"comment"`, "\"\xff\""),
		"control character":      replaced(`"comment"`, "\"a\nb\""),
		"leading zero":           replaced(`"last-column-id" : 6`, `"last-column-id":06`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := metadata.Parse([]byte(raw))
			require.Error(t, err)
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
		})
	}
}

func TestManyKeysFindDuplicates(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `"k%d":"",`, i)
	}
	template := `{"action":"set-properties","updates":{` + b.String() + `"%s":""}}`
	_, err := metadata.DecodeUpdates(messages(fmt.Sprintf(template, "k100")))
	require.NoError(t, err)
	_, err = metadata.DecodeUpdates(messages(fmt.Sprintf(template, "k99")))
	require.ErrorContains(t, err, "duplicate key")
}

func TestMetadataLocationVersion(t *testing.T) {
	for location, want := range map[string]int{
		"s3://b/t/metadata/00012-9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json":    12,
		"s3://b/t/metadata/00012-9c12d441-03fe-4693-9a96-a0705ddf69c1.gz.metadata.json": 12,
		"s3://b/t/metadata/00012-9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json.gz": 12,
		"metadata/v7.metadata.json":                     7,
		"metadata/v7.gz.metadata.json":                  7,
		"metadata/v7.metadata.json.gz":                  7,
		"metadata/7.metadata.json":                      -1,
		"metadata/x-7.metadata.json":                    -1,
		"metadata/-7.metadata.json":                     -1,
		"metadata/00012-a.json":                         -1,
		"":                                              -1,
		"metadata/99999999999999999999-a.metadata.json": -1,
	} {
		require.Equal(t, want, metadata.MetadataLocationVersion(location), location)
	}
}

func TestDecompress(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"a":1}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, name := range []string{"a.gz.metadata.json", "a.metadata.json.gz", "a.metadata.json"} {
		out, err := metadata.Decompress(name, packed.Bytes())
		require.NoError(t, err)
		require.Equal(t, `{"a":1}`, string(out))
	}
	out, err := metadata.Decompress("a.metadata.json", []byte(`{}`))
	require.NoError(t, err)
	require.Equal(t, `{}`, string(out))
	_, err = metadata.Decompress("a.gz.metadata.json", []byte(`{}`))
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	_, err = metadata.Decompress("a.metadata.json", packed.Bytes()[:packed.Len()-6])
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
}

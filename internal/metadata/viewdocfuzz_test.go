package metadata_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/view"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// TestViewLikeIcebergGo compares what a series of replacements makes of a view with iceberg-go's builder.
func TestViewLikeIcebergGo(t *testing.T) {
	in := createViewInput()
	in.Schema = json.RawMessage(`{"type":"struct","schema-id":5,"fields":[{"id":3,"name":"id","required":true,"type":"long"}]}`)
	ours, err := metadata.NewView(in)
	require.NoError(t, err)
	theirs, err := view.ParseMetadataBytes(ours.Bytes())
	require.NoError(t, err)
	for i, texts := range [][]string{
		{addVersion(viewVersion(2, 0, "spark", "SELECT 2")), makeCurrent},
		{`{"action":"add-schema","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"n","required":false,"type":"int"}]}}`,
			addVersion(viewVersion(2, -1, "spark", "SELECT n")), makeCurrent},
		{`{"action":"set-properties","updates":{"version.history.num-entries":"2"}}`, `{"action":"set-location","location":"s3://b/w"}`},
		{`{"action":"remove-properties","removals":["a","zz"]}`, addVersion(viewVersion(3, 0, "spark", "SELECT 4")), makeCurrent},
	} {
		ours = applyView(t, ours, texts...).Document
		var updates view.Updates
		require.NoError(t, json.Unmarshal([]byte("["+strings.Join(texts, ",")+"]"), &updates))
		builder, err := view.MetadataBuilderFromBase(theirs)
		require.NoError(t, err)
		for _, u := range updates {
			require.NoError(t, u.Apply(builder))
		}
		built, err := builder.Build()
		require.NoError(t, err)
		theirs = built.Metadata
		mine, err := view.ParseMetadataBytes(ours.Bytes())
		require.NoError(t, err)
		require.Equal(t, theirs.CurrentVersionID(), mine.CurrentVersionID(), "step %d", i)
		require.ElementsMatch(t, theirs.Versions(), mine.Versions(), "step %d", i)
		require.Equal(t, theirs.VersionLog(), mine.VersionLog(), "step %d", i)
		require.Equal(t, theirs.Properties(), mine.Properties(), "step %d", i)
		require.Equal(t, theirs.Location(), mine.Location(), "step %d", i)
		require.Len(t, mine.Schemas(), len(theirs.Schemas()), "step %d", i)
		require.Equal(t, theirs.CurrentSchemaID(), mine.CurrentSchemaID(), "step %d", i)
	}
}

func FuzzParseView(f *testing.F) {
	raw, err := os.ReadFile("testdata/view.json")
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte(`{"view-uuid":"u","format-version":1,"versions":[null],"schemas":[1]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := metadata.ParseView(raw)
		if err != nil {
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
			return
		}
		require.Equal(t, raw, doc.Bytes())
		require.Equal(t, doc.CurrentVersionID(), doc.CurrentVersion().ID)
		doc.VersionLog()
		applyView(t, doc, `{"action":"set-properties","updates":{"version.history.num-entries":"1","x":"y"}}`)
	})
}

func FuzzApplyView(f *testing.F) {
	for _, updates := range [][]string{
		{addVersion(viewVersion(7, 1, "spark", "SELECT 3")), makeCurrent},
		{`{"action":"add-schema","schema":{"type":"struct","fields":[]}}`, addVersion(viewVersion(7, -1, "spark", "SELECT 3"))},
		{allowDroppedDialects, `{"action":"remove-properties","removals":["gone"]}`, `{"action":"set-location","location":"x"}`},
	} {
		raw, err := json.Marshal(messages(updates...))
		require.NoError(f, err)
		f.Add(raw)
	}
	base := goldenView(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var texts []json.RawMessage
		if json.Unmarshal(raw, &texts) != nil {
			return
		}
		updates, err := metadata.DecodeViewUpdates(texts)
		if err == nil {
			var result *metadata.ViewResult
			if result, err = metadata.ApplyView(base, updates, now()); err == nil {
				requireViewOpens(t, result.Document)
				return
			}
		}
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "%v", err)
	})
}

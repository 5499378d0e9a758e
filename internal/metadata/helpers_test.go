package metadata_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

// now is later than every time in the golden documents.
func now() time.Time { return time.UnixMilli(1_800_000_000_000) }

func golden(t testing.TB, name string) *metadata.Document {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".json")
	require.NoError(t, err)
	doc, err := metadata.Parse(raw)
	require.NoError(t, err)
	return doc
}

func decode(t testing.TB, updates ...string) []metadata.Update {
	t.Helper()
	decoded, err := metadata.DecodeUpdates(messages(updates...))
	require.NoError(t, err)
	return decoded
}

func messages(texts ...string) []json.RawMessage {
	raw := make([]json.RawMessage, 0, len(texts))
	for _, text := range texts {
		raw = append(raw, json.RawMessage(text))
	}
	return raw
}

// apply applies updates that must succeed, and checks that the result reads back as itself and that
// iceberg-go can open it.
func apply(t testing.TB, base *metadata.Document, updates ...string) *metadata.Result {
	t.Helper()
	return applyAt(t, base, now().UnixMilli(), updates...)
}

func applyAt(t testing.TB, base *metadata.Document, ms int64, updates ...string) *metadata.Result {
	t.Helper()
	result, err := metadata.Apply(base, decode(t, updates...), metadata.ApplyOptions{Now: time.UnixMilli(ms)})
	require.NoError(t, err)
	requireConsistent(t, result.Document)
	_, err = table.ParseMetadataBytes(result.Document.Bytes())
	require.NoError(t, err, "%s", result.Document.Bytes())
	return result
}

// requireConsistent compares a document's views, which are partly inherited, with those of its bytes.
func requireConsistent(t testing.TB, doc *metadata.Document) {
	t.Helper()
	again, err := metadata.Parse(doc.Bytes())
	require.NoError(t, err, "%s", doc.Bytes())
	require.Equal(t, again.SnapshotIDs(), doc.SnapshotIDs())
	for _, id := range again.SnapshotIDs() {
		want, _ := again.Snapshot(id)
		got, ok := doc.Snapshot(id)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	require.Equal(t, again.Refs(), doc.Refs())
	require.Equal(t, again.Properties(), doc.Properties())
	wantSchema, err := again.CurrentSchema()
	require.NoError(t, err)
	gotSchema, err := doc.CurrentSchema()
	require.NoError(t, err)
	require.Equal(t, wantSchema, gotSchema)
	wantSpec, _ := again.PartitionSpecRaw(again.DefaultSpecID())
	gotSpec, _ := doc.PartitionSpecRaw(doc.DefaultSpecID())
	require.Equal(t, string(wantSpec), string(gotSpec))
	require.Equal(t, again.LastSequenceNumber(), doc.LastSequenceNumber())
	require.Equal(t, again.LastUpdatedMs(), doc.LastUpdatedMs())
	require.Equal(t, again.Location(), doc.Location())
	require.Equal(t, again.UUID(), doc.UUID())
	wantID, wantOK := again.CurrentSnapshotID()
	gotID, gotOK := doc.CurrentSnapshotID()
	require.Equal(t, wantOK, gotOK)
	require.Equal(t, wantID, gotID)
}

// refuse applies updates that must fail, at decoding or applying, with the code and a message part.
func refuse(t *testing.T, base *metadata.Document, code fault.Code, part string, updates ...string) {
	t.Helper()
	decoded, err := metadata.DecodeUpdates(messages(updates...))
	if err == nil {
		_, err = metadata.Apply(base, decoded, metadata.ApplyOptions{Now: now()})
	}
	require.Error(t, err)
	require.Equal(t, code, fault.CodeOf(err), "%v", err)
	require.Contains(t, err.Error(), part)
}

func sectionOf(t testing.TB, doc *metadata.Document, name string) string {
	t.Helper()
	value, ok := doc.Section(name)
	require.True(t, ok, "no section %s in %s", name, doc.Bytes())
	return string(value)
}

package metadata_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
)

func FuzzParse(f *testing.F) {
	for _, name := range []string{"v1", "v2", "v3"} {
		raw, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(`{"a":{"b":[1.0,"\u00e9"]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := metadata.Parse(raw)
		if err != nil {
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
			return
		}
		require.True(t, json.Valid(raw), "accepted what is not JSON")
		require.Equal(t, raw, doc.Bytes())
		_, err = metadata.Parse(doc.RefsOnlyBytes())
		require.NoError(t, err)
		if _, err := doc.CurrentSchema(); err != nil {
			require.Equal(t, fault.Invalid, fault.CodeOf(err))
			return
		}
		for _, id := range doc.SnapshotIDs() {
			s, ok := doc.Snapshot(id)
			require.True(t, ok)
			require.Equal(t, id, s.ID)
		}
		requireConsistent(t, doc)
	})
}

func FuzzApply(f *testing.F) {
	for _, updates := range [][]string{
		stagedCreate(),
		{snapshotUpdate(7, newID, 35, `,"first-row-id":100,"added-rows":5`), setRef("main", 7)},
		{`{"action":"remove-snapshots","snapshot-ids":[10,20,3051729675574597004]}`, `{"action":"remove-snapshot-ref","ref-name":"main"}`},
		{`{"action":"set-statistics","statistics":{"snapshot-id":20,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`},
		{`{"action":"upgrade-format-version","format-version":3}`, `{"action":"remove-partition-specs","spec-ids":[1]}`},
		{`{"action":"set-properties","updates":{"a":"1"}}`, `{"action":"remove-properties","removals":["gone"]}`, `{"action":"remove-schemas","schema-ids":[0]}`},
		{`{"action":"add-encryption-key","encryption-key":{"key-id":"k2","encrypted-key-metadata":"AA=="}}`},
	} {
		raw, err := json.Marshal(messages(updates...))
		require.NoError(f, err)
		f.Add(uint8(len(updates)), raw)
	}
	bases := []*metadata.Document{nil, golden(f, "v1"), golden(f, "v2"), golden(f, "v3")}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		var texts []json.RawMessage
		if json.Unmarshal(raw, &texts) != nil {
			return
		}
		updates, err := metadata.DecodeUpdates(texts)
		if err != nil {
			require.Contains(t, []fault.Code{fault.Invalid, fault.TooLarge}, fault.CodeOf(err))
			return
		}
		base := bases[int(which)%len(bases)]
		result, err := metadata.Apply(base, updates, metadata.ApplyOptions{Now: time.UnixMilli(1_800_000_000_000), PreviousLocation: "p"})
		if err != nil {
			require.Contains(t, []fault.Code{fault.Invalid, fault.Conflict, fault.TooLarge}, fault.CodeOf(err), "%v", err)
			return
		}
		if !result.Changed {
			require.Same(t, base, result.Document)
			return
		}
		requireConsistent(t, result.Document)
	})
}

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

// depths are the numbers of snapshots that tables keep.
var depths = []int{10, 1_000, 10_000}

// BenchmarkCommitDeep measures appends to tables that keep many snapshots.
func BenchmarkCommitDeep(b *testing.B) {
	onEach(b, func(b *testing.B, at installation) {
		for _, n := range depths {
			b.Run(fmt.Sprintf("snapshots=%d", n), func(b *testing.B) {
				t := deepTable(b, at, n)
				_, err := t.append(b.Context(), at.client) // the first one reads what later ones find in memory
				require.NoError(b, err)
				m := startMeter(b, at)
				for range b.N {
					took, err := t.append(b.Context(), at.client)
					require.NoError(b, err)
					m.add(took)
				}
				m.report(b, "commits")
			})
		}
	})
}

// BenchmarkLoad measures loads: whole, with the snapshots of refs alone, and with the ETag of what the client has.
func BenchmarkLoad(b *testing.B) {
	onEach(b, func(b *testing.B, at installation) {
		for _, n := range depths {
			t := deepTable(b, at, n)
			address := at.client.TableURL(namespace, t.name)
			for _, kind := range []string{"all", "refs", "etag"} {
				b.Run(fmt.Sprintf("snapshots=%d/%s", n, kind), func(b *testing.B) {
					address, header := address, http.Header{}
					if kind == "refs" {
						address += "?snapshots=refs"
					}
					answer, err := at.client.DoHeader(b.Context(), http.MethodGet, address, nil, nil, nil)
					require.NoError(b, err)
					if kind == "etag" {
						header.Set("If-None-Match", answer.Get("ETag"))
					}
					loads(b, at, address, header, kind == "etag")
				})
			}
		}
	})
}

func loads(b *testing.B, at installation, address string, header http.Header, unchanged bool) {
	m := startMeter(b, at)
	for range b.N {
		began := time.Now()
		var body []byte
		_, err := at.client.DoHeader(b.Context(), http.MethodGet, address, header, nil, &body)
		m.add(time.Since(began))
		if unchanged {
			require.ErrorContains(b, err, "HTTP 304")
		} else {
			require.NoError(b, err)
		}
	}
	m.report(b, "loads")
}

// deepTable registers a table whose metadata has n snapshots, as engines would have left them.
func deepTable(b *testing.B, at installation, n int) *table {
	b.Helper()
	made := newTable(b, at.client, map[string]string{ // megabytes a commit fill a disk
		"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2",
	})
	loaded, err := at.client.LoadTable(b.Context(), namespace, made.name)
	require.NoError(b, err)
	require.NoError(b, at.client.Do(b.Context(), http.MethodDelete, at.client.TableURL(namespace, made.name), nil, nil))

	files := icebergtest.LocalFiles()
	head, err := files.Append(made.state, 1, 1000)
	require.NoError(b, err)
	location := path.Dir(loaded.MetadataLocation) + "/00000-" + uuid.NewString() + ".metadata.json"
	require.NoError(b, files.Put(location, deepMetadata(b, loaded.Metadata, n, head)))
	require.NoError(b, at.client.RegisterTable(b.Context(), namespace, made.name, location))
	t, err := loadTable(b.Context(), at.client, made.name)
	require.NoError(b, err)
	return t
}

func deepMetadata(b *testing.B, base []byte, n int, head icebergtest.Commit) []byte {
	b.Helper()
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(base))
	d.UseNumber()
	require.NoError(b, d.Decode(&doc))
	now, list := time.Now().UnixMilli(), head.ManifestList
	snapshots, log := make([]any, n), make([]any, n)
	for i := range n {
		id, at := head.SnapshotID, now-int64(n-i)
		if i < n-1 {
			id = int64(i) + 1
		}
		s := map[string]any{
			"snapshot-id": id, "sequence-number": i + 1, "timestamp-ms": at, "schema-id": 0,
			"manifest-list": list, "summary": summary(i),
		}
		if i > 0 {
			s["parent-snapshot-id"] = i
		}
		snapshots[i], log[i] = s, map[string]any{"snapshot-id": id, "timestamp-ms": at}
	}
	doc["snapshots"], doc["snapshot-log"], doc["metadata-log"] = snapshots, log, []any{}
	doc["last-sequence-number"], doc["last-updated-ms"], doc["current-snapshot-id"] = n, now, head.SnapshotID
	doc["refs"] = map[string]any{"main": map[string]any{"type": "branch", "snapshot-id": head.SnapshotID}}
	raw, err := json.Marshal(doc)
	require.NoError(b, err)
	return raw
}

// summary is what Spark writes.
func summary(i int) map[string]string {
	s := map[string]string{"operation": "append", "spark.app.id": "local-" + strings.Repeat("7", 13), "changed-partition-count": "1"}
	for _, key := range []string{
		"added-data-files", "added-records", "added-files-size", "total-records", "total-files-size", "total-data-files",
		"total-delete-files", "total-position-deletes", "total-equality-deletes",
	} {
		s[key] = fmt.Sprint(1000 + i)
	}
	return s
}

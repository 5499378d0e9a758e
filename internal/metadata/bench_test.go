package metadata_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/metadata"
)

// longTable is a v2 document with n snapshots of the size engines write, all current once.
func longTable(b *testing.B, n int) []byte {
	b.Helper()
	in := createInput(2)
	doc, err := metadata.New(in)
	require.NoError(b, err)
	var snapshots, log bytes.Buffer
	const start = 1_700_000_000_000
	for i := 1; i <= n; i++ {
		if i > 1 {
			snapshots.WriteByte(',')
			log.WriteByte(',')
			fmt.Fprintf(&snapshots, `{"parent-snapshot-id":%d,`, 7_000_000_000_000_000_000+i-1)
		} else {
			snapshots.WriteByte('{')
		}
		fmt.Fprintf(&snapshots, `"sequence-number":%d,"snapshot-id":%d,"timestamp-ms":%d,"summary":{"operation":"append","spark.app.id":"application_1700000000000_%06d",`+
			`"added-data-files":"4","added-records":"100000","added-files-size":"53123445","changed-partition-count":"2","total-records":"%d","total-files-size":"%d",`+
			`"total-data-files":"%d","total-delete-files":"0","total-position-deletes":"0","total-equality-deletes":"0","engine-version":"3.5.1","engine-name":"spark",`+
			`"iceberg-version":"Apache Iceberg 1.9.0"},"manifest-list":"s3://warehouse/ns/table/metadata/snap-%d-1-9c12d441-03fe-4693-9a96-a0705ddf69c1.avro","schema-id":0}`,
			i, 7_000_000_000_000_000_000+i, start+i, i, i*100000, i*53123445, i*4, 7_000_000_000_000_000_000+i)
		fmt.Fprintf(&log, `{"timestamp-ms":%d,"snapshot-id":%d}`, start+i, 7_000_000_000_000_000_000+i)
	}
	last := 7_000_000_000_000_000_000 + n
	raw := doc.Bytes()
	for old, fresh := range map[string]string{
		`"snapshots":[]`: `"snapshots":[` + snapshots.String() + `]`, `"snapshot-log":[]`: `"snapshot-log":[` + log.String() + `]`,
		`"current-snapshot-id":-1`: fmt.Sprintf(`"current-snapshot-id":%d`, last), `"refs":{}`: fmt.Sprintf(`"refs":{"main":{"snapshot-id":%d,"type":"branch"}}`, last),
		`"last-sequence-number":0`: fmt.Sprintf(`"last-sequence-number":%d`, n), `"last-updated-ms":1800000000000`: fmt.Sprintf(`"last-updated-ms":%d`, start+n),
	} {
		require.True(b, bytes.Contains(raw, []byte(old)), old)
		raw = bytes.Replace(raw, []byte(old), []byte(fresh), 1)
	}
	return raw
}

// BenchmarkAppend measures a commit of one snapshot to main: decode, check and write.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			doc, err := metadata.Parse(longTable(b, n))
			require.NoError(b, err)
			raw := messages(snapshotUpdate(7, int64(7_000_000_000_000_000_000+n), int64(n+1), ""), setRef("main", 7))
			b.SetBytes(int64(len(doc.Bytes())))
			b.ReportAllocs()
			for b.Loop() {
				updates, err := metadata.DecodeUpdates(raw)
				if err != nil {
					b.Fatal(err)
				}
				result, err := metadata.Apply(doc, updates, metadata.ApplyOptions{Now: now(), PreviousLocation: "s3://b/previous.metadata.json"})
				if err != nil || result.Document.SnapshotCount() != n+1 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			raw := longTable(b, n)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := metadata.Parse(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRefsOnly(b *testing.B) {
	doc, err := metadata.Parse(longTable(b, 10000))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if len(doc.RefsOnlyBytes()) > len(doc.Bytes())/2 {
			b.Fatal("nothing was left out")
		}
	}
}

func BenchmarkIsAncestor(b *testing.B) {
	doc, err := metadata.Parse(longTable(b, 10000))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if !doc.IsAncestor(7_000_000_000_000_000_001, 7_000_000_000_000_010_000) {
			b.Fatal("lost the way")
		}
	}
}

package facade

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/icebergtest"
)

func TestIfNoneMatch(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	tag := s.get(t, tablePath("a")).Header.Get("ETag")
	require.Regexp(t, `^W/"[0-9a-f]{32}"$`, tag)
	opaque := strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
	for header, status := range map[string]int{
		tag: 304, `"` + opaque + `"`: 304, opaque: 304, "*": 304, " * ": 304,
		`"x", ` + tag: 304, tag + `,"x"`: 304, `W/"x",W/"` + opaque + `"`: 304, opaque + ", other": 304,
		"": 200, `""`: 200, `W/""`: 200, `"x"`: 200, `"*"`: 200, `"x,` + opaque + `,y"`: 200, opaque[1:]: 200, `"` + opaque: 304,
	} {
		t.Run(header, func(t *testing.T) {
			r := s.want(t, status, s.get(t, tablePath("a"), "If-None-Match", header))
			require.Equal(t, tag, r.Header.Get("ETag"))
			require.Equal(t, status == 304, len(r.body) == 0)
		})
	}
	require.Equal(t, 200, s.get(t, tablePath("a")).StatusCode, "no 304 for a client that did not ask")
	s.want(t, 404, s.get(t, tablePath("none"), "If-None-Match", "*"))
}

// TestETagsDifferByWhatIsAnswered: by snapshot mode. By what is given to reach files, see TestAKeptLoadNeverHasKeysThatRanOut.
func TestETagsDifferByWhatIsAnswered(t *testing.T) {
	s := newSite(t)
	s.create(t, "a")
	tag := s.get(t, tablePath("a")).Header.Get("ETag")
	require.NotEqual(t, tag, s.get(t, tablePath("a")+"?snapshots=refs").Header.Get("ETag"))
	require.Equal(t, tag, s.get(t, tablePath("a")+"?snapshots=all").Header.Get("ETag"))
	require.Equal(t, tag, s.get(t, tablePath("a"), delegationHeader, vended).Header.Get("ETag"), "a local warehouse gives nothing")

	commit := s.post(t, tablePath("a"), string(s.append(t, "a").Body()))
	require.Equal(t, s.get(t, tablePath("a")).Header.Get("ETag"), commit.Header.Get("ETag"), "a commit answers the tag that a load has")
	require.NotEqual(t, tag, commit.Header.Get("ETag"))
}

// BenchmarkCaseO1 loads a table of 10,000 snapshots: the whole, what refs name, and not at all when nothing changed.
// Read it at the server: metadata is parsed and cached before it starts.
func BenchmarkCaseO1(b *testing.B) {
	s := newSite(b)
	s.create(b, "a")
	grow(b, s, "a", 10_000)
	tag := s.get(b, tablePath("a")+"?snapshots=refs").Header.Get("ETag")
	for name, c := range map[string]struct {
		query  string
		header []string
		status int
	}{
		"refs": {"?snapshots=refs", nil, 200}, "304": {"?snapshots=refs", []string{"If-None-Match", tag}, 304}, "all": {"", nil, 200},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.want(b, c.status, s.get(b, tablePath("a")+c.query, c.header...))
			}
		})
	}
}

// grow gives a table many snapshots by one commit, all of them with the manifest list of the first.
func grow(b *testing.B, s *site, name string, snapshots int) {
	b.Helper()
	first := s.append(b, name)
	s.want(b, 200, s.post(b, tablePath(name), string(first.Body())))
	table := s.table(b, name)
	const batch = 2500
	sequence, parent := table.LastSequence, *table.Head
	for done := 1; done < snapshots; {
		var updates []string
		for range min(batch, snapshots-done) {
			sequence++
			id := parent + 1
			updates = append(updates, fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":%d,"parent-snapshot-id":%d,"sequence-number":%d,`+
				`"timestamp-ms":%d,"manifest-list":%q,"schema-id":0,"summary":{"operation":"append","added-data-files":"1","added-records":"1000",`+
				`"total-records":"%d","engine-name":"spark","engine-version":"4.1.3"}}}`, id, parent, sequence, time.Now().UnixMilli(), first.ManifestList, sequence))
			parent = id
			done++
		}
		updates = append(updates, fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%d}`, parent))
		s.want(b, 200, s.post(b, tablePath(name), `{"requirements":[],"updates":[`+strings.Join(updates, ",")+`]}`))
	}
	grown, err := icebergtest.Parse(s.load(b, name).Metadata)
	if err != nil || grown.SnapshotCount != snapshots {
		b.Fatalf("the table has %d snapshots: %v", grown.SnapshotCount, err)
	}
}

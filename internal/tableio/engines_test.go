package tableio_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/tableio"
)

// asJava has the manifests of the table as Java's writers make them: the id of the schema is in the schema alone.
func (s *site) asJava() {
	s.t.Helper()
	for _, m := range s.files().manifests {
		path := strings.TrimPrefix(m.FilePath(), "file://")
		raw, err := os.ReadFile(path) //nolint:gosec // the test's own
		require.NoError(s.t, err)
		raw = bytes.Replace(raw, []byte("\x12schema-id"), []byte("\x12other-key"), 1)
		require.NoError(s.t, os.WriteFile(path, raw, 0o600)) //nolint:gosec // likewise
	}
}

func TestVectorsInManifestsOfJava(t *testing.T) {
	s := newSite(t, 3, simpleFields, "")
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]`)})
	s.commit(tableio.Delta{Adds: s.adds(`[{"id":4,"name":"d"},{"id":5,"name":"e"}]`)})
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("a", 0), s.removal("d", 0)}})
	s.asJava()
	s.commit(tableio.Delta{Removes: []tableio.Removal{s.removal("b", 2)}})
	require.Equal(t, []string{"2 b", "5 e"}, s.read())
	require.Len(t, s.files().deletes, 2)
}

func TestManifestsOfJavaAreMerged(t *testing.T) {
	for version := 1; version <= 3; version++ {
		s := newSite(t, version, simpleFields, `{"source-id":2,"field-id":1000,"name":"n","transform":"identity"}`)
		s.set("commit.manifest.min-count-to-merge", "3")
		for i := range 4 {
			s.commit(tableio.Delta{Adds: s.adds(fmt.Sprintf(`[{"id":%d,"name":"a"}]`, i))})
			s.asJava()
		}
		require.Len(t, s.files().manifests, 2)
		require.Len(t, s.read(), 4)
	}
}

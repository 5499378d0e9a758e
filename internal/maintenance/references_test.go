package maintenance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/objects"
)

// sharing makes a table, and another one that reads a file of its first snapshot and one of its second. It gives the two
// files and what each snapshot of the other is reached through.
type sharing struct {
	*lake
	orders, reader *table
	files          [2]string
	lists          [2]string
	manifests      [2]string
	log            string // the metadata file between the snapshots
}

func newSharing(t *testing.T) *sharing {
	t.Helper()
	s := &sharing{lake: newLake(t)}
	s.orders, s.reader = s.table("orders"), s.table("reader")
	var earlier []string
	for i := range s.files {
		s.files[i] = s.orders.append(1)[0]
		s.log = s.reader.current
		s.reader.share(s.files[i])
		id, _ := s.reader.doc.CurrentSnapshotID()
		snap, _ := s.reader.doc.Snapshot(id)
		s.lists[i] = snap.ManifestList
		manifests, err := s.writer.Manifests(snap.ManifestList)
		require.NoError(t, err)
		for _, m := range manifests {
			if i == 0 || m.FilePath() != earlier[0] {
				s.manifests[i] = m.FilePath()
			}
		}
		earlier = append(earlier, s.manifests[i])
	}
	return s
}

func (s *sharing) references() (maintenance.FileSet, int, error) {
	kept := maintenance.FileSet{}
	unreadable, err := s.purger.References(s.t.Context(), s.reader.purged(), s.orders.location, kept, func() {})
	return kept, unreadable, err
}

// Nobody reads through a file that is gone or garbage, so that it keeps nothing from being deleted; what else the table
// refers to is still spared. One damaged table would otherwise stop the purge of every other.
func TestADamagedFileOfAnotherTableStopsNoPurge(t *testing.T) {
	for name, c := range map[string]struct {
		file func(*sharing) string
		kept func(*sharing) []string
	}{
		"list":             {func(s *sharing) string { return s.lists[0] }, func(s *sharing) []string { return s.files[:] }},
		"manifest":         {func(s *sharing) string { return s.manifests[0] }, func(s *sharing) []string { return s.files[1:] }},
		"earlier metadata": {func(s *sharing) string { return s.log }, func(s *sharing) []string { return s.files[:] }},
		"current metadata": {func(s *sharing) string { return s.reader.current }, func(*sharing) []string { return nil }},
	} {
		for how, spoil := range map[string]func(string) error{
			"gone":    os.Remove,
			"garbage": func(path string) error { return os.WriteFile(path, []byte("garbage"), 0o600) },
			"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := newSharing(t)
				require.NoError(t, spoil(icebergtest.LocalPath(c.file(s))))
				kept, unreadable, err := s.references()
				require.NoError(t, err)
				require.Equal(t, 1, unreadable)
				require.ElementsMatch(t, c.kept(s), names(kept))
				_, err = s.purge(s.orders, kept)
				require.NoError(t, err)
				require.Len(t, s.left("orders"), len(c.kept(s)))
			})
		}
	}
}

func TestAReadableTableIsNotedWhole(t *testing.T) {
	s := newSharing(t)
	kept, unreadable, err := s.references()
	require.NoError(t, err)
	require.Zero(t, unreadable)
	require.ElementsMatch(t, s.files[:], names(kept))
}

// An old snapshot that no ref reaches may name a file that never was a manifest list.
func TestAForgedOldSnapshotStopsNoPurge(t *testing.T) {
	s := newSharing(t)
	forged := s.reader.location + "/metadata/bad.avro"
	require.NoError(t, s.writer.Put(forged, []byte("garbage")))
	s.reader.apply(json.RawMessage(fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":77,"sequence-number":99,
		"timestamp-ms":%d,"manifest-list":%q,"schema-id":0,"summary":{"operation":"append"}}}`, s.reader.doc.LastUpdatedMs()+1, forged)))
	kept, unreadable, err := s.references()
	require.NoError(t, err)
	require.Equal(t, 1, unreadable)
	require.ElementsMatch(t, s.files[:], names(kept))
}

// refusing is a store that does not give one file.
type refusing struct {
	*objects.Router
	location string
	err      error
}

func (r refusing) ReadFile(ctx context.Context, location string) ([]byte, error) {
	if location == r.location {
		return nil, r.err
	}
	return r.Router.ReadFile(ctx, location)
}

func (r refusing) ReadFileUpTo(ctx context.Context, location string, limit int64) ([]byte, error) {
	if location == r.location {
		return nil, r.err
	}
	return r.Router.ReadFileUpTo(ctx, location, limit)
}

// What only Sluice cannot read, now or at all, others may read through.
func TestAFileThatOthersMayReadStopsAPurge(t *testing.T) {
	for name, refusal := range map[string]error{
		"store fails":  fault.New(fault.Unavailable, "The object store could not be reached."),
		"too large":    fault.New(fault.TooLarge, "It has too many bytes."),
		"out of reach": fault.New(fault.Forbidden, "It is outside the storage roots."),
		"unknown":      os.ErrPermission,
	} {
		for file, location := range map[string]func(*sharing) string{
			"list":             func(s *sharing) string { return s.lists[0] },
			"manifest":         func(s *sharing) string { return s.manifests[0] },
			"earlier metadata": func(s *sharing) string { return s.log },
			"current metadata": func(s *sharing) string { return s.reader.current },
		} {
			t.Run(name+" "+file, func(t *testing.T) {
				s := newSharing(t)
				s.purger = maintenance.NewPurger(refusing{s.lake.files, location(s), refusal}, nil)
				_, _, err := s.references()
				require.Error(t, err)
			})
		}
	}
}

func names(files maintenance.FileSet) (out []string) {
	for name := range files {
		out = append(out, name)
	}
	return out
}

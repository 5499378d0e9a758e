package maintenance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/maintenance"
	"github.com/sluice-data/sluice/internal/metadata"
)

func (t *table) head() metadata.Snapshot {
	id, ok := t.doc.CurrentSnapshotID()
	require.True(t.lake.t, ok)
	snap, ok := t.doc.Snapshot(id)
	require.True(t.lake.t, ok)
	return snap
}

func TestChangesAreThoseOfTheSnapshot(t *testing.T) {
	l := newLake(t)
	w := maintenance.NewWatcher(l.files)
	orders := l.table("orders")
	orders.append(2)
	files := orders.append(3)
	changes, err := w.Changes(t.Context(), orders.head(), 10)
	require.NoError(t, err)
	var paths []string
	for _, f := range changes.Added {
		paths = append(paths, f.Path)
		assert.EqualValues(t, 1000, f.Size)
	}
	assert.ElementsMatch(t, files, paths)
	assert.Empty(t, changes.Removed)

	changes, err = w.Changes(t.Context(), orders.head(), 2)
	require.NoError(t, err)
	assert.Len(t, changes.Added, 2)
	assert.EqualValues(t, 1, changes.Left)

	orders.share(files[0], files[0], files[0])
	changes, err = w.Changes(t.Context(), orders.head(), 10)
	require.NoError(t, err)
	assert.Len(t, changes.Added, 1, "a file that is named three times is one")

	require.NoError(t, os.RemoveAll(l.root+"/orders/metadata"))
	_, err = w.Changes(t.Context(), orders.head(), 10)
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
}

func TestLookTellsFilesApart(t *testing.T) {
	l := newLake(t)
	w := maintenance.NewWatcher(l.files)
	there := "file://" + l.root + "/" + l.put("a", time.Hour)
	seen, err := w.Look(t.Context(), []string{there, there + "-not", "s3://elsewhere/a", "nonsense"}, 0)
	require.NoError(t, err)
	assert.True(t, seen[0].Found)
	assert.EqualValues(t, 10, seen[0].Size)
	assert.NotEmpty(t, seen[0].ETag)
	assert.WithinDuration(t, time.Now().Add(-time.Hour), seen[0].Modified, time.Minute)
	assert.True(t, seen[1].Gone)
	assert.Equal(t, fault.Forbidden, fault.CodeOf(seen[2].Err))
	assert.Error(t, seen[3].Err)
}

func TestLookKeepsItsPaceAndEnds(t *testing.T) {
	l := newLake(t)
	w := maintenance.NewWatcher(l.files)
	paths := make([]string, 40)
	for i := range paths {
		paths[i] = fmt.Sprintf("file://%s/%d", l.root, i)
	}
	begun := time.Now()
	_, err := w.Look(t.Context(), paths, 200)
	require.NoError(t, err)
	assert.Greater(t, time.Since(begun), 150*time.Millisecond)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = w.Look(ctx, paths, 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestLiveIsWhatAnyHeadRefersTo(t *testing.T) {
	l := newLake(t)
	w := maintenance.NewWatcher(l.files)
	orders := l.table("orders")
	first := orders.append(1)
	branched := orders.head().ID
	orders.apply(json.RawMessage(fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"audit","type":"branch","snapshot-id":%d}`, branched)))
	second := orders.append(1)
	asked := map[string]struct{}{first[0]: {}, second[0]: {}, "file:///none": {}}
	live, err := w.Live(t.Context(), orders.doc, asked)
	require.NoError(t, err)
	assert.Equal(t, map[string]struct{}{first[0]: {}, second[0]: {}}, live)

	bare := l.table("bare")
	live, err = w.Live(t.Context(), bare.doc, asked)
	require.NoError(t, err)
	assert.Empty(t, live)

	for _, file := range l.left("orders") {
		if strings.HasSuffix(file, ".avro") {
			require.NoError(t, os.Remove(l.root+"/"+file))
		}
	}
	_, err = w.Live(t.Context(), orders.doc, asked)
	assert.Equal(t, fault.NotFound, fault.CodeOf(err), "what cannot be read is no file that is gone")
}

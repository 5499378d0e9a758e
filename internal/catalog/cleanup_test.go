package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/models"
)

func (h *harness) metadataFiles(t *testing.T, name string) []string {
	t.Helper()
	folder := icebergtest.LocalPath(h.load(t, name).Document.Location()) + "/metadata"
	files, err := filepath.Glob(folder + "/*.metadata.json")
	must(t, err)
	slices.Sort(files)
	return files
}

func (h *harness) setProperties(t *testing.T, name string, properties ...string) {
	t.Helper()
	pairs := make([]string, 0, len(properties)/2)
	for i := 0; i < len(properties); i += 2 {
		pairs = append(pairs, fmt.Sprintf("%q:%q", properties[i], properties[i+1]))
	}
	_, err := h.update(h.root, name, `{"action":"set-properties","updates":{`+strings.Join(pairs, ",")+`}}`)
	must(t, err)
}

const (
	deleteAfterCommit = "write.metadata.delete-after-commit.enabled"
	previousVersions  = "write.metadata.previous-versions-max"
)

func TestO5MetadataFilesAndLogsAreBounded(t *testing.T) { // CASES O5
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	for i := range 6 {
		h.setProperties(t, "events", "n", fmt.Sprint(i))
	}
	if n := len(h.metadataFiles(t, "events")); n < 7 {
		t.Fatalf("%d files: nothing is removed unless the table says so", n)
	}
	h.setProperties(t, "events", deleteAfterCommit, "true", previousVersions, "2")
	for i := range 5 {
		h.setProperties(t, "events", "n", fmt.Sprint(100+i))
	}
	h.Drain(context.Background())
	view := h.load(t, "events")
	log := view.Document.MetadataLog()
	if len(log) != 2 {
		t.Errorf("the metadata log has %d entries", len(log))
	}
	want := []string{icebergtest.LocalPath(view.MetadataLocation)}
	for _, entry := range log {
		want = append(want, icebergtest.LocalPath(entry.File))
	}
	slices.Sort(want)
	if got := h.metadataFiles(t, "events"); !slices.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
}

func TestO5SnapshotLogIsTrimmed(t *testing.T) { // CASES O5
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	var ids []int64
	for range 4 {
		c := h.append(t, "events", 1)
		_, err := h.commit(h.root, "events", c)
		must(t, err)
		ids = append(ids, c.SnapshotID)
	}
	_, err := h.update(h.root, "events", fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d,%d]}`, ids[0], ids[1]))
	must(t, err)
	raw, _ := h.load(t, "events").Document.Section("snapshot-log")
	for i, id := range ids {
		if strings.Contains(string(raw), fmt.Sprint(id)) != (i >= 2) {
			t.Errorf("the snapshot log is %s", raw)
		}
	}
}

// A crash between the swap and the removal, or a store that refuses, leaves garbage and a whole table.
func TestUnremovedMetadataIsOnlyGarbage(t *testing.T) {
	files := &stuckFiles{}
	h := newHarness(t, func(d *catalog.Deps) { files.Files = d.Files; d.Files = files })
	h.create(t, "events", models.OpenFull)
	h.setProperties(t, "events", deleteAfterCommit, "true", previousVersions, "1")
	h.Drain(context.Background())
	before := len(h.metadataFiles(t, "events"))
	files.stuck.Store(true)
	for i := range 3 {
		h.setProperties(t, "events", "n", fmt.Sprint(i))
	}
	h.Drain(context.Background())
	if n := len(h.metadataFiles(t, "events")); n != before+3 {
		t.Errorf("%d files", n)
	}
	files.stuck.Store(false)
	h.setProperties(t, "events", "n", "last")
	h.Drain(context.Background())
	for _, entry := range h.load(t, "events").Document.MetadataLog() {
		if _, err := os.Stat(icebergtest.LocalPath(entry.File)); err != nil {
			t.Errorf("a file of the log is gone: %v", err)
		}
	}
}

// What a registered table brought along may still be referred to by the catalog it came from.
func TestFilesFromBeforeARegistrationStay(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	h.setProperties(t, "events", deleteAfterCommit, "true", previousVersions, "2")
	h.setProperties(t, "events", "n", "1")
	h.Drain(context.Background())
	view, err := h.UnregisterTable(context.Background(), h.root, h.cat, ident("events"))
	must(t, err)
	inherited := view.Document.MetadataLog()
	if len(inherited) == 0 {
		t.Fatal("there is nothing to keep")
	}
	_, err = h.register("events", view.MetadataLocation, false)
	must(t, err)
	for i := range 5 {
		h.setProperties(t, "events", "n", fmt.Sprint(10+i))
	}
	h.Drain(context.Background())
	for _, entry := range inherited {
		if _, err := os.Stat(icebergtest.LocalPath(entry.File)); err != nil {
			t.Errorf("a file of the former catalog is gone: %v", err)
		}
	}
}

// Readers whose file is removed between reading the pointer and the file get the newer one.
func TestLoadsSurviveTheCleanUp(t *testing.T) {
	h := newHarness(t, func(d *catalog.Deps) { d.CacheBytes = 1 })
	h.create(t, "events", models.OpenFull)
	h.setProperties(t, "events", deleteAfterCommit, "true", previousVersions, "1")
	done := make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := h.LoadTable(context.Background(), h.root, h.cat, ident("events")); err != nil {
				failed <- err
				return
			}
		}
	}()
	for i := range 50 {
		h.setProperties(t, "events", "n", fmt.Sprint(i))
	}
	close(done)
	must(t, <-failed)
	h.Drain(context.Background())
}

// stuckFiles refuses to delete.
type stuckFiles struct {
	catalog.Files
	stuck atomic.Bool
}

func (f *stuckFiles) DeleteFile(ctx context.Context, location string) error {
	if f.stuck.Load() {
		return errors.New("the store refuses")
	}
	return f.Files.DeleteFile(ctx, location)
}

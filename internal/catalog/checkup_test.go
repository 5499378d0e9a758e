package catalog_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/icebergtest"
	"github.com/sluice-data/sluice/models"
)

// checked makes a service that can look whether files are there.
func checked(t *testing.T) *harness {
	t.Helper()
	return newHarness(t, func(d *catalog.Deps) { d.Existence = d.Files.(catalog.Existence) })
}

func (h *harness) appends(t *testing.T, name string, n int) []icebergtest.Commit {
	t.Helper()
	var out []icebergtest.Commit
	for range n {
		c := h.append(t, name, 1)
		_, err := h.commit(h.job(), name, c)
		must(t, err)
		out = append(out, c)
	}
	return out
}

func (h *harness) checkup(t *testing.T) catalog.TableCheckup {
	t.Helper()
	got, err := h.CheckTable(context.Background(), h.with(models.TableReadProperties), "main.db.events")
	must(t, err)
	return got
}

func remove(t *testing.T, location string) {
	t.Helper()
	must(t, os.Remove(icebergtest.LocalPath(location)))
}

func TestCheckOfAHealthyTable(t *testing.T) {
	h := checked(t)
	view := h.create(t, "events", models.OpenFull)
	if got := h.checkup(t); got.Metadata != catalog.FileThere || len(got.Snapshots) != 0 || got.LastGood != nil {
		t.Errorf("an empty table: %+v", got)
	}
	all := h.appends(t, "events", 3)
	h.rollback(t, "events", all[1].SnapshotID)
	got := h.checkup(t)
	if got.Ref != "main.db.events" || got.UUID != view.Row.UUID || got.MetadataLocation != h.load(t, "events").MetadataLocation || got.LastGood == nil || *got.LastGood != all[1].SnapshotID {
		t.Errorf("%+v", got)
	}
	if len(got.Snapshots) != 3 {
		t.Fatalf("%d snapshots", len(got.Snapshots))
	}
	for i, s := range got.Snapshots { // newest first
		want := all[2-i]
		if s.ID != want.SnapshotID || s.ManifestList != want.ManifestList || s.List != catalog.FileThere || s.OnMain != (i > 0) || s.Missing != nil {
			t.Errorf("snapshot %d: %+v", i, s)
		}
	}
}

// A6, A7: a manifest list is gone, and the answer names the snapshot to roll back to.
func TestCheckNamesTheLastGoodSnapshot(t *testing.T) {
	h := checked(t)
	h.create(t, "events", models.OpenFull)
	all := h.appends(t, "events", 4)
	remove(t, all[3].ManifestList)
	manifests, err := h.client.Manifests(all[2].ManifestList)
	must(t, err)
	own := manifests[0].FilePath() // the one that it added
	remove(t, own)
	got := h.checkup(t)
	if got.Snapshots[0].List != catalog.FileMissing || got.Snapshots[1].List != catalog.FileThere || !slices.Equal(got.Snapshots[1].Missing, []string{own}) {
		t.Errorf("%+v", got.Snapshots)
	}
	if got.LastGood == nil || *got.LastGood != all[1].SnapshotID {
		t.Errorf("the last good snapshot is %v", got.LastGood)
	}
	for _, c := range all[:2] {
		remove(t, c.ManifestList)
	}
	if got := h.checkup(t); got.LastGood != nil {
		t.Errorf("the last good snapshot is %v", got.LastGood)
	}
}

func TestCheckOfATableWithoutMetadata(t *testing.T) {
	h := checked(t)
	h.create(t, "events", models.OpenFull)
	h.appends(t, "events", 1)
	at := h.load(t, "events").MetadataLocation
	remove(t, at)
	if got := h.checkup(t); got.Metadata != catalog.FileMissing || got.MetadataLocation != at || got.Ref != "main.db.events" || got.LastGood != nil {
		t.Errorf("%+v", got)
	}
}

// Who cannot look says so.
func TestCheckWithoutAStoreToAsk(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	h.appends(t, "events", 1)
	if got := h.checkup(t); got.Snapshots[0].List != catalog.FileUnknown || got.LastGood != nil {
		t.Errorf("%+v", got)
	}
}

func TestCheckNeedsToReadTheTable(t *testing.T) {
	h := checked(t)
	h.create(t, "events", models.OpenFull)
	_, err := h.CheckTable(context.Background(), h.with(models.TableList), "main.db.events")
	wantCode(t, err, fault.Forbidden)
	_, err = h.CheckTable(context.Background(), h.with(models.NamespaceList), "main.db.events")
	wantCode(t, err, fault.NotFound)
}

package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// createByCommit is a commit that creates a table without data.
func createByCommit(name, uuid, location string) catalog.CommitInput {
	return input(name, []json.RawMessage{json.RawMessage(`{"type":"assert-create"}`)}, []json.RawMessage{
		json.RawMessage(`{"action":"assign-uuid","uuid":"` + uuid + `"}`),
		json.RawMessage(`{"action":"upgrade-format-version","format-version":2}`),
		json.RawMessage(`{"action":"add-schema","schema":` + schemaJSON + `,"last-column-id":2}`),
		json.RawMessage(`{"action":"set-current-schema","schema-id":-1}`),
		json.RawMessage(`{"action":"add-spec","spec":{"spec-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-spec","spec-id":-1}`),
		json.RawMessage(`{"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}}`),
		json.RawMessage(`{"action":"set-default-sort-order","sort-order-id":-1}`),
		json.RawMessage(`{"action":"set-location","location":"` + location + `"}`),
	})
}

// A uuid stands for one table for ever: whatever became of the one that had it, and in whatever case it is written.
func TestATableUUIDIsUsedOnce(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	create := func(name, id string) error {
		_, err := h.CommitTable(ctx, h.root, h.cat, createByCommit(name, id, h.cat.BaseLocation+"/db/"+name))
		return err
	}
	id := strings.ToUpper(uuid.NewString())
	must(t, create("events", id))
	view := h.load(t, "events")
	if view.Row.UUID != strings.ToLower(id) {
		t.Errorf("the table is known as %s", view.Row.UUID)
	}
	if state, err := h.TableState(ctx, h.root, id); err != nil || state.Table.ID != view.Row.ID {
		t.Errorf("it is not found by its uuid: %v", err)
	}
	for _, other := range []string{id, strings.ToLower(id)} {
		wantCode(t, create("twin", other), fault.Invalid)
	}
	d := h.drop(t, "events", false)
	wantCode(t, create("twin", id), fault.Invalid)
	must(t, h.ForgetTable(ctx, h.root, d.ID))
	wantCode(t, create("twin", id), fault.Invalid)
}

func TestATableUUIDIsTakenOnce(t *testing.T) {
	h := newHarness(t)
	id := uuid.NewString()
	names := []string{"a", "b", "c", "d", "e", "f"}
	errs := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			_, errs[i] = h.CommitTable(context.Background(), h.root, h.cat, createByCommit(name, id, h.cat.BaseLocation+"/db/"+name))
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		wantCode(t, err, fault.Invalid)
	}
	if made != 1 {
		t.Errorf("%d tables have the uuid", made)
	}
}

// A table that comes back by its metadata is another row: its commits are recorded anew, not taken for those of before.
func TestARegisteredTableIsReconciledAgain(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	view, err := h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	h.drop(t, "events", false)
	got, err := h.register("events", view.MetadataLocation, false)
	must(t, err)
	events := h.outbox(t)
	if len(events) != 2 || events[1].TableID != got.Row.ID || events[1].TableUUID != events[0].TableUUID {
		t.Fatalf("the outbox has %+v", events)
	}
}

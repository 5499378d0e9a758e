package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// A commit whose snapshot is there already is a replay only if the rest of it is there as well.
func TestReplayWithMoreIsNoReplay(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenAppend)
	c := h.append(t, "events", 1)
	with := c
	with.Updates = append(slices.Clone(c.Updates), json.RawMessage(`{"action":"set-properties","updates":{"a":"1"}}`))
	_, err := h.commit(h.root, "events", with)
	must(t, err)
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	before := h.load(t, "events")
	for name, more := range map[string]struct {
		update string
		code   fault.Code
	}{
		"nothing":              {"", ""},
		"what is there":        {`{"action":"set-properties","updates":{"a":"1"}}`, ""},
		"a property":           {`{"action":"set-properties","updates":{"b":"1"}}`, fault.Conflict},
		"a property's removal": {`{"action":"remove-properties","removals":["a"]}`, fault.Conflict},
		"a branch":             {fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"side","type":"branch","snapshot-id":%d}`, c.SnapshotID), fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			again := c
			if more.update != "" {
				again.Updates = append(slices.Clone(c.Updates), json.RawMessage(more.update))
			}
			_, err := h.commit(h.root, "events", again)
			if more.code == "" {
				must(t, err)
			} else {
				wantCode(t, err, more.code)
			}
			if now := h.load(t, "events"); now.MetadataLocation != before.MetadataLocation {
				t.Errorf("the table moved on to %s", now.MetadataLocation)
			}
		})
	}
}

func TestACommitDoesNotRemoveWhatItAdds(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	c := h.append(t, "events", 1)
	remove := json.RawMessage(fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, c.SnapshotID))
	property := json.RawMessage(`{"action":"set-properties","updates":{"a":"1"}}`)
	for _, updates := range [][]json.RawMessage{{c.Updates[0], remove}, {c.Updates[0], c.Updates[1], remove}, {c.Updates[0], remove, property}} {
		with := c
		with.Updates = updates
		_, err := h.commit(h.root, "events", with)
		wantCode(t, err, fault.Invalid)
		if want := fmt.Sprintf("adds and removes snapshot %d", c.SnapshotID); !strings.Contains(fault.PublicMessage(err), want) {
			t.Errorf("it says %q", fault.PublicMessage(err))
		}
	}
}

// A pure move of main to a snapshot that was never reconciled is announced, so that its rows are counted.
func TestMovingMainBackIsReconciled(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	_, err := h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	first := h.table(t, "events").Lineage()[0]
	_, err = h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	_, err = h.update(h.root, "events", fmt.Sprintf(`{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%d}`, first))
	must(t, err)
	events := h.outbox(t)
	if len(events) != 3 || events[2].SnapshotID != first || events[2].TableName != "db.events" {
		t.Fatalf("the outbox has %+v", events)
	}
	_, err = h.update(h.root, "events", `{"action":"set-properties","updates":{"a":"1"}}`)
	must(t, err)
	if events = h.outbox(t); len(events) != 3 {
		t.Errorf("a property made an event: %+v", events)
	}
}

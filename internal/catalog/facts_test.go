package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

// The path that counts is the one that the metadata holds, whatever keys a client adds that look like it.
func TestStatisticsStayInsideTheTable(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.OpenFull)
	c := h.append(t, "events", 1)
	view, err := h.commit(h.root, "events", c)
	must(t, err)
	inside, outside := view.Document.Location()+"/metadata/s.puffin", h.cat.BaseLocation+"/other/s.puffin"
	set := func(section, paths string) error {
		_, err := h.update(h.root, "events", fmt.Sprintf(`{"action":"set-%s","%s":{"snapshot-id":%d,%s,"file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`,
			section, section, c.SnapshotID, paths))
		return err
	}
	for _, section := range []string{"statistics", "partition-statistics"} {
		for _, paths := range []string{
			fmt.Sprintf(`"statistics-path":%q`, outside),
			fmt.Sprintf(`"statistics-path":%q,"STATISTICS-PATH":%q`, outside, inside),
			fmt.Sprintf(`"STATISTICS-PATH":%q,"statistics-path":%q`, inside, outside),
		} {
			err := set(section, paths)
			wantCode(t, err, fault.Forbidden)
			if !strings.Contains(fault.PublicMessage(err), outside) {
				t.Errorf("it says %q", fault.PublicMessage(err))
			}
		}
		must(t, set(section, fmt.Sprintf(`"statistics-path":%q`, inside)))
	}
}

// No look-alike of a governance property is stored, and one that is there goes with the next restamp.
func TestReservedPropertiesInAnyCase(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", models.OpenFull))
	for _, key := range []string{"sluice.x", "SLUICE.x", "Sluice.write-policy"} {
		for _, stage := range []bool{false, true} {
			_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{
				Namespace: []string{"db"}, Name: "events", Schema: json.RawMessage(schemaJSON), Properties: map[string]string{key: "open_full"}, Stage: stage,
			})
			wantCode(t, err, fault.Forbidden)
		}
		in := createByCommit("events", freshUUID(), h.cat.BaseLocation+"/db/events")
		in.Updates = append(in.Updates, input("x", nil, []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"` + key + `":"open_full"}}`)}).Updates...)
		_, err := h.CommitTable(ctx, h.root, h.cat, in)
		wantCode(t, err, fault.Forbidden)
	}
	// An installation under another prefix may have let one in.
	var lax *catalog.Service
	h = newHarness(t, func(d *catalog.Deps) {
		other := *d
		other.ReservedPrefix = "other."
		lax = catalog.New(other)
	})
	view, err := lax.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{
		Namespace: []string{"db"}, Name: "events", Schema: json.RawMessage(schemaJSON), Properties: map[string]string{"SLUICE.x": "1"},
	})
	must(t, err)
	keys, err := h.Restamp(ctx, view.Row.ID)
	must(t, err)
	if _, there := h.load(t, "events").Document.Properties()["SLUICE.x"]; there {
		t.Errorf("the look-alike stays; changed were %v", keys)
	}
}

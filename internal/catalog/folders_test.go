package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestTablesStayOutOfOthersFolders(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	base := h.cat.BaseLocation
	outside := strings.TrimSuffix(base, "/warehouse") + "/lake"
	h.cat.AllowedLocations.V = []string{outside}
	for _, levels := range [][]string{{"db", "child"}, {"finance"}} {
		_, err := h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: levels})
		must(t, err)
	}
	own := func(levels []string, location string) error {
		_, err := h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: levels, Properties: map[string]string{"location": location}})
		return err
	}
	must(t, own([]string{"moved"}, base+"/placed"))
	for i, c := range []struct {
		location string
		allowed  bool
	}{
		{base, false},
		{base + "/", false},
		{base + "/db", false},
		{base + "/db/child", false},
		{base + "/db/child/t", false},
		{base + "/finance", false},
		{base + "/finance/t", false},
		{base + "/placed", false},
		{base + "/placed/t", false},
		{strings.TrimSuffix(base, "/warehouse"), false}, // above the base
		{base + "/db/t", true},
		{base + "/imported/t", true},
		{outside + "/finance/t", true},
	} {
		if strings.HasPrefix(c.location, outside) { // where this warehouse can write nothing
			_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{
				Namespace: []string{"db"}, Name: "staged", Location: c.location, Schema: json.RawMessage(schemaJSON), Stage: true,
			})
			must(t, err)
			continue
		}
		name := fmt.Sprintf("t%d", i)
		_, created := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{
			Namespace: []string{"db"}, Name: name, Location: c.location, Schema: json.RawMessage(schemaJSON),
		})
		_, committed := h.CommitTable(ctx, h.root, h.cat, createByCommit(name+"c", freshUUID(), c.location+"c"))
		if c.allowed {
			must(t, created)
			must(t, committed)
			continue
		}
		wantCode(t, created, fault.Forbidden)
		_, viewed := h.CreateView(ctx, h.root, h.cat, catalog.CreateViewInput{Namespace: []string{"db"}, Name: name, Location: c.location, Schema: json.RawMessage(schemaJSON), Version: json.RawMessage(versionJSON("spark", "SELECT 1"))})
		wantCode(t, viewed, fault.Forbidden)
	}
	h.create(t, "plain", models.OpenFull)
	_, err := h.update(h.root, "plain", `{"action":"set-location","location":"`+base+`/finance/x"}`)
	wantCode(t, err, fault.Forbidden)
	for _, location := range []string{base + "/finance", base + "/finance/in", base, base + "/placed/in"} {
		wantCode(t, own([]string{"evil"}, location), fault.Forbidden)
		_, err := h.UpdateNamespaceProperties(ctx, h.root, h.cat, []string{"db"}, catalog.PropertiesUpdate{Updates: map[string]string{"location": location}})
		wantCode(t, err, fault.Forbidden)
	}
	must(t, own([]string{"finance", "eu"}, base+"/finance/europe"))
}

// Two tables that move at once do not end in one place, and what the moved one redirects goes with it.
func TestMovingATable(t *testing.T) {
	h := newHarness(t)
	for round := range 5 {
		place := fmt.Sprintf("%s/db/place%d", h.cat.BaseLocation, round)
		errs := make([]error, 3)
		var all sync.WaitGroup
		for i := range errs {
			h.create(t, fmt.Sprintf("t%d_%d", round, i), models.OpenFull)
		}
		for i := range errs {
			all.Go(func() {
				_, errs[i] = h.update(h.root, fmt.Sprintf("t%d_%d", round, i), `{"action":"set-location","location":"`+place+strings.Repeat("/in", i)+`"}`)
			})
		}
		all.Wait()
		moved := 0
		for _, err := range errs {
			if err == nil {
				moved++
				continue
			}
			wantCode(t, err, fault.Forbidden)
		}
		if moved != 1 {
			t.Fatalf("%d tables moved to %s", moved, place)
		}
	}
	view := h.create(t, "events", models.OpenFull)
	for _, key := range []string{"write.data.path", "write.metadata.path"} {
		_, err := h.update(h.root, "events", fmt.Sprintf(`{"action":"set-properties","updates":{%q:%q}}`, key, view.Document.Location()+"/redirected"))
		must(t, err)
		_, err = h.update(h.root, "events", `{"action":"set-location","location":"`+h.cat.BaseLocation+`/db/away"}`)
		wantCode(t, err, fault.Forbidden)
		if !strings.Contains(fault.PublicMessage(err), key) {
			t.Errorf("it says %q", fault.PublicMessage(err))
		}
		_, err = h.update(h.root, "events", fmt.Sprintf(`{"action":"remove-properties","removals":[%q]}`, key))
		must(t, err)
	}
	_, err := h.update(h.root, "events", `{"action":"set-location","location":"`+h.cat.BaseLocation+`/db/away"}`)
	must(t, err)
}

package catalog_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// A namespace without a default level of its own has that of the nearest one around it, which is what new tables get,
// whatever makes them, and what is stamped on them.
func TestDefaultClassificationsAreInherited(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.namespaces(t, []string{"a"}, []string{"a", "b"}, []string{"a", "b", "c"})
	levels := func(want map[string]catalog.DefaultLevel) {
		t.Helper()
		for ref, want := range want {
			got, err := h.DefaultClassification(ctx, h.root, ref)
			must(t, err)
			if got != want {
				t.Errorf("%q has %+v, want %+v", ref, got, want)
			}
		}
	}
	levels(map[string]catalog.DefaultLevel{"main": {Level: models.Internal, Inherited: true}, "main.a.b": {Level: models.Internal, Inherited: true}})
	must(t, h.SetDefaultClassification(ctx, h.root, "main", models.Confidential))
	must(t, h.SetDefaultClassification(ctx, h.root, "main.a", models.Restricted))
	must(t, h.SetDefaultClassification(ctx, h.root, "main.a.b", models.Public))
	var err error
	h.cat, err = h.Resolve(ctx, h.root, "main")
	must(t, err)
	levels(map[string]catalog.DefaultLevel{
		"main": {Level: models.Confidential}, "main.db": {Level: models.Confidential, Inherited: true}, "main.a": {Level: models.Restricted},
		"main.a.b": {Level: models.Public}, "main.a.b.c": {Level: models.Public, Inherited: true},
	})
	for want, levels := range map[models.Classification][]string{models.Confidential: {"db"}, models.Restricted: {"a"}, models.Public: {"a", "b", "c"}} {
		row := h.createIn(t, "t", levels...)
		if row.Classification != want {
			t.Errorf("a table in %v is %s, want %s", levels, row.Classification, want)
		}
		view, err := h.LoadTable(ctx, h.root, h.cat, models.TableIdent{Namespace: levels, Name: "t"})
		must(t, err)
		if got := view.Document.Properties()["sluice.classification"]; got != string(want) {
			t.Errorf("a table in %v is stamped %q", levels, got)
		}
	}
	for _, want := range []map[string]any{{"from": "restricted", "to": "internal"}, {"from": nil, "to": "public"}, {"from": nil, "to": "restricted"}, {"from": nil, "to": "confidential"}} {
		if want["from"] == "restricted" {
			must(t, h.SetDefaultClassification(ctx, h.root, "main.a", models.Internal))
			must(t, h.SetDefaultClassification(ctx, h.root, "main.a", models.Internal)) // nothing
		}
		events := h.audit(t, models.AuditDefaultLevelChanged) // newest first
		if len(events) != 4 {
			t.Fatalf("there are %d events", len(events))
		}
		found := false
		for _, e := range events {
			found = found || reflect.DeepEqual(e.Details.V, want)
		}
		if !found {
			t.Errorf("no event says %v", want)
		}
	}
	state, err := h.TableState(ctx, h.root, "main.a.t")
	must(t, err)
	if state.Table.Classification != models.Restricted {
		t.Errorf("a table that was there became %s", state.Table.Classification)
	}
}

func TestDefaultClassificationsAreSeenWithTheirObject(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.namespaces(t, []string{"a"}, []string{"z"})
	job := h.granted(h.createIn(t, "t", "a").ID, h.within(t, "a"), models.TableReadData)
	nobody := policy.Caller{Principal: "nobody", CanGovern: true, Held: policy.NewHeld(nil, nil)}
	for _, c := range []struct {
		who  policy.Caller
		ref  string
		read fault.Code
		set  fault.Code
	}{
		{job, "main.a", "", fault.Forbidden}, {job, "main", "", fault.Forbidden}, {job, "main.z", fault.NotFound, fault.NotFound},
		{nobody, "main", fault.NotFound, fault.NotFound}, {h.root, "main.none", fault.NotFound, fault.NotFound}, {h.root, "none", fault.NotFound, fault.NotFound},
	} {
		_, err := h.DefaultClassification(ctx, c.who, c.ref)
		wantCode(t, err, c.read)
		wantCode(t, h.SetDefaultClassification(ctx, c.who, c.ref, models.Public), c.set)
	}
}

package catalog_test

import (
	"context"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// A namespace without a default of its own has that of the nearest one around it, which is what new tables get.
func TestDefaultPoliciesAreInherited(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.namespaces(t, []string{"a"}, []string{"a", "b"}, []string{"a", "b", "c"}, []string{"a", "b", "x.y"})
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.a", models.OpenAppend))
	for ref, want := range map[string]catalog.DefaultPolicy{
		"main":                  {Policy: models.GovernedOnly},
		"main.db":               {Policy: models.GovernedOnly, Inherited: true},
		"main.a":                {Policy: models.OpenAppend},
		"main.a.b":              {Policy: models.OpenAppend, Inherited: true},
		"main.a.b.c":            {Policy: models.OpenAppend, Inherited: true},
		"main\x1fa\x1fb\x1fx.y": {Policy: models.OpenAppend, Inherited: true},
	} {
		got, err := h.DefaultWritePolicy(ctx, h.root, ref)
		must(t, err)
		if got != want {
			t.Errorf("%q has %+v, want %+v", ref, got, want)
		}
	}
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.a.b", models.GovernedOnly))
	for _, levels := range [][]string{{"a"}, {"a", "b", "c"}} {
		got, err := h.DefaultWritePolicy(ctx, h.root, "main."+models.KeyOf(levels).String())
		must(t, err)
		if row := h.createIn(t, "t", levels...); row.WritePolicy != got.Policy {
			t.Errorf("a table in %v has %s, and the default is %s", levels, row.WritePolicy, got.Policy)
		}
	}
}

// Whoever sees the namespace sees what its tables get, and to nobody else it is there.
func TestDefaultPoliciesAreSeenWithTheirObject(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.namespaces(t, []string{"a"}, []string{"z"})
	job := h.granted(h.createIn(t, "t", "a").ID, h.within(t, "a"), models.TableReadData)
	job.ReadOnly, job.CanGovern = true, false
	nobody := policy.Caller{Principal: "nobody", CanGovern: true, Held: policy.NewHeld(nil, nil)}
	for _, c := range []struct {
		who  policy.Caller
		ref  string
		code fault.Code
	}{
		{job, "main.a", ""}, {job, "main", ""},
		{job, "main.z", fault.NotFound}, {job, "main.none", fault.NotFound}, {job, "none", fault.NotFound},
		{nobody, "main", fault.NotFound}, {nobody, "main.a", fault.NotFound},
		{h.root, "main.a.none", fault.NotFound},
	} {
		_, err := h.DefaultWritePolicy(ctx, c.who, c.ref)
		wantCode(t, err, c.code)
	}
}

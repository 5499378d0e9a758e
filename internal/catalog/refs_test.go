package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func freshUUID() string { return uuid.NewString() }

// Names may have dots: a ref that means two tables is refused, and one that means one finds it.
func TestRefsOfNamesWithDots(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	ids := map[string]string{}
	for _, levels := range [][]string{{"p"}, {"p", "q"}, {"p.q"}, {"only.dots"}} {
		_, err := h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: levels})
		must(t, err)
		if len(levels) == 1 && levels[0] == "p" {
			continue
		}
		view, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: levels, Name: "c", Schema: json.RawMessage(schemaJSON)})
		must(t, err)
		ids[strings.Join(levels, "|")] = view.Row.ID
	}
	dotted, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"p"}, Name: "x.y", Schema: json.RawMessage(schemaJSON)})
	must(t, err)
	for ref, want := range map[string]string{
		"main\x1fp\x1fq\x1fc": ids["p|q"], "main\x1fp.q\x1fc": ids["p.q"], "main.only.dots.c": ids["only.dots"],
		"main.p.x.y": dotted.Row.ID, strings.ToUpper(dotted.Row.UUID): dotted.Row.ID,
	} {
		state, err := h.TableState(ctx, h.root, ref)
		must(t, err)
		if state.Table.ID != want {
			t.Errorf("%q is the table %s, want %s", ref, state.Table.ID, want)
		}
	}
	_, err = h.TableState(ctx, h.root, "main.p.q.c")
	wantCode(t, err, fault.Invalid)
	if !strings.Contains(fault.PublicMessage(err), "%1F") {
		t.Errorf("it says %q", fault.PublicMessage(err))
	}
	_, err = h.TableState(ctx, h.root, "main.p.q.z")
	wantCode(t, err, fault.NotFound)

	wantCode(t, h.SetDefaultWritePolicy(ctx, h.root, "main.p.q", models.OpenAppend), fault.Invalid)
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main\x1fp.q", models.OpenAppend))
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main\x1fp\x1fq", models.OpenFull))
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.only.dots", models.OpenFull))
	for want, levels := range map[models.WritePolicy][]string{models.OpenAppend: {"p.q"}, models.OpenFull: {"p", "q"}} {
		path, err := h.store.NamespacePath(ctx, h.cat.ID, models.KeyOf(levels))
		must(t, err)
		if got := path[len(path)-1].DefaultWritePolicy; got == nil || *got != want {
			t.Errorf("%q has the default %v, want %s", levels, got, want)
		}
	}
}

// One transaction may change tables whose dotted names are the same.
func TestTransactionOfNamesWithDots(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	h.cat.DefaultWritePolicy = models.OpenFull
	var in []catalog.CommitInput
	for _, levels := range [][]string{{"p"}, {"p", "q"}, {"p.q"}} {
		_, err := h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: levels})
		must(t, err)
		if models.KeyOf(levels) == "p" {
			continue
		}
		_, err = h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: levels, Name: "c", Schema: json.RawMessage(schemaJSON)})
		must(t, err)
		c := input("c", nil, []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"a":"1"}}`)})
		c.Table.Namespace = levels
		in = append(in, c)
	}
	must(t, h.CommitTransaction(ctx, h.root, h.cat, in))
	wantCode(t, h.CommitTransaction(ctx, h.root, h.cat, append(in, in[0])), fault.Invalid)
}

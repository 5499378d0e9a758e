package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// addCatalog makes a catalog whose admins the root principal is among.
func (h *harness) addCatalog(t *testing.T, name, base string, allowed ...string) models.Catalog {
	t.Helper()
	cat := models.Catalog{
		ID: uuid.NewString(), Name: name, BaseLocation: base, DefaultWritePolicy: models.OpenFull, Version: 1,
		AllowedLocations: models.JSON[[]string]{V: allowed},
	}
	event := models.AuditEvent{EventID: uuid.NewString(), Type: models.AuditCatalogCreated}
	must(t, h.store.CreateCatalog(context.Background(), cat, []models.Privilege{models.CatalogManageContent, models.CatalogManageAccess}, event))
	h.root = h.caller(t, models.RootPrincipal)
	return cat
}

func (h *harness) createAt(cat models.Catalog, name, location string) error {
	_, err := h.CreateTable(context.Background(), h.root, cat, catalog.CreateTableInput{
		Namespace: []string{"db"}, Name: name, Location: location, Schema: json.RawMessage(schemaJSON),
	})
	return err
}

// No two tables overlap whatever their catalogs, and nobody learns what there is in another one.
func TestTablesOfTwoCatalogsStayApart(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	taken := h.create(t, "payroll", models.OpenFull)
	shared := h.addCatalog(t, "shared", h.cat.BaseLocation+"/db", h.cat.BaseLocation)
	_, err := h.CreateNamespace(ctx, h.root, shared, catalog.NamespaceInput{Levels: []string{"db"}, Properties: map[string]string{"location": h.cat.BaseLocation}})
	must(t, err)
	view := func(location string) error {
		_, err := h.CreateView(ctx, h.root, shared, catalog.CreateViewInput{
			Namespace: []string{"db"}, Name: "v", Location: location, Schema: json.RawMessage(schemaJSON), Version: json.RawMessage(versionJSON("spark", "SELECT 1")),
		})
		return err
	}
	place := taken.Document.Location()
	for name, err := range map[string]error{
		"at it": h.createAt(shared, "t", place), "in it": h.createAt(shared, "t", place+"/data"), "a view in it": view(place + "/v"),
	} {
		wantCode(t, err, fault.Forbidden)
		if says := fault.PublicMessage(err); !strings.Contains(says, "another catalog") || strings.Contains(says, "db.payroll") {
			t.Errorf("%s: it says %q", name, says)
		}
		if !strings.Contains(deniedOf(err), "db.payroll") {
			t.Errorf("%s: the audit learns %q", name, deniedOf(err))
		}
	}
	must(t, h.createAt(shared, "mine", h.cat.BaseLocation+"/db/elsewhere"))
	_, err = h.CommitTable(ctx, h.root, shared, catalog.CommitInput{Table: ident("mine"), Updates: moveTo(t, place+"/in")})
	wantCode(t, err, fault.Forbidden)
	wantCode(t, h.DropTable(ctx, h.root, h.cat, ident("payroll"), false), "")
	wantCode(t, h.createAt(shared, "t", place), fault.Forbidden) // it may be undropped
}

// What another catalog has for itself, below the catalog's own folder, takes none of its tables, views or namespaces, and
// no table encloses it.
func TestACatalogInTheFolderOfAnother(t *testing.T) {
	h, ctx := newHarness(t), context.Background()
	base := h.cat.BaseLocation
	h.create(t, "events", models.OpenFull)
	file := h.load(t, "events").MetadataLocation
	h.namespaces(t, []string{"finance"})
	inner := h.addCatalog(t, "inner", base+"/finance", base+"/lent/to")
	_, err := h.CreateNamespace(ctx, h.root, inner, catalog.NamespaceInput{Levels: []string{"db"}})
	must(t, err)
	create := func(levels []string, location string) error {
		_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: levels, Name: "t", Location: location, Schema: json.RawMessage(schemaJSON)})
		return err
	}
	_, stage := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"finance"}, Name: "t", Schema: json.RawMessage(schemaJSON), Stage: true})
	_, byCommit := h.CommitTable(ctx, h.root, h.cat, createByCommit("t", freshUUID(), base+"/lent/to/t"))
	_, moved := h.update(h.root, "events", `{"action":"set-location","location":"`+base+`/lent/to/t"}`)
	_, registered := h.RegisterTable(ctx, h.root, h.cat, catalog.RegisterInput{Namespace: []string{"db"}, Name: "r", MetadataLocation: base + "/finance/x/metadata/00000-x.metadata.json"})
	_, namespace := h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: []string{"n"}, Properties: map[string]string{"location": base + "/lent/to/n"}})
	for name, err := range map[string]error{
		"in its folder": create([]string{"db"}, base+"/lent/to/t"), "around its folder": create([]string{"db"}, base+"/lent"),
		"where a namespace has the same folder": create([]string{"finance"}, ""), "staged": stage, "by a commit": byCommit,
		"by moving": moved, "a file there": registered, "a namespace": namespace,
	} {
		wantCode(t, err, fault.Forbidden)
		if says := fault.PublicMessage(err); !strings.Contains(says, "belongs to another catalog than main") || strings.Contains(says, "inner") {
			t.Errorf("%s: it says %q", name, says)
		}
		if !strings.Contains(deniedOf(err), "of catalog inner") {
			t.Errorf("%s: the audit learns %q", name, deniedOf(err))
		}
	}
	must(t, create([]string{"db"}, base+"/lent-not/t"))
	must(t, h.createAt(inner, "t", base+"/finance/db/t"))
	must(t, h.createAt(inner, "u", ""))
	must(t, h.createAt(inner, "v", base+"/lent/to/v"))
	wantCode(t, h.createAt(inner, "w", base+"/db/w"), fault.Forbidden) // outside its own
	_, err = h.RegisterTable(ctx, h.root, inner, catalog.RegisterInput{Namespace: []string{"db"}, Name: "r", MetadataLocation: file})
	wantCode(t, err, fault.Forbidden)
}

func moveTo(t *testing.T, location string) []metadata.Update {
	t.Helper()
	updates, err := metadata.DecodeUpdates([]json.RawMessage{json.RawMessage(`{"action":"set-location","location":"` + location + `"}`)})
	must(t, err)
	return updates
}

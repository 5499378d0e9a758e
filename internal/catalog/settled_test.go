package catalog_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/models"
)

// claim begins a request of root under a key.
func (h *harness) claim(t *testing.T, key string) (context.Context, *idempotency.Claim) {
	t.Helper()
	keeper := idempotency.New(idempotency.Deps{Store: h.store, Lifetime: time.Hour, Now: time.Now})
	c := &idempotency.Claim{PrincipalID: h.root.PrincipalID, Key: key, Route: "POST /x", RequestHash: "h"}
	_, end, err := keeper.Begin(context.Background(), c)
	must(t, err)
	end()
	return idempotency.With(context.Background(), c), c
}

// TestUseCasesSettleTheirKey: a claimed use case settles its key with its effect, and a second one under the same key
// has none and leaves no file.
func TestUseCasesSettleTheirKey(t *testing.T) {
	cases := map[string]func(ctx context.Context, h *harness, commit catalog.CommitInput) error{
		"commit": func(ctx context.Context, h *harness, commit catalog.CommitInput) error {
			_, err := h.CommitTable(ctx, h.root, h.cat, commit)
			return err
		},
		"transaction": func(ctx context.Context, h *harness, commit catalog.CommitInput) error {
			return h.CommitTransaction(ctx, h.root, h.cat, []catalog.CommitInput{commit})
		},
		"create": func(ctx context.Context, h *harness, _ catalog.CommitInput) error {
			_, err := h.CreateTable(ctx, h.root, h.cat, catalog.CreateTableInput{Namespace: []string{"db"}, Name: uuid.NewString(), Schema: json.RawMessage(schemaJSON)})
			return err
		},
		"namespace": func(ctx context.Context, h *harness, _ catalog.CommitInput) error {
			_, err := h.CreateNamespace(ctx, h.root, h.cat, catalog.NamespaceInput{Levels: []string{uuid.NewString()}})
			return err
		},
		"properties": func(ctx context.Context, h *harness, _ catalog.CommitInput) error {
			_, err := h.UpdateNamespaceProperties(ctx, h.root, h.cat, []string{"db"}, catalog.PropertiesUpdate{Updates: map[string]string{"a": uuid.NewString()}})
			return err
		},
		"rename": func(ctx context.Context, h *harness, commit catalog.CommitInput) error {
			return h.RenameTable(ctx, h.root, h.cat, commit.Table, ident(uuid.NewString()))
		},
		"drop": func(ctx context.Context, h *harness, commit catalog.CommitInput) error {
			return h.DropTable(ctx, h.root, h.cat, commit.Table, false)
		},
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.create(t, "events", models.OpenFull)
			h.create(t, "other", models.OpenFull)
			prepare := func(table string) catalog.CommitInput {
				c := h.append(t, table, 1)
				return input(table, c.Requirements, c.Updates)
			}
			first, second := prepare("events"), prepare("other")
			key := uuid.NewString()
			ctx, claim := h.claim(t, key)
			must(t, do(ctx, h, first))
			if !claim.Written() {
				t.Fatal("the key is not settled")
			}
			events, files := len(h.audit(t, "")), len(metadataFiles(t, h, "other"))
			again := idempotency.With(context.Background(), &idempotency.Claim{PrincipalID: h.root.PrincipalID, Key: key, Route: "POST /x", RequestHash: "h"})
			if err := do(again, h, second); !idempotency.IsUsed(err) {
				t.Fatalf("the second use of the key says %v", err)
			}
			if len(h.audit(t, "")) != events || len(metadataFiles(t, h, "other")) != files {
				t.Fatal("the second use of the key had an effect")
			}
		})
	}
}

func TestRefusedCommitLeavesItsKeyToTheRefusal(t *testing.T) {
	h := newHarness(t)
	h.create(t, "events", models.GovernedOnly)
	c := h.append(t, "events", 1)
	key := uuid.NewString()
	ctx, claim := h.claim(t, key)
	_, err := h.CommitTable(ctx, h.with(models.TableWriteData), h.cat, input("events", c.Requirements, c.Updates))
	wantCode(t, err, fault.Forbidden)
	if claim.Written() || len(h.audit(t, models.AuditCommitDenied)) != 1 {
		t.Fatal("the record of the refusal settled the key as done")
	}
}

func TestLoadSettledFindsWhatTheRequestDid(t *testing.T) {
	h := newHarness(t)
	ctx := context.Background()
	view := h.create(t, "events", models.OpenFull)
	settled := catalog.Settled{UUID: view.Row.UUID, MetadataLocation: view.MetadataLocation}
	check := func(when, location string) {
		t.Helper()
		got, err := h.LoadSettled(ctx, h.root, h.cat, ident("events"), settled)
		must(t, err)
		if got.MetadataLocation != location || got.Document.UUID() != view.Row.UUID {
			t.Fatalf("%s the answer is %s of %s", when, got.MetadataLocation, got.Document.UUID())
		}
	}
	newer, err := h.commit(h.root, "events", h.append(t, "events", 1))
	must(t, err)
	check("after another commit", newer.MetadataLocation)
	must(t, h.RenameTable(ctx, h.root, h.cat, ident("events"), ident("moved")))
	check("after a rename", view.MetadataLocation)
	other := h.create(t, "events", models.OpenFull)
	check("with another table of the name", view.MetadataLocation)
	got, err := h.LoadSettled(ctx, h.root, h.cat, ident("events"), catalog.Settled{})
	must(t, err)
	if got.MetadataLocation != other.MetadataLocation {
		t.Fatal("a request that changed nothing is not answered with the table of the name")
	}
	_, err = h.LoadSettled(ctx, h.with(models.TableList), h.cat, ident("moved"), settled)
	wantCode(t, err, fault.Forbidden)
}

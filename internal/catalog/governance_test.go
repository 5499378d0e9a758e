package catalog_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

func TestSettingTheSameAgainWritesNothing(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	said := catalog.GovernanceInput{
		Level: models.Confidential, IdentityColumns: []string{"id"},
		Columns: map[string]models.ColumnGovernance{"email": {Sensitivity: models.Restricted, Mask: "hash"}},
	}
	for range 2 {
		_, err := h.SetWritePolicy(ctx, h.root, "main.db.orders", models.OpenFull)
		must(t, err)
		_, err = h.SetGovernance(ctx, h.root, "main.db.orders", said)
		must(t, err)
		must(t, h.SetDefaultWritePolicy(ctx, h.root, "main", models.OpenAppend))
		must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", models.GovernedOnly))
	}
	before := h.load(t, "orders")
	state, err := h.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{Level: models.Confidential})
	must(t, err)
	if state.Table.Classification != models.Confidential || h.load(t, "orders").MetadataLocation != before.MetadataLocation {
		t.Errorf("what was set already gave %+v and another metadata file", state.Table)
	}
	for typ, want := range map[models.AuditType]int{
		models.AuditWritePolicyChanged: 2, models.AuditClassificationChanged: 1, models.AuditDefaultPolicyChanged: 2,
	} {
		if got := len(h.audit(t, typ)); got != want {
			t.Errorf("%d events %s, want %d", got, typ, want)
		}
	}
}

func TestChangesTellFromWhatToWhat(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	_, err := h.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{Level: models.Restricted, IdentityColumns: []string{"id"}})
	must(t, err)
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main.db", models.OpenFull))
	must(t, h.SetDefaultWritePolicy(ctx, h.root, "main", models.OpenAppend))
	for typ, want := range map[models.AuditType]map[string]any{
		models.AuditWritePolicyChanged: {"from": "governed_only", "to": "open_append"},
		models.AuditClassificationChanged: {
			"from": map[string]any{"level": "internal", "identityColumns": []any{}, "columns": map[string]any{}},
			"to":   map[string]any{"level": "restricted", "identityColumns": []any{"id"}, "columns": map[string]any{}},
		},
	} {
		if got := h.audit(t, typ)[0].Details.V; !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %v, want %v", typ, got, want)
		}
	}
	defaults := h.audit(t, models.AuditDefaultPolicyChanged) // newest first
	for i, want := range []map[string]any{{"from": "governed_only", "to": "open_append"}, {"from": nil, "to": "open_full"}} {
		if got := defaults[i].Details.V; !reflect.DeepEqual(got, want) {
			t.Errorf("the change of a default has %v, want %v", got, want)
		}
	}
}

func TestGovernanceErrorsNameTheWholeRef(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	weak := h.with(models.TableList, models.NamespaceList)
	set := func(ref string) error {
		_, err := h.SetWritePolicy(ctx, h.root, ref, models.OpenFull)
		return err
	}
	_, noRight := h.TableState(ctx, weak, "main.db.orders")
	_, noLedger := h.Commits(ctx, weak, "main.db.orders", models.CommitFilter{Limit: 1})
	_, noSnapshot := h.Reconcile(ctx, h.root, "main.db.orders")
	_, noColumn := h.SetGovernance(ctx, h.root, "main.db.orders", catalog.GovernanceInput{IdentityColumns: []string{"nope"}})
	for says, err := range map[string]error{
		`"db.orders" names no table. Write catalog.namespace.table, such as main.sales.orders, or the table's UUID.`: set("db.orders"),
		"Table does not exist: main.db.nope":         set("main.db.nope"),
		"Table does not exist: main.nope.orders":     set("main.nope.orders"),
		"Namespace does not exist: main.nope":        h.SetDefaultWritePolicy(ctx, h.root, "main.nope", models.OpenFull),
		"on table main.db.orders":                    noRight,
		" on table main.db.orders.":                  noLedger,
		"Table main.db.orders has no snapshot":       noSnapshot,
		`Table main.db.orders has no column "nope"`:  noColumn,
		"CATALOG_MANAGE_ACCESS on namespace main.db": h.SetDefaultWritePolicy(ctx, weak, "main.db", models.OpenFull),
	} {
		if !strings.Contains(fault.PublicMessage(err), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}

func TestLedgerNamesTheCatalog(t *testing.T) {
	ctx, h := context.Background(), newHarness(t)
	h.create(t, "orders", models.OpenAppend)
	_, err := h.commit(h.root, "orders", h.append(t, "orders", 3))
	must(t, err)
	for _, ref := range []string{"", "main.db.orders"} {
		rows, err := h.Commits(ctx, h.root, ref, models.CommitFilter{Limit: 10})
		must(t, err)
		if len(rows) != 1 || rows[0].CatalogName != "main" || rows[0].TableName != "db.orders" {
			t.Errorf("the ledger of %q is %+v", ref, rows)
		}
	}
}

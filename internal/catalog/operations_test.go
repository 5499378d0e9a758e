package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

// attempts is what asks for each operation. An attempt that is let through may fail for another reason: most are made so
// that they do, and change nothing. One that is refused says so by wasRefused.
func (h *harness) attempts(t *testing.T) map[policy.Operation]func(policy.Caller) error {
	ctx := context.Background()
	db, other := []string{"db"}, models.TableIdent{Namespace: []string{"db"}, Name: "other"}
	h.create(t, "events", models.OpenFull)
	h.create(t, "other", models.OpenFull)
	h.createView(t, "view")
	h.create(t, "gone", models.OpenFull)
	dropped := h.drop(t, "gone", false)
	file := h.load(t, "events").MetadataLocation
	missing := strings.TrimSuffix(file, ".metadata.json") + "x.metadata.json"

	all := map[policy.Operation]func(policy.Caller) error{
		policy.CreateNamespace: func(c policy.Caller) error {
			_, err := h.CreateNamespace(ctx, c, h.cat, catalog.NamespaceInput{Levels: db})
			return err
		},
		policy.LoadNamespaceMetadata: func(c policy.Caller) error {
			_, err := h.LoadNamespace(ctx, c, h.cat, db)
			return err
		},
		policy.DropNamespace: func(c policy.Caller) error { return h.DropNamespace(ctx, c, h.cat, db) },
		policy.UpdateNamespaceProperties: func(c policy.Caller) error {
			_, err := h.UpdateNamespaceProperties(ctx, c, h.cat, db, catalog.PropertiesUpdate{Removals: []string{"none"}})
			return err
		},
		policy.CreateTableDirect: func(c policy.Caller) error {
			_, err := h.CreateTable(ctx, c, h.cat, catalog.CreateTableInput{Namespace: db, Name: "events", Schema: json.RawMessage(schemaJSON)})
			return err
		},
		policy.CreateTableStaged: func(c policy.Caller) error {
			_, err := h.CreateTable(ctx, c, h.cat, catalog.CreateTableInput{Namespace: db, Name: "staged", Schema: json.RawMessage(schemaJSON), Stage: true})
			return err
		},
		policy.UpdateTableForStagedCreate: func(c policy.Caller) error {
			_, err := h.CommitTable(ctx, c, h.cat, createByCommit("new", freshUUID(), "file:///elsewhere"))
			return err
		},
		policy.RegisterTable: func(c policy.Caller) error {
			_, err := h.RegisterTable(ctx, c, h.cat, catalog.RegisterInput{Namespace: db, Name: "new", MetadataLocation: missing})
			return err
		},
		policy.RegisterTableOverwrite: func(c policy.Caller) error {
			_, err := h.RegisterTable(ctx, c, h.cat, catalog.RegisterInput{Namespace: db, Name: "other", MetadataLocation: missing, Overwrite: true})
			return err
		},
		policy.LoadTable:   func(c policy.Caller) error { _, err := h.LoadTable(ctx, c, h.cat, ident("events")); return err },
		policy.TableExists: func(c policy.Caller) error { return h.TableExists(ctx, c, h.cat, ident("events")) },
		policy.LoadTableWithReadDelegation: func(c policy.Caller) error {
			_, err := h.TableCredentials(ctx, c, h.cat, ident("events"), catalog.StorageRoutes{})
			return err
		},
		policy.PlanTableScan: func(c policy.Caller) error { _, err := h.ReadTable(ctx, c, h.cat, ident("events")); return err },
		policy.DropTableWithoutPurge: func(c policy.Caller) error {
			return h.again(t, "dropped", h.DropTable(ctx, c, h.cat, ident("dropped"), false))
		},
		policy.DropTableWithPurge: func(c policy.Caller) error {
			return h.again(t, "purged", h.DropTable(ctx, c, h.cat, ident("purged"), true))
		},
		policy.UnregisterTable: func(c policy.Caller) error {
			_, err := h.UnregisterTable(ctx, c, h.cat, ident("unregistered"))
			return h.again(t, "unregistered", err)
		},
		policy.RenameTable: func(c policy.Caller) error { return h.RenameTable(ctx, c, h.cat, ident("events"), other) },
		policy.ReportReadMetrics: func(c policy.Caller) error {
			return h.ReportMetrics(ctx, c, h.cat, ident("events"), catalog.ReportInput{Type: models.ScanReport, Members: map[string]json.RawMessage{}})
		},
		policy.ReportWriteMetrics: func(c policy.Caller) error {
			return h.ReportMetrics(ctx, c, h.cat, ident("events"), catalog.ReportInput{Type: models.CommitReport, Members: map[string]json.RawMessage{}})
		},
		policy.CreateView: func(c policy.Caller) error { _, err := h.CreateView(ctx, c, h.cat, viewInput("view")); return err },
		policy.RegisterView: func(c policy.Caller) error {
			_, err := h.RegisterView(ctx, c, h.cat, catalog.RegisterViewInput{Namespace: db, Name: "view", MetadataLocation: missing})
			return err
		},
		policy.LoadView:    func(c policy.Caller) error { _, err := h.LoadView(ctx, c, h.cat, ident("view")); return err },
		policy.ViewExists:  func(c policy.Caller) error { return h.ViewExists(ctx, c, h.cat, ident("view")) },
		policy.ReplaceView: func(c policy.Caller) error { _, err := h.replaceView(t, c, "view"); return err },
		policy.DropView: func(c policy.Caller) error {
			err := h.DropView(ctx, c, h.cat, ident("view"))
			if err == nil {
				h.createView(t, "view")
			}
			return err
		},
		policy.RenameView: func(c policy.Caller) error { return h.RenameView(ctx, c, h.cat, ident("view"), other) },

		policy.ReadTableState: func(c policy.Caller) error { _, err := h.TableState(ctx, c, "main.db.events"); return err },
		policy.ReconcileTable: func(c policy.Caller) error { _, err := h.Reconcile(ctx, c, "main.db.events"); return err },
		policy.ListCommits: func(c policy.Caller) error {
			_, err := h.Commits(ctx, c, "main.db.events", models.CommitFilter{Limit: 1})
			return err
		},
		policy.ListMetricsReports: func(c policy.Caller) error {
			_, err := h.MetricsReports(ctx, c, "main.db.events", models.MetricsReportFilter{Limit: 1})
			return err
		},
		policy.ListAllCommits: func(c policy.Caller) error {
			_, err := h.Commits(ctx, c, "", models.CommitFilter{Limit: 1})
			return err
		},
		policy.ListAllMetricsReports: func(c policy.Caller) error {
			_, err := h.MetricsReports(ctx, c, "", models.MetricsReportFilter{Limit: 1})
			return err
		},
		policy.ReadAudit: func(c policy.Caller) error {
			_, err := h.AuditEvents(ctx, c, models.AuditFilter{Catalog: "main", Limit: 1})
			return err
		},
		policy.ReadAllAudit: func(c policy.Caller) error { _, err := h.AuditEvents(ctx, c, models.AuditFilter{Limit: 1}); return err },
		policy.SetWritePolicy: func(c policy.Caller) error {
			_, err := h.SetWritePolicy(ctx, c, "main.db.events", models.OpenFull)
			return err
		},
		policy.SetDefaultWritePolicy: func(c policy.Caller) error {
			return errors.Join(h.SetDefaultWritePolicy(ctx, c, "main", models.GovernedOnly), h.SetDefaultWritePolicy(ctx, c, "main.db", models.GovernedOnly))
		},
		policy.SetClassification: func(c policy.Caller) error {
			_, err := h.SetGovernance(ctx, c, "main.db.events", catalog.GovernanceInput{Level: models.Internal})
			return err
		},
		policy.SetProtection: func(c policy.Caller) error { _, err := h.SetProtection(ctx, c, "main.db.events", false); return err },
		policy.ResolveFinding: func(c policy.Caller) error {
			_, err := h.ResolveFinding(ctx, c, h.finding(t, "events"), "")
			return err
		},
		policy.UndropTable: func(c policy.Caller) error { _, err := h.UndropTable(ctx, c, dropped.ID, &other); return err },
		policy.ForgetDroppedTable: func(c policy.Caller) error {
			return h.ForgetTable(ctx, c, h.drops(t, "forgotten"))
		},
	}
	maps.Copy(all, h.governingAttempts(t))
	for op, update := range updatesOf() {
		all[op] = func(c policy.Caller) error { _, err := h.update(c, "events", update); return err }
	}
	return all
}

// governingAttempts tries what is done about the commits and the writers of the table events.
func (h *harness) governingAttempts(t *testing.T) map[policy.Operation]func(policy.Caller) error {
	t.Helper()
	ctx, ref := context.Background(), "main.db.events"
	w, err := h.DeclareWriter(ctx, h.root, ref, models.RootPrincipal, time.Hour)
	must(t, err)
	return map[policy.Operation]func(policy.Caller) error{
		policy.ListWriters: func(c policy.Caller) error {
			_, err := h.Writers(ctx, c, ref, models.WriterFilter{Limit: 1})
			_, err2 := h.Writer(ctx, c, w.ID)
			return errors.Join(err, err2)
		},
		policy.ListAllWriters: func(c policy.Caller) error {
			_, err := h.Writers(ctx, c, "", models.WriterFilter{Limit: 1})
			return err
		},
		policy.DeclareWriter: func(c policy.Caller) error {
			_, err := h.DeclareWriter(ctx, c, ref, models.RootPrincipal, time.Hour)
			return err
		},
		policy.UpdateWriter: func(c policy.Caller) error { _, err := h.SetWriterCadence(ctx, c, w.ID, nil); return err },
		policy.RetireWriter: func(c policy.Caller) error { _, err := h.RetireWriter(ctx, c, w.ID, ""); return err },
		policy.SetDuplicateCommits: func(c policy.Caller) error {
			_, err := h.SetDuplicateCommits(ctx, c, ref, models.AuditDuplicates)
			return err
		},
		policy.CheckTable: func(c policy.Caller) error { _, err := h.CheckTable(ctx, c, ref); return err },
		policy.SetDefaultClassification: func(c policy.Caller) error {
			return errors.Join(h.SetDefaultClassification(ctx, c, "main", models.Internal), h.SetDefaultClassification(ctx, c, "main.db", models.Internal))
		},
		policy.ReadRowFilters: func(c policy.Caller) error { _, err := h.RowFilters(ctx, c, ref); return err },
		policy.SetRowFilters: func(c policy.Caller) error {
			every := "TRUE"
			_, err := h.SetRowFilter(ctx, c, ref, models.ServiceAdminRole, &every)
			_, err2 := h.SetRowFilter(ctx, c, ref, models.ServiceAdminRole, nil)
			return errors.Join(err, err2)
		},
		policy.QueryRows: func(c policy.Caller) error { _, err := h.FindForData(ctx, c, policy.QueryRows, ref); return err },
		policy.WriteRows: func(c policy.Caller) error { _, err := h.FindForData(ctx, c, policy.WriteRows, ref); return err },
		policy.ReadRowAudit: func(c policy.Caller) error {
			return h.RequireOnTable(ctx, c, policy.ReadRowAudit, h.cat.ID, h.load(t, "events").Row.ID)
		},
	}
}

// updatesOf gives an update of each kind that changes nothing, or fails after it was judged.
func updatesOf() map[policy.Operation]string {
	all := map[policy.Operation]string{}
	for action, members := range map[string]string{
		"assign-uuid":            `"uuid":"` + freshUUID() + `"`,
		"upgrade-format-version": `"format-version":1`,
		"add-schema":             `"schema":{"type":"struct","fields":[]},"last-column-id":-1`,
		"set-current-schema":     `"schema-id":99`,
		"add-spec":               `"spec":{"spec-id":0,"fields":[]}`,
		"set-default-spec":       `"spec-id":99`,
		"remove-partition-specs": `"spec-ids":[99]`,
		"add-sort-order":         `"sort-order":{"order-id":0,"fields":[]}`,
		"set-default-sort-order": `"sort-order-id":99`,
		"add-snapshot":           `"snapshot":{"snapshot-id":1,"sequence-number":0,"timestamp-ms":1,"manifest-list":"x","summary":{"operation":"append"}}`,
		"set-snapshot-ref":       `"ref-name":"main","type":"branch","snapshot-id":99`,
		"remove-snapshots":       `"snapshot-ids":[99]`,
		"remove-snapshot-ref":    `"ref-name":"none"`,
		"set-location":           `"location":"file:///elsewhere"`,
		"set-properties":         `"updates":{"sluice.x":"y"}`,
		"remove-properties":      `"removals":["none"]`,
		"set-statistics":         `"snapshot-id":99,"statistics":{"snapshot-id":99,"statistics-path":"x","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}`,
		"remove-statistics":      `"snapshot-id":99`,
		"remove-schemas":         `"schema-ids":[99]`,
	} {
		op, _ := policy.OperationFor(action)
		all[op] = fmt.Sprintf(`{"action":%q,%s}`, action, members)
	}
	return all
}

// again makes a table of the name for the next attempt to take away, when there is none.
func (h *harness) again(t *testing.T, name string, err error) error {
	t.Helper()
	if h.TableExists(context.Background(), h.root, h.cat, ident(name)) != nil {
		h.create(t, name, models.OpenFull)
	}
	return err
}

// drops gives the id of a drop of a table of the name that can be forgotten.
func (h *harness) drops(t *testing.T, name string) string {
	t.Helper()
	page, err := h.DroppedTables(context.Background(), h.root, "main", models.DroppedFilter{Limit: 100})
	must(t, err)
	for _, d := range page.Items {
		if d.Name == name {
			return d.ID
		}
	}
	h.create(t, name, models.OpenFull)
	return h.drop(t, name, false).ID
}

// wasRefused tells whether an error says that a privilege is missing, or hides that it is.
func wasRefused(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && (e.Denied != "" || e.Code == fault.Forbidden && (strings.Contains(e.Message, "lacks the privilege") || strings.Contains(e.Message, "lack the privilege")))
}

// Every operation that the catalog has is let through for the privileges that its row of the operation table names, held on
// the catalog, and for no others.
func TestCatalogAsksWhatTheOperationTableSays(t *testing.T) {
	h := newHarness(t)
	attempts := h.attempts(t)
	for _, name := range []string{"dropped", "purged", "unregistered"} {
		must(t, h.again(t, name, nil))
	}
	at := policy.Path{CatalogID: h.cat.ID}
	for op, attempt := range attempts {
		for _, p := range policy.Privileges() {
			caller := h.with(p)
			if p == models.ServiceManageAccess {
				caller.Held = policy.NewHeld([]models.Privilege{p}, nil)
			}
			want := caller.May(op, at)
			err := attempt(caller)
			if wasRefused(err) == want || fault.Is(err, fault.Internal) {
				t.Errorf("%s with %s: %v, want it let through: %t", op, p, err, want)
			}
			if err == nil && !want {
				t.Errorf("%s with %s was done", op, p)
			}
		}
	}
	// Lists are filtered instead, and tested where they are, as is what comes on top of another operation.
	for _, op := range strings.Fields(`LIST_NAMESPACES NAMESPACE_EXISTS LIST_TABLES LIST_VIEWS LIST_TABLE_STATES LIST_DROPPED_TABLES
		LOAD_TABLE_WITH_WRITE_DELEGATION WRITE_DATA_FOR_STAGED_CREATE REGISTER_DROPPED_TABLE COMMIT_AS_STEWARD`) {
		attempts[policy.Operation(op)] = nil
	}
	for _, op := range policy.Operations() {
		if op == policy.MintTokenForOther { // the rest is not the catalog's
			break
		}
		if _, known := attempts[op]; !known {
			t.Errorf("%s is not tried", op)
		}
	}
}

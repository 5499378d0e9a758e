package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/access"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/store"
	"github.com/sluice-data/sluice/models"
)

// Run runs the suite. newStore gives an empty, migrated store that ends with the test.
func Run(t *testing.T, newStore func(t *testing.T) *store.Store) {
	groups := []struct {
		name  string
		cases map[string]func(t *testing.T, f *fixture)
	}{
		{"catalogs", catalogCases()},
		{"namespaces", namespaceCases()},
		{"tables", tableCases()},
		{"views", viewCases()},
		{"drops", dropCases()},
		{"swaps", swapCases()},
		{"governed writes", governedWriteCases()},
		{"ledger", ledgerCases()},
		{"history", historyCases()},
		{"writers", writerCases()},
		{"rates", rateCases()},
		{"checks", checkCases()},
		{"drift", driftCases()},
		{"outbox", outboxCases()},
		{"access", accessCases()},
		{"access version", versionCases()},
		{"principals", principalCases()},
		{"roles", roleCases()},
		{"grants", grantCases()},
		{"signing keys", signingKeyCases()},
		{"catalog deletion", deletionCases()},
		{"audit", auditCases()},
		{"metrics reports", metricsCases()},
		{"staged creates", stagedCases()},
		{"storage secrets", storageSecretCases()},
		{"storage records", storageRecordCases()},
		{"findings", findingCases()},
		{"files", fileCases()},
		{"idempotency", idempotencyCases()},
		{"concurrency", concurrencyCases()},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for name, c := range g.cases {
				t.Run(name, func(t *testing.T) { c(t, newFixture(t, newStore(t))) })
			}
		})
	}
}

// fixture is a store with one catalog and one namespace, "sales".
type fixture struct {
	s       *store.Store
	cat     models.Catalog
	ns      models.Namespace
	started time.Time
}

func newFixture(t *testing.T, s *store.Store) *fixture {
	t.Helper()
	f := &fixture{s: s, started: time.Now().UTC().Truncate(time.Microsecond)}
	f.cat = models.Catalog{
		ID: uuid.NewString(), Name: "main", BaseLocation: "s3://lake", DefaultWritePolicy: models.GovernedOnly,
		Properties: models.JSON[map[string]string]{V: map[string]string{"owner": "größe"}}, Version: 1,
	}
	require.NoError(t, s.Bootstrap(t.Context(), access.Bootstrap{
		Root:            models.Principal{ID: uuid.NewString(), Name: models.RootPrincipal, ClientID: "root-client", SecretHash: "hash"},
		Catalog:         f.cat,
		AdminPrivileges: []models.Privilege{models.CatalogManageContent, models.CatalogManageAccess},
		Events:          []models.AuditEvent{event(models.AuditCatalogCreated)},
	}))
	f.ns = f.namespace(t, "sales")
	return f
}

func event(kind models.AuditType) models.AuditEvent {
	return models.AuditEvent{EventID: uuid.NewString(), Type: kind, Principal: "ada", Catalog: "main", Allowed: true}
}

func (f *fixture) newNamespace(levels ...string) models.Namespace {
	key := models.KeyOf(levels)
	return models.Namespace{ID: uuid.NewString(), CatalogID: f.cat.ID, Key: key, ParentKey: key.Parent(), Version: 1}
}

func (f *fixture) namespace(t *testing.T, levels ...string) models.Namespace {
	t.Helper()
	ns := f.newNamespace(levels...)
	require.NoError(t, f.s.CreateNamespace(t.Context(), ns, event(models.AuditNamespaceCreated)))
	return ns
}

// otherCatalog is a second catalog of the same store, with a namespace of its own of the same name.
func (f *fixture) otherCatalog(t *testing.T, name string) *fixture {
	t.Helper()
	other := &fixture{s: f.s, started: f.started}
	other.cat = models.Catalog{ID: uuid.NewString(), Name: name, BaseLocation: "s3://lake", DefaultWritePolicy: models.GovernedOnly, Version: 1}
	require.NoError(t, f.s.CreateCatalog(t.Context(), other.cat, []models.Privilege{models.CatalogManageAccess}, event(models.AuditCatalogCreated)))
	other.ns = other.namespace(t, "sales")
	return other
}

func (f *fixture) newTable(name string) models.Table {
	id := uuid.NewString()
	return models.Table{
		ID: id, CatalogID: f.cat.ID, NamespaceID: f.ns.ID, Name: name, UUID: uuid.NewString(),
		Location: "s3://lake/sales/" + id, MetadataLocation: "s3://lake/sales/" + id + "/metadata/00000.json", FormatVersion: 2,
		WritePolicy: models.OpenAppend, Classification: models.Internal,
		IdentityColumns: models.JSON[[]string]{V: []string{"id"}},
		Columns: models.JSON[map[string]models.ColumnGovernance]{V: map[string]models.ColumnGovernance{
			"email": {Sensitivity: models.Confidential, Tag: "email"},
		}},
		RowFilters: models.JSON[[]models.RowFilter]{V: []models.RowFilter{
			{Role: "analysts", Filter: "region = 'EU'", Expression: json.RawMessage(`{"type":"eq","term":"region","value":"EU"}`)},
		}},
		DuplicateCommits: models.RejectDuplicates, Version: 1,
	}
}

func (f *fixture) table(t *testing.T, name string) models.Table {
	t.Helper()
	row := f.newTable(name)
	require.NoError(t, f.s.CreateTable(t.Context(), row, catalog.Effects{Audit: []models.AuditEvent{event(models.AuditTableCreated)}}))
	return row
}

// swapTo is the swap of a commit that appends the snapshot to main, with all its effects.
func swapTo(row models.Table, snapshot, sequence int64) catalog.Swap {
	next := row
	next.CurrentSnapshotID = &snapshot
	next.MetadataLocation = row.Location + "/metadata/" + uuid.NewString() + ".json"
	committed := event(models.AuditTableCommitted)
	committed.TableUUID, committed.SnapshotID = row.UUID, &snapshot
	return catalog.Swap{Table: next, Effects: catalog.Effects{
		Commits: []models.Commit{commitOf(row, snapshot, sequence)},
		Audit:   []models.AuditEvent{committed},
	}}
}

func commitOf(row models.Table, snapshot, sequence int64) models.Commit {
	return models.Commit{
		CatalogID: row.CatalogID, TableID: row.ID, TableUUID: row.UUID, TableName: "sales." + row.Name,
		SnapshotID: snapshot, ParentSnapshotID: row.CurrentSnapshotID, SequenceNumber: sequence, Ref: "main", Operation: "append",
		Summary:          models.JSON[map[string]string]{V: map[string]string{"added-records": "3"}},
		MetadataLocation: row.MetadataLocation, Kind: models.ExternalCommit,
		Writer: models.JSON[models.Writer]{V: models.Writer{Principal: "ada", Engine: "spark"}},
		Status: models.CommitPending, CommittedAt: time.Now(),
	}
}

// commit swaps the table to the snapshot and gives the row as it is then.
func (f *fixture) commit(t *testing.T, row models.Table, snapshot, sequence int64) models.Table {
	t.Helper()
	require.NoError(t, f.s.SwapTables(t.Context(), []catalog.Swap{swapTo(row, snapshot, sequence)}))
	return f.load(t, row.ID)
}

// drop drops a table as somebody who may want it back.
func (f *fixture) drop(t *testing.T, id string) error {
	t.Helper()
	_, err := f.s.DropTable(t.Context(), id, models.DroppedTable{State: models.StateDropped, HoldsLocation: true, DroppedBy: "ada"}, event(models.AuditTableDropped))
	return err
}

func (f *fixture) load(t *testing.T, id string) models.Table {
	t.Helper()
	row, err := f.s.TableByID(t.Context(), id)
	require.NoError(t, err)
	return row
}

func (f *fixture) audit(t *testing.T, kind models.AuditType) []models.AuditEvent {
	t.Helper()
	events, err := f.s.AuditEvents(t.Context(), models.AuditFilter{Type: kind})
	require.NoError(t, err)
	return events
}

// outbox gives the events that are nobody's, and leaves them so.
func (f *fixture) outbox(t *testing.T) []models.OutboxEvent {
	t.Helper()
	events, err := f.s.ClaimEvents(t.Context(), "a look", 0, 100_000, 0)
	require.NoError(t, err)
	return events
}

// requireFault checks code and subject, and that the message is a sentence fit for a client.
func requireFault(t *testing.T, err error, code fault.Code, subject fault.Subject) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, code, f.Code, "%v", err)
	require.Equal(t, subject, f.Subject, "%v", err)
	assert.Regexp(t, `\.$`, f.Message)
	assert.NotRegexp(t, `(?i)sql|constraint|duplicate key|gorm`, f.Message)
}

func ptr[T any](v T) *T { return &v }
